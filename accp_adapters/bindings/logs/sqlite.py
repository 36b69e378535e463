"""Logs in one SQLite file, for the processes of one machine; they survive its restart."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from accp_adapters.bindings.logs.frame_log import Fence, Fenced, check_number, check_texts
from accp_adapters.stores.texts import encode_name, pack_text, unpack_text
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["SqliteFrameLog"]

T = TypeVar("T")

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS logs (
    name BLOB PRIMARY KEY, token INTEGER NOT NULL DEFAULT 0, ends REAL NOT NULL DEFAULT 0, used REAL NOT NULL,
    last INTEGER NOT NULL DEFAULT 0, number INTEGER NOT NULL DEFAULT 0, snapshot BLOB
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS logs_used ON logs (used);
CREATE TABLE IF NOT EXISTS texts (
    name BLOB NOT NULL, number INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (name, number)
) WITHOUT ROWID;
"""
_REMOVED_AT_ONCE: Final = 16
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
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Use the database at `path`, which is created with the first use, for its owner only (mode 0600).

        Args:
            path: The file.
            ttl: Seconds after its last use until a log is removed.
            power_safe: Whether each text is on the disk before it counts, so that it survives a loss of power; False:
                it survives the end of the processes only, and is several times faster.
            clock: Returns the time in seconds, the same in all processes.
        """
        self._path: Final = Path(path)
        self._ttl: Final = ttl
        self._synchronous: Final = "FULL" if power_safe else "NORMAL"
        self._clock: Final = clock
        self._thread: Final = ThreadPoolExecutor(1, thread_name_prefix="accp-log")
        self._connection: sqlite3.Connection | None = None

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

    async def read(self, name: str, after: int) -> AsyncIterator[tuple[int, str]]:
        """Return the texts after number `after`, as `FrameLog.read`."""
        query = "SELECT number, text FROM texts WHERE name = ? AND number > ? ORDER BY number LIMIT ?"
        while rows := await self._run(self._query, query, encode_name(name), after, _PAGE):
            for number, text in rows:
                yield number, text
            after = rows[-1][0]

    async def save(self, fence: Fence, number: int, text: str) -> None:
        """Replace the snapshot, as `FrameLog.save`."""
        await self._run(self._save, fence, number, pack_text(text))

    async def snapshot(self, name: str) -> tuple[int, str] | None:
        """Return the snapshot, as `FrameLog.snapshot`."""
        query = "SELECT number, snapshot FROM logs WHERE name = ? AND snapshot IS NOT NULL"
        rows = await self._run(self._query, query, encode_name(name))
        return (rows[0][0], unpack_text(rows[0][1])) if rows else None

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
            raise ProtocolError(reason, code=ErrorCode.TIMEOUT) from error

    def _lease(self, name: str, owner: str, seconds: float) -> Fence | None:
        now, key = self._clock(), encode_name(name)
        with self._transaction() as connection:
            self._remove_old(connection, now)
            connection.execute("INSERT OR IGNORE INTO logs (name, used) VALUES (?, ?)", (key, now))
            rows = connection.execute(
                "UPDATE logs SET token = token + 1, ends = ?, used = ? WHERE name = ? AND ends <= ? "
                "RETURNING token, last",
                (now + seconds, now, key, now),
            ).fetchall()
        return Fence(name=name, owner=owner, token=rows[0][0], last=rows[0][1]) if rows else None

    def _extend(self, fence: Fence, seconds: float) -> None:
        with self._transaction() as connection:
            self._held(connection, fence)
            now = self._clock()
            values = now + seconds, now, encode_name(fence.name)
            connection.execute("UPDATE logs SET ends = ?, used = ? WHERE name = ?", values)

    def _release(self, fence: Fence) -> None:
        with self._transaction() as connection:
            values = encode_name(fence.name), fence.token
            connection.execute("UPDATE logs SET ends = 0 WHERE name = ? AND token = ?", values)

    def _append(self, fence: Fence, number: int, text: str) -> bool:
        key = encode_name(fence.name)
        with self._transaction() as connection:
            last, snapshot = self._held(connection, fence)
            if not check_number(number, last, fence.name):
                return False
            check_texts(number - snapshot, text)
            connection.execute("INSERT INTO texts VALUES (?, ?, ?)", (key, number, text))
            connection.execute("UPDATE logs SET last = ? WHERE name = ?", (number, key))
        return True

    def _save(self, fence: Fence, number: int, packed: bytes) -> None:
        key = encode_name(fence.name)
        with self._transaction() as connection:
            self._held(connection, fence)
            connection.execute("UPDATE logs SET number = ?, snapshot = ? WHERE name = ?", (number, packed, key))
            connection.execute("DELETE FROM texts WHERE name = ? AND number <= ?", (key, number))

    def _delete(self, key: bytes) -> None:
        with self._transaction() as connection:
            for table in ("logs", "texts"):
                connection.execute(f"DELETE FROM {table} WHERE name = ?", (key,))

    def _remove_old(self, connection: sqlite3.Connection, now: float) -> None:
        """Remove a few of the logs that were not used for `ttl`."""
        query = "SELECT name FROM logs WHERE used < ? AND ends < ? ORDER BY used LIMIT ?"
        for (key,) in connection.execute(query, (now - self._ttl, now, _REMOVED_AT_ONCE)).fetchall():
            for table in ("logs", "texts"):
                connection.execute(f"DELETE FROM {table} WHERE name = ?", (key,))

    def _held(self, connection: sqlite3.Connection, fence: Fence) -> tuple[int, int]:
        """Return the numbers of the last text and of the snapshot, if the lease is still held."""
        query = "SELECT last, number FROM logs WHERE name = ? AND token = ? AND ends > ?"
        row = connection.execute(query, (encode_name(fence.name), fence.token, self._clock())).fetchone()
        if row is None:
            raise Fenced(fence)
        return row[0], row[1]

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
            # SQLite gives its -wal and -shm files the mode of the database.
            with contextlib.suppress(FileExistsError):
                self._path.touch(mode=0o600, exist_ok=False)
            connection = sqlite3.connect(self._path, timeout=30.0, check_same_thread=False, isolation_level=None)
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(f"PRAGMA synchronous={self._synchronous}")
            connection.executescript(_TABLES)
            self._connection = connection
        return self._connection
