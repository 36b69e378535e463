"""A shared history: no line is sent twice, and another agent's long report is a preview with a reference."""

from __future__ import annotations

import re

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from scripted import Scripted, call

from accp_adapters.langgraph import AccpMiddleware, Policy
from accp_adapters.tokens import o200k_base

PAGE = "".join(f"The dojo in street number {n} teaches at {n % 12 + 1} pm, phone 555-{n:04}\n" for n in range(60))
REPORT = "".join(f"Visit {n}: room {n * 7919 % 997}, {'closed for good' if n == 321 else 'open'}\n" for n in range(400))


@tool
def open_page(scroll: int) -> str:
    """Return what the browser shows."""
    return f"Scrolled to {scroll} %.\n{PAGE}"


def look_into_the_report(messages: list[BaseMessage]) -> AIMessage:
    reference = re.findall(r"\$cold\.\w+", messages[1].text)[0]
    return call("accp_fetch", ref=reference, query="closed")


model = Scripted(
    steps=[
        lambda _: call("open_page", scroll=0),
        lambda _: AIMessage("", tool_calls=[{"name": "open_page", "args": {"scroll": 9}, "id": "again"}]),
        look_into_the_report,
        lambda messages: AIMessage(messages[-1].text),
    ]
)
accp = AccpMiddleware(Policy(agent_names=frozenset({"scout"})))
clerk = create_agent(model, [open_page], middleware=[accp], name="clerk")
team = StateGraph(MessagesState)
team.add_node("scout", lambda state: {"messages": [AIMessage(REPORT, name="scout"), HumanMessage("Clerk?")]})
team.add_node("clerk", clerk)
team.add_edge(START, "scout")
team.add_edge("scout", "clerk")
state = team.compile().invoke({"messages": "Which dojo closed?"})

count = o200k_base()
sent = model.sent[-1]
whole = sum(count(message.text) for message in state["messages"][:-1])
read = sum(count(message.text) for message in sent)
print(f"the clerk read {read:,} of {whole:,} tokens in the shared history; the repeated page was:\n{sent[6].text}")
print(f"from the scout's report it fetched: {state['messages'][-1].text}")

assert read * 3 < whole * 2
assert sent[6].text == 'Scrolled to 9 %.\n[as above: 61 lines from "The dojo in street number 0 teac…"]'
assert state["messages"][1].text == REPORT
assert "room 646, closed for good" in state["messages"][-1].text
