"""For code in which only the state definition can change: a channel that stores each new tool result as its view."""

from __future__ import annotations

import json
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AnyMessage, ToolMessage
from langgraph.graph import START, StateGraph
from scripted import call

from accp_adapters.langgraph import CompressedMessages, restore_message
from accp_adapters.tokens import o200k_base

PARTS = [
    {"part": f"P-{n:03}", "bin": f"{n % 7}-{n % 11}", "left": n * 31 % 50, "reorder": n % 9 == 0} for n in range(50)
]


class Desk(TypedDict):
    messages: Annotated[list[AnyMessage], CompressedMessages()]


def look(state: Desk) -> dict[str, Any]:
    return {"messages": [call("parts"), ToolMessage(json.dumps(PARTS), tool_call_id="call-parts")]}


graph = StateGraph(Desk).add_node("look", look).add_edge(START, "look").compile()

if __name__ == "__main__":
    shown = graph.invoke({"messages": [("user", "What must we order?")]})["messages"][-1]
    print(shown.text[:120])
    count = o200k_base()
    assert count(shown.text) < 0.6 * count(json.dumps(PARTS))
    assert restore_message(shown).text == json.dumps(PARTS)
