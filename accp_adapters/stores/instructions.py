"""Encoded instructions in one SQLite file, for threads and processes, and their audit log (AACP 6.3 and 8).

`get_or_create` is a single flight: the first caller that finds no entry claims the pattern, and all others wait for
its entry. A claim is a row with an end, which its owner moves on while it works: the claim of a process that died ends
soon, that of a slow model does not. Entries are synced to the disk before they are returned. Counters are only handed
to the operating system, which survives a killed process but not a power failure.
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

from accp_adapters.backoff import Backoff
from accp_adapters.stores.sqlite import MEMORY, open_database
from accp_core.aacp.audit import AuditRecord, read_record, write_record
from accp_core.aacp.registry import RegistryEntry
from accp_core.errors import DecodeError

__all__ = ["AuditLog", "SqliteInstructionRegistry"]


# An append-only audit log in a file: one JSON object a line (AACP section 8).


class AuditLog:
    """A file of `AuditRecord` lines, to which any number of threads and processes may append."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Use the file at `path`, which the first record creates for its owner only (mode 0600)."""
        self.path: Final = Path(path)
        self._lock: Final = threading.Lock()

    def append(self, record: AuditRecord) -> None:
        """Append a record, which is on the disk when this returns.

        A last line that a crash cut short gets a line end first, so that the record stands on a line of its own.

        Raises:
            OSError: the file cannot be written.
        """
        line = f"{write_record(record)}\n".encode()
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
        with self._lock:
            file = os.open(self.path, flags, 0o600)
            try:
                # One write for each line, so that lines of several processes do not mix.
                os.write(file, line if _ends_with_newline(file) else b"\n" + line)
                os.fsync(file)
            finally:
                os.close(file)

    def read(self) -> tuple[list[AuditRecord], list[str]]:
        """Return all records in order, and the place and reason of each line that is not a record.

        Raises:
            OSError: the file cannot be read.
        """
        records, refused = [], []
        lines = self.path.read_text(encoding="utf-8", errors="replace").split("\n")
        for number, line in enumerate(lines, 1):
            try:
                if line:
                    records.append(read_record(line))
            except DecodeError as error:
                refused.append(f"{self.path}:{number}: {error.reason}")
        return records, refused


def _ends_with_newline(file: int) -> bool:
    """Return whether `file` is empty or ends with a line feed."""
    size = os.fstat(file).st_size
    if not size:
        return True
    os.lseek(file, size - 1, os.SEEK_SET)
    return os.read(file, 1) == b"\n"


_BACKOFF: Final = Backoff(first=0.01, longest=0.1)

_CREATE: Final = """
CREATE TABLE IF NOT EXISTS instructions (
    pattern TEXT NOT NULL UNIQUE, key TEXT NOT NULL, packet TEXT NOT NULL, source TEXT NOT NULL,
    english TEXT NOT NULL, times_seen INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS claims (pattern TEXT PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL) WITHOUT ROWID;
"""
_COLUMNS: Final = "pattern, key, packet, source, english, times_seen"
_USE: Final = f"UPDATE instructions SET times_seen = times_seen + 1 WHERE pattern = ? RETURNING {_COLUMNS}"
_ADD: Final = f"INSERT OR IGNORE INTO instructions ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"
_CLAIM: Final = """
INSERT INTO claims VALUES (:pattern, :owner, :until)
ON CONFLICT (pattern) DO UPDATE SET owner = :owner, until = :until WHERE claims.until < :now RETURNING owner
"""
# Entries that were used least are deleted first; of these, the oldest.
_EVICT: Final = """
DELETE FROM instructions WHERE rowid IN (
    SELECT rowid FROM instructions ORDER BY times_seen, rowid
    LIMIT max(0, (SELECT count(*) FROM instructions) - ?)
)
"""


class SqliteInstructionRegistry:
    """An `InstructionStore` in SQLite: one call of the model for each pattern, however many callers need it at once."""

    def __init__(
        self,
        path: str | os.PathLike[str] = MEMORY,
        *,
        max_entries: int = 1_000_000,
        lease: float = 15.0,
        wait: float = 600.0,
    ) -> None:
        """Open or create the registry.

        Args:
            path: A file, which is created for its owner only (mode 0600), as are missing folders; ":memory:" keeps the
                registry in this process until `close`.
            max_entries: With more entries, those that were used least are deleted.
            lease: Seconds after which the claim of a dead owner ends.
            wait: Seconds that a caller waits for the entry of another.

        Raises:
            sqlite3.Error: the file cannot be opened or is not a database; it is never overwritten.
        """
        self.path: Final = os.fspath(path)
        self._max_entries = max_entries
        self._lease = lease
        self._wait = wait
        if self.path != MEMORY:
            Path(self.path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._connection: Final = open_database(self.path, _CREATE, timeout=60)
        self._lock: Final = threading.RLock()
        self._closer: Final = weakref.finalize(self, self._connection.close)

    def find(self, *patterns: str) -> RegistryEntry | None:
        """Return the entry of the first of `patterns` that has one, counted once more; None where none has."""
        for pattern in filter(None, patterns):
            if rows := self._rows(_USE, pattern):
                return _from_row(rows[0])
        return None

    def get_or_create(self, pattern: str, make: Callable[[], RegistryEntry], /, *, shape: str = "") -> RegistryEntry:
        """Return the entry of `pattern` or `shape`, counted once more, or a new one; see `InstructionStore`.

        What `make` raises reaches its own caller only; the next one that waits then makes the entry.

        Raises:
            TimeoutError: the `make` of another caller takes longer than `wait` seconds.
            sqlite3.Error: the database refuses.
        """
        deadline = time.monotonic() + self._wait
        failures = 0
        while not (entry := self.find(pattern, shape)):
            if entry := self._claim_and_make(shape or pattern, pattern, make):
                return entry
            if time.monotonic() > deadline:
                raise TimeoutError(f"expected the entry of {pattern!r} within {self._wait} seconds, found none")
            failures += 1
            time.sleep(_BACKOFF.delay(failures))
        return entry

    def add(self, entries: Iterable[RegistryEntry], /) -> int:
        """Add the entries whose pattern is new, all of them or none; return how many were new."""
        with self._synced():
            before = self._count()
            self._connection.executemany(_ADD, map(_to_row, entries))
            new = self._count() - before
            self._connection.execute(_EVICT, (self._max_entries,))
        return new

    def entries(self, limit: int = -1) -> list[RegistryEntry]:
        """Return all entries, or the first `limit`: those that were used most first; of these, the oldest."""
        rows = self._rows(f"SELECT {_COLUMNS} FROM instructions ORDER BY times_seen DESC, rowid LIMIT ?", limit)
        return list(map(_from_row, rows))

    def forget(self, pattern: str, /) -> bool:
        """Remove the entry of `pattern`; return whether there was one."""
        return bool(self._rows("DELETE FROM instructions WHERE pattern = ? RETURNING 1", pattern))

    def __len__(self) -> int:
        """Return the number of entries."""
        with self._lock:
            return self._count()

    def close(self) -> None:
        """Close the database, which ends a registry in memory. Closing twice is allowed."""
        with self._lock:
            self._closer()

    def __enter__(self) -> Self:
        """Return the registry, which the end of the block closes."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the database."""
        self.close()

    def _claim_and_make(self, claim: str, pattern: str, make: Callable[[], RegistryEntry]) -> RegistryEntry | None:
        """Return the new entry of `pattern` or of its shape, the `claim`; None while another caller has claimed it."""
        owner, now = uuid.uuid4().hex, time.time()
        self._rows("DELETE FROM claims WHERE until < ?", now)
        if not self._rows(_CLAIM, {"pattern": claim, "owner": owner, "until": now + self._lease, "now": now}):
            return None
        try:
            # The last owner of the claim may have added the entry in the meantime.
            if entry := self.find(pattern, claim):
                return entry
            with self._extended_claim(claim, owner):
                made = make()
            return made if self.add([made]) else self.find(made.pattern)
        finally:
            self._rows("DELETE FROM claims WHERE pattern = ? AND owner = ?", claim, owner)

    @contextlib.contextmanager
    def _extended_claim(self, pattern: str, owner: str) -> Iterator[None]:
        """Extend our claim while the body runs."""
        done = threading.Event()

        def extend() -> None:
            while not done.wait(self._lease / 3):
                with contextlib.suppress(sqlite3.Error):
                    until = time.time() + self._lease
                    self._rows("UPDATE claims SET until = ? WHERE pattern = ? AND owner = ?", until, pattern, owner)

        extender = threading.Thread(target=extend, name="aacp claim", daemon=True)
        extender.start()
        try:
            yield
        finally:
            done.set()
            extender.join()

    @contextlib.contextmanager
    def _synced(self) -> Iterator[None]:
        """Run the body in one transaction, which is on the disk at its end."""
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


def _to_row(entry: RegistryEntry) -> tuple[str | int, ...]:
    """Return the columns of an entry."""
    return (entry.pattern, entry.key, entry.packet, entry.source, entry.english, entry.times_seen)


def _from_row(row: tuple[Any, ...]) -> RegistryEntry:
    """Return the entry of its columns."""
    return RegistryEntry(**dict(zip(_COLUMNS.split(", "), row, strict=True)))
