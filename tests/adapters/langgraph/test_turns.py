"""What belongs together in a conversation, and what JSON cannot hold."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from langchain_core.messages import ToolMessage

from accp_adapters.langgraph.turns import as_json, count_tokens, turns_of
from tests.scripted_model import call, calls


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": [1, None], "b": "ü"}, '{"a":[1,null],"b":"ü"}'),
        ({"day": date(2026, 11, 22)}, '{"day":"2026-11-22"}'),
        ({"rate": float("nan")}, "{'rate': nan}"),
    ],
)
def test_what_json_cannot_hold_is_printed(value: Any, text: str) -> None:
    assert as_json(value) == text


def test_arguments_that_are_no_json_are_counted() -> None:
    asked = calls(call("crm", "c1", rate=float("nan")))
    assert count_tokens(asked, len) == len(as_json([{"name": "crm", "arguments": asked.tool_calls[0]["args"]}]))


def test_a_turn_has_one_result_for_each_call() -> None:
    asked, result = (
        calls(call("crm", "c1", query="x"), call("crm", "c2", query="y")),
        ToolMessage("x", tool_call_id="c1"),
    )
    other = ToolMessage("y", tool_call_id="c2")
    assert list(turns_of([asked, result])) == []
    assert list(turns_of([asked, result, result])) == []
    (turn,) = turns_of([result, asked, result, other])
    assert (turn.start, turn.end, turn.results) == (1, 4, (result, other))
