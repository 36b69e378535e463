"""Cells come back as the source has them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accp_adapters.fetching import value_at
from accp_core.documents.json_styles import write_styled_json
from accp_core.errors import ProtocolError
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
        [True, 1, 0, "1"],
        [1.5, 2, SpelledFloat("12.50"), SpelledFloat("1E5"), None],
        [2**53 + 1, 1.5],
        [SpelledFloat("0.1234567890123456789"), 3],
        ["007", "7", "", None],
        ["12.50", "9.9", "100"],
        ["$1,200.00", "$5.50"],
        ["03/04/2026", "26/05/2026"],
        [["a", 1], [[]], "[", '["a",1]x', None],
        [1, ["a"], "x", "[]", []],
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


# The value that a query finds, for a program.

ORDERS = {"orders": [{"id": n, "buyer": f"b{n % 2}", "total": n + 0.5} for n in range(4)]}


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("", ORDERS),
        ("orders.2.buyer", "b0"),
        ("$.orders[3]", {"id": 3, "buyer": "b1", "total": 3.5}),
        ("SELECT max(total) FROM orders", 3.5),
        ("select id from orders where buyer = 'b1'", [1, 3]),
        ("SELECT id, buyer FROM orders WHERE id > 2", [{"id": 3, "buyer": "b1"}]),
        ("SELECT id FROM orders WHERE id > 9", []),
    ],
)
def test_a_path_or_a_select_finds_a_value(query: str, value: Any) -> None:
    assert value_at(json.dumps(ORDERS), query) == value


@pytest.mark.parametrize("text", [json.dumps(ORDERS), "all is well"])
@pytest.mark.parametrize("query", ["orders.9", "nothing", "SELECT nothing FROM nowhere"])
def test_a_query_that_finds_nothing_is_refused(text: str, query: str) -> None:
    with pytest.raises(ProtocolError) as refused:
        value_at(text, query)
    assert refused.value.code == "E1004"


@pytest.mark.parametrize("name", ["$", "$x", "$cold.1", f"$cold.{'0' * 24}", "rows", "lines", "root", "select"])
def test_an_array_of_any_name_is_a_table(name: str) -> None:
    source = json.dumps({"id": [{"id": 1}], name: [{"id": 2}, {"id": 3}]})
    assert value_at(source, f'select count(*) from "{name}"') == 2


def test_integers_beyond_64_bits_that_floats_do_not_tell_apart_are_texts() -> None:
    big = json.dumps([{"id": 2**63 + n} for n in (1, 2, 3)])
    assert value_at(big, "SELECT id FROM rows WHERE id = '9223372036854775810'") == 2**63 + 2
    with pytest.raises(ProtocolError, match=r"E1004: expected a text beside id, .* write id = '9223372036854775810'"):
        value_at(big, "SELECT id FROM rows WHERE id = 9223372036854775810")


@pytest.mark.parametrize("zero", ["-0", "-0.0", "-0.00"])
def test_a_negative_zero_keeps_its_sign_in_answers(zero: str) -> None:
    text = f'[{{"id": 1, "offset": {zero}}}, {{"id": 2, "offset": {zero}}}]'
    assert list(map(repr, value_at(text, "select offset from rows where offset = 0"))) == [zero, zero]
