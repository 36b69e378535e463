"""Random expressions, conditions and aggregates: the answers are those of SQLite over the same rows.

The texts of `amount` are numerals, in any spelling; they compare as the numbers that they are.
"""

from __future__ import annotations

import json
import random
import re
import sqlite3
from typing import Any, Final

from accp_adapters.fetching import value_at
from accp_core.errors import ProtocolError
from tests.adapters.fetching.sql.seeds import seeds

CELLS: Final[dict[str, tuple[Any, ...]]] = {
    "id": tuple(range(1_000)),
    "qty": (None, 0, 1, 2, 5, -3, 100),
    "price": (None, 0.5, 1.25, -2.0, 3.0, 1e6),
    "amount": (None, "12", "7.00", "1.5", "-3", "100", "0", "2e2"),
    "status": (None, "a", "paid", "late", "it's", "A b", "x%y", "10", "true", "null", "select", "qty", "price"),
    "day": (None, "2026-01-05", "2026-11-30", "2026-07-14"),
}
NUMBERS: Final = ("id", "qty", "price", "amount")
TEXTS: Final = ("status", "day")
NUMERAL: Final = re.compile(r"-?[0-9.]+(e[0-9]+)?")


class Writer:
    """Writes one random query over the table `orders`."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def rows(self) -> list[dict[str, Any]]:
        """Return rows; each column has a value, which tells its type."""
        first = {name: values[1] for name, values in CELLS.items()}
        count = self.random.randrange(3, 14)
        return [first, *({name: self.random.choice(CELLS[name]) for name in CELLS} for _ in range(count))]

    def text(self) -> str:
        value = str(self.random.choice(CELLS["status"][1:])).replace("'", "''")
        return f"'{value}'"

    def number(self, depth: int) -> str:
        """Return an expression that is a number."""
        column = self.random.choice(NUMBERS)
        if depth > 2:
            return column
        inner, other = self.number(depth + 1), self.number(depth + 1)
        forms = [
            str(self.random.choice([0, 1, 2, 5, 100, -3, 0.5])),
            f"({inner} {self.random.choice('+-*')} {other})",
            f"abs({inner})",
            f"coalesce({inner}, 0)",
            f"ifnull({inner}, {other})",
            f"length({self.words(depth + 1)})",
            f"{self.random.choice(['max', 'min'])}({inner}, {other})",
            f"(SELECT {self.random.choice(['max', 'min'])}({column}) FROM orders)",
            f"CASE WHEN {self.condition(depth + 1)} THEN {inner} ELSE {other} END",
        ]
        return self.random.choice([*forms, *[column] * len(forms)])

    def words(self, depth: int) -> str:
        """Return an expression that is a text."""
        column = self.random.choice(TEXTS)
        if depth > 2:
            return column
        inner = self.words(depth + 1)
        forms = [
            f"{self.random.choice(['upper', 'lower', 'trim'])}({inner})",
            f"substr({inner}, {self.random.randrange(1, 4)}, 3)",
            f"coalesce({inner}, {self.text()})",
            f"({inner} || {self.words(depth + 1)})",
        ]
        return self.random.choice([*forms, *[column] * len(forms)])

    def any(self, depth: int) -> str:
        return self.number(depth) if self.random.random() < 0.5 else self.words(depth)

    def condition(self, depth: int) -> str:
        if depth > 3:
            return f"{self.random.choice(NUMBERS)} > 2"
        is_not = self.random.choice(["", "NOT "])
        number, words, joint = self.number(depth + 1), self.words(depth + 1), self.random.choice(["AND", "OR"])
        compare = self.random.choice(["=", "<", ">", "<=", ">=", "!="])
        return self.random.choice(
            [
                f"({self.condition(depth + 1)} {joint} {self.condition(depth + 1)})",
                f"NOT ({self.condition(depth + 1)})",
                f"{number} {compare} {self.number(depth + 1)}",
                f"{self.random.choice([0, 1, 5])} {compare} {number}",
                f"{words} {compare} {self.text()}",
                f"{self.any(depth + 1)} IS {is_not}NULL",
                f"{words} {is_not}LIKE {self.random.choice(['%a%', 'p%', '_', '%'])!r}",
                f"{words} {is_not}IN ({self.text()}, {self.text()})",
                f"{number} {is_not}IN (0, 1, 2, 100)",
                f"{number} {is_not}IN (SELECT {self.number(depth + 2)} FROM orders WHERE qty > 0)",
                f"EXISTS (SELECT {self.number(depth + 2)} FROM orders WHERE {number} > 1)",
                f"{number} {is_not}BETWEEN -1 AND {self.random.choice([2, 50, 200])}",
            ]
        )

    def query(self) -> str:
        where = f" WHERE {self.condition(0)}" if self.random.random() < 0.7 else ""
        if self.random.random() < 0.5:
            return f"SELECT id, {self.any(0)} AS one, {self.any(0)} AS other FROM orders{where}"
        if self.random.random() < 0.2:
            name = self.random.choice(["max", "min"])
            most = f"(SELECT status, {name}({self.number(1)}) AS most FROM orders GROUP BY status)"
            compare = self.random.choice(["most.most = amount", "amount = most.most", "most.most > 2", "2 < most.most"])
            return f"SELECT id, most.status AS one, most.most AS other FROM orders JOIN {most} most ON {compare}"
        totals = ["count(*)", *(f"{name}({self.number(1)})" for name in ("sum", "avg", "min", "max", "count"))]
        one, other = self.random.sample(totals, 2)
        having = f" HAVING {self.random.choice(totals)} > 2" if self.random.random() < 0.4 else ""
        order = self.random.choice(["", " ORDER BY one, status NULLS LAST LIMIT 3"])
        return f"SELECT status, {one} AS one, {other} AS other FROM orders{where} GROUP BY status{having}{order}"


def comparable(cell: Any) -> Any:
    """Return a cell as one number or text, however it is spelled."""
    if isinstance(cell, str) and NUMERAL.fullmatch(cell):
        return float(cell)
    # No -0.0, which SQLite has of texts only.
    return round(float(cell), 9) + 0.0 if isinstance(cell, int | float) else repr(cell)


def as_number(name: str, cell: Any) -> Any:
    return json.loads(cell) if name == "amount" and cell is not None else cell


def expected_rows(rows: list[dict[str, Any]], query: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(":memory:") as connection:
        connection.execute(f"CREATE TABLE orders ({', '.join(CELLS)})")
        cells = [tuple(as_number(name, cell) for name, cell in row.items()) for row in rows]
        connection.executemany(f"INSERT INTO orders VALUES ({', '.join('?' * len(CELLS))})", cells)
        return connection.execute(query).fetchall()


@seeds(20)
def test_an_expression_has_the_value_that_sqlite_finds(seed: int) -> None:
    answered = 0
    for number in range(60):
        writer = Writer(1_000 * seed + number)
        rows, query = writer.rows(), writer.query()
        expected = expected_rows(rows, query)
        # No row at all is answered by a hint in words, and a single row by its cells.
        if len(expected) > 1:
            try:
                found = value_at(json.dumps({"orders": rows}), query)
            except ProtocolError as refusal:
                # A day beside another text, or texts beside numbers.
                assert refusal.code == "E1004" and refusal.reason.startswith("expected"), query
                continue
            answered += 1
            shown = sorted(map(repr, [tuple(map(comparable, row.values())) for row in found]))
            assert shown == sorted(map(repr, [tuple(map(comparable, row)) for row in expected])), query
    assert answered > 10
