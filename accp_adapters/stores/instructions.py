"""Known instructions in one SQLite file, for any number of threads and processes (AACP section 6.3).

`get_or_create` is a single flight: who finds no entry claims the wording, and everybody else waits for that one. A
claim is a row with an end; its owner moves the end on for as long as it works, so that a claim of a process that died
ends soon and one of a slow model does not. Entries are synced to the disk before they are returned; counters are in
the operating system's hands then, which is enough for a process that is killed and not for a power failure.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
import uuid
import weakref
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, Self

from accp_core.aacp.registry import RegistryEntry

__all__ = ["SqliteInstructionRegistry"]

MEMORY: Final = ":memory:"

_CREATE: Final = """
CREATE TABLE IF NOT EXISTS instructions (
    pattern TEXT NOT NULL UNIQUE, key TEXT NOT NULL, packet TEXT NOT NULL, source TEXT NOT NULL,
    english TEXT NOT NULL, times_seen INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS claims (pattern TEXT PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL) WITHOUT ROWID;
"""
_COLUMNS: Final = "pattern, key, packet, source, english, times_seen"
_SEEN: Final = f"UPDATE instructions SET times_seen = times_seen + 1 WHERE pattern = ? RETURNING {_COLUMNS}"
_NEW: Final = f"INSERT OR IGNORE INTO instructions ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"
_CLAIM: Final = """
INSERT INTO claims VALUES (:pattern, :owner, :until)
ON CONFLICT (pattern) DO UPDATE SET owner = :owner, until = :until WHERE claims.until < :now RETURNING owner
"""
# The least asked for goes first, of those the oldest.
_EVICT: Final = """
DELETE FROM instructions WHERE rowid IN (
    SELECT rowid FROM instructions ORDER BY times_seen, rowid
    LIMIT max(0, (SELECT count(*) FROM instructions) - ?)
)
"""


class SqliteInstructionRegistry:
    """An `InstructionStore` in SQLite: one call of the model for a wording, however many ask at once."""

    def __init__(
        self,
        path: str | os.PathLike[str] = MEMORY,
        *,
        max_entries: int = 1_000_000,
        lease: float = 15.0,
        wait: float = 600.0,
    ) -> None:
        """Open or create the registry at `path`; ":memory:" keeps it in this process until `close`.

        A file is for its owner only (mode 0600), as are the folders that are made for it. At most `max_entries`
        are kept, those seen least go first. A claim whose owner is gone ends after `lease` seconds; who waits for
        another's packet gives up after `wait` seconds.

        Raises: sqlite3.Error when the file cannot be opened or is no database; it is never overwritten.
        """
        self.path: Final = os.fspath(path)
        self._max_entries = max_entries
        self._lease = lease
        self._wait = wait
        if self.path != MEMORY:
            Path(self.path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            Path(self.path).touch(mode=0o600)
        self._connection: Final = sqlite3.connect(self.path, timeout=60, check_same_thread=False, isolation_level=None)
        self._lock: Final = threading.RLock()
        self._flights: Final[dict[str, _Flight]] = {}
        self._closer: Final = weakref.finalize(self, self._connection.close)
        self._set_up()

    def _set_up(self) -> None:
        try:
            write_ahead(self._connection)
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.executescript(_CREATE)
        except sqlite3.Error:
            self._closer()
            raise

    def get_or_create(self, pattern: str, make: Callable[[], RegistryEntry], /) -> RegistryEntry:
        """Return the entry of `pattern`, seen once more, or the one that `make` makes; see `InstructionStore`.

        Raises: what `make` raises, for its caller only, and then the next who waits makes one; TimeoutError when
            another's `make` takes longer than this registry waits; sqlite3.Error.
        """
        if entry := self._seen(pattern):
            return entry
        with self._flight(pattern):
            deadline = time.monotonic() + self._wait
            pause = 0.005
            while not (entry := self._seen(pattern)):
                if entry := self._made(pattern, make):
                    return entry
                if time.monotonic() > deadline:
                    raise TimeoutError(f"nobody made the packet of {pattern} within {self._wait} seconds")
                time.sleep(pause)
                pause = min(pause * 1.5, 0.1)
            return entry

    def add(self, entries: Iterable[RegistryEntry]) -> int:
        """Keep entries whose wording is not known yet, all of them or none; return how many were new."""
        with self._synced():
            before = self._count()
            self._connection.executemany(_NEW, map(as_row, entries))
            new = self._count() - before
            self._connection.execute(_EVICT, (self._max_entries,))
        return new

    def entries(self, limit: int = -1) -> list[RegistryEntry]:
        """Return all entries, or the first `limit`: those asked for most come first, of those the oldest."""
        rows = self._rows(f"SELECT {_COLUMNS} FROM instructions ORDER BY times_seen DESC, rowid LIMIT ?", limit)
        return list(map(from_row, rows))

    def forget(self, pattern: str) -> bool:
        """Remove the entry of `pattern`; return whether there was one."""
        return bool(self._rows("DELETE FROM instructions WHERE pattern = ? RETURNING 1", pattern))

    def __len__(self) -> int:
        """Return the number of entries."""
        with self._lock:
            return self._count()

    def close(self) -> None:
        """Close the database; a registry in memory is gone. Closing twice is allowed."""
        with self._lock:
            self._closer()

    def __enter__(self) -> Self:
        """Return the registry, which is closed at the end of the block."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the database."""
        self.close()

    def _seen(self, pattern: str) -> RegistryEntry | None:
        rows = self._rows(_SEEN, pattern)
        return from_row(rows[0]) if rows else None

    def _made(self, pattern: str, make: Callable[[], RegistryEntry]) -> RegistryEntry | None:
        """Return the new entry of `pattern`, None while somebody else has claimed it."""
        owner, now = uuid.uuid4().hex, time.time()
        if not self._rows(_CLAIM, {"pattern": pattern, "owner": owner, "until": now + self._lease, "now": now}):
            return None
        try:
            # Whoever had claimed it may have finished since we looked.
            if entry := self._seen(pattern):
                return entry
            with self._held(pattern, owner):
                made = make()
            return made if self.add([made]) else self._seen(made.pattern)
        finally:
            self._rows("DELETE FROM claims WHERE pattern = ? AND owner = ?", pattern, owner)

    @contextlib.contextmanager
    def _held(self, pattern: str, owner: str) -> Iterator[None]:
        """Move the end of our claim on, for as long as the body runs."""
        done = threading.Event()

        def hold() -> None:
            while not done.wait(self._lease / 3):
                with contextlib.suppress(sqlite3.Error):
                    until = time.time() + self._lease
                    self._rows("UPDATE claims SET until = ? WHERE pattern = ? AND owner = ?", until, pattern, owner)

        holder = threading.Thread(target=hold, name="aacp claim", daemon=True)
        holder.start()
        try:
            yield
        finally:
            done.set()
            holder.join()

    @contextlib.contextmanager
    def _flight(self, pattern: str) -> Iterator[None]:
        """Let one thread of this process at a time wait for `pattern`."""
        with self._lock:
            flight = self._flights.setdefault(pattern, _Flight())
            flight.waiting += 1
        try:
            if not flight.lock.acquire(timeout=self._wait):
                raise TimeoutError(f"nobody made the packet of {pattern} within {self._wait} seconds")
            try:
                yield
            finally:
                flight.lock.release()
        finally:
            with self._lock:
                flight.waiting -= 1
                if not flight.waiting:
                    del self._flights[pattern]

    @contextlib.contextmanager
    def _synced(self) -> Iterator[None]:
        """Run the body in one transaction that is on the disk when it ends."""
        with self._lock:
            self._connection.execute("PRAGMA synchronous=FULL")
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            else:
                self._connection.execute("COMMIT")
            finally:
                self._connection.execute("PRAGMA synchronous=NORMAL")

    def _count(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM instructions").fetchone()[0])

    def _rows(self, statement: str, *values: Any) -> list[Any]:
        parameters = values[0] if values and isinstance(values[0], dict) else values
        with self._lock:
            return self._connection.execute(statement, parameters).fetchall()


class _Flight:
    """Threads that wait for one wording."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.waiting = 0


def write_ahead(connection: sqlite3.Connection) -> None:
    """Switch to WAL; processes that open a new file at once refuse each other for a moment, whatever the timeout."""
    for pause in (0.01, 0.05, 0.1, 0.2, 0.5, 1.0):
        with contextlib.suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA journal_mode=WAL")
            return
        time.sleep(pause)
    connection.execute("PRAGMA journal_mode=WAL")


def as_row(entry: RegistryEntry) -> tuple[str | int, ...]:
    """Return the columns of an entry."""
    return (entry.pattern, entry.key, entry.packet, entry.source, entry.english, entry.times_seen)


def from_row(row: tuple[Any, ...]) -> RegistryEntry:
    """Return the entry of its columns."""
    return RegistryEntry(**dict(zip(_COLUMNS.split(", "), row, strict=True)))
