"""A later version of a text as what changed in it."""

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_adapters.tokens import o200k_base
from accp_core.compression import ResultLimits
from accp_core.projection import CallRecord, MessageRecord, ProjectionRules, Projector, Role
from accp_core.projection.versions import changed_lines
from accp_core.references import key_of, short_reference
from tests.work import grows_in_proportion

counter = o200k_base()
FILE = "\n".join(
    "" if n % 9 == 8 else f"def f_{n}(x): return x * {n * n}  # the function number {n}" for n in range(400)
)
EDITED = FILE.replace("x * 2500 ", "x * 7 ").replace(
    "\ndef f_101(", "\ndef g(x): return [as above: 3 lines]\ndef f_101("
)
ROWS = [{"id": f"T-{n}", "status": "open", "note": f"note {n * n}"} for n in range(300)]
CLOSED = [{**row, "status": "closed"} if row["id"] == "T-77" else row for row in ROWS]


def results(*texts: str, tool: str = "read", ref: str = "", **changes: Any) -> list[str]:
    """Return what a model is sent of the results of calls of one tool."""
    fields: dict[str, Any] = {"limits": ResultLimits(inline=400, preview=300), "batch_limit": 16_000, **changes}
    projector = Projector(ProjectionRules(counter=counter, open_with="accp_fetch", **fields))
    shown = []
    for number, text in enumerate(texts):
        call = CallRecord(id=f"c{number}", name=tool, args={"ref": ref or short_reference(key_of(f"{number // 2}"))})
        projector.project(MessageRecord(role=Role.MODEL, blocks=("",), calls=(call,)))
        message = MessageRecord(role=Role.TOOL, blocks=(text,), call_id=call.id)
        shown.append(projector.project(message).blocks[0] or text)
    return shown


def test_a_later_version_of_a_file_is_shown_as_the_lines_that_changed() -> None:
    first, second = results(FILE, EDITED)
    earlier, later = (short_reference(key_of(text)) for text in (FILE, EDITED))
    assert f"accp_fetch {earlier}" in first
    assert second.split("\n") == [
        f"[preview: {later}; as {earlier} but for:]",
        "-51: def f_50(x): return x * 2500  # the function number 50",
        "+51: def f_50(x): return x * 7  # the function number 50",
        "+102: def g(x): return [source text: as above: 3 lines]",
    ]
    assert results(FILE, EDITED, repeats=False)[1].startswith(f"[preview: 401 lines {later}]\n")
    assert "but for" not in results(FILE, EDITED, repeats=False)[1]


@pytest.mark.parametrize("of", [lambda rows: rows, lambda rows: {"next": None, "items": rows}], ids=["list", "object"])
@pytest.mark.parametrize("indent", [None, 2])
def test_a_later_poll_is_shown_as_the_rows_that_changed(of: Any, indent: int | None) -> None:
    _, second = results(*(json.dumps(of(rows), indent=indent) for rows in (ROWS, CLOSED)))
    name = "" if of(1) == 1 else "items "
    row = '{"id":"T-77","status":"%s","note":"note 5929"}'
    head, *lines = second.split("\n")
    number = 78 if not name else 79
    assert re.fullmatch(r"\[preview: \$cold\.\d{12}; as \$cold\.\d{12} but for:\]", head)
    assert lines == [f"-{number}: {name}{row % 'open'}", f"+{number}: {name}{row % 'closed'}"]


def test_a_later_version_of_maps_in_maps_is_shown_by_the_names_that_hold_what_changed() -> None:
    paths = {f"/orders/{n}": {"get": {"tags": [f"a{n}"], "reply": {"200": f"Order {n}"}}} for n in range(90)}
    changed = {**paths, "/orders/7": {"get": {"tags": ["a7"], "reply": {"200": "Gone"}}}}
    _, second = results(*(json.dumps({"version": v, "paths": p}) for v, p in (("3.4", paths), ("3.5", changed))))
    assert '+1: version "3.5"' in second
    assert '+17: paths./orders/7.get.reply {"200":"Gone"}' in second


def test_a_later_version_with_other_numbers_in_most_lines_says_how_many() -> None:
    scrapes = ["\n".join(f'requests{{path="/{n}"}} {n * n + 7 * at}' for n in range(300)) for at in range(2)]
    head = results(*scrapes)[1].split("\n")[0]
    assert head.endswith(f"; 300 changed since {short_reference(key_of(scrapes[0]))}]")


@pytest.mark.parametrize(
    "later",
    [
        FILE[: len(FILE) // 3],
        FILE.replace("function", "procedure"),
        json.dumps(ROWS),
        FILE * 20,
        "\n".join(reversed(FILE.split("\n"))),
    ],
    ids=["a third", "all lines differ", "another", "too long", "much in another order"],
)
def test_what_is_no_later_version_has_its_own_preview(later: str) -> None:
    assert "but for" not in results(FILE, later)[1]


def test_a_version_of_many_removed_lines_names_their_numbers() -> None:
    lines = FILE.split("\n")
    _, second = results(FILE, "\n".join(lines[:90] + lines[200:]))
    assert second.split("\n")[1:] == ["-91 to 200: 110 lines"]


def test_a_fetched_answer_leaves_out_lines_that_stand_in_an_ordinary_result() -> None:
    limits = ResultLimits(inline=16_000)
    projector = Projector(ProjectionRules(counter=counter, open_with="accp_fetch", limits=limits, batch_limit=16_000))
    read = "\n".join(FILE.split("\n")[:150])
    shown = []
    for number, (tool, text) in enumerate((("read", read), ("accp_fetch", FILE), ("accp_fetch", EDITED))):
        call = CallRecord(id=f"c{number}", name=tool, args={"ref": short_reference(key_of(text))})
        projector.project(MessageRecord(role=Role.MODEL, blocks=("",), calls=(call,)))
        answer = MessageRecord(role=Role.TOOL, blocks=(text,), call_id=call.id)
        shown.append(projector.project(answer).blocks[0] or text)
    rest = FILE.split("\n")[150:]
    assert shown[0] == read
    assert shown[1].split("\n") == ['[as above: 150 lines from "def f_0(…"]', *rest]
    # No difference from an answer whose lines are behind a marker.
    assert "but for" not in shown[2]
    assert [line for line in shown[2].split("\n") if not line.startswith("[as above: ")] == [
        "def f_50(x): return x * 7  # the function number 50",
        "def g(x): return [as above: 3 lines]",
    ]


lines = st.lists(st.sampled_from("abcdefgh"), max_size=14)


def applied(earlier: Sequence[str], changed: Sequence[str]) -> list[str]:
    """Return the later version that a reader of the earlier one makes of the lines that changed."""
    gone: set[int] = set()
    added: dict[int, str] = {}
    for line in changed:
        head, _, text = line.partition(": ")
        first, _, last = head[1:].partition(" to ")
        if line.startswith("+"):
            added[int(first)] = text
        else:
            gone.update(range(int(first), int(last or first) + 1))
    left = iter([line for number, line in enumerate(earlier, 1) if number not in gone])
    count = len(earlier) - len(gone) + len(added)
    return [added[number] if number in added else next(left) for number in range(1, count + 1)]


@given(lines, lines)
def test_a_reader_of_the_earlier_version_has_the_later_one(earlier: list[str], later: list[str]) -> None:
    changed = changed_lines(earlier, later)
    assert applied(earlier, changed) == later
    assert bool(changed) == (earlier != later)


@pytest.mark.parametrize("line", [lambda n: "same", str, lambda n: str(n % 2)], ids=["same", "unique", "two"])
def test_versions_are_compared_in_proportion_to_their_lines(line: Any) -> None:
    def compare(size: int) -> None:
        texts = [line(number) for number in range(size)]
        changed_lines(texts, texts[::-1])

    assert grows_in_proportion(compare, 500)


def test_a_later_version_that_its_tool_cut_off_says_so() -> None:
    texts = (FILE, f"{EDITED}\n... [300 lines omitted] ...")
    head = results(*texts)[1].split("\n")[0]
    assert head.startswith(f"[preview: source cut off {short_reference(key_of(texts[1]))}; as ")
    assert head.endswith(" but for:]")


@pytest.mark.parametrize("form", ["{:6}\t{}", "{:>6}→{}"])
def test_a_text_with_numbers_before_its_lines_is_a_version_of_that_without(form: str) -> None:
    numbered = "\n".join(form.format(n, line) for n, line in enumerate(FILE.split("\n"), 1))
    later = short_reference(key_of(EDITED))
    assert results(numbered, EDITED)[1].split("\n")[1:] == results(FILE, EDITED)[1].split("\n")[1:]
    assert results(numbered, EDITED)[1].startswith(
        f"[preview: {later}; as {short_reference(key_of(numbered))} but for:]"
    )
