"""Cells come back as the source has them, and compare as the values that they are."""

from __future__ import annotations

import json
from functools import cmp_to_key
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_adapters.fetching.sql.catalog import Catalog
from accp_adapters.fetching.sql.comparing.numerals import compare_ascending
from accp_adapters.fetching.sql.database import DatabaseCache
from accp_adapters.fetching.sql.resolve import resolve_select
from accp_adapters.fetching.sql.run import run_query
from accp_adapters.fetching.sql.storage import NO_CELL, store_column
from accp_core.documents.json_styles import write_styled_json
from accp_core.packing.number import SpelledFloat
from tests.properties.json_values import values as json_values


def column_of(*cells: Any) -> list[Any]:
    """Return the cells of a column that went through SQLite."""
    text = write_styled_json([{"a": cell, "z": 0} for cell in cells], "0")
    database = DatabaseCache().get(text)
    return [row["a"] for row in run_query("SELECT a FROM r0.`rows`", [database], max_rows=100).rows]


def spelled(values: list[Any]) -> list[str]:
    return [write_styled_json(value, "0") for value in values]


@pytest.mark.parametrize(
    "cells",
    [
        [1, None, 2**63 - 1, -(2**63)],
        [2**63, 18446744073709551615, 5, None],
        [True, False, None],
        [True, 1, 0, "true", "1"],
        [1.5, 2, SpelledFloat("12.50"), SpelledFloat("1E5"), None],
        [SpelledFloat("12.500"), SpelledFloat("12.50"), 12.5],
        [5, 5.0],
        [2**53 + 1, 1.5],
        [SpelledFloat("0.1234567890123456789"), 3],
        ["007", "7", "", None],
        ["12.50", "9.9", "100"],
        [["a", 1], [[]], "[", '["a",1]x', None],
        [1, ["a"], "x"],
        ["\ud800", "nul\0here", "é"],
    ],
)
def test_a_cell_comes_back_as_the_source_has_it(cells: list[Any]) -> None:
    found = column_of(*cells)
    assert spelled(found) == spelled(cells)
    assert list(map(type, found)) == list(map(type, cells))


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["1.50", "-0.0", "1E2", "1.5e0"]).map(SpelledFloat)
    | st.text(max_size=5)
    | st.sampled_from(["1", "1.5", "true", "[", "01", "1\v"])
)


@pytest.mark.slow
@given(st.lists(scalars | json_values, min_size=1, max_size=12))
def test_any_column_comes_back(cells: list[Any]) -> None:
    column, stored = store_column(cells)
    assert spelled([column.restore(value) for value in stored]) == spelled(cells)


@pytest.mark.parametrize(
    ("cells", "kind", "numbers"),
    [
        ([1, 2, None], "INTEGER", 2),
        ([True, None], "INTEGER", 0),
        ([1, 2.5], "REAL", 2),
        (["a", "1", "01"], "TEXT", 1),
        (["1", "2.50"], "TEXT", 2),
        ([1, "a", "2", ""], "TEXT", 2),
        ([2**64, 1], "TEXT", 2),
        ([None], "TEXT", 0),
    ],
)
def test_a_column_is_kept_in_the_plainest_way(cells: list[Any], kind: str, numbers: int) -> None:
    column, _ = store_column(cells)
    assert (column.type, column.numbers) == (kind, numbers)


def test_the_kinds_of_cells_are_counted() -> None:
    column, stored = store_column([None, NO_CELL, [1], {"a": 1}, "x", 1.5, True, NO_CELL])
    kinds = {"null": 1, "absent": 2, "arrays": 1, "objects": 1, "text": 1, "number": 1, "boolean": 1}
    assert column.kinds == kinds
    assert stored == [None, None, "[1]", '{"a":1}', "x", "1.5", "true", None]


def test_texts_that_are_numbers_are_sorted_as_numbers() -> None:
    texts = ["10", "9", "-1", "1e3", "18446744073709551616", "18446744073709551615", "9.90", "a", "", "007"]
    ordered = sorted(texts, key=cmp_to_key(compare_ascending))
    assert ordered == ["-1", "9", "9.90", "10", "1e3", "18446744073709551615", "18446744073709551616", "", "007", "a"]
    assert compare_ascending("12.50", "12.5") == 0


def test_an_aggregate_of_large_integers_is_exact() -> None:
    database = DatabaseCache().get(json.dumps([{"id": 2**64 - n} for n in range(3)]))
    catalog = Catalog([database], ["k"])
    query = resolve_select("SELECT max(id) AS m, min(id) AS l, typeof(id) AS t FROM rows", catalog)
    assert run_query(query.sql, [database], max_rows=5).rows == [{"m": 2**64, "l": 2**64 - 2, "t": "text"}]
