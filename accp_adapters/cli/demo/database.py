"""A SQLite database of a folder's files and of what they define, built in memory."""

from __future__ import annotations

import sqlite3
from typing import Any, Final

from accp_adapters.cli.demo.snapshot import FolderSnapshot

__all__ = ["SCHEMA", "build_database", "query_rows"]

SCHEMA: Final = """\
CREATE TABLE files (path TEXT, folder TEXT, suffix TEXT, bytes INTEGER, lines INTEGER, modified TEXT);
CREATE TABLE definitions (path TEXT, kind TEXT, name TEXT, line INTEGER);
"""
_MAX_ROWS: Final = 500
"""Rows that one query returns at most."""


class _Database(sqlite3.Connection):
    """A connection that closes itself when it is collected; without that Python 3.13 warns."""

    def __del__(self) -> None:
        self.close()


def build_database(snapshot: FolderSnapshot) -> sqlite3.Connection:
    """Return a read-only database of `snapshot`, which any thread may use."""
    database = sqlite3.connect(":memory:", check_same_thread=False, factory=_Database)
    database.executescript(SCHEMA)
    database.executemany(
        "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?)",
        [
            (
                file.path,
                file.path.rpartition("/")[0] or ".",
                file.suffix,
                file.size,
                file.lines,
                file.modified,
            )
            for file in snapshot.files
        ],
    )
    database.executemany(
        "INSERT INTO definitions VALUES (?, ?, ?, ?)",
        [
            (file.path, definition.kind, definition.name, definition.line)
            for file in snapshot.files
            for definition in file.definitions()
        ],
    )
    database.commit()
    database.execute("PRAGMA query_only = ON")
    return database


def query_rows(database: sqlite3.Connection, sql: str) -> list[dict[str, Any]]:
    """Return the rows of one SELECT, each as an object by column.

    Raises:
        sqlite3.Error: the statement is not SQL, or it writes.
    """
    cursor = database.execute(sql)
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchmany(_MAX_ROWS)]
