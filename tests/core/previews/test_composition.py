"""What of a result too big to show is shown."""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys

import pytest

from accp_adapters.tokens import o200k_base
from accp_core import preview
from accp_core.previews.marks import Marks
from tests.core.view.payloads import logs, orders, webhook

counter = o200k_base()
REF = "$cold.1f2e3d4c"
OPENING = f"accp_fetch {REF}"

PROSE = "\n\n".join(
    f"Paragraph {number}. " + "The committee met again and decided nothing of any note whatever. " * 6
    for number in range(40)
)
SOURCES = {
    "prose": PROSE,
    "one long line": "word " * 3000,
    "one long word": "x" * 20_000,
    "a repr": f"Result(text={PROSE!r})",
    "scripts": "日本語のテキスト。中文文本没有空格。" * 300,
}


def shown(source: str, limit: int, request: str = "") -> str:
    """Return the preview, which must fit."""
    text = preview(source, limit=limit, opening=OPENING, counter=counter, request=request)
    assert counter(text) <= limit
    return text


def log(lines: int) -> str:
    """Return lines of one kind, and two errors."""
    rows = [
        f"2026-01-01 12:{n % 60:02} INFO worker-{n % 7} handled request {n * 7919:x} in {n % 200} ms"
        for n in range(lines)
    ]
    rows[lines // 3] = "2026-01-01 12:20 ERROR worker-3 gave up: upstream timeout"
    rows[2 * lines // 3] = "2026-01-01 12:40 ERROR worker-5 gave up: connection refused"
    return "\n".join(rows)


@pytest.mark.parametrize("name", SOURCES)
def test_the_preview_of_a_text_uses_its_room(name: str) -> None:
    assert counter(shown(SOURCES[name], 400)) > 160


def test_what_the_request_names_is_shown_with_its_columns() -> None:
    source = json.dumps(orders(200))
    text = shown(source, 200, request="What did the customer of ord_7411 buy?")
    assert "\n[1] id customer.name, " in text
    assert "\nord_7411 Gus Holt, Oslo " in text
    assert "ord_7411" not in shown(source, 200)


@pytest.mark.slow
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


def test_a_word_of_the_request_is_found_in_a_long_text() -> None:
    source = log(30_000).replace(f"request {7_001 * 7919:x} in", "request for mara@example.org in")
    assert "mara@example.org" in shown(source, 250, request="what did mara@example.org want?")


def test_what_is_binary_is_sized() -> None:
    blob = base64.b64encode(hashlib.sha512(b"x").digest() * 600).decode()
    digest = hashlib.sha256(b"y").hexdigest()
    ruler = "-" * 300
    path = "/".join(["releases", "server", "linux"] * 9)
    text = shown(f"icon: {blob}\nsha256 {digest}\n{ruler}\n{path}\n" + PROSE, 400)
    assert f"icon: […base64, {len(blob):,} characters]" in text
    assert "sha256 […hex, 64 characters]" in text
    assert blob[:80] not in text
    assert ruler in text
    assert path in text
    rows = json.dumps([{"id": number, "icon": blob} for number in range(50)])
    assert f"[…base64, {len(blob):,} characters]" in shown(rows, 200)


@pytest.mark.parametrize("seed", range(8))
def test_what_looks_like_a_word_by_chance_does_not_make_base64_a_name(seed: int) -> None:
    blob = base64.b64encode(b"".join(hashlib.sha512(b"%d" % (9 * seed + n)).digest() for n in range(9))).decode()
    with_word = f"{blob[:400]}/abcdef/{blob[400:]}"
    assert Marks().size_blobs(with_word).startswith(Marks().gap("")[:-1])


# Tables


def test_long_texts_in_rows_are_shown_in_part() -> None:
    hits = [{"url": f"https://example.org/{n}", "text": f"{PROSE} The code is K-{n}{n}7."} for n in range(4)]
    text = shown(json.dumps(hits), 400)
    assert all(f"https://example.org/{n}" in text for n in range(4))
    assert all(f"K-{n}{n}7" in text for n in range(4))
    assert "rows: 4 rows; " in text


def test_of_a_wide_table_the_columns_that_fit_are_named_and_the_others_counted() -> None:
    rows = [{f"field_{column}": number * column for column in range(300)} for number in range(50)]
    text = shown(json.dumps(rows), 150, request="the field_7 of all")
    assert re.search(r"; field_1; .*; field_19; .*\[…2\d\d columns\]$", text)


@pytest.mark.parametrize("empty", [[], {}])
def test_rows_without_a_cell_are_counted(empty: object) -> None:
    source = json.dumps({"checks": [empty] * 3, "notes": [{"n": n, "text": "as before"} for n in range(60)]})
    assert "checks: 3 rows" in shown(source, 100)


def test_many_tables_are_counted() -> None:
    source = json.dumps({f"t{number}": [{"a": number, "b": text} for text in "xyz" * 20] for number in range(14)})
    assert shown(source, 400).endswith("[…2 tables]")


def test_nothing_that_a_gap_may_hold_is_referred_to() -> None:
    assert "*1" not in shown(json.dumps([webhook()] * 3 + [{"n": number, "log": logs(3)} for number in range(40)]), 300)


def test_an_empty_text_has_no_preview_where_nothing_fits() -> None:
    with pytest.raises(ValueError, match="expected a limit of at least"):
        preview("", limit=-1, opening=OPENING, counter=counter)


LONG_ROWS = [
    {"id": n, "state": "down" if n == 4_321 else "up", "on": [{"port": n}], "pad": "x" * 300} for n in range(6_000)
]


def test_of_a_result_of_megabytes_all_rows_are_counted_and_some_described() -> None:
    text = shown(json.dumps({"hosts": LONG_ROWS, "next": None}), 400)
    assert re.search(r"^hosts: 6,000 rows, [0-9,]+ of them described, [0-9]+ shown; ", text, re.MULTILINE)
    assert re.search(r"^hosts.on: 6,000 rows, 1,000 of them described, [0-9]+ shown, hosts_id = ", text, re.MULTILINE)


def test_a_result_of_megabytes_behind_a_byte_order_mark_has_its_rows() -> None:
    source = json.dumps({"hosts": LONG_ROWS})
    assert "\nhosts: 6,000 rows, 1,000 of them described, " in shown("\ufeff" + source, 400)


def test_a_result_of_megabytes_that_has_no_rows_is_read_whole() -> None:
    long = "A sentence about nothing. " * 30_000
    assert "root: 1 row" in shown(json.dumps({"a": long, "b": long, "c": long}), 400)
    assert shown(long * 3, 400).startswith("[preview of 1 line; ")
