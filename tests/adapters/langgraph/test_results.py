"""What tools return besides a ToolMessage."""

from __future__ import annotations

import json
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.types import Command

from accp_adapters.langgraph import Policy
from accp_adapters.langgraph.results import ResultCompressor
from tests.adapters.langgraph.jobs import ROWS

FEW = json.dumps(ROWS[:20])


def result(message_id: str | None = None) -> ToolMessage:
    return ToolMessage(content=FEW, tool_call_id="c1", id=message_id)


def compress(of: Any, *known: str) -> Any:
    return ResultCompressor(policy=Policy(), session_id="s").compress_result(of, set(known))[0]


def test_a_command_keeps_all_but_the_text_of_its_tool_messages() -> None:
    words = HumanMessage("hello")
    before = Command(update={"messages": [words, result()], "rows": ROWS}, goto="next", graph=Command.PARENT)
    after = compress(before)
    assert (after.goto, after.graph, after.update["rows"]) == ("next", Command.PARENT, ROWS)
    assert after.update["messages"][0] is words
    assert len(after.update["messages"][1].text) < len(FEW)
    assert before.update["messages"][1].text == FEW


def test_messages_may_stand_alone_or_be_the_whole_update_or_come_in_a_list_of_results() -> None:
    assert len(compress(Command(update={"messages": result()})).update["messages"].text) < len(FEW)
    assert len(compress(Command(update=[result()])).update[0].text) < len(FEW)
    first, second = compress([result(), Command(update={"messages": [result()]})])
    assert first.text == second.update["messages"][0].text
    assert len(first.text) < len(FEW)


def test_messages_that_stand_in_the_state_already_stay() -> None:
    command = Command(update={"messages": [result("old")]})
    assert compress(command, "old") is command


def test_results_without_a_message_to_rewrite_are_the_same_object() -> None:
    for unchanged in (
        Command(goto="next"),
        Command(update={"rows": ROWS}),
        Command(update={"messages": [AIMessage("done")]}),
        Command(update=[("messages", "x")]),
        [],
        [AIMessage("done")],
    ):
        assert compress(unchanged) is unchanged
