"""Sizes and equality of results."""

from __future__ import annotations

from typing import Any

import pytest

from accp_adapters.mcp.shim.protocol import is_longer_than, is_same_result
from accp_core.errors import EncodeError


@pytest.mark.parametrize(
    ("value", "size"),
    [("abc", 3), (None, 1), ([], 0), ({}, 0), ([1, "ab"], 5), ({"key": "value"}, 9), ({"k": [{"n": None}]}, 6)],
)
def test_the_size_of_a_value_is_its_characters_keys_and_members(value: object, size: int) -> None:
    assert not is_longer_than(value, size)
    assert is_longer_than(value, size - 1)


def test_what_is_too_long_is_not_looked_at_to_its_end() -> None:
    endless: list[Any] = [1]
    endless.append(endless)
    assert is_longer_than(endless, 1000)


RESULT = {"content": [{"type": "text", "text": "x"}], "structuredContent": {"a": 1, "b": [1.0, True]}}


@pytest.mark.parametrize(
    ("changes", "is_same"),
    [
        ({}, True),
        ({"structuredContent": {"a": 1, "b": [1.0, True]}}, True),
        ({"structuredContent": {"b": [1.0, True], "a": 1}}, False),
        ({"structuredContent": {"a": 1, "b": [1, True]}}, False),
        ({"structuredContent": {"a": 1, "b": [1.0, 1]}}, False),
        ({"structuredContent": None}, False),
        ({"content": [{"text": "x", "type": "text"}]}, True),
        ({"content": [{"text": "y", "type": "text"}]}, False),
        ({"isError": False}, False),
    ],
)
def test_results_are_the_same_by_types_and_by_the_order_of_structured_keys(
    changes: dict[str, Any], is_same: bool
) -> None:
    assert is_same_result(RESULT, {**RESULT, **changes}) is is_same


def test_no_structured_content_is_not_null() -> None:
    assert not is_same_result({"content": []}, {"content": [], "structuredContent": None})


def test_what_is_not_json_is_compared_with_nothing() -> None:
    with pytest.raises(EncodeError) as refusal:
        is_same_result({"content": [float("nan")]}, {"content": []})
    assert refusal.value.code == "E1004"
