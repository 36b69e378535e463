"""A text of which a tool left out the middle: it is read up to there, and said to be cut."""

import json
from typing import Any

import pytest

from accp_core.tables import open_text
from accp_core.view import render_text
from tests.core.previews.test_composition import counter

ROWS = [{"id": n, "name": f"n {n}", "status": "late" if n % 50 == 0 else "paid"} for n in range(600)]
LINES = "\n".join(map(json.dumps, ROWS))
CSV = "id,name,status\n" + "\n".join(",".join(map(str, row.values())) for row in ROWS)
MARKDOWN = "| id | name | status |\n|---|---|---|\n" + "\n".join(
    f"| {row['id']} | {row['name']} | {row['status']} |" for row in ROWS
)
PSQL = " id  | name  | status \n-----+-------+--------\n" + "\n".join(
    f" {row['id']:3} | {row['name']:5} | {row['status']}" for row in ROWS
)
COLUMNS = "NAME      AGE   STATE\n" + "\n".join(f"pod-{n:<5} {n:<5} Running" for n in range(600))
MARKS = [
    "\n\n... [12345 characters omitted] ...\n\n",
    "…(truncated)…",
    "\n<omitted 120 lines>\n",
    "...[truncated 3,000 chars]...",
    "\n[... 120 more lines omitted ...]\n",
    "\n…12345 tokens truncated…\n",
    "\n<response clipped>\n",
    "\n...\n",
    "…",
]


BODY = "first lines\n… 312 lines omitted …\nlast lines"


def ends(text: str, mark: str, head: int = 3_000, tail: int = 3_000) -> str:
    """Return a text whose middle a tool left out, whole lines where its mark says so."""
    if " lines" in mark and "\n" in text:
        head, tail = text.rindex("\n", 0, head), len(text) - text.index("\n", len(text) - tail) - 1
    return f"{text[:head]}{mark}{text[-tail:]}"


def assert_restored(source: str) -> None:
    view = render_text(source, counter=counter)
    assert view.restore() == source
    assert view.tokens_after < view.tokens_before


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("indent", [None, 2], ids=["a line", "indented"])
def test_an_array_is_read_up_to_what_was_left_out(mark: str, indent: int | None) -> None:
    source = ends(json.dumps(ROWS, indent=indent), mark)
    opened = open_text(source)
    rows = opened.tables()[0].rows
    assert opened.cut
    assert list(rows[:-1]) == ROWS[: len(rows) - 1]
    assert len(rows) > 30
    assert_restored(source)


@pytest.mark.parametrize(
    "text", [LINES, CSV, MARKDOWN, PSQL, COLUMNS], ids=["NDJSON", "CSV", "Markdown", "psql", "columns"]
)
@pytest.mark.parametrize("mark", MARKS[:7])
def test_lines_and_grids_before_it_are_rows_and_those_behind_it_can_be_found(text: str, mark: str) -> None:
    source = ends(text, mark)
    opened = open_text(source)
    rows, *_, lines = opened.tables()
    whole = open_text(text).tables()[0].rows
    assert opened.cut
    assert [[*map(str, row.values())] for row in rows.rows[:20]] == [[*map(str, row.values())] for row in whole[:20]]
    assert lines.rows[-1]["text"] == source.split("\n")[-1]
    assert render_text(source, counter=counter).restore() == source


@pytest.mark.parametrize(
    "source",
    [
        f"Result: {json.dumps({'rows': [{'a': 'x … [12 lines omitted] … y'}, {'a': 'z'}] * 9})}\n",
        f"Result: {json.dumps(ROWS[:9])}\n",
        json.dumps({"text": "one\n... 12 lines omitted ...\ntwo", "rows": ROWS[:9]}),
        "id,name\n1,… 312 lines omitted …\n2,Bo\n",
        "commit\n\n    says:\n    … 312 lines omitted …\n    there\n",
        CSV,
        "IllegalState: x\n\tat a.B.c(B.java:1)\nCaused by: IO: y\n\tat a.D.e(D.java:2)\n\t... 14 more\nend of job\n",
    ],
)
def test_what_the_source_says_itself_is_no_gap(source: str) -> None:
    assert not open_text(source).cut


@pytest.mark.parametrize("value", [{"id": 1, "body": BODY, "n": [2]}, {"file": {"content": BODY}, "ok": True}])
def test_a_text_in_a_map_is_cut_where_a_part_is_left_out(value: Any) -> None:
    assert open_text(json.dumps(value)).cut
    assert open_text(json.dumps(value, indent=2, ensure_ascii=False)).cut
    assert not open_text(json.dumps([value, value])).cut


def test_a_text_full_of_marks_is_read_in_time_that_grows_with_its_length() -> None:
    source = json.dumps(ROWS)[:3_000] + "\n... [9 lines omitted] ...\n, {" * 3_000
    assert open_text(source).cut
