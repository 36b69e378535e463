"""The keys of a frame's value in their order again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from accp_adapters.mcp.shim.results.key_orders import key_orders, with_key_orders
from accp_core.packing.number import SpelledFloat
from tests.properties.json_values import values


def test_a_shape_is_noted_once_and_only_where_its_keys_are_not_sorted() -> None:
    assert key_orders([{"b": 1, "a": 2}, {"a": 1, "c": 2}, {"b": 3, "a": 4}]) == [["b", "a"]]


@pytest.mark.parametrize(
    "value", [[{"a": 1, "b": 2}, {"b": 1, "a": 2}], [SpelledFloat("1.50")], {"x": SpelledFloat("1E5")}]
)
def test_what_a_note_cannot_say_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="expected"):
        key_orders(value)


@given(values)
def test_every_value_comes_back_with_its_keys_in_order(value: Any) -> None:
    try:
        orders = key_orders(value)
    except ValueError:
        return
    # Keys are sorted on the way.
    travelled = json.loads(json.dumps(value, sort_keys=True))
    assert json.dumps(with_key_orders(travelled, orders)) == json.dumps(value)
