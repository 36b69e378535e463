"""What of a result too big to show is shown."""

import json
import os
import subprocess
import sys

import pytest

from accp_adapters.tokens import o200k_base
from accp_core import preview, render_text
from accp_core.view import Options
from tests.core.view.payloads import PAYLOADS, logs, orders, records, webhook

counter = o200k_base()
REF = "$cold.1f2e3d4c"
OPENING = f"accp_fetch {REF}"

PROSE = "\n\n".join(
    f"Paragraph {number}. " + "The committee met again and decided nothing of any note whatever. " * 6
    for number in range(40)
)
SOURCES = {
    **{name: json.dumps(value, indent=2) for name, (value, _) in PAYLOADS.items()},
    "prose": PROSE,
    "one long line": "word " * 3000,
    "one long word": "x" * 20_000,
    "empty lines": "a\n\n\n\n" * 2000,
    "a block in a row": json.dumps([{"id": n, "text": f"line {n}\n\n\nend {n}\n", "more": "x y z"} for n in range(60)]),
    "a repr": f"Result(text={PROSE!r})",
    "scripts": "日本語のテキスト。中文文本没有空格。" * 300,
    "closing brackets": "}\n}]\n{\n" * 400,
    "nested maps": json.dumps({f"k{n}": {"a": {"b": [{"c": {"d": n}}]}, "text": "some text " * 9} for n in range(40)}),
}


def shown(source: str, limit: int, request: str = "", options: Options | None = None) -> str:
    """Return the preview, which must fit."""
    text = preview(source, limit=limit, opening=OPENING, counter=counter, request=request, options=options)
    assert counter(text) <= limit
    return text


@pytest.mark.parametrize("limit", [40, 150, 400])
@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_a_preview_fits_names_the_reference_and_is_the_same_each_time(source: str, limit: int) -> None:
    text = shown(source, limit)
    if render_text(source, counter=counter).tokens_after > limit:
        assert text.split("\n")[0].endswith(f"accp_fetch {REF}]")
    assert shown(source, limit) == text


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_a_preview_uses_its_room(source: str) -> None:
    fits = render_text(source, counter=counter).tokens_after <= 400
    assert fits or counter(shown(source, 400)) > 160


@pytest.mark.parametrize("limit", [-1, 0, 1, 10, 20])
def test_a_limit_without_room_for_the_reference_is_refused(limit: int) -> None:
    with pytest.raises(ValueError, match=r"at least \d+ tokens for 'accp_fetch \$cold") as refusal:
        preview(PROSE, limit=limit, opening=OPENING, counter=counter)
    assert str(refusal.value).endswith(f"found {limit}")


def test_the_least_limit_that_a_refusal_names_is_enough() -> None:
    with pytest.raises(ValueError, match="at least") as refusal:
        preview(PROSE, limit=1, opening=OPENING, counter=counter)
    least = int(str(refusal.value).split("at least ")[1].split(" ")[0])
    assert REF in shown(PROSE, least)
    with pytest.raises(ValueError, match="at least"):
        preview(PROSE, limit=least - 1, opening=OPENING, counter=counter)


def test_a_result_that_fits_is_shown_whole() -> None:
    source = json.dumps(records(5))
    assert shown(source, 1000) == render_text(source, counter=counter).text
    assert shown("prose", 2) == "prose"


def test_what_the_request_names_is_shown_with_its_header() -> None:
    source = json.dumps(orders(200))
    text = shown(source, 200, request="What did the customer of ord_7411 buy?")
    assert "ord_7411 " in text
    assert "orders [200] id customer{" in text
    assert "ord_7411" not in shown(source, 200)


def test_a_fact_among_prose_is_shown() -> None:
    source = PROSE.replace(
        "Paragraph 21. ", "Paragraph 21. The password reset goes to mara@example.org by 2026-04-01. "
    )
    assert "mara@example.org" in shown(source, 700)


def test_identifiers_outweigh_sentences_and_names() -> None:
    told = "\n".join(
        f"Mr. Smith of Bern met Mrs. Jones of Oslo, the Painter, and told Her of Day {n}" for n in range(99)
    )
    source = told.replace("Day 50", "Day 50\n- server_name: osm-mcp-server\n  tool_name: find_parking\n")
    text = shown(source, 150)
    assert "osm-mcp-server" in text
    assert "find_parking" in text


def test_a_request_that_quotes_everything_leaves_room_for_facts() -> None:
    source = "\n".join(f"the word {word} and no other" for word in PROSE.split()[:90]) + "\nkey_7 holds\n" + PROSE
    assert "key_7" in shown(source, 150, request=PROSE)


def test_a_view_that_the_caller_has_is_not_rendered_again() -> None:
    source = json.dumps([webhook()] * 3 + [{"n": number, "log": logs(3)} for number in range(40)])
    view = render_text(source, counter=counter)
    assert preview(source, limit=200, opening=OPENING, counter=counter, view=view) == shown(source, 200)
    assert preview("not looked at", limit=view.tokens_after, opening=OPENING, counter=counter, view=view) == view.text


def test_another_process_shows_the_same() -> None:
    # Lines of equal score: the sum of 1/3, 1/7 and 1/11 depends on the order in which a program adds them.
    program = """
from accp_core import preview
rows = [[f"{letter}_{n:03}" for letter in "abcdefg"] for n in range(100, 160)]
again = [row[place] for row in rows for place in range(7) for _ in range((2, 6, 10, 12, 16, 18, 22)[place])]
source = "\\n".join([*again, *map(" ".join, rows), *again[:9]])
print(preview(source, limit=1500, opening="accp_fetch $cold.1", counter=len))
"""
    shown = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in "123456"
    }
    assert len(shown) == 1


def test_begin_and_end_are_shown() -> None:
    source = "\n".join(f"step {number} was done as it was planned before" for number in range(300))
    lines = shown(source, 200).split("\n")
    assert lines[1].startswith("step 0 ")
    assert lines[-1].startswith("step 299 ")


def test_gaps_are_marked() -> None:
    text = shown(json.dumps(records(300)), 150)
    assert "\n…\n" in text
    assert text.split("\n")[0].startswith("[preview of 301 lines, … marks gaps;")
    assert " … " in shown("word " * 400 + "Mara 4711 " + "word " * 3000, 150, request="Mara")


def test_nothing_that_a_gap_may_hold_is_referred_to() -> None:
    assert "*1" not in shown(json.dumps([webhook()] * 3 + [{"n": number, "log": logs(3)} for number in range(40)]), 300)


def test_options_reach_the_view() -> None:
    source = json.dumps([{"id": number, "body": json.dumps({"a": number, "b": "x y"})} for number in range(100)])
    assert "!json" in shown(source, 150)
    assert "!json" not in shown(source, 150, options=Options(embedded_json=False))


def test_an_empty_text_has_no_preview_where_nothing_fits() -> None:
    with pytest.raises(ValueError, match="expected a limit of at least"):
        preview("", limit=-1, opening=OPENING, counter=counter)
