"""The equality of results."""

from __future__ import annotations

from typing import Any

import pytest

from accp_adapters.mcp.messages import is_same_result
from accp_core.errors import EncodeError

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


def test_what_is_not_json_is_compared_with_nothing() -> None:
    with pytest.raises(EncodeError) as refusal:
        is_same_result({"content": [float("nan")]}, {"content": []})
    assert refusal.value.code == "E1004"
