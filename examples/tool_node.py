"""A graph with its own `ToolNode`, which takes the hooks of the middleware, sync and async; no other node is needed."""

from __future__ import annotations

import json

from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from scripted import call

from accp_adapters.langgraph import AccpMiddleware, fetch_tool


@tool
def stock(site: str) -> str:
    """Return the stock of a site."""
    return json.dumps([{"sku": f"{site}-{n:04}", "left": n * 31 % 50, "bin": n * 7 % 90} for n in range(500)])


accp = AccpMiddleware()
tools = ToolNode([stock, fetch_tool()], wrap_tool_call=accp.wrap_tool_call, awrap_tool_call=accp.awrap_tool_call)
graph = StateGraph(MessagesState).add_node("tools", tools).add_edge(START, "tools").compile()

if __name__ == "__main__":
    state = graph.invoke({"messages": [("user", "How many are left?"), call("stock", site="A")]})
    preview = state["messages"][-1]
    ref = next(word for word in preview.text.replace("]", " ").split() if word.startswith("$cold."))
    again = {"messages": [*state["messages"], call("accp_fetch", ref=ref, query="sku=A-0321")]}
    opened = graph.invoke(again)["messages"][-1]
    print(opened.text)
    assert len(preview.text) < len(stock.invoke({"site": "A"})) / 3
    assert "A-0321" in opened.text
