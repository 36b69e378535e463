"""The data: a year of a shop, made by rule, as a SQLite database and a CSV file; and the tools over them."""

from __future__ import annotations

import ast
import csv
import operator
import re
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final

from langchain_core.tools import BaseTool, ToolException, tool

__all__ = ["make_shop", "sales_tools", "support_tools", "writer_tools"]

CUSTOMERS: Final = 300
_CITIES: Final = ("Leeds", "Turin", "Ghent", "Lyon", "Porto", "Graz", "Aarhus", "Brno")
_TRADES: Final = ("Books", "Bikes", "Garden", "Music", "Tools", "Coffee", "Paper")
_TOPICS: Final = {
    "late delivery": "My parcel {} came {} days after the day that you promised.",
    "price": "Order {} cost {} EUR more than at the shop next door.",
    "quality": "What came with order {} broke after {} days.",
    "invoice": "The invoice of order {} names another address, as {} times before.",
}
_ORDER: Final = ("late delivery", "price", "late delivery", "quality", "late delivery", "price", "invoice")
_ROWS: Final = 500


def make_shop(folder: Path) -> None:
    """Write `shop.sqlite` and `tickets.csv` into `folder`; the same each time."""
    with closing(sqlite3.connect(folder / "shop.sqlite")) as database, database:
        database.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT, email TEXT)")
        database.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, day TEXT, total REAL)")
        database.executemany("INSERT INTO customers VALUES (?, ?, ?, ?)", map(_customer, range(1, CUSTOMERS + 1)))
        orders = [order for number in range(1, CUSTOMERS + 1) for order in _orders(number)]
        database.executemany("INSERT INTO orders (customer, day, total) VALUES (?, ?, ?)", orders)
    with (folder / "tickets.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["ticket", "day", "customer", "topic", "text"])
        table.writerows(map(_ticket, range(1, 241)))


def _customer(number: int) -> tuple[int, str, str, str]:
    city, trade = _CITIES[number % 8], _TRADES[number % 7]
    return number, f"{city} {trade} {number}", city, f"buying@{city.lower()}-{trade.lower()}-{number}.example"


def _orders(number: int) -> list[tuple[int, str, float]]:
    """Return the orders of a customer; every fifth one stopped ordering at the end of June."""
    last = 170 if number % 5 == 2 else 320
    days = [(number * 13 + 37 * each) % last for each in range(4 + number % 6)]
    return [
        (number, str(date(2026, 1, 1) + timedelta(day)), 20 + (number * 7919 + day * 104729) % 48_000 / 100)
        for day in days
    ]


def _ticket(number: int) -> tuple[int, str, int, str, str]:
    topic = _ORDER[number * 3 % 7]
    day = date(2026, 1, 1) + timedelta(number * 29 % 320)
    return (
        number,
        str(day),
        number * 7 % CUSTOMERS + 1,
        topic,
        _TOPICS[topic].format(10_000 + number * 17, 2 + number % 9),
    )


def sales_tools(folder: Path) -> list[BaseTool]:
    """Return what the agent `sales` has."""

    @tool
    def query_sales(sql: str) -> list[dict[str, Any]]:
        """Run one SELECT on customers(id, name, city, email) and orders(id, customer, day, total)."""
        uri = f"{(folder / 'shop.sqlite').resolve().as_uri()}?mode=ro"
        try:
            with closing(sqlite3.connect(uri, uri=True)) as database:
                database.row_factory = sqlite3.Row
                return [dict(row) for row in database.execute(sql).fetchmany(_ROWS)]
        except sqlite3.Error as error:
            raise ToolException(str(error)) from error

    return [query_sales]


def support_tools(folder: Path) -> list[BaseTool]:
    """Return what the agent `support` has."""

    def rows() -> list[dict[str, str]]:
        with (folder / "tickets.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    @tool
    def count_tickets(column: str) -> list[dict[str, Any]]:
        """Count the tickets of 2026 by a column: day, customer or topic."""
        counted = Counter(row.get(column, "") for row in rows())
        return [{column: value, "tickets": number} for value, number in counted.most_common()]

    @tool
    def read_tickets(topic: str) -> list[dict[str, str]]:
        """Return the tickets of a topic."""
        return [row for row in rows() if row["topic"] == topic]

    return [count_tickets, read_tickets]


def writer_tools(out: Path) -> list[BaseTool]:
    """Return what the agent `writer` has; letters go to `out`."""

    @tool
    def calculate(expression: str) -> str:
        """Work out an expression of numbers with + - * /."""
        return f"{_worth(ast.parse(expression, mode='eval').body):.2f}"

    @tool
    def save_letter(customer: str, text: str) -> str:
        """Save a letter to a customer."""
        path = out / f"letter_{re.sub(r'[^A-Za-z0-9]+', '_', customer)}.txt"
        path.write_text(text, encoding="utf-8")
        return path.name

    return [calculate, save_letter]


_OPERATORS: Final[dict[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def _worth(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.BinOp(left, op, right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_worth(left), _worth(right))
    raise ToolException(f"expected numbers and + - * /, found {ast.unparse(node)!r}")
