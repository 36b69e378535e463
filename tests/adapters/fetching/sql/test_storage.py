"""Cells come back as the source has them, and compare as the values that they are."""

from __future__ import annotations

import json
from functools import cmp_to_key
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accp_adapters.fetching.sql.database import DatabaseCache
from accp_adapters.fetching.sql.run import run_query
from accp_adapters.fetching.sql.storage import NUMBER, compare_as_numbers, store_column
from accp_core.packing.embedded_json import write_styled_json
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


@given(st.lists(scalars | json_values, min_size=1, max_size=12))
@settings(max_examples=200, deadline=None)
def test_any_column_comes_back(cells: list[Any]) -> None:
    column, stored = store_column(cells)
    assert spelled([column.restore(value) for value in stored]) == spelled(cells)


@pytest.mark.parametrize(
    ("cells", "kind", "collation"),
    [
        ([1, 2, None], "INTEGER", ""),
        ([True, None], "INTEGER", ""),
        ([1, 2.5], "REAL", ""),
        (["a", "1"], "TEXT", ""),
        (["1", "2.50"], "TEXT", NUMBER),
        ([1, "a"], "TEXT", NUMBER),
        ([2**64, 1], "TEXT", NUMBER),
        ([None], "TEXT", ""),
    ],
)
def test_a_column_is_kept_in_the_plainest_way(cells: list[Any], kind: str, collation: str) -> None:
    column, _ = store_column(cells)
    assert (column.type, column.collation) == (kind, collation)


def test_texts_that_are_numbers_are_sorted_as_numbers() -> None:
    texts = ["10", "9", "-1", "1e3", "18446744073709551616", "18446744073709551615", "9.90", "a", "", "007"]
    ordered = sorted(texts, key=cmp_to_key(compare_as_numbers))
    assert ordered == ["-1", "9", "9.90", "10", "1e3", "18446744073709551615", "18446744073709551616", "", "007", "a"]
    assert compare_as_numbers("12.50", "12.5") == 0


def test_an_aggregate_of_large_integers_is_exact() -> None:
    database = DatabaseCache().get(json.dumps([{"id": 2**64 - n} for n in range(3)]))
    result = run_query("SELECT max(id) AS m, min(id) AS l, typeof(id) AS t FROM r0.`rows`", [database], max_rows=5)
    assert result.rows == [{"m": 2**64, "l": 2**64 - 2, "t": "text"}]
