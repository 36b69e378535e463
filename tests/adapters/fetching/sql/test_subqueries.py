"""Random queries with joins, subqueries, WITH and UNION: the answers are those of SQLite over the same tables."""

from __future__ import annotations

import json
import random
import sqlite3
from typing import Final

import pytest

from accp_adapters.fetching import value_at
from accp_core.errors import ProtocolError
from tests.adapters.fetching.sql.seeds import seeds

TABLES: Final = {
    "orders": [
        {"id": at, "code": "abc"[at % 3], "total": total, "user": at % 4}
        for at, total in enumerate([1, 5, 7, 9, 20, 200])
    ],
    "people": [
        {"id": 1, "code": "a", "name": "Ann"},
        {"id": 2, "code": "b", "name": "Bo"},
        {"id": 3, "code": "z", "name": "Cy"},
    ],
    "tags": [{"user": user, "label": label} for user, label in [(1, "x"), (1, "y"), (2, "x"), (3, "y")]],
}
COLUMNS: Final = {table: tuple(rows[0]) for table, rows in TABLES.items()}
NUMBERS: Final = frozenset(("id", "total", "user"))
MAX_ROWS: Final = 100

_Columns = tuple[str, ...]
_Scope = list[tuple[str, _Columns]]


class Writer:
    """Writes one random query; names before a dot, aliases and tables named again are frequent."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.named: _Scope = []
        """The queries of WITH."""

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def column(self, scope: _Scope, *, numeric: bool) -> str:
        alias, names = self.random.choice(scope)
        fitting = [name for name in names if (name in NUMBERS) == numeric]
        if not fitting:
            return "1" if numeric else "'a'"
        name = self.random.choice(fitting)
        is_unique = sum(name in others for _, others in scope) == 1
        return name if is_unique and self.chance(0.5) else f"{alias}.{name}"

    def source(self, depth: int, used: _Scope) -> str:
        """Return a table or a query with its alias, if it has one, and add its name and columns to `used`."""
        taken = {alias for alias, _ in used}
        if depth < 2 and self.chance(0.2):
            query, columns = self.select(depth + 1, [])
            used.append((f"s{len(used)}", columns))
            return f"({query}) AS s{len(used) - 1}"
        name, columns = self.random.choice([*COLUMNS.items(), *self.named])
        alias = self.random.choice("opt") + str(len(used)) if name in taken or self.chance(0.4) else name
        used.append((alias, columns))
        return name if alias == name else f"{name} {alias}"

    def condition(self, scope: _Scope, outer: _Scope, depth: int) -> str:
        kind = self.random.randrange(8)
        if kind == 0 and depth < 2:
            query, _ = self.select(depth + 1, [*scope, *outer], width=1)
            return f"{self.column(scope, numeric=self.chance(0.5))} IN ({query})"
        if kind == 1 and depth < 2:
            return f"EXISTS ({self.select(depth + 1, [*scope, *outer])[0]})"
        if kind == 2:
            return f"{self.column(scope, numeric=True)} < (SELECT max(orders.total) FROM orders)"
        if kind == 3:
            return f"{self.random.randrange(9)} < {self.column(scope, numeric=True)}"
        if kind == 4:
            return f"{self.column(scope, numeric=False)} = '{self.random.choice('abxy')}'"
        numeric = kind < 7
        return f"{self.column(scope, numeric=numeric)} = {self.column(scope + outer, numeric=numeric)}"

    def select(self, depth: int, outer: _Scope, *, width: int = 2) -> tuple[str, _Columns]:
        scope: _Scope = []
        tables = self.source(depth, scope)
        if self.chance(0.3):
            left = list(scope)
            joined = self.source(depth, scope)
            on = f"{self.column(left, numeric=True)} = {self.column(scope[1:], numeric=True)}"
            tables = f"{tables} {self.random.choice(['JOIN', 'LEFT JOIN'])} {joined} ON {on}"
        cells = [self.column(scope, numeric=self.chance(0.5)) for _ in range(width)]
        names = [cell.rpartition(".")[2] for cell in cells]
        # The columns of a subquery keep their names where these are names and all differ.
        if len(set(names)) < width or not all(map(str.isidentifier, names)):
            names = [f"e{at}" for at in range(width)]
            cells = [f"{cell} AS {name}" for cell, name in zip(cells, names, strict=True)]
        where = f" WHERE {self.condition(scope, outer, depth)}" if self.chance(0.7) else ""
        return f"SELECT {', '.join(cells)} FROM {tables}{where}", tuple(names)

    def query(self) -> str:
        beginning = ""
        if self.chance(0.3):
            inner, columns = self.select(1, [])
            self.named.append(("known", columns))
            beginning = f"WITH known AS ({inner}) "
        parts = [self.select(0, [])[0] for _ in range(2 if self.chance(0.2) else 1)]
        return beginning + f" {self.random.choice(['UNION', 'UNION ALL', 'EXCEPT'])} ".join(parts)


@pytest.fixture(scope="module")
def database() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    for table, rows in TABLES.items():
        connection.execute(f"CREATE TABLE {table} ({', '.join(COLUMNS[table])})")
        marks = ", ".join("?" * len(COLUMNS[table]))
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", [tuple(row.values()) for row in rows])
    return connection


def expected_rows(database: sqlite3.Connection, query: str) -> list[tuple[object, ...]]:
    """Return the rows of a query; none where SQLite refuses it, because a name in it is ambiguous."""
    try:
        return database.execute(query).fetchmany(MAX_ROWS + 1)
    except sqlite3.OperationalError:
        return []


@seeds(20)
def test_a_query_has_the_rows_that_sqlite_finds(database: sqlite3.Connection, seed: int) -> None:
    text, answered = json.dumps(TABLES), 0
    for number in range(40):
        query = Writer(1_000 * seed + number).query()
        expected = expected_rows(database, query)
        # No row at all is answered by a hint in words, and many are cut.
        if 1 < len(expected) <= MAX_ROWS:
            try:
                found = value_at(text, query)
            except ProtocolError as refusal:
                # Numbers beside texts, or a name of two tables where SQLite does not look.
                assert refusal.reason.startswith("expected"), query
                continue
            answered += 1
            rows = [tuple(row.values()) if type(row) is dict else (row,) for row in found]
            assert sorted(map(repr, rows)) == sorted(map(repr, expected)), query
    assert answered > 5
