"""Tables in frames: keys once, in their order; and the value again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from accp_adapters.mcp.shim.results.columns import pack_tables, unpack_tables
from accp_core.packing.expansion import Expansion, ExpansionError
from accp_core.packing.number import SpelledFloat
from tests.properties.json_values import values


def test_maps_of_one_shape_become_a_header_and_rows() -> None:
    value = {"rows": [{"b": 1, "a": "x"}, {"b": 2, "a": "y"}], "n": 2}
    assert pack_tables(value) == ({"rows": [["b", "a"], [1, "x"], [2, "y"]], "n": 2}, [["rows"]], [["rows", "n"]])


def test_tables_stand_within_tables() -> None:
    inner = [{"y": 1, "x": 2}, {"y": 3, "x": 4}]
    value = [{"k": inner, "j": 0}, {"k": inner, "j": 1}]
    packed, tables, orders = pack_tables(value)
    assert packed == [["k", "j"], [[["y", "x"], [1, 2], [3, 4]], 0], [[["y", "x"], [1, 2], [3, 4]], 1]]
    assert tables == [[], [0, "k"], [1, "k"]]
    assert json.dumps(unpack_tables(packed, tables, orders)) == json.dumps(value)


@pytest.mark.parametrize("value", [[{"a": 1}], [{"a": 1}, {"b": 1}], [{"a": 1}, 5], [{}, {}], [], 5, [[1], [2]]])
def test_what_is_no_table_stays(value: Any) -> None:
    assert pack_tables(value) == (value, [], [])


def test_columns_can_be_left_to_a_peer_that_reads_them() -> None:
    value = [{"b": 1, "a": 2}, {"b": 3, "a": 4}]
    assert pack_tables(value, columns=False) == (value, [], [["b", "a"]])


@pytest.mark.parametrize(
    "value", [[{"a": 1, "b": 2}, {"b": 1, "a": 2}], [SpelledFloat("1.50")], {"x": SpelledFloat("1E5")}]
)
@pytest.mark.parametrize("columns", [False, True])
def test_what_a_note_cannot_say_is_refused(value: Any, columns: bool) -> None:
    with pytest.raises(ValueError, match="expected"):
        pack_tables(value, columns=columns)


@given(values)
def test_every_value_comes_back_with_its_keys_in_order(value: Any) -> None:
    for columns in (False, True):
        try:
            packed = pack_tables(value, columns=columns)
        except ValueError:
            continue
        # Keys are sorted on the way.
        travelled = json.loads(json.dumps(packed[0], sort_keys=True))
        assert json.dumps(unpack_tables(travelled, *packed[1:])) == json.dumps(value)


def test_the_keys_of_all_rows_are_counted_before_they_are_written() -> None:
    packed = [["name", "b"], [1, 2], [3, 4]]
    assert unpack_tables(packed, [[]], [], Expansion(14)) == [{"name": 1, "b": 2}, {"name": 3, "b": 4}]
    with pytest.raises(ExpansionError, match="found 'a table', which adds 14 to at most 13"):
        unpack_tables(packed, [[]], [], Expansion(13))
