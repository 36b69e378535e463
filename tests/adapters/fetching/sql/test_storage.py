"""Cells come back as the source has them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accp_adapters.fetching import value_at
from accp_core.documents.json_styles import write_styled_json
from accp_core.packing.values import SpelledFloat
from tests.properties.json_values import values as json_values


def column_of(cells: list[Any]) -> list[Any]:
    """Return the cells of a column that went through SQLite."""
    text = write_styled_json([{"a": cell, "z": 0} for cell in cells], "0")
    return [row["a"] for row in value_at(text, "SELECT a, z FROM rows")]


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
        [2**53 + 1, 1.5],
        [SpelledFloat("0.1234567890123456789"), 3],
        ["007", "7", "", None],
        ["12.50", "9.9", "100"],
        ["$1,200.00", "$5.50"],
        ["03/04/2026", "26/05/2026"],
        [["a", 1], [[]], "[", '["a",1]x', None],
        [1, ["a"], "x"],
        ["\ud800", "nul\0here", "é"],
    ],
)
def test_a_cell_comes_back_as_the_source_has_it(cells: list[Any]) -> None:
    assert spelled(column_of(cells)) == spelled(cells)


texts = st.text(max_size=5) | st.sampled_from(["1", "1.5", "true", "[", "01", "$5", "2026-01-05", "5 kg", "x"])


@pytest.mark.slow
@given(st.lists(st.none() | st.booleans() | texts | json_values, max_size=12))
@settings(max_examples=200, deadline=None)
def test_any_column_of_texts_comes_back(cells: list[Any]) -> None:
    cells = [*cells, "x", "y"]
    assert spelled(column_of(cells)) == spelled(cells)
