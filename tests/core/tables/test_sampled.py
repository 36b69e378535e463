"""Long JSON texts whose tables are made of a sample."""

import json
import tracemalloc
from collections.abc import Callable, Iterable

import pytest

from accp_core.tables import MAX_WHOLE, SampledTables, open_text, sample_tables

LONG = 300_000


def nowhere(text: str) -> Iterable[int]:
    return ()


def grow(member: Callable[[int], str], head: str = "[", tail: str = "]", sep: str = ",", size: int = LONG) -> str:
    """Return a text of about `size` characters, at least."""
    return head + sep.join(member(number) for number in range(size // (len(member(0)) + len(sep)) + 1)) + tail


def row(number: int) -> str:
    return json.dumps({"id": number, "state": "late" if number % 1_000 == 7 else "open", "pad": "x" * 60})


def with_lines(number: int) -> str:
    return json.dumps({"no": number, "lines": [{"sku": f"s{each}", "n": each} for each in range(3)], "pad": "y" * 90})


def unnamed(number: int) -> str:
    return json.dumps({"x": 1, "lines": [{"sku": "s", "n": 2}], "pad": "y" * 90})


def sampled(text: str, find: Callable[[str], Iterable[int]] = nowhere) -> SampledTables:
    found = sample_tables(text, find)
    assert found is not None
    return found


ROWS = grow(row)
LONG_ROWS = grow(row, size=MAX_WHOLE)
REST = json.dumps({"more": "z" * 520_000})
TEXTS = {
    "rows": ROWS,
    "rows of a map": '{"meta": {"n": 1}, "data": {"orders": ' + ROWS + '}, "errors": [{"code": 4}], "next": null}',
    "a map of maps": grow(lambda n: f'"u{n}": {row(n)}', "{", "}"),
    "a map of scalars": grow(lambda n: f'"u{n}" : {n}', '{ "all": {', "} }"),
    "lines": grow(row, "\n", "\n", "\n"),
    "lines with other ends": grow(row, "", "", " \r\n"),
    "JSON in a string": json.dumps(LONG_ROWS),
    "an MCP answer": json.dumps([{"type": "text", "text": LONG_ROWS}]),
    "an MCP result": json.dumps({"content": [{"type": "text", "text": LONG_ROWS}]}),
    "lines behind a byte order mark": grow(row, "\ufeff\n", "\n", "\n"),
    "rows behind a byte order mark": "\ufeff" + ROWS,
    "an MCP answer with byte order marks": "\ufeff" + json.dumps([{"type": "text", "text": f"\ufeff{LONG_ROWS}"}]),
    "lines of arrays of rows": grow(
        lambda n: f"[{', '.join(row(n + part) for part in range(n % 3 + 1))}]", "", "", "\n"
    ),
    "numbers": grow(lambda n: str(n * 7 % 1_000 + 1_000)),
    "strings": grow(lambda n: json.dumps(f"string {n * 7 % 1_000 + 1_000}")),
    "text blocks": grow(lambda n: json.dumps({"type": "text", "text": f"block {n}"}), size=3 * LONG),
    "rows with children": grow(with_lines),
    "rows with children and no key": grow(unnamed),
    "rows behind a long beginning": '{"note": {"text": "' + "word " * 16_000 + '"}, "rows": ' + LONG_ROWS + "}",
    "a map of arrays": grow(lambda n: f'"k{n}": [{{"t": {n}}}, {{"t": {n}}}]', "{", "}"),
    "little but rows behind it": '{"rows": ' + ROWS + ', "rest": ' + REST + "}",
    "few long members": json.dumps(["x" * 510_000] * 3),
    "much behind the rows": '{"rows": ' + LONG_ROWS + ', "rest": ' + REST + "}",
    "an MCP answer of two parts": json.dumps([{"type": "text", "text": "a"}, {"type": "text", "text": ROWS}]),
    "two arrays in a map": f'{{"a": {LONG_ROWS}, "b": {ROWS}, "c": [1, 2]}}',
    "arrays in few maps": f'{{"a": {{"page": 1, "rows": {LONG_ROWS}}}, "b": {{"page": 2, "rows": {ROWS}}}}}',
    "children of few rows": f'[{{"id": 1, "lines": {LONG_ROWS}}}, {{"id": 2, "lines": {ROWS}}}, {{"id": 3}}]',
    "children of many rows": grow(lambda n: f'{{"id": {n}, "lines": {grow(row, size=70_000)}}}', size=MAX_WHOLE),
    "long texts in few rows": json.dumps([{"id": n, "text": "x, y " * 60_000} for n in range(9)]),
    "a line in the window": grow(row, "\n" * 10, "", "\n", size=MAX_WHOLE),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_tables_of_a_sample_are_those_of_the_text(name: str) -> None:
    text = TEXTS[name]
    found = sampled(text)
    whole = {table.name: table for table in open_text(text).tables()}
    assert [table.name for table in found.tables] == list(whole)
    for table in found.tables:
        assert set(table.columns) <= set(whole[table.name].columns)
        assert table.parent in (None, whole[table.name].parent)
        if table.name in found.totals:
            assert found.totals[table.name] in (None, len(whole[table.name].rows))
            assert len(table.rows) < len(whole[table.name].rows)
            first = table.columns[0]
            begin = [[row[first] for row in each.rows[:99]] for each in (table, whole[table.name])]
            assert begin[0] == begin[1]
        else:
            assert list(table.rows) == list(whole[table.name].rows)


def emoji(number: int) -> str:
    return json.dumps(
        {"id": number, "state": "\U0001f600", "path": "C:\\ud83d\\ude00", "half": "\ud83d", "pad": "x" * 60}
    )


@pytest.mark.parametrize("wrap", [json.dumps, lambda text: json.dumps({"text": text})])
def test_a_string_with_an_escape_of_four_bytes_is_not_kept_as_one(wrap: Callable[[str], str]) -> None:
    text = wrap("word " * LONG + "\U0001f600")
    tracemalloc.start()
    try:
        assert sample_tables(text, nowhere) is None
        assert tracemalloc.get_traced_memory()[1] < 3 * len(text)
    finally:
        tracemalloc.stop()


def test_all_members_are_counted() -> None:
    (table,) = sampled(ROWS).tables
    assert sampled(ROWS).totals == {"rows": len(json.loads(ROWS))}
    assert table.rows[-1]["id"] == len(json.loads(ROWS)) - 1
    assert sampled(TEXTS["rows of a map"]).totals == {"data.orders": len(json.loads(ROWS))}


def test_members_at_given_places_are_in_the_sample() -> None:
    place = ROWS.index('"id": 2345,')
    numbers = {each["id"] for each in sampled(ROWS, lambda text: (0, 1, place, place + 5)).tables[0].rows}
    assert 2345 in numbers
    assert 2345 not in {each["id"] for each in sampled(ROWS).tables[0].rows}


def test_row_numbers_of_a_sample_are_not_shown() -> None:
    rows, lines = sampled(TEXTS["rows with children and no key"]).tables
    assert "_row" not in rows.columns
    assert lines.parent is None
    assert lines.columns == ("sku", "n")
    assert sampled(TEXTS["rows with children"]).tables[1].parent is not None
    assert sampled(TEXTS["rows with children"]).totals["lines"] is None


NOT_SAMPLED = {
    "a number": " " * LONG + "7",
    "no bracket": '{"a" 1}' * (LONG // 7),
    "no value in a first line": "{]\n" * LONG,
    "a cut text": ROWS[:-40],
    "a cut text behind a member": ROWS[: ROWS.rindex(",")],
    "a wrong bracket": ROWS[:-1] + "}",
    "an array of arrays of rows": f"[{ROWS}, {ROWS}]",
    "a string that is no JSON": json.dumps("word " * LONG),
    "a string that is short": json.dumps("word") + " " * LONG,
    "lines with a line of text": grow(row, "", "\nEnd.\n", "\n"),
    "lines that end in two ways": grow(row, "", "\u2028", "\n"),
    "a few lines": "\n".join(json.dumps({"id": n, "text": "x" * 60_000 * (n > 0) * 10}) for n in range(5)),
    "a long first line": json.dumps({"id": 1, "text": "x" * 70_000}) + "\n" + ROWS,
    "unlike maps": grow(lambda n: f'"k{n}": {{"{n}a": [{{"b{n}": 1}}]}}', "{", "}"),
    "no rows": '{"a": ' + grow(lambda n: f'"k{n}": {{}}', "{", "}") + "}",
    "deep": "[" * LONG,
    "levels of long arrays": "[" * 20 + "1, " * 400_000,
    "long cells": json.dumps([{"id": n, "cells": list(range(12_000))} for n in range(9)]),
    "long arrays in a map of arrays": "{" + ", ".join(f'"k{n}": {grow(row)}' for n in range(17)) + "}",
    "members that leave no room": f'{{"a": {grow(lambda n: json.dumps({"k": "x" * 60_000}), size=MAX_WHOLE)}}}',
    "rows in a map in arrays": f'[[{{"a": {ROWS}}}]]',
    "cells of many rows": grow(lambda n: json.dumps({"id": n, "n": [[2**50] * 6] * 650}), size=MAX_WHOLE),
    "long maps in rows": json.dumps([{f"k{each}": "x" * 90 for each in range(3_000)}, 1]),
    "a Python literal": repr(json.loads(ROWS)),
    "an emoji as an escape": json.dumps({"text": "word " * 60_000 + "\U0001f600"}),
    "a long number": "[" + "7" * 400_000 + "]",
    "text behind rows": ROWS + " and so on",
}


@pytest.mark.parametrize("name", NOT_SAMPLED)
def test_another_text_has_no_sample(name: str) -> None:
    assert sample_tables(NOT_SAMPLED[name], nowhere) is None
