"""Solves each task from the JSON of the tools alone, by SQL and by other code than that which made the task."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

from integrations.agent_tasks.task import Task
from integrations.agent_tasks.tools import world_tools
from integrations.agent_tasks.world import World

__all__ = ["solutions"]


class Solver:
    """The tables and texts that the tools give."""

    def __init__(self, world: World) -> None:
        self.tools: Mapping[str, Any] = {tool.name: tool for tool in world_tools(world, compact=True)}
        self.database = sqlite3.connect(":memory:")
        for name in ("orders", "customers", "tickets", "deployments"):
            rows = json.loads(self.tools[f"list_{name}"].invoke({}))
            columns = list(rows[0])
            self.database.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
            places = ", ".join("?" * len(columns))
            self.database.executemany(f"INSERT INTO {name} VALUES ({places})", [tuple(row.values()) for row in rows])

    def close(self) -> None:
        self.database.close()

    def cells(self, sql: str, **values: Any) -> list[Any]:
        return [row[0] for row in self.database.execute(sql, values)]

    def log(self, service: str) -> list[str]:
        return str(self.tools["read_log"].invoke({"service": service})).splitlines()

    def source(self, path: str) -> str:
        return str(self.tools["read_source"].invoke({"path": path}))

    def setting(self, path: str, name: str) -> list[int]:
        lines = (line.split() for line in self.source(path).splitlines())
        return [int(words[2]) for words in lines if words[0] == name]


Found = list[Any]
"""All that would be right: one answer, if the task has a single one; the cells of a list are one answer."""

BEST = "WITH s AS (SELECT customer_id AS c, sum(cast(round(total * 100) AS int)) AS t FROM orders GROUP BY 1) "


def words_of(solver: Solver, pattern: str, column: str = "text") -> list[tuple[str, str]]:
    rows = solver.database.execute(f"SELECT text, customer_id FROM tickets WHERE text LIKE '%{pattern}%'")
    return [(str(text), str(customer)) for text, customer in rows]


def late_city(solver: Solver, asks: Mapping[str, Any]) -> Found:
    sql = (
        "WITH n AS (SELECT city, count(*) AS n FROM customers, orders WHERE customers.id = customer_id "
        "AND status = :status GROUP BY city) SELECT city FROM n WHERE n = (SELECT max(n) FROM n)"
    )
    return solver.cells(sql, status=asks["status"])


def suspect(solver: Solver, asks: Mapping[str, Any]) -> Found:
    first = min(line.split()[0] for line in solver.log(asks["service"]) if line.split()[1] == "ERROR")
    sql = (
        "SELECT author FROM deployments WHERE service = :service AND at = "
        "(SELECT max(at) FROM deployments WHERE service = :service AND at < :first)"
    )
    return solver.cells(sql, service=asks["service"], first=first)


def returns_of(solver: Solver, path: str, name: str) -> list[int]:
    text = solver.source(path)
    namespace: dict[str, Any] = {}
    exec(compile(text, path, "exec"), namespace)  # made by us, from a seed
    return [namespace[name](1_000_000), namespace[name](0)]


def edited(solver: Solver, asks: Mapping[str, Any]) -> Found:
    return [asks["new"] + value for value in solver.setting(asks["path"], asks["other"])]


def in_two_files(solver: Solver, asks: Mapping[str, Any]) -> Found:
    (value,) = solver.setting(asks["second"], asks["name"])
    return [value * factor for factor in solver.setting(asks["first"], asks["other"])]


def worried(solver: Solver, asks: Mapping[str, Any]) -> Found:
    sql = (
        "SELECT customer_id FROM orders WHERE status = 'late' AND total > :total INTERSECT "
        "SELECT customer_id FROM tickets WHERE state = 'open'"
    )
    return [tuple(solver.cells(sql, total=asks["total"]))]


def counted(solver: Solver, *conditions: str) -> Found:
    """Return the sum of the counts of `table WHERE condition`."""
    return [sum(solver.cells(f"SELECT count(*) FROM {condition}")[0] for condition in conditions)]


def orders_of(solver: Solver, words: str, value: str) -> Found:
    (ticket,) = words_of(solver, words)
    return solver.cells(f"SELECT {value} FROM orders WHERE customer_id = :id", id=ticket[1])


def city_of_first(solver: Solver, asks: Mapping[str, Any]) -> Found:
    sql = (
        "SELECT city FROM customers JOIN orders ON customers.id = customer_id WHERE total = "
        "(SELECT max(total) FROM orders WHERE warehouse = :warehouse)"
    )
    return solver.cells(sql, warehouse=asks["warehouse"])


def best(solver: Solver, column: str, table: str, where: str, by: str) -> Found:
    sql = f"SELECT {column} FROM {table} WHERE {where} AND {by} = (SELECT max({by}) FROM {table} WHERE {where})"
    return solver.cells(sql)


SOLVERS: Mapping[str, Callable[[Solver, Mapping[str, Any]], Found]] = {
    "late_orders": lambda s, a: [
        tuple(s.cells("SELECT id FROM orders WHERE status='late' AND warehouse=:warehouse AND total>:total", **a))
    ],
    "critical_tickets": lambda s, a: [
        tuple(s.cells("SELECT id FROM tickets WHERE severity='critical' AND product=:product AND state=:state", **a))
    ],
    "failed_deployments": lambda s, a: [
        tuple(s.cells("SELECT id FROM deployments WHERE result='failed' AND author=:author AND service=:service", **a))
    ],
    "greatest_order": lambda s, a: best(s, "id", "orders", "1", "total"),
    "greatest_paid": lambda s, a: best(s, "id", "orders", f"status='paid' AND warehouse='{a['warehouse']}'", "total"),
    "slowest_deployment": lambda s, a: best(
        s, "author", "deployments", f"service='{a['service']}' AND result='success'", "seconds"
    ),
    "returned_orders": lambda s, a: counted(s, "orders WHERE status='returned'"),
    "gold_customers": lambda s, a: counted(s, f"customers WHERE tier='gold' AND city='{a['city']}'"),
    "late_in_month": lambda s, a: counted(s, f"orders WHERE status='late' AND substr(placed, 1, 7)='{a['month']}'"),
    "sent_items": lambda s, a: s.cells("SELECT sum(items) FROM orders WHERE carrier=:carrier AND status='sent'", **a),
    "gold_orders": lambda s, a: [
        tuple(
            s.cells(
                "SELECT id FROM customers WHERE tier='gold' AND id IN "
                "(SELECT customer_id FROM orders WHERE status=:status AND total>:total)",
                **a,
            )
        )
    ],
    "late_city": late_city,
    "best_customer_tickets": lambda s, a: s.cells(
        BEST + "SELECT (SELECT count(*) FROM tickets WHERE customer_id=c) FROM s WHERE t=(SELECT max(t) FROM s)"
    ),
    "mail_of_greatest": lambda s, a: s.cells(
        "SELECT email FROM customers JOIN orders ON customers.id=customer_id WHERE status='cancelled' AND total="
        "(SELECT max(total) FROM orders WHERE status='cancelled')"
    ),
    "voucher": lambda s, a: [text.split("the code ")[1].split(" ")[0] for text, _ in words_of(s, "voucher")],
    "vessel": lambda s, a: [customer for _, customer in words_of(s, "diesel")],
    "certificate": lambda s, a: [line.split()[-1] for line in s.log(a["service"]) if "certificate" in line],
    "timeouts": lambda s, a: ["\n".join(s.log(a["service"])).count("timeout")],
    "neighbour": lambda s, a: [
        re.split(r"\s", note)[3] for note in s.cells("SELECT note FROM orders WHERE id=:order", **a)
    ],
    "suspect": suspect,
    "baker_city": lambda s, a: [
        city
        for _, customer in words_of(s, "bakery")
        for city in s.cells("SELECT city FROM customers WHERE id=:id", id=customer)
    ],
    "vat_rate": lambda s, a: returns_of(s, "shop/pricing.py", a["function"])[:1],
    "edit_setting": edited,
    "edit_two_files": in_two_files,
    "edit_function": lambda s, a: returns_of(s, a["path"], a["name"])[1:],
    "worried_customers": worried,
    "open_and_failed": lambda s, a: counted(
        s,
        f"deployments WHERE service='{a['service']}' AND result='failed'",
        f"tickets WHERE product='{a['product']}' AND state='open'",
    ),
    "baker_orders": lambda s, a: orders_of(s, "bakery", "count(*)"),
    "charged_neighbour": lambda s, a: orders_of(s, "account was charged", "coalesce(round(sum(total), 2), 0.0)"),
    "city_of_first": city_of_first,
    "sum_of_answers": lambda s, a: counted(
        s,
        "orders WHERE status='late'",
        "deployments WHERE result='rolled back'",
        "tickets WHERE severity='critical' AND state='closed'",
    ),
}


def solutions(solver: Solver, task: Task) -> Found:
    """Return all that would be a right answer to a task; the ids of a list in order."""
    found = SOLVERS[task.name](solver, task.asks)
    return [tuple(sorted(each)) if isinstance(each, tuple) else each for each in found]
