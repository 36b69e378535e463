"""The solver of tasks: it calls what its prompt allows, and looks for what an arm has hidden."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import BaseTool, StructuredTool

from accp_adapters.evaluation.arms import arm_named, middlewares_of
from accp_adapters.evaluation.solvers import TaskSolver

ROWS = [{"id": f"order-{number:04}", "total": number, "city": f"City {number}"} for number in range(400)]
ACTIONS = [
    SimpleNamespace(name="list_orders", arguments={}, requestor="assistant"),
    SimpleNamespace(name="cancel_order", arguments={"order_id": "order-0217"}, requestor="assistant"),
]


def play(arm: str, *, told: str = json.dumps(ROWS, indent=2)) -> tuple[list[str], str]:
    """Return what was called in an arm where `told` is what the list says, and the last words."""
    called: list[str] = []

    def tool(name: str, answer: str, **parameters: Any) -> BaseTool:
        def call(**arguments: Any) -> str:
            called.append(name)
            return answer

        schema = {"type": "object", "properties": parameters}
        return StructuredTool.from_function(call, name=name, description=name, args_schema=schema)

    tools = [tool("list_orders", told), tool("cancel_order", "cancelled", order_id={"type": "string"})]
    solver = TaskSolver(ACTIONS, [json.dumps(ROWS), "cancelled"], "All is done.")
    middlewares, _ = middlewares_of(arm_named(arm))
    agent = create_agent(solver, tools, middleware=middlewares)
    last = agent.invoke({"messages": [HumanMessage("Cancel it.")]})["messages"][-1]
    return called, last.text


def test_what_a_call_needs_is_read_in_a_view_and_fetched_from_a_preview() -> None:
    for arm in ("without", "lossless", "default", "tight", "deepagents"):
        assert play(arm) == (["list_orders", "cancel_order"], "All is done."), arm


def test_what_no_result_says_is_not_called() -> None:
    called, words = play("without", told="nothing")
    assert (called, words) == (["list_orders", "list_orders"], "I cannot see order-0217.")
