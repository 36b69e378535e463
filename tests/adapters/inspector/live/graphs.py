"""Real graphs of two agents that write real checkpoints, for the tests of the inspector."""

from __future__ import annotations

import json
import re
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import BaseMessage
from langchain_core.tools import tool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph_swarm import create_swarm

from accp_adapters.langgraph import AccpMiddleware, handoff_tool, master_graph, step
from tests.scripted_model import ScriptedModel, call, calls

__all__ = ["ORDERS", "run_swarm", "run_team"]

ORDERS = [{"id": 7000 + n, "customer": f"Customer {n}", "total": n * 13 % 997, "open": n % 7 == 0} for n in range(400)]
_REFERENCE = re.compile(r"\$\w+\.[0-9]{12}")


@tool
def orders() -> str:
    """Return all orders."""
    return json.dumps([*ORDERS, {"id": 1, "api_key": "sk-live-0123456789abcdef", "customer": "Ours"}])


def _reference(messages: list[BaseMessage]) -> str:
    return _REFERENCE.findall(str([message.content for message in messages]))[0]


def run_swarm(saver: BaseCheckpointSaver[Any], thread: str = "orders") -> None:
    """Let `sales` look up orders and hand over to `billing`, which opens the reference, and one that it may not."""

    def fetch(ref: str, call_id: str, query: str = "") -> Any:
        return calls(call("accp_fetch", call_id, ref=ref, query=query))

    sales = ScriptedModel(
        script=[
            calls(call("orders", "c1")),
            lambda messages: calls(
                call("transfer_to_billing", "c2", task=f"Remind who has an open order over 900: {_reference(messages)}")
            ),
        ]
    )
    billing = ScriptedModel(
        script=[
            lambda messages: fetch(_reference(messages), "c3", "open = true and total > 900"),
            lambda _: fetch("$cold." + "0" * 29, "c4"),
            "Reminded two customers.",
        ]
    )
    agents = [
        create_agent(sales, [orders, handoff_tool("billing")], name="sales", middleware=[AccpMiddleware()]),
        create_agent(billing, [handoff_tool("sales")], name="billing", middleware=[AccpMiddleware()]),
    ]
    swarm = create_swarm(agents, default_active_agent="sales").compile(checkpointer=saver)
    swarm.invoke({"messages": [("user", "Who owes us?")]}, {"configurable": {"thread_id": thread}})


def run_team(saver: BaseCheckpointSaver[Any], thread: str = "churn") -> None:
    """Let a master give two subtasks to two agents with a context each."""
    crm = ScriptedModel(script=[calls(call("orders", "c1")), "1: done: 13 of 90\n2: done: basic, 8 of 13"])
    mail = ScriptedModel(script=["done: Dear customer, basic has a new price."])
    agents = {
        "crm": create_agent(crm, [orders], middleware=[AccpMiddleware()]),
        "mail": create_agent(mail, []),
    }
    plan = [
        step("crm", "Find who left", items=["Count who left", "Name their plan"]),
        step("mail", "Write one mail", after="crm"),
    ]
    graph = master_graph(agents, plan=plan).compile(checkpointer=saver)
    graph.invoke({"messages": [("user", "Why do customers leave?")]}, {"configurable": {"thread_id": thread}})
