"""Tasks for several agents, and tasks of several turns with a summary in between."""

from __future__ import annotations

from typing import Final

from integrations.agent_tasks.task import Maker, Task, fitting
from integrations.agent_tasks.text_tasks import ticket_with
from integrations.agent_tasks.world import PRODUCTS, WAREHOUSES, World

__all__ = ["TEAM_TASKS"]


def _worried_customers(world: World) -> Task:
    def ids(total: int) -> tuple[str, ...]:
        returned = {row["customer_id"] for row in world.orders if row["status"] == "late" and row["total"] > total}
        open_ = {row["customer_id"] for row in world.tickets if row["state"] == "open"}
        return tuple(sorted(map(str, returned & open_)))

    total = fitting([2_000, 1_500, 1_000, 500, 1], lambda each: len(ids(each)))
    words = (
        "Which customers have both an order with the status late and a total above {total} (ask sales) and an open "
        "ticket (ask support)?"
    )
    return Task.of("worried_customers", "agents", words, ids(total), asks={"total": total}, layout="supervisor")


def _open_and_failed(world: World) -> Task:
    failed = sum(row["service"] == "search" and row["result"] == "failed" for row in world.deployments)
    opened = sum(row["product"] == PRODUCTS[0] and row["state"] == "open" for row in world.tickets)
    words = (
        "How many failed deployments of {service} are there (ask operations), and how many open tickets about the "
        "product {product} (ask support)? Answer with the sum of both."
    )
    asks = {"service": "search", "product": PRODUCTS[0]}
    return Task.of("open_and_failed", "agents", words, failed + opened, asks=asks, layout="supervisor")


def _baker_order(world: World) -> Task:
    customer = ticket_with(world, "bakery at the old lighthouse")["customer_id"]
    rows = [row for row in world.orders if row["customer_id"] == customer]
    count = len(rows)
    words = (
        "Find the customer who writes in a ticket of a bakery at an old lighthouse, and transfer to sales, which "
        "answers: how many orders has this customer?"
    )
    return Task.of("baker_orders", "handoff", words, count, layout="handoff")


def _charged_neighbour(world: World) -> Task:
    customer = ticket_with(world, "charged instead of mine")["customer_id"]
    cents = sum(round(row["total"] * 100) for row in world.orders if row["customer_id"] == customer)
    words = (
        "Find the customer who writes in a ticket that a neighbour's account was charged, and transfer to sales, which "
        "answers: what is the sum of the totals of this customer's orders?"
    )
    return Task.of("charged_neighbour", "handoff", words, cents / 100, layout="handoff")


def _city_of_first(world: World) -> Task:
    rows = [row for row in world.orders if row["warehouse"] == WAREHOUSES[0]]
    best = max(rows, key=lambda row: row["total"])
    customers = {row["id"]: row for row in world.customers}
    turns = (
        "Which order of the warehouse {warehouse} has the greatest total?",
        "How many tickets are closed?",
        "In which city does the customer of the order in your first answer live?",
    )
    answer = str(customers[best["customer_id"]]["city"])
    asks = {"warehouse": WAREHOUSES[0]}
    return Task.of("city_of_first", "summary", turns[2], answer, *turns[:2], asks=asks, layout="summary")


def _sum_of_answers(world: World) -> Task:
    first = sum(row["status"] == "late" for row in world.orders)
    second = sum(row["result"] == "rolled back" for row in world.deployments)
    third = sum(row["severity"] == "critical" and row["state"] == "closed" for row in world.tickets)
    turns = (
        "How many orders have the status late?",
        "How many of all deployments were rolled back?",
        "How many critical tickets are closed? Answer with the sum of this number and of your first two answers.",
    )
    return Task.of("sum_of_answers", "summary", turns[2], first + second + third, *turns[:2], layout="summary")


TEAM_TASKS: Final[tuple[Maker, ...]] = (
    _worried_customers,
    _open_and_failed,
    _baker_order,
    _charged_neighbour,
    _city_of_first,
    _sum_of_answers,
)
