"""How the tasks of several agents and of several turns are done."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from integrations.agent_tasks.scripted.plans import Asks, Plan, _customer, _ticket_text, last_answers, listed
from integrations.agent_tasks.scripted.prompt import MustCall, Prompt

__all__ = ["REQUESTS", "TEAM_PLANS", "TURNS", "plan_of_request"]

_LATE: Final = "Which customers have an order with the status late and a total above {}? Ids alone."
_OPEN: Final = "Which customers have an open ticket? Ids alone."
_FAILED: Final = "How many deployments of {} failed? The number alone."
_ABOUT: Final = "How many open tickets are about the product {}? The number alone."
_COUNT: Final = "How many orders has the customer {}? Write `Answer:` and the number."
_SUM: Final = "What is the sum of the totals of the orders of the customer {}? Write `Answer:` and the number."


def _worried_customers(prompt: Prompt, asks: Asks) -> str:
    late, opened = prompt.all(
        lambda: prompt.text("ask_sales", request=_LATE.format(asks["total"])),
        lambda: prompt.text("ask_support", request=_OPEN),
    )
    both = sorted(set(re.findall(r"C-\d+", late)) & set(re.findall(r"C-\d+", opened)))
    return listed([(each,) for each in both])


def _open_and_failed(prompt: Prompt, asks: Asks) -> int:
    numbers = prompt.all(
        lambda: prompt.text("ask_operations", request=_FAILED.format(asks["service"])),
        lambda: prompt.text("ask_support", request=_ABOUT.format(asks["product"])),
    )
    return sum(int(re.findall(r"\d+", number)[-1]) for number in numbers)


def _hand_over(words: str, task: str) -> Plan:
    """Return the plan of the agent that finds a customer by the words of a ticket, and hands over."""

    def plan(prompt: Prompt, asks: Asks) -> object:
        if "list_orders" in prompt.tools:
            return _ask_of(prompt, prompt.words())
        customer = _ticket_text(prompt, words)[1]
        raise MustCall(("transfer_to_sales", {"task": task.format(customer)}))

    return plan


def _ask_of(prompt: Prompt, task: str) -> object:
    """Do what sales is asked: the count or the sum of the orders of a customer."""
    handed = [str(call["args"].get("task", "")) for each in prompt.messages for call in getattr(each, "tool_calls", ())]
    text = next((each for each in reversed(handed) if each), task)
    customer = re.findall(r"C-\d+", text)[0]
    column = "round(sum(total), 2)" if "sum of the totals" in text else "count(*)"
    return prompt.rows("list_orders", {"customer_id": customer}, f"SELECT {column} AS n FROM rows")[0][0]


def _late_customers(prompt: Prompt, asks: Asks) -> str:
    total = asks["words"].partition("above ")[2].partition("?")[0]
    sql = f"SELECT DISTINCT customer_id FROM rows WHERE status = 'late' AND total > {total}"
    return listed(prompt.rows("list_orders", {}, sql))


def _open_customers(prompt: Prompt, asks: Asks) -> str:
    sql = "SELECT DISTINCT customer_id FROM rows WHERE state = 'open'"
    return listed(prompt.rows("list_tickets", {}, sql))


def _failed_of(prompt: Prompt, asks: Asks) -> object:
    service = asks["words"].partition("deployments of ")[2].split()[0]
    sql = f"SELECT count(*) AS n FROM rows WHERE service = '{service}' AND result = 'failed'"
    return prompt.rows("list_deployments", {"service": service}, sql)[0][0]


def _open_about(prompt: Prompt, asks: Asks) -> object:
    product = asks["words"].partition("product ")[2].partition("?")[0]
    sql = f"SELECT count(*) AS n FROM rows WHERE product = '{product}' AND state = 'open'"
    return prompt.rows("list_tickets", {}, sql)[0][0]


def _greatest_of_warehouse(prompt: Prompt, asks: Asks) -> object:
    sql = f"SELECT id FROM rows WHERE warehouse = '{asks['warehouse']}' ORDER BY total DESC LIMIT 1"
    return prompt.rows("list_orders", {}, sql)[0][0]


def _closed_tickets(prompt: Prompt, asks: Asks) -> object:
    sql = "SELECT count(*) AS n FROM rows WHERE state = 'closed'"
    return prompt.rows("list_tickets", {}, sql)[0][0]


def _city_of_answer(prompt: Prompt, asks: Asks) -> object:
    order = re.findall(r"O-\d+", "\n".join(last_answers(prompt)))[0]
    sql = f"SELECT customer_id, id FROM rows WHERE id = '{order}'"
    return _customer(prompt, prompt.rows("list_orders", {}, sql)[0][0], "city")


def _late_count(prompt: Prompt, asks: Asks) -> object:
    sql = "SELECT count(*) AS n FROM rows WHERE status = 'late'"
    return prompt.rows("list_orders", {}, sql)[0][0]


def _rolled_back(prompt: Prompt, asks: Asks) -> object:
    sql = "SELECT count(*) AS n FROM rows WHERE result = 'rolled back'"
    return prompt.rows("list_deployments", {}, sql)[0][0]


def _sum_with_answers(prompt: Prompt, asks: Asks) -> int:
    numbers = [int(answer) for answer in last_answers(prompt) if answer.isdigit()]
    sql = "SELECT count(*) AS n FROM rows WHERE severity = 'critical' AND state = 'closed'"
    return sum(numbers[:2]) + int(prompt.rows("list_tickets", {}, sql)[0][0])


TEAM_PLANS: Final[Mapping[str, Plan]] = {
    "worried_customers": _worried_customers,
    "open_and_failed": _open_and_failed,
    "baker_orders": _hand_over("lighthouse", _COUNT),
    "charged_neighbour": _hand_over("charged instead of mine", _SUM),
}
"""The name of a task of several agents to the plan of the one that is asked first."""

TURNS: Final[Mapping[str, tuple[Plan, ...]]] = {
    "city_of_first": (_greatest_of_warehouse, _closed_tickets, _city_of_answer),
    "sum_of_answers": (_late_count, _rolled_back, _sum_with_answers),
}
"""The name of a task of several turns to the plan of each."""

REQUESTS: Final[Mapping[str, Plan]] = {
    _LATE: _late_customers,
    _OPEN: _open_customers,
    _FAILED: _failed_of,
    _ABOUT: _open_about,
    _COUNT: lambda prompt, asks: _ask_of(prompt, asks["words"]),
    _SUM: lambda prompt, asks: _ask_of(prompt, asks["words"]),
}
"""What one agent asks another, with a place for a value, to the plan of the other."""


def plan_of_request(words: str) -> tuple[Plan, dict[str, Any]] | None:
    """Return the plan of what another agent asks, and its words; None for anything else."""
    for request, plan in REQUESTS.items():
        if words.startswith(request.partition("{}")[0]) and request.partition("{}")[2] in words:
            return plan, {"words": words}
    return None
