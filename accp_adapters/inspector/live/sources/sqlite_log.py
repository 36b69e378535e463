"""The frame log of a session host in a SQLite file (`SqliteFrameLog`), read without writing a byte."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from accp_adapters.inspector.live.sources.sessions import MAX_FRAMES, LoggedSessions
from accp_adapters.inspector.live.sources.source import file_state
from accp_adapters.inspector.live.sources.steps import record_of_step
from accp_adapters.inspector.live.threads import MAX_THREADS, Observed
from accp_adapters.replay import UnreadableRun
from accp_adapters.replay.formats.checkpoints.unchanged import open_unchanged

__all__ = ["LOCK_SECONDS", "SqliteLog", "read_only", "tables_of"]

LOCK_SECONDS: Final = 0.25
"""Seconds to wait for a writer; what a look takes, times four, passes before the next one."""
_NAMES: Final = "SELECT name, number FROM logs ORDER BY name LIMIT ?"
_TEXTS: Final = """
    SELECT number, substr(text, 1, ?) FROM texts WHERE name = ? AND number > ? ORDER BY number LIMIT ?
"""
_MAX_TEXT: Final = 1 << 20
_STEPS: Final = 1_000_000
"""Instructions of SQLite between two looks at how many there were."""
_MAX_LOOKS: Final = 2_000


class SqliteLog:
    """All logs of one file."""

    def __init__(self, path: str) -> None:
        """Follow the file at `path`."""
        self.name = path
        self._last: dict[str, int] = {}
        self._sessions = LoggedSessions()
        self._state: object = None

    def read(self) -> Observed:
        """Return the sessions that are there now.

        Raises:
            UnreadableRun: the file is no such log.
        """
        state = file_state(self.name)
        if state != self._state:
            with read_only(self.name) as database:
                for key, number in database.execute(_NAMES, (MAX_THREADS,)).fetchall():
                    self._follow(database, key, number)
            self._state = state
        return self._sessions.observed()

    def _follow(self, database: sqlite3.Connection, key: object, snapshot: int) -> None:
        name = key.decode("utf-8", "replace") if isinstance(key, bytes) else str(key)
        last = self._last.get(name, 0)
        if snapshot > last:
            self._sessions.tell(name, f"a snapshot stands for the first {snapshot:,} steps")
        for number, text in database.execute(_TEXTS, (_MAX_TEXT, key, last, MAX_FRAMES)):
            self._sessions.add(record_of_step(str(text)), name)
            self._last[name] = number


@contextmanager
def read_only(path: str) -> Iterator[sqlite3.Connection]:
    """Open a SQLite file so that nothing in it is called, nothing is changed and nothing runs for ever.

    Raises:
        UnreadableRun: the file is no database, or is not as its tables say.
    """
    looks = 0

    def stop() -> bool:
        nonlocal looks
        looks += 1
        return looks > _MAX_LOOKS

    try:
        with open_unchanged(path, patience=LOCK_SECONDS) as database:
            database.set_progress_handler(stop, _STEPS)
            yield database
    except sqlite3.Error as error:
        raise UnreadableRun(f"expected a SQLite file that can be read: {error}", path=path) from error


def tables_of(path: str) -> frozenset[str]:
    """Return the names of the tables of a SQLite file that are no views and not virtual."""
    query = "SELECT name, sql FROM sqlite_master WHERE type = 'table' LIMIT 1000"
    with read_only(path) as database:
        return frozenset(name for name, sql in database.execute(query) if "VIRTUAL" not in str(sql).upper())
