"""Tasks over lists of records: filters, maxima, counts, sums, and joins of two results."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import product
from typing import Final

from integrations.agent_tasks.task import Maker, Task, fitting
from integrations.agent_tasks.world import PRODUCTS, SERVICES, WAREHOUSES, Row, World

__all__ = ["RECORD_TASKS"]

_TOTALS: Final = (1_500, 1_000, 2_000, 500, 2_200, 100)


def _ids(rows: Sequence[Row]) -> tuple[str, ...]:
    return tuple(str(row["id"]) for row in rows)


def _late_orders(world: World) -> Task:
    def rows(warehouse: str, total: int) -> list[Row]:
        late = (row for row in world.orders if row["status"] == "late" and row["warehouse"] == warehouse)
        return [row for row in late if row["total"] > total]

    warehouse, total = fitting(list(product(WAREHOUSES, _TOTALS)), lambda each: len(rows(*each)))
    words = "Which orders of the warehouse {warehouse} have the status late and a total above {total}?"
    asks = {"warehouse": warehouse, "total": total}
    return Task.of("late_orders", "filter", words, _ids(rows(warehouse, total)), asks=asks)


def _critical_tickets(world: World) -> Task:
    def rows(product: str, state: str) -> list[Row]:
        critical = (row for row in world.tickets if row["severity"] == "critical" and row["product"] == product)
        return [row for row in critical if row["state"] == state]

    chosen = fitting(list(product(PRODUCTS, ("open", "waiting"))), lambda each: len(rows(*each)))
    words = "Which critical tickets about the product {product} are in the state {state}?"
    asks = {"product": chosen[0], "state": chosen[1]}
    return Task.of("critical_tickets", "filter", words, _ids(rows(*chosen)), asks=asks)


def _failed_deployments(world: World) -> Task:
    authors = sorted({row["author"] for row in world.deployments})

    def rows(author: str, service: str) -> list[Row]:
        own = (row for row in world.deployments if row["author"] == author and row["service"] == service)
        return [row for row in own if row["result"] == "failed"]

    chosen = fitting(list(product(authors, SERVICES)), lambda each: len(rows(*each)))
    words = "Which deployments of {service} by {author} failed? Look at all deployments."
    asks = {"author": chosen[0], "service": chosen[1]}
    return Task.of("failed_deployments", "filter", words, _ids(rows(*chosen)), asks=asks)


def _greatest_order(world: World) -> Task:
    best = max(world.orders, key=lambda row: row["total"])
    return Task.of("greatest_order", "maximum", "Which order has the greatest total of all?", str(best["id"]))


def _greatest_paid(world: World) -> Task:
    rows = [row for row in world.orders if row["status"] == "paid" and row["warehouse"] == "south"]
    best = max(rows, key=lambda row: row["total"])
    words = "Which order of the warehouse {warehouse} with the status paid has the greatest total?"
    return Task.of("greatest_paid", "maximum", words, str(best["id"]), asks={"warehouse": "south"})


def _slowest_deployment(world: World) -> Task:
    rows = [row for row in world.deployments if row["service"] == "payments" and row["result"] == "success"]
    best = max(rows, key=lambda row: row["seconds"])
    words = "Who is the author of the deployment of {service} that succeeded and took the most seconds?"
    return Task.of("slowest_deployment", "maximum", words, str(best["author"]), asks={"service": "payments"})


def _returned_orders(world: World) -> Task:
    count = sum(row["status"] == "returned" for row in world.orders)
    words = "How many orders have the status {status}?"
    return Task.of("returned_orders", "count", words, count, asks={"status": "returned"})


def _gold_customers(world: World) -> Task:
    city, count = Counter(row["city"] for row in world.customers if row["tier"] == "gold").most_common(1)[0]
    words = "How many customers of the tier {tier} live in {city}?"
    return Task.of("gold_customers", "count", words, count, asks={"tier": "gold", "city": city})


def _late_in_month(world: World) -> Task:
    month = "2026-04"
    count = sum(row["status"] == "late" and row["placed"].startswith(month) for row in world.orders)
    words = "How many orders that were placed in {month} have the status late?"
    return Task.of("late_in_month", "count", words, count, asks={"month": month})


def _sent_items(world: World) -> Task:
    rows = [row for row in world.orders if row["carrier"] == "bring" and row["status"] == "sent"]
    words = "How many items together have the orders with the carrier {carrier} and the status sent?"
    return Task.of("sent_items", "sum", words, sum(row["items"] for row in rows), asks={"carrier": "bring"})


def _gold_orders(world: World) -> Task:
    gold = {row["id"] for row in world.customers if row["tier"] == "gold"}

    def ids(status: str, total: int) -> tuple[str, ...]:
        chosen = (row for row in world.orders if row["status"] == status and row["total"] > total)
        return tuple(sorted({str(row["customer_id"]) for row in chosen} & gold))

    candidates = list(product(("returned", "late", "paid"), (2_000, 1_000, 1)))
    status, total = fitting(candidates, lambda each: len(ids(*each)))
    words = "Which customers of the tier gold have an order with the status {status} and a total above {total}?"
    return Task.of("gold_orders", "join", words, ids(status, total), asks={"status": status, "total": total})


def _late_city(world: World) -> Task:
    cities = {row["id"]: row["city"] for row in world.customers}

    def counts(status: str) -> list[tuple[str, int]]:
        found = Counter(cities[row["customer_id"]] for row in world.orders if row["status"] == status)
        return [*found.most_common(2), ("", 0)]

    status = max(("late", "paid", "sent"), key=lambda each: counts(each)[0][1] - counts(each)[1][1])
    words = "In which city live the customers with, together, the most orders with the status {status}?"
    return Task.of("late_city", "join", words, counts(status)[0][0], asks={"status": status})


def _best_customer_tickets(world: World) -> Task:
    cents: defaultdict[str, int] = defaultdict(int)
    for row in world.orders:
        cents[row["customer_id"]] += round(row["total"] * 100)
    best = max(cents, key=lambda each: cents[each])
    count = sum(row["customer_id"] == best for row in world.tickets)
    words = "How many tickets has the customer whose orders have the greatest sum of totals?"
    return Task.of("best_customer_tickets", "join", words, count)


def _mail_of_greatest(world: World) -> Task:
    rows = [row for row in world.orders if row["status"] == "cancelled"]
    best = max(rows, key=lambda row: row["total"])["customer_id"]
    mail = next(row["email"] for row in world.customers if row["id"] == best)
    words = "What is the e-mail address of the customer of the cancelled order with the greatest total?"
    return Task.of("mail_of_greatest", "chain", words, str(mail))


RECORD_TASKS: Final[tuple[Maker, ...]] = (
    _late_orders,
    _critical_tickets,
    _failed_deployments,
    _greatest_order,
    _greatest_paid,
    _slowest_deployment,
    _returned_orders,
    _gold_customers,
    _late_in_month,
    _sent_items,
    _gold_orders,
    _late_city,
    _best_customer_tickets,
    _mail_of_greatest,
)
