"""A swarm in which the next agent gets a task and the references in it, instead of the whole history."""

from __future__ import annotations

import json
import re

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph_swarm import create_swarm
from scripted import Scripted, call

from accp_adapters.langgraph import AccpMiddleware, handoff_tool

ORDERS = [{"id": 7000 + n, "customer": f"Customer {n}", "total": n * 13 % 997, "open": n % 7 == 0} for n in range(400)]


@tool
def orders() -> str:
    """Return all orders."""
    return json.dumps(ORDERS)


def hand_over(messages: list[BaseMessage]) -> AIMessage:
    ref = re.findall(r"\$cold\.\w+", messages[-1].text)[0]
    return call("transfer_to_billing", task=f"Remind whoever has an open order over 900: {ref}")


def look(messages: list[BaseMessage]) -> AIMessage:
    ref = re.findall(r"\$cold\.\w+", messages[0].text)[0]
    return call("accp_fetch", ref=ref, query="SELECT id, total FROM rows WHERE open")


sales_model = Scripted(steps=[lambda _: call("orders"), hand_over])
billing_model = Scripted(steps=[look, lambda _: AIMessage("Reminded three customers.")])
sales = create_agent(sales_model, [orders, handoff_tool("billing")], name="sales", middleware=[AccpMiddleware()])
billing = create_agent(billing_model, [handoff_tool("sales")], name="billing", middleware=[AccpMiddleware()])

if __name__ == "__main__":
    swarm = create_swarm([sales, billing], default_active_agent="sales").compile(checkpointer=InMemorySaver())
    state = swarm.invoke({"messages": [("user", "Who owes us?")]}, {"configurable": {"thread_id": "example"}})
    print(billing_model.sent[0][0].text)
    assert len(billing_model.sent[0]) == 1
    assert "7007" in billing_model.sent[1][-1].text  # opened by the reference that the task names
    assert state["active_agent"] == "billing"
