"""A long loop in a small context: beyond a number of tokens, older results become one summary with a reference."""

from __future__ import annotations

import json

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import tool
from scripted import Scripted

from accp_adapters.langgraph import AccpMiddleware


@tool
def page(number: int) -> str:
    """Return a page of the log."""
    return json.dumps([{"line": 100 * number + n, "level": "info", "took_ms": (n * 37) % 211} for n in range(100)])


def turn(number: int) -> AIMessage:
    calls = [{"name": "page", "args": {"number": number}, "id": f"page-{number}"}]
    return AIMessage("", tool_calls=calls)


def open_first(messages: list[BaseMessage]) -> AIMessage:
    (folded,) = [message for message in messages if isinstance(message, AIMessage) and "fold" in str(message.id)]
    again = {**folded.tool_calls[0]["args"], "query": "0.result", "offset": 42, "limit": 1}
    return AIMessage("", tool_calls=[{"name": "accp_fetch", "args": again, "id": "open"}])


steps = [*(lambda _, n=n: turn(n) for n in range(8)), open_first, lambda _: AIMessage("Line 42 took 77 ms.")]
model = Scripted(steps=steps)
agent = create_agent(model, [page], middleware=[AccpMiddleware(fold_trigger=("tokens", 2_000))])

if __name__ == "__main__":
    state = agent.invoke({"messages": [("user", "What took so long?")]})
    sizes = [sum(len(message.text) for message in messages) for messages in model.sent]
    print("characters of each prompt:", sizes)
    assert max(sizes) < sum(len(page.invoke({"number": n})) for n in range(8)) / 4
    assert "42" in model.sent[-1][-1].text
    assert "77" in model.sent[-1][-1].text
    assert len(state["messages"]) == 2 + 2 * 9  # all of it is still in the state
