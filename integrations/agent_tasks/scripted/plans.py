"""How each task is done: which results are needed, and which query finds in them what is asked."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from accp_adapters.langchain import calls_of
from integrations.agent_tasks.scripted.prompt import MustCall, Prompt, row_with

__all__ = ["PLANS", "Asks", "Plan", "listed"]

Asks: TypeAlias = Mapping[str, Any]
"""The values in the user's words."""
Plan: TypeAlias = Callable[[Prompt, Asks], object]
"""Returns the answer, or raises `MustCall`."""

_ANSWERED: Final = re.compile(r"Answer: (.+)")


def listed(rows: list[tuple[Any, ...]]) -> str:
    """Return the first cells of rows as an answer."""
    return ", ".join(str(row[0]) for row in rows)


def _late_orders(prompt: Prompt, asks: Asks) -> str:
    where = f"status = 'late' AND warehouse = '{asks['warehouse']}' AND total > {asks['total']}"
    sql = f"SELECT id FROM rows WHERE {where}"
    return listed(prompt.rows("list_orders", {}, sql))


def _critical_tickets(prompt: Prompt, asks: Asks) -> str:
    where = f"severity = 'critical' AND product = '{asks['product']}' AND state = '{asks['state']}'"
    sql = f"SELECT id FROM rows WHERE {where}"
    return listed(prompt.rows("list_tickets", {}, sql))


def _failed_deployments(prompt: Prompt, asks: Asks) -> str:
    where = f"result = 'failed' AND author = '{asks['author']}' AND service = '{asks['service']}'"
    sql = f"SELECT id FROM rows WHERE {where}"
    return listed(prompt.rows("list_deployments", {}, sql))


def _greatest_order(prompt: Prompt, asks: Asks) -> object:
    sql = "SELECT id FROM rows ORDER BY total DESC LIMIT 1"
    return prompt.rows("list_orders", {}, sql)[0][0]


def _greatest_paid(prompt: Prompt, asks: Asks) -> object:
    where = f"status = 'paid' AND warehouse = '{asks['warehouse']}'"
    sql = f"SELECT id FROM rows WHERE {where} ORDER BY total DESC LIMIT 1"
    return prompt.rows("list_orders", {}, sql)[0][0]


def _slowest_deployment(prompt: Prompt, asks: Asks) -> object:
    where = f"service = '{asks['service']}' AND result = 'success'"
    sql = f"SELECT author FROM rows WHERE {where} ORDER BY seconds DESC LIMIT 1"
    return prompt.rows("list_deployments", {"service": asks["service"]}, sql)[0][0]


def _returned_orders(prompt: Prompt, asks: Asks) -> object:
    sql = "SELECT count(*) AS n FROM rows WHERE status = 'returned'"
    return prompt.rows("list_orders", {}, sql)[0][0]


def _gold_customers(prompt: Prompt, asks: Asks) -> object:
    sql = f"SELECT count(*) AS n FROM rows WHERE tier = 'gold' AND city = '{asks['city']}'"
    return prompt.rows("list_customers", {}, sql)[0][0]


def _late_in_month(prompt: Prompt, asks: Asks) -> object:
    sql = f"SELECT count(*) AS n FROM rows WHERE status = 'late' AND placed LIKE '{asks['month']}%'"
    return prompt.rows("list_orders", {}, sql)[0][0]


def _sent_items(prompt: Prompt, asks: Asks) -> object:
    sql = f"SELECT sum(items) AS n FROM rows WHERE carrier = '{asks['carrier']}' AND status = 'sent'"
    return prompt.rows("list_orders", {}, sql)[0][0]


def _gold_orders(prompt: Prompt, asks: Asks) -> str:
    some_sql = f"SELECT DISTINCT customer_id FROM rows WHERE status = '{asks['status']}' AND total > {asks['total']}"
    gold_sql = "SELECT id FROM rows WHERE tier = 'gold'"
    some, gold = prompt.all(
        lambda: prompt.rows("list_orders", {}, some_sql),
        lambda: prompt.rows("list_customers", {}, gold_sql),
    )
    return listed([row for row in some if row in gold])


def _late_city(prompt: Prompt, asks: Asks) -> object:
    status = asks["status"]
    per_customer = f"SELECT customer_id, count(*) AS n FROM rows WHERE status = '{status}' GROUP BY customer_id"
    counts, cities = prompt.all(
        lambda: prompt.rows("list_orders", {}, per_customer),
        lambda: prompt.rows("list_customers", {}, "SELECT id, city FROM rows"),
    )
    found: dict[str, int] = {}
    for customer, count in counts:
        city = dict(cities)[customer]
        found[city] = found.get(city, 0) + count
    return max(found, key=lambda city: found[city])


def _best_customer_tickets(prompt: Prompt, asks: Asks) -> object:
    sql = "SELECT customer_id, sum(total) AS s FROM rows GROUP BY customer_id ORDER BY s DESC LIMIT 1"
    best = prompt.rows("list_orders", {}, sql)[0][0]
    return prompt.rows("list_tickets", {"customer_id": best}, "SELECT count(*) AS n FROM rows")[0][0]


def _mail_of_greatest(prompt: Prompt, asks: Asks) -> object:
    sql = "SELECT customer_id, total FROM rows WHERE status = 'cancelled' ORDER BY total DESC LIMIT 1"
    return _customer(prompt, prompt.rows("list_orders", {}, sql)[0][0], "email")


def _customer(prompt: Prompt, customer: str, cell: str) -> object:
    found = re.search(rf'{cell}"?:? ?"?([^"\n]+)', prompt.text("get_customer", customer_id=customer))
    return found[1] if found else ""


def _ticket_text(prompt: Prompt, words: str, *, cells: str = "text, customer_id") -> tuple[Any, ...]:
    """Return the cells of the ticket whose text contains some words."""

    def seen(preview: str) -> list[tuple[Any, ...]] | None:
        for number in re.findall(r"T-\d+", preview):
            row = row_with("id", number, "text", "customer_id")(preview)
            if row and words in str(row[0][0]):
                return row
        return None

    rows = prompt.rows("list_tickets", {}, f"SELECT {cells} FROM rows WHERE text LIKE '%{words}%'", seen)
    return rows[0]


def _voucher(prompt: Prompt, asks: Asks) -> str:
    text = str(_ticket_text(prompt, "voucher")[0])
    return str(re.findall(r"code ([A-Z]\d+)", text)[0])


def _vessel(prompt: Prompt, asks: Asks) -> object:
    return _ticket_text(prompt, "vessel")[1]


def _certificate(prompt: Prompt, asks: Asks) -> str:
    line = prompt.lines("read_log", {"service": asks["service"]}, "certificate")[0]
    return str(re.findall(r"expires on (\S+)", line)[0])


def _timeouts(prompt: Prompt, asks: Asks) -> int:
    return len(prompt.lines("read_log", {"service": asks["service"]}, "timeout", all_of_them=True))


def _neighbour(prompt: Prompt, asks: Asks) -> object:
    sql = f"SELECT note, id FROM rows WHERE id = '{asks['order']}'"
    return str(prompt.rows("list_orders", {}, sql, row_with("id", asks["order"], "note"))[0][0]).split()[3]


def _suspect(prompt: Prompt, asks: Asks) -> object:
    service = asks["service"]
    lines, deployed = prompt.all(
        lambda: prompt.lines("read_log", {"service": service}, " ERROR ", all_of_them=True),
        lambda: prompt.rows(
            "list_deployments", {}, f"SELECT at, author FROM rows WHERE service = '{service}' ORDER BY at"
        ),
    )
    first = re.findall(r"\d{4}-\S+Z", lines[0])[0]
    return [author for at, author in deployed if at < first][-1]


def _baker_city(prompt: Prompt, asks: Asks) -> object:
    return _customer(prompt, str(_ticket_text(prompt, "lighthouse")[1]), "city")


def _vat_rate(prompt: Prompt, asks: Asks) -> str:
    matches = prompt.rows("search_sources", {"words": asks["function"]}, "SELECT path, text FROM rows")
    return _returned(prompt, matches[0][0], asks["function"])[0]


def _returned(prompt: Prompt, path: str, function: str) -> list[str]:
    """Return the numbers that a function of a file returns, from its first line to its last."""
    return re.findall(r"return (\d+)", "\n".join(prompt.passage("read_source", {"path": path}, f"def {function}(", 4)))


def _edit_setting(prompt: Prompt, asks: Asks) -> int:
    path, name = asks["path"], asks["name"]
    prompt.text("read_source", path=path)
    prompt.text("edit_source", path=path, old=f"{name} = {asks['old']}", new=f"{name} = {asks['new']}")
    _read_again(prompt, path)
    return sum(_settings(prompt, path, name, asks["other"]))


def _settings(prompt: Prompt, path: str, *names: str) -> list[int]:
    """Return the values of settings as they were read last."""
    found = prompt.all(*(lambda name=name: prompt.lines("read_source", {"path": path}, f"{name} = ") for name in names))
    return [int(re.findall(rf"{name} = (\d+)", lines[0])[0]) for name, lines in zip(names, found, strict=True)]


def _called(prompt: Prompt) -> list[str]:
    return [call["name"] for message in prompt.messages for call in calls_of(message)]


def _read_again(prompt: Prompt, path: str) -> None:
    """Demand that a file is read after the last edit (MustCall)."""
    calls = _called(prompt)
    if "read_source" not in calls[calls.index("edit_source") :]:
        raise MustCall(("read_source", {"path": path}))


def _edit_two_files(prompt: Prompt, asks: Asks) -> int:
    first, second, name = asks["first"], asks["second"], asks["name"]
    if "edit_source" not in _called(prompt):
        (old,), (new,) = prompt.all(*(lambda path=path: _settings(prompt, path, name) for path in (first, second)))
        prompt.text("edit_source", path=first, old=f"{name} = {old}", new=f"{name} = {new}")
    _read_again(prompt, first)
    return math.prod(_settings(prompt, first, name, asks["other"]))


def _edit_function(prompt: Prompt, asks: Asks) -> str:
    path = asks["path"]
    prompt.text("read_source", path=path)
    old, new = (f"    if amount > {asks[name]}:" for name in ("old", "new"))
    prompt.text("edit_source", path=path, old=old, new=new)
    _read_again(prompt, path)
    return _returned(prompt, path, asks["name"])[1]


def last_answers(prompt: Prompt) -> list[str]:
    """Return the answers that the conversation, or a summary of it, holds, in order."""
    return [answer.strip() for answer in _ANSWERED.findall(prompt.words())]


PLANS: Final[Mapping[str, Plan]] = {
    "late_orders": _late_orders,
    "critical_tickets": _critical_tickets,
    "failed_deployments": _failed_deployments,
    "greatest_order": _greatest_order,
    "greatest_paid": _greatest_paid,
    "slowest_deployment": _slowest_deployment,
    "returned_orders": _returned_orders,
    "gold_customers": _gold_customers,
    "late_in_month": _late_in_month,
    "sent_items": _sent_items,
    "gold_orders": _gold_orders,
    "late_city": _late_city,
    "best_customer_tickets": _best_customer_tickets,
    "mail_of_greatest": _mail_of_greatest,
    "voucher": _voucher,
    "vessel": _vessel,
    "certificate": _certificate,
    "timeouts": _timeouts,
    "neighbour": _neighbour,
    "suspect": _suspect,
    "baker_city": _baker_city,
    "vat_rate": _vat_rate,
    "edit_setting": _edit_setting,
    "edit_two_files": _edit_two_files,
    "edit_function": _edit_function,
}
"""The name of a task of one agent to its plan."""
