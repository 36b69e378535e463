"""A text of which a tool left out the middle: both ends are read, as rows of one table."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from accp_core.documents import Value, read
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
NESTED = json.dumps(
    {"meta": {"page": 1}, "data": {"items": [{**row, "of": [{"k": 1}, {"k": 2}]} for row in ROWS]}, "total": 3}
)
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


def rows_of(source: str) -> list[Any]:
    opened = open_text(source)
    assert opened.is_cut
    (table, *_) = opened.tables()
    return list(table.rows)


def assert_restored(source: str) -> str:
    view = render_text(source, counter=counter)
    assert view.restore() == source
    assert view.tokens_after < view.tokens_before or source.startswith(CSV[:9])
    return view.text


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("indent", [None, 2], ids=["a line", "indented"])
def test_both_ends_of_an_array_are_rows_of_one_table(mark: str, indent: int | None) -> None:
    source = ends(json.dumps(ROWS, indent=indent), mark)
    rows = rows_of(source)
    assert rows[-1] == ROWS[-1]
    assert rows[0] == ROWS[0]
    whole = [row for row in rows if row in ROWS]
    assert len(whole) >= len(rows) - 1
    assert whole == sorted(whole, key=lambda row: row["id"])
    shown = assert_restored(source)
    assert mark.strip() in shown
    assert shown.split("\n")[-1].startswith("599 n 599")


@pytest.mark.parametrize("cut", range(3_000, 3_050, 5))
@pytest.mark.parametrize("write", [json.dumps, repr])
def test_wherever_both_cuts_are(cut: int, write: Callable[[object], str]) -> None:
    source = ends(write(ROWS), "\n... [9 characters omitted] ...\n", cut, cut)
    rows = rows_of(source)
    assert rows[-1] == ROWS[-1]
    assert len([row for row in rows if row not in ROWS]) <= 1
    assert_restored(source)


@pytest.mark.parametrize("indent", [None, 1])
def test_an_array_within_objects_is_joined(indent: int | None) -> None:
    text = json.dumps(json.loads(NESTED), indent=indent)
    source = f"The orders:\n{ends(text, MARKS[0])}\nThat is all."
    opened = open_text(source)
    items = opened.value["data"]["items"]
    assert items[0]["id"] == 0
    assert items[-1] == {**ROWS[-1], "of": [{"k": 1}, {"k": 2}]}
    assert opened.value["total"] == 3
    assert opened.value["meta"] == {"page": 1}
    assert_restored(source)


def test_arrays_of_numbers_and_of_arrays_are_joined() -> None:
    source = ends(json.dumps({"n": list(range(1_000, 3_000))}), " ... 12 items omitted ... ")
    value = open_text(source).value
    assert value["n"][:2] == [1000, 1001]
    assert value["n"][-1] == 2999
    assert open_text(ends(json.dumps([[n, n + 1] for n in range(1_000)]), MARKS[0])).value[-1] == [999, 1000]


@pytest.mark.parametrize(
    "text", [LINES, CSV, MARKDOWN, PSQL, COLUMNS], ids=["NDJSON", "CSV", "Markdown", "psql", "columns"]
)
@pytest.mark.parametrize("mark", MARKS[:7])
def test_both_ends_of_lines_and_grids_are_rows_of_one_table(text: str, mark: str) -> None:
    source = ends(text, mark)
    tables = open_text(source).tables()
    assert [table.name for table in tables] == ["rows", "lines"]
    rows = rows_of(source)
    whole = list(open_text(text).tables()[0].rows)
    assert rows[0] == whole[0]
    assert rows[-1] == whole[-1]
    assert len([row for row in rows if row not in whole]) <= (text is LINES)
    assert mark.strip() in assert_restored(source)


def test_lines_that_were_left_out_leave_whole_rows() -> None:
    lines = CSV.split("\n")
    source = "\n".join([*lines[:100], "<omitted 100 lines>", *lines[200:]])
    assert [row["id"] for row in rows_of(source)] == [*range(99), *range(199, 600)]


@pytest.mark.parametrize(
    "source",
    [
        f"Result: {json.dumps({'rows': [{'a': 'x … [12 lines omitted] … y'}, {'a': 'z'}] * 9})}\n",
        f"Result: {json.dumps(ROWS[:9])}\n",
        json.dumps({"text": "one\n... 12 lines omitted ...\ntwo", "rows": ROWS[:9]}),
        CSV,
    ],
)
def test_what_the_source_says_itself_is_no_gap(source: str) -> None:
    assert not open_text(source).is_cut
    assert not any(isinstance(part, Value) and part.opened for part in read(source).values())


@pytest.mark.parametrize("value", [{"id": 1, "body": BODY, "n": [2]}, {"file": {"content": BODY}, "ok": True}])
def test_a_text_in_a_map_is_cut_where_a_part_is_left_out(value: Any) -> None:
    assert open_text(json.dumps(value)).is_cut
    assert open_text(json.dumps(value, indent=2, ensure_ascii=False)).is_cut
    assert not open_text(json.dumps([value, value])).is_cut


@pytest.mark.parametrize(
    "source",
    [
        ends(json.dumps(ROWS), MARKS[0]).removesuffix("]") + "} more",
        ends(json.dumps(ROWS), MARKS[0])[:-3] + "x",
        f"{json.dumps(ROWS)[:3_000]}{MARKS[0]}That is all.",
        f"{json.dumps({'a': 'b' * 900, 'c': 1})[:-3]}{MARKS[0]}2}}",
        ends(CSV, MARKS[0]).replace("599,n 599", "x" * 30),
        f"one\ntwo\n{MARKS[0]}three\n",
        ends(json.dumps(ROWS), MARKS[0])[:-2] + ', "id": 7}]',
        f"<table><tr><th>a</th></tr><tr><td>1</td></tr><tr><td>2</td></tr></table>{MARKS[0]}<td>3</td></table>",
    ],
)
def test_an_end_that_does_not_fit_stays_text(source: str) -> None:
    opened = open_text(source)
    assert opened.is_cut
    assert "".join(source[part.start : part.end] for part in read(source).parts) == source
    assert render_text(source, counter=counter).restore() == source


def test_a_text_full_of_marks_is_read_in_time_that_grows_with_its_length() -> None:
    source = json.dumps(ROWS)[:3_000] + "\n... [9 lines omitted] ...\n, {" * 3_000
    assert open_text(source).is_cut
