"""A hand-built graph: one node after the tools, one more tool, and a file that outlives the process."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from scripted import Scripted, call

from accp_adapters.langgraph import CompressNode, Policy, fetch_tool
from accp_adapters.stores import SqliteColdStore
from accp_adapters.tokens import o200k_base

LOG = "".join(
    f"{n // 60:02}:{n % 60:02} worker {n} {'failed: disk full' if n == 777 else 'ok'}\n" for n in range(1_000)
)


@tool
def read_log(day: str) -> str:
    """Return the log of a day."""
    return LOG


def find_the_failure(messages: list[BaseMessage]) -> AIMessage:
    return call("accp_fetch", ref=re.findall(r"\$cold\.\w+", messages[-1].text)[0], query="failed")


model = Scripted(
    steps=[
        lambda _: call("read_log", day="Monday"),
        find_the_failure,
        lambda messages: AIMessage(messages[-1].text),
    ]
)
folder = TemporaryDirectory()
store = SqliteColdStore(Path(folder.name) / "cold.sqlite")
policy = Policy(inline_limit=1_000, preview_limit=300)

graph = StateGraph(MessagesState)
graph.add_node("agent", lambda state: {"messages": [model.invoke(state["messages"])]})
graph.add_node("tools", ToolNode([read_log, fetch_tool(policy, store=store)]))
graph.add_node("compress", CompressNode(policy, store=store))
graph.add_edge(START, "agent")
graph.add_conditional_edges("agent", tools_condition)
graph.add_edge("tools", "compress")
graph.add_edge("compress", "agent")
asked = {"messages": [("user", "What failed on Monday?")]}
state = graph.compile().invoke(asked, {"configurable": {"thread_id": "example"}})

shown = o200k_base()(model.sent[1][-1].text)
print(f"the model read {shown:,} of {o200k_base()(LOG):,} tokens and found: {state['messages'][-1].text}")
assert shown <= policy.preview_limit and "777 failed: disk full" in state["messages"][-1].text
store.close()
folder.cleanup()
