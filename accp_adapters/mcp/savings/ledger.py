"""The counts of all servers in one SQLite file, to which several proxies add at once without losing any."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

from accp_adapters.mcp.savings.counts import Counts
from accp_adapters.stores.formats import check_format

__all__ = ["Ledger"]

_NAME: Final = "mcp-savings.sqlite"
_BUSY_SECONDS: Final = 5.0
_TABLE: Final = """CREATE TABLE IF NOT EXISTS savings (
    server TEXT, kind TEXT, messages INTEGER, rewritten INTEGER, tokens_before INTEGER, tokens_after INTEGER,
    PRIMARY KEY (server, kind)
)"""
_ADD: Final = """INSERT INTO savings VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
    messages = messages + excluded.messages, rewritten = rewritten + excluded.rewritten,
    tokens_before = tokens_before + excluded.tokens_before, tokens_after = tokens_after + excluded.tokens_after"""
_READ: Final = "SELECT server, kind, messages, rewritten, tokens_before, tokens_after FROM savings ORDER BY 1, 2"


class Ledger:
    """The file in the folder of our state; it holds numbers and the names of servers, nothing that was said."""

    def __init__(self, state: Path) -> None:
        """Use the file in the folder `state`, which is made when something is added."""
        self._path: Final = state / _NAME

    def add(self, server: str, counts: Mapping[str, Counts]) -> None:
        """Add the counts of each kind of message to those of a server, all or nothing.

        Raises:
            OSError: The folder cannot be written.
            sqlite3.Error: The file is no database, was busy for too long, or a later version wrote it.
        """
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        rows = [
            (server, kind, each.messages, each.rewritten, each.tokens_before, each.tokens_after)
            for kind, each in counts.items()
        ]
        with closing(sqlite3.connect(self._path, timeout=_BUSY_SECONDS)) as connection, connection:
            connection.execute("BEGIN IMMEDIATE")
            check_format(connection)
            connection.execute(_TABLE)
            connection.executemany(_ADD, rows)

    def read(self) -> dict[str, dict[str, Counts]]:
        """Return the counts by server and kind; none if there is no file.

        Raises:
            sqlite3.Error: The file is no database, or a later version wrote it.
        """
        found: dict[str, dict[str, Counts]] = {}
        if not self._path.is_file():
            return found
        with closing(sqlite3.connect(self._path, timeout=_BUSY_SECONDS)) as connection:
            check_format(connection)
            for server, kind, *numbers in connection.execute(_READ):
                found.setdefault(server, {})[kind] = Counts(*numbers)
        return found
