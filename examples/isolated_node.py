"""A hand-built graph: isolated agents that run in parallel, a verifier, and feedback for the second attempt."""

from __future__ import annotations

import asyncio
from typing import Any

from langgraph.graph import START, StateGraph

from accp_adapters.langgraph import AciState, EvaluateNode, begin, isolate, read_results
from accp_core.aci import AgentContext, TaskContext, todo

PRICES = {"Lisbon": 142.5, "Porto": 98.0}
asked: list[AgentContext] = []


def hotels(context: AgentContext) -> str:
    """Return an answer: an agent may be a function of its context, sync or async."""
    asked.append(context)
    return "about a hundred" if len(asked) == 1 else f"{PRICES['Porto']:.2f} EUR in Porto"


async def flights(context: AgentContext) -> str:
    """Return an answer: a remote agent would be awaited here."""
    return "arrives 11:40, 59.00 EUR"


def has_a_price(subtask: str, item: str, abstract: str) -> str | None:
    """Return None for a yes, else the feedback with which the agent is asked again."""
    return None if "EUR" in abstract else "say the price in EUR"


def plan(state: dict[str, Any]) -> dict[str, Any]:
    contexts = [
        AgentContext(agent_id=agent, subtask_id=agent, todo_items=todo(f"Find {agent} with a price"))
        for agent in ("hotels", "flights")
    ]
    return begin(TaskContext(task_id="trip", user_query="Plan my trip to Porto"), contexts)


async def run() -> dict[str, Any]:
    graph = StateGraph(AciState)
    graph.add_node("plan", plan)
    graph.add_node("evaluate", EvaluateNode(has_a_price, retries=1))
    graph.add_node("hotels", isolate(hotels, agent_id="hotels"))
    graph.add_node("flights", isolate(flights, agent_id="flights"))
    graph.add_edge(START, "plan")
    for node in ("plan", "hotels", "flights"):
        graph.add_edge(node, "evaluate")
    return dict(await graph.compile().ainvoke({}))


if __name__ == "__main__":
    state = asyncio.run(run())
    print(read_results(state))
    assert asked[1].context == ({"feedback": "say the price in EUR"},)
    assert read_results(state) == {"flights": "arrives 11:40, 59.00 EUR", "hotels": "98.00 EUR in Porto"}
