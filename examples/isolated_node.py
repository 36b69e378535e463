"""A team as one node of a graph of one's own: agents that are functions, and a verifier that asks one of them again."""

from __future__ import annotations

import asyncio
from typing import Any

from langgraph.graph import START, StateGraph

from accp_adapters.langgraph import AciState, begin, master_graph, read_results
from accp_core.aci import AgentContext, TaskContext, todo

asked: list[AgentContext] = []


def hotels(context: AgentContext) -> str:
    """Return an answer, as a model would: an agent may be a function of its context, sync or async."""
    asked.append(context)
    return "done: about a hundred" if len(asked) == 1 else "done: 98.00 EUR in Porto"


async def flights(context: AgentContext) -> str:
    """Return an answer: a remote agent would be awaited here."""
    return "done: arrives 11:40, 59.00 EUR"


def has_a_price(subtask: str, item: str, abstract: str) -> str | None:
    """Return None for a yes, else the feedback with which the agent is asked again."""
    return None if "EUR" in abstract else "say the price in EUR"


def plan(state: dict[str, Any]) -> dict[str, Any]:
    contexts = [
        AgentContext(agent_id=agent, subtask_id=agent, todo_items=todo(f"Find {agent} with a price"))
        for agent in ("hotels", "flights")
    ]
    return begin(TaskContext(task_id="trip", user_query="Plan my trip to Porto"), contexts)


class Trip(AciState):
    """The state of the graph around the team, with a key of its own."""

    offer: str


async def run() -> dict[str, Any]:
    team = master_graph({"hotels": hotels, "flights": flights}, plan=plan, verifier=has_a_price, retries=1)
    graph = StateGraph(Trip)
    graph.add_node("team", team.compile())
    graph.add_node("offer", lambda state: {"offer": "; ".join(read_results(state).values())})
    graph.add_edge(START, "team")
    graph.add_edge("team", "offer")
    return dict(await graph.compile().ainvoke({}))


if __name__ == "__main__":
    state = asyncio.run(run())
    print(state["offer"])
    assert asked[1].context == ({"feedback": "say the price in EUR"},)
    assert state["offer"] == "arrives 11:40, 59.00 EUR; 98.00 EUR in Porto"
