"""What the tests of this folder share: CRM rows, agents, and reading what a model received."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from accp_adapters.langgraph import AccpMiddleware, CompressNode, Policy, fetch_tool
from accp_core.references import find_references, reference_to
from tests.scripted_model import ScriptedModel, call, calls

ROWS = [
    {
        "id": f"CRM-{number:04}",
        "name": f"Customer {number}",
        "email": f"c{number}@example.com",
        "status": "open" if number % 3 else "won",
        # No notation makes these shorter: all rows together never fit.
        "trace": hashlib.sha256(str(number).encode()).hexdigest()[:24],
    }
    for number in range(300)
]


@tool
def crm(query: str) -> list[dict[str, Any]]:
    """Return customers."""
    return ROWS


@tool
def prose(query: str) -> str:
    """Return a short text."""
    return f"Nothing is known about {query}."


def by_hand(model: ScriptedModel, look_up: BaseTool, policy: Policy | None, store: Any) -> StateGraph[MessagesState]:
    """Return the graph agent → tools → compress → agent."""
    graph = StateGraph(MessagesState)
    graph.add_node("agent", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode([look_up, fetch_tool(policy, store=store)]))
    graph.add_node("compress", CompressNode(policy, store=store))
    graph.add_edge(START, "agent").add_conditional_edges("agent", tools_condition)
    return graph.add_edge("tools", "compress").add_edge("compress", "agent")


def agent(
    script: Sequence[Any], *tools: BaseTool, middleware: AccpMiddleware | None = None, **options: Any
) -> tuple[Any, ScriptedModel]:
    """Return a compiled agent with the middleware, and its model, which records what it receives."""
    model = ScriptedModel(script=list(script))
    chosen = middleware or AccpMiddleware()
    return create_agent(model, list(tools) or [crm], middleware=[chosen], **options), model


def thread(name: str) -> dict[str, Any]:
    """Return the configuration of a run in thread `name`."""
    return {"configurable": {"thread_id": name}}


def refs_in(message: BaseMessage) -> list[str]:
    """Return the references that stand in a message's text."""
    return [reference_to(key) for key in find_references(message.text)]


def fetch_last(messages: Sequence[BaseMessage], call_id: str = "f1", **args: Any) -> AIMessage:
    """A step of a script: open the reference that was shown last."""
    ref = next(refs_in(message)[0] for message in reversed(messages) if refs_in(message))
    return calls(call("accp_fetch", call_id, ref=ref, **args))


def results(state: dict[str, Any]) -> list[ToolMessage]:
    """Return the tool results of a state."""
    return [message for message in state["messages"] if isinstance(message, ToolMessage)]


LOOK_UP = calls(call("crm", "c1", query="customers"))
