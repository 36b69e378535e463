"""Stored texts in one SQLite database, in memory or in a file (ACCP section 5.1, tier 3)."""

from __future__ import annotations

import functools
import os
import sqlite3
import threading
import weakref
from typing import Any, Final

from accp_adapters.stores.formats import MEMORY, open_database
from accp_adapters.stores.texts import MAX_FOUND, encode_name, pack_text, unpack_text
from accp_core.strict_json import is_utf8

__all__ = ["SqliteColdStore", "embedded_store"]

_CREATE: Final = """
CREATE TABLE IF NOT EXISTS cold (
    session TEXT NOT NULL, key TEXT NOT NULL, text BLOB NOT NULL, PRIMARY KEY (session, key)
) WITHOUT ROWID
"""
_FIND: Final = "SELECT key FROM cold WHERE session = ? AND key >= ? AND key < ? ORDER BY key LIMIT ?"
_TIMEOUT: Final = 30.0
"""Seconds that a writer waits for others: a text that is not stored fails the run."""
# Connections of a parent process, referenced so that nothing closes them in a forked child.
_INHERITED: Final[list[sqlite3.Connection]] = []


class SqliteColdStore:
    """A `ColdStore` in SQLite for any number of threads and processes; texts are compressed (zlib).

    A file survives the end of the process, a kill included; it must be on a local disk, as WAL demands.
    """

    def __init__(self, path: str | os.PathLike[str] = MEMORY) -> None:
        """Open or create the store.

        Args:
            path: A file, which is created for its owner only (mode 0600) and in WAL mode, so that other processes can
                read while one writes; ":memory:" keeps everything in this process until `close`.

        Raises:
            sqlite3.Error: the file cannot be opened, is not an SQLite database, or a later version wrote it.
        """
        self.path: Final = os.fspath(path)
        self._lock: Final = threading.Lock()
        self._open()

    def put(self, session_id: str, key: str, text: str) -> None:
        """Store `text` under `key` of `session_id`; the same key again changes nothing.

        Raises:
            ProtocolError: E2003, the text is longer than 64 MiB.
        """
        names = _column_value(session_id), _column_value(key)
        self._execute("INSERT OR IGNORE INTO cold VALUES (?, ?, ?)", *names, pack_text(text))

    def get(self, session_id: str, key: str) -> str | None:
        """Return the text under `key` of `session_id`, None where there is none.

        Raises:
            ProtocolError: E2001, the bytes there are not a stored text; E2003, the text is longer than 64 MiB.
        """
        names = _column_value(session_id), _column_value(key)
        rows, _ = self._execute("SELECT text FROM cold WHERE session = ? AND key = ?", *names)
        return unpack_text(rows[0][0]) if rows else None

    def find(self, session_id: str, beginning: str) -> list[str]:
        """Return the keys of `session_id` that begin so, at most 1,000, in order."""
        rows, _ = self._execute(_FIND, _column_value(session_id), beginning, f"{beginning}\U0010ffff", MAX_FOUND)
        return [key for (key,) in rows]

    def delete(self, session_id: str, key: str) -> None:
        """Delete the text under `key` of `session_id`, where there is one."""
        self._execute("DELETE FROM cold WHERE session = ? AND key = ?", _column_value(session_id), _column_value(key))

    def purge(self, session_id: str) -> int:
        """Delete all texts of `session_id`; return their number."""
        _, count = self._execute("DELETE FROM cold WHERE session = ?", _column_value(session_id))
        return count

    def close(self) -> None:
        """Close the database, which ends a store in memory. Closing twice is allowed."""
        with self._lock:
            self._closer()

    def _execute(self, statement: str, *values: str | bytes | int) -> tuple[list[tuple[Any]], int]:
        with self._lock:
            if self._process != os.getpid() and self.path != MEMORY:
                # Servers fork their workers; a connection must not be used in the child, nor closed there.
                self._closer.detach()
                _INHERITED.append(self._connection)
                self._open()
            cursor = self._connection.execute(statement, values)
            return cursor.fetchall(), cursor.rowcount

    def _open(self) -> None:
        self._connection = open_database(self.path, _CREATE, timeout=_TIMEOUT, synchronous="FULL")
        self._closer = weakref.finalize(self, self._connection.close)
        self._process = os.getpid()


def _column_value(name: str) -> str | bytes:
    """Return `name` as SQLite can hold it: as text, or as bytes where it has halves of surrogate pairs."""
    return name if is_utf8(name) else encode_name(name)


@functools.cache
def embedded_store() -> SqliteColdStore:
    """Return the one store in the memory of this process, which everything uses that is given no store.

    A tool finds in it what a node of the same process stored; their sessions keep graphs apart.
    """
    return SqliteColdStore()
