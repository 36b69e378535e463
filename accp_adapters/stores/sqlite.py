"""The embedded cold tier: one SQLite database, in memory or in a file (ACCP section 5.1, tier 3)."""

from __future__ import annotations

import functools
import os
import sqlite3
import threading
import weakref
from pathlib import Path
from typing import Final

from accp_adapters.stores.texts import TEXT_ENCODING, pack_text, unpack_text

__all__ = ["MEMORY", "SqliteColdStore", "embedded_store"]

MEMORY: Final = ":memory:"
"""The path of a store that ends with its process."""

_CREATE: Final = """
CREATE TABLE IF NOT EXISTS cold (
    session TEXT NOT NULL, key TEXT NOT NULL, text BLOB NOT NULL, PRIMARY KEY (session, key)
) WITHOUT ROWID
"""
# How long a writer waits for others, in seconds: a text that is not kept fails the run.
_PATIENCE: Final = 30.0
# Connections that came over a fork, kept so that nothing closes them.
_INHERITED: Final[list[sqlite3.Connection]] = []


class SqliteColdStore:
    """A `ColdStore` in SQLite that threads and processes may share; texts are kept compressed (zlib).

    A file outlives the process, a kill included; it must be on a local disk (WAL).
    """

    def __init__(self, path: str | os.PathLike[str] = MEMORY) -> None:
        """Open or create the store at `path`; ":memory:" keeps everything in this process until `close`.

        A file is created for its owner only (mode 0600) and written ahead (WAL), so that other
        processes can read while one writes.

        Raises:
            sqlite3.Error: the file cannot be opened, or is no SQLite database.
        """
        self.path: Final = os.fspath(path)
        self._lock: Final = threading.Lock()
        self._open()

    def put(self, session_id: str, key: str, text: str) -> None:
        """Keep `text` under `key` for `session_id`; putting the same key again changes nothing."""
        self._execute("INSERT OR IGNORE INTO cold VALUES (?, ?, ?)", _name(session_id), _name(key), pack_text(text))

    def get(self, session_id: str, key: str) -> str | None:
        """Return the text kept under `key` for `session_id`, or None when there is none.

        Raises:
            ProtocolError: E2001, what stands there is not a text of ours.
        """
        rows, _ = self._execute("SELECT text FROM cold WHERE session = ? AND key = ?", _name(session_id), _name(key))
        return unpack_text(rows[0][0]) if rows else None

    def purge(self, session_id: str) -> int:
        """Forget everything of `session_id`; return how many texts went."""
        _, count = self._execute("DELETE FROM cold WHERE session = ?", _name(session_id))
        return count

    def close(self) -> None:
        """Close the database; a store in memory is gone. Closing twice is allowed."""
        with self._lock:
            self._closer()

    def _execute(self, statement: str, *values: str | bytes) -> tuple[list[tuple[bytes]], int]:
        with self._lock:
            if self._process != os.getpid() and self.path != MEMORY:
                # Servers fork their workers, and SQLite forbids to carry a connection over: closing is the parent's.
                self._closer.detach()
                _INHERITED.append(self._connection)
                self._open()
            cursor = self._connection.execute(statement, values)
            return cursor.fetchall(), cursor.rowcount

    def _open(self) -> None:
        if self.path != MEMORY:
            # SQLite gives its -wal and -shm files the mode of the database.
            Path(self.path).touch(mode=0o600)
        self._connection = sqlite3.connect(self.path, timeout=_PATIENCE, check_same_thread=False, isolation_level=None)
        self._closer = weakref.finalize(self, self._connection.close)
        self._process = os.getpid()
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute(_CREATE)


def _name(name: str) -> str | bytes:
    """Return `name` as SQLite can hold it: as text, unless it has lone surrogates."""
    packed = name.encode(*TEXT_ENCODING)
    try:
        return packed.decode()
    except UnicodeDecodeError:
        return packed


@functools.cache
def embedded_store() -> SqliteColdStore:
    """Return this process's store in memory: what everything uses that was given no store.

    There is one, so that a tool finds what a node of the same process put; sessions keep graphs apart.
    """
    return SqliteColdStore()
