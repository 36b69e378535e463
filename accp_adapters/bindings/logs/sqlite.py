"""Logs in one SQLite file, for the processes of one machine; they survive its restart.

No time is compared between processes, as the clock of a machine may be set: a lease that its holder did not give back
counts as ended when somebody has seen it unchanged for its whole time.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from accp_adapters.bindings.clock import SteadyClock
from accp_adapters.bindings.logs.frame_log import Fence, Fenced, LogError, check_texts
from accp_adapters.serving.off_loop import off_loop
from accp_adapters.stores.formats import open_database
from accp_adapters.stores.texts import encode_name, pack_text, unpack_text
from accp_core.bounded import BoundedDict

__all__ = ["SqliteFrameLog"]

T = TypeVar("T")

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS logs (
    name BLOB PRIMARY KEY, token INTEGER NOT NULL DEFAULT 0, seconds REAL NOT NULL DEFAULT 0,
    renewed INTEGER NOT NULL DEFAULT 0, used REAL NOT NULL, last INTEGER NOT NULL DEFAULT 0,
    number INTEGER NOT NULL DEFAULT 0, snapshot BLOB
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS logs_used ON logs (used);
CREATE TABLE IF NOT EXISTS texts (
    name BLOB NOT NULL, number INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (name, number)
) WITHOUT ROWID;
"""
_REMOVED_AT_ONCE: Final = 16
_REMEMBERED: Final = 10_000
_PAGE: Final = 256


class SqliteFrameLog:
    """A `FrameLog` in an SQLite file in WAL mode; one connection in a thread of its own.

    Processes that share it each make their own, after a fork.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        ttl: float = 604_800.0,
        power_safe: bool = True,
        clock: Callable[[], float] | None = None,
    ) -> None:
        """Use the database at `path`, which is created with the first use, for its owner only (mode 0600).

        Args:
            path: The file.
            ttl: Seconds after its last use until a log is removed.
            power_safe: Whether each text is on the disk before it counts, so that it survives a loss of power; False:
                it survives the end of the processes only, and is several times faster.
            clock: Returns the time in seconds of the Unix epoch, for `ttl`; None: a `SteadyClock`.
        """
        self._path: Final = Path(path)
        self._ttl: Final = ttl
        self._synchronous: Final = "FULL" if power_safe else "NORMAL"
        self._clock: Final = clock or SteadyClock()
        self._thread: Final = ThreadPoolExecutor(1, thread_name_prefix="accp-log")
        self._connection: sqlite3.Connection | None = None
        self._file = 0, 0
        self._held: Final[dict[tuple[str, int], float]] = {}
        """Our leases, and when each ends by the clock of this process."""
        self._seen: Final[BoundedDict[str, tuple[tuple[int, int], float]]] = BoundedDict(_REMEMBERED)
        """Leases of others: token and renewals, and since when they are unchanged."""

    async def lease(self, name: str, owner: str, seconds: float) -> Fence | None:
        """Take the lease of `name`, as `FrameLog.lease`."""
        return await self._run(self._lease, name, owner, seconds)

    async def renew(self, fence: Fence, seconds: float) -> None:
        """Let the lease end `seconds` from now, as `FrameLog.renew`."""
        await self._run(self._extend, fence, seconds)

    async def release(self, fence: Fence) -> None:
        """End the lease, as `FrameLog.release`."""
        await self._run(self._release, fence)

    async def append(self, fence: Fence, number: int, text: str) -> bool:
        """Append a text, as `FrameLog.append`."""
        return await self._run(self._append, fence, number, text)

    async def append_next(self, name: str, number: int, text: str) -> bool:
        """Append a text without a lease, as `FrameLog.append_next`."""
        return await self._run(self._append_next, name, number, text)

    async def read(self, name: str, after: int) -> AsyncIterator[tuple[int, str]]:
        """Return the texts after number `after`, as `FrameLog.read`."""
        query = "SELECT number, text FROM texts WHERE name = ? AND number > ? ORDER BY number LIMIT ?"
        while rows := await self._run(self._query, query, encode_name(name), after, _PAGE):
            for number, text in rows:
                yield number, text
            after = rows[-1][0]

    async def save(self, fence: Fence, number: int, text: str) -> None:
        """Replace the snapshot, as `FrameLog.save`."""
        await self._run(self._save, fence, number, text)

    async def snapshot(self, name: str) -> tuple[int, str] | None:
        """Return the snapshot, as `FrameLog.snapshot`."""
        query = "SELECT number, snapshot FROM logs WHERE name = ? AND snapshot IS NOT NULL"
        rows = await self._run(self._query, query, encode_name(name))
        return (rows[0][0], await off_loop(len(rows[0][1]), unpack_text, rows[0][1])) if rows else None

    async def delete(self, name: str) -> None:
        """Remove everything of `name`."""
        await self._run(self._delete, encode_name(name))

    async def aclose(self) -> None:
        """Close the database. Closing twice is allowed."""
        if self._connection is not None:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._connection.close)
            self._connection = None
        self._thread.shutdown(wait=False)

    async def _run(self, work: Callable[..., T], *arguments: Any) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)
        except sqlite3.Error as error:
            reason = f"expected {os.fspath(self._path)!r} to be usable, found: {error}"
            raise LogError(reason) from error
        except OSError as error:
            raise LogError(self._advice(error)) from error

    def _advice(self, error: OSError) -> str:
        """Return why the file cannot be used, and what to do."""
        path, folder = os.fspath(self._path), os.fspath(self._path.parent)
        if isinstance(error, FileNotFoundError):
            return f"expected a folder at {folder!r} for the log {path!r}, found none: create it, or name another path"
        return f"expected {path!r} to be usable as a log, found: {error.strerror}"

    def _lease(self, name: str, owner: str, seconds: float) -> Fence | None:
        now, key = self._clock(), encode_name(name)
        with self._transaction() as connection:
            self._remove_old(connection, now)
            connection.execute("INSERT OR IGNORE INTO logs (name, used) VALUES (?, ?)", (key, now))
            query = "SELECT token, renewed, seconds, last FROM logs WHERE name = ?"
            token, renewed, held, last = connection.execute(query, (key,)).fetchone()
            if held and not self._has_ended(name, (token, renewed), held):
                return None
            values = token + 1, seconds, now, key
            connection.execute("UPDATE logs SET token = ?, seconds = ?, used = ? WHERE name = ?", values)
        self._held[name, token + 1] = time.monotonic() + seconds
        return Fence(name=name, owner=owner, token=token + 1, last=last)

    def _has_ended(self, name: str, lease: tuple[int, int], seconds: float) -> bool:
        """Return whether a lease was seen unchanged for its whole time."""
        now, (known, since) = time.monotonic(), self._seen.get(name, ((0, 0), 0.0))
        if known != lease:
            self._seen.put(name, (lease, now))
            return False
        return now >= since + seconds

    def _extend(self, fence: Fence, seconds: float) -> None:
        with self._transaction() as connection:
            self._check(connection, fence)
            values = seconds, self._clock(), encode_name(fence.name)
            connection.execute("UPDATE logs SET seconds = ?, renewed = renewed + 1, used = ? WHERE name = ?", values)
        self._held[fence.name, fence.token] = time.monotonic() + seconds

    def _release(self, fence: Fence) -> None:
        self._held.pop((fence.name, fence.token), None)
        with self._transaction() as connection:
            values = encode_name(fence.name), fence.token
            connection.execute("UPDATE logs SET seconds = 0 WHERE name = ? AND token = ?", values)

    def _append(self, fence: Fence, number: int, text: str) -> bool:
        with self._transaction() as connection:
            self._check(connection, fence)
            return self._insert(connection, fence.name, number, text)

    def _append_next(self, name: str, number: int, text: str) -> bool:
        with self._transaction() as connection:
            query = "SELECT 1 FROM logs WHERE name = ? AND seconds = 0"
            is_free = connection.execute(query, (encode_name(name),)).fetchone() is not None
            return is_free and self._insert(connection, name, number, text)

    def _insert(self, connection: sqlite3.Connection, name: str, number: int, text: str) -> bool:
        """Insert a text; return whether its number was the next one."""
        key = encode_name(name)
        query = "SELECT number FROM logs WHERE name = ? AND last = ?"
        if (row := connection.execute(query, (key, number - 1)).fetchone()) is None:
            return False
        check_texts(number - row[0], text)
        connection.execute("INSERT INTO texts VALUES (?, ?, ?)", (key, number, text))
        connection.execute("UPDATE logs SET last = ?, used = ? WHERE name = ?", (number, self._clock(), key))
        return True

    def _save(self, fence: Fence, number: int, text: str) -> None:
        key, packed = encode_name(fence.name), pack_text(text)
        with self._transaction() as connection:
            self._check(connection, fence)
            connection.execute("UPDATE logs SET number = ?, snapshot = ? WHERE name = ?", (number, packed, key))
            connection.execute("DELETE FROM texts WHERE name = ? AND number <= ?", (key, number))

    def _delete(self, key: bytes) -> None:
        with self._transaction() as connection:
            for table in ("logs", "texts"):
                connection.execute(f"DELETE FROM {table} WHERE name = ?", (key,))

    def _remove_old(self, connection: sqlite3.Connection, now: float) -> None:
        """Remove a few of the logs that were not used for `ttl`."""
        query = "SELECT name FROM logs WHERE used < ? ORDER BY used LIMIT ?"
        for (key,) in connection.execute(query, (now - self._ttl, _REMOVED_AT_ONCE)).fetchall():
            for table in ("logs", "texts"):
                connection.execute(f"DELETE FROM {table} WHERE name = ?", (key,))

    def _check(self, connection: sqlite3.Connection, fence: Fence) -> None:
        """Refuse what the holder of a lease wants to do that is lost."""
        query = "SELECT 1 FROM logs WHERE name = ? AND token = ? AND seconds > 0"
        row = connection.execute(query, (encode_name(fence.name), fence.token)).fetchone()
        if row is None or time.monotonic() >= self._held.get((fence.name, fence.token), 0.0):
            self._held.pop((fence.name, fence.token), None)
            raise Fenced(fence)

    def _query(self, query: str, *values: object) -> list[Any]:
        return self._open().execute(query, values).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Run a transaction that writes; it is undone where it raises."""
        connection = self._open()
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            connection = open_database(self._path, _TABLES, timeout=30.0, synchronous=self._synchronous)
            self._connection, self._file = connection, _identity(self._path)
        elif _identity(self._path) != self._file:
            # What is written into a removed file ends with this process.
            reason = f"expected the log at {os.fspath(self._path)!r}, found that its file was removed or replaced"
            raise LogError(f"{reason}: put it back, or start the workers again")
        return self._connection


def _identity(path: Path) -> tuple[int, int]:
    """Return device and inode of a file, which a new name does not change; zeros where there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return 0, 0
    return found.st_dev, found.st_ino
