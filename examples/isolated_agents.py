"""A planner and two agents with a context each: a whole master graph in about twenty lines."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from scripted import Scripted, call

from accp_adapters.langgraph import AccpMiddleware, master_graph, read_results, step
from accp_adapters.tokens import o200k_base

CUSTOMERS = [
    {"id": n, "name": f"Customer {n}", "plan": "basic" if n % 3 else "pro", "left": n % 7 == 0} for n in range(90)
]


@tool
def customers() -> list[dict[str, Any]]:
    """Return all customers."""
    return CUSTOMERS


crm_model = Scripted(
    steps=[lambda _: call("customers"), lambda _: AIMessage("1: done: 13 of 90\n2: done: basic, 8 of 13")]
)
mail_model = Scripted(steps=[lambda _: AIMessage("done: Dear customer, basic has a new price.")])
agents = {
    "crm": create_agent(crm_model, [customers], middleware=[AccpMiddleware()]),
    "mail": create_agent(mail_model, []),
}


plan = [
    step("crm", "Find who left", items=["Count who left", "Name their plan"]),
    step("mail", "Write one mail", after="crm"),
]
graph = master_graph(agents, plan=plan).compile(checkpointer=InMemorySaver())
question = {"messages": [("user", "Why do customers leave, and what should we write?")]}
state = graph.invoke(question, {"configurable": {"thread_id": "1"}})

read = mail_model.sent[0][0].text
print(f"The writer read {o200k_base()(read)} tokens:\n{read}\n\n{read_results(state)}")
assert "Customer 7" not in str(mail_model.sent)
assert "13 of 90" in read
assert state["task_context"]["TaskContext"]["OverallStatus"] == "completed"
