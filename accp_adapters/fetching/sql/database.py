"""A stored text as an SQLite database: built once, kept as bytes, copied into the connection of each query."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Final

from accp_adapters.fetching.sql.storage import NO_CELL, StoredColumn, store_column
from accp_core.bounded import SizedCache
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.previews.records import table_of_records
from accp_core.references import key_of
from accp_core.tables import LINES, MAX_COLUMNS, TEXT_RECORDS, OpenedText, Table, open_text, table_of_lines

__all__ = ["MAX_CELLS", "MAX_CHARS", "Database", "DatabaseCache", "StoredTable"]

MAX_CHARS: Final = 32_000_000
"""Characters of a text that can be queried; opening it takes about 12 bytes of memory for each."""
MAX_CELLS: Final = 10_000_000
"""Rows times columns of a table, and of all tables of a text; an absent cell takes a byte."""
_BESIDE_ARRAYS: Final = frozenset(("root", LINES, TEXT_RECORDS))
_NO_SCALARS: Final = frozenset(("null", "absent", "arrays", "objects"))
_CACHED_BYTES: Final = 64_000_000
_ENTRY_BYTES: Final = 250
"""Memory of a cell whose spelling is kept."""
_COLUMN_BYTES: Final = 500
"""Memory of a column, a table or a database beside its content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTable:
    """A table of a database."""

    source: Table
    """The table without its rows."""
    row_count: int
    columns: dict[str, StoredColumn]
    """How each column is kept; empty: the table is too large to be built."""
    types: dict[str, str]
    """The declared type of each column, which no other column of any text has, to the column."""

    @property
    def own_columns(self) -> list[str]:
        """The columns that `*` shows: not those that say again what other columns or child tables say."""
        repeated = self.source.repeated
        return [
            name for name, each in self.columns.items() if name not in repeated or not set(each.kinds) <= _NO_SCALARS
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """The tables of one text in SQLite."""

    content: bytes
    """The database file; empty: there is no table that can be queried."""
    tables: tuple[StoredTable, ...]
    longest: int
    """Characters of the longest cell."""
    size: int
    """Bytes of memory that it takes, about."""
    is_cut: bool = False
    """Whether the text was cut off before it was stored."""

    @property
    def main(self) -> StoredTable | None:
        """The table that is meant where none is named: the longest that no row holds, root and those of a text last."""
        tops = [table for table in self.tables if table.source.parent is None]
        arrays = [table for table in tops if table.source.path or table.source.name not in _BESIDE_ARRAYS] or tops
        return max(arrays, key=lambda table: table.row_count, default=None)


class DatabaseCache:
    """The databases of the texts that were queried last. Losing one costs only the time to build it again."""

    def __init__(self, max_bytes: int = _CACHED_BYTES) -> None:
        self._databases: Final[SizedCache[str, Database]] = SizedCache(max_bytes)

    def get(self, text: str, *, with_objects: bool = False, with_lines: bool = False) -> Database:
        """Return the database of a text; the caller has checked who may read the text.

        Args:
            text: The text.
            with_objects: Whether objects and arrays that have columns or tables have a column of their JSON, too; few
                queries name one, and it takes several times the memory.
            with_lines: Whether a text that is all JSON has the table `lines`, too, if none of its own has that name.

        Raises:
            ProtocolError: E2003, the text is too long.
        """
        # The key is a hash of the text, so what one session built shows another one nothing but its own text.
        key = key_of(text)
        name = f"{key} {with_objects} {with_lines}"
        database = self._databases.use(name)
        if database is None:
            database = _build(text, key, with_objects=with_objects, with_lines=with_lines)
            self._databases.put(name, database, database.size)
        return database


def _build(text: str, key: str, *, with_objects: bool, with_lines: bool) -> Database:
    if len(text) > MAX_CHARS:
        reason = f"expected a text of at most {MAX_CHARS:,} characters for a query, found {len(text):,}; use offset"
        raise ProtocolError(reason, code=ErrorCode.BUDGET_EXCEEDED)
    left, numbers = MAX_CELLS, iter(range(2**31))
    longest, tables = 0, []
    opened = open_text(text)
    found = (*opened.tables(with_objects=with_objects), *_records(opened))
    if with_lines and all(table.name != LINES for table in found):
        found = (*found, table_of_lines(text))
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=OFF")
        connection.execute("BEGIN")
        for table in found:
            cells = len(table.rows) * len(table.columns)
            if len(table.columns) > MAX_COLUMNS or cells > left:
                tables.append(_described(table, {}, {}))
                continue
            left -= cells
            stored, longest = _add_table(connection, table, key, numbers, longest)
            tables.append(stored)
        connection.execute("COMMIT")
        # SQLite cannot write a database without tables.
        content = connection.serialize() if any(table.columns for table in tables) else b""
    size = len(content) + _described_size(tables)
    return Database(content=content, tables=tuple(tables), longest=longest, size=size, is_cut=opened.is_cut)


def _records(opened: OpenedText) -> Iterator[Table]:
    """Yield the table of the records of a text that holds no values: commits, mails, entries of a log, functions."""
    if isinstance(opened.value, str) and (found := table_of_records(opened.value)):
        yield found


def _described_size(tables: Sequence[StoredTable]) -> int:
    columns = [column for table in tables for column in table.columns.values()]
    names = sum(len(table.source.columns) for table in tables)
    kept = sum(len(column.spellings) for column in columns)
    return _ENTRY_BYTES * kept + _COLUMN_BYTES * (1 + len(tables) + names)


def _described(table: Table, columns: dict[str, StoredColumn], types: dict[str, str]) -> StoredTable:
    source = replace(table, rows=())
    return StoredTable(source=source, row_count=len(table.rows), columns=columns, types=types)


def _add_table(
    connection: sqlite3.Connection, table: Table, key: str, numbers: Iterator[int], longest: int
) -> tuple[StoredTable, int]:
    """Create and fill a table; return it, and the length of the longest cell so far."""
    names = table.columns or ("value",)
    columns: dict[str, StoredColumn] = {}
    types: dict[str, str] = {}
    cells: list[list[Any]] = []
    for name in names:
        columns[name], values = store_column(row.get(name, NO_CELL) for row in table.rows)
        # No word in the digits of a key, or in those of a number, changes the type's affinity.
        types[f"{columns[name].type}_{key.rpartition('.')[2]}_{next(numbers)}"] = name
        cells.append(values)
        longest = max(longest, max((len(value) for value in values if type(value) is str), default=0))
    declared = (f"{_quote(name)} {kind}" for kind, name in types.items())
    connection.execute(f"CREATE TABLE {_quote(table.name)} ({', '.join(declared)})")
    marks = ", ".join("?" * len(names))
    connection.executemany(f"INSERT INTO {_quote(table.name)} VALUES ({marks})", zip(*cells, strict=True))
    return _described(table, columns, types), longest


def _quote(name: str) -> str:
    doubled = name.replace("`", "``")
    return f"`{doubled}`"
