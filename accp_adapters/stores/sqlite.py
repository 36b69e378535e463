"""Texts and sessions in one SQLite database, and the store at an address (ACCP section 5.1, tier 3)."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import sqlite3
import stat
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any, Final

from accp_adapters.backoff import Backoff
from accp_adapters.stores.texts import MAX_FOUND, MAX_PACKED, encode_name, pack_text, unpack_text
from accp_core.strict_json import is_utf8

if TYPE_CHECKING:
    from accp_adapters.stores.redis import RedisColdStore

__all__ = [
    "FORMAT_VERSION", "MEMORY", "SqliteColdStore", "check_format", "embedded_store", "open_database", "open_store",
]  # fmt: skip


FORMAT_VERSION: Final = 1
"""The version of the tables that this program writes; 0 is a file of 0.1 without a version, which is the same."""
MEMORY: Final = ":memory:"
"""The path of a database that ends with its process."""
_WAL_ATTEMPTS: Final = 8
_WAL_BACKOFF: Final = Backoff(first=0.02, longest=1.0)
_CREATE: Final = """
CREATE TABLE IF NOT EXISTS cold (
    session TEXT NOT NULL, key TEXT NOT NULL, text BLOB NOT NULL, PRIMARY KEY (session, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sessions (
    name TEXT PRIMARY KEY, version INTEGER NOT NULL, used REAL NOT NULL, data BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS sessions_used ON sessions (used);
"""
_REPAIR: Final = "ON CONFLICT DO UPDATE SET text = excluded.text WHERE text <> excluded.text"
_PUT: Final = f"INSERT INTO cold VALUES (?, ?, ?) {_REPAIR}"
_FIND: Final = "SELECT key FROM cold WHERE session = ? AND key >= ? AND key < ? ORDER BY key LIMIT ?"
_BEGIN: Final = "INSERT OR IGNORE INTO sessions (version, used, data, name) VALUES (?, ?, ?, ?)"
_REPLACE: Final = "UPDATE sessions SET version = ?, used = ?, data = ? WHERE name = ? AND version = ?"
# A value of MAX_PACKED bytes is no text that we stored: it is not loaded, and NULL in its place is refused.
_GET: Final = f"SELECT CASE WHEN length(text) < {MAX_PACKED} THEN text END FROM cold WHERE session = ? AND key = ?"
_LOAD: Final = f"SELECT version, CASE WHEN length(data) < {MAX_PACKED} THEN data END FROM sessions WHERE name = ?"
_OLD: Final = "SELECT name FROM sessions WHERE used < ? ORDER BY used LIMIT 16"
_FORGET_OLD: Final = (f"DELETE FROM cold WHERE session IN ({_OLD})", f"DELETE FROM sessions WHERE name IN ({_OLD})")
_TIMEOUT: Final = 30.0
"""Seconds that a writer waits for others: a text that is not stored fails the run."""
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_OWNER_ONLY: Final = stat.S_IRUSR | stat.S_IWUSR

# Connections of a parent process, referenced so that nothing closes them in a forked child.
_INHERITED: Final[list[sqlite3.Connection]] = []


class SqliteColdStore:
    """A `ColdStore` and a `SessionStore` in SQLite for any number of threads and processes; texts are compressed.

    A file survives the end of the process, a kill included; it must be on a local disk, as WAL demands.
    """

    def __init__(self, path: str | os.PathLike[str] = MEMORY, *, session_ttl: float = 604_800.0) -> None:
        """Open or create the store.

        Args:
            path: A file, which is created for its owner only (mode 0600) and in WAL mode, so that other processes can
                read while one writes; ":memory:" keeps everything in this process until `close`.
            session_ttl: Seconds after its last step until a session is deleted.

        Raises:
            sqlite3.Error: the file cannot be opened, is not an SQLite database, or a later version wrote it.
        """
        self.path: Final = os.fspath(path)
        self._session_ttl: Final = session_ttl
        self._lock: Final = threading.Lock()
        self._open()

    def put(self, session_id: str, key: str, text: str) -> None:
        """Store `text` under `key` of `session_id`; the same text again changes nothing, and repairs a damaged row.

        Raises:
            ProtocolError: E2003, the text is longer than 64 MiB.
        """
        names = _column_value(session_id), _column_value(key)
        self._execute(_PUT, *names, pack_text(text))

    def get(self, session_id: str, key: str) -> str | None:
        """Return the text under `key` of `session_id`, None where there is none.

        Raises:
            ProtocolError: E2001, the bytes there are not a stored text; E2003, the text is longer than 64 MiB.
        """
        rows, _ = self._execute(_GET, _column_value(session_id), _column_value(key))
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

    def load_session(self, name: str) -> tuple[int, str] | None:
        """Return version and data of a session, as `SessionStore.load_session`."""
        rows, _ = self._execute(_LOAD, _column_value(name))
        return (rows[0][0], unpack_text(rows[0][1])) if rows else None

    def save_session(self, name: str, version: int, data: str) -> bool:
        """Replace version `version` - 1 of a session, as `SessionStore.save_session`."""
        now = time.time()
        row = version, now, pack_text(data), _column_value(name)
        if version > 1:
            return self._execute(_REPLACE, *row, version - 1)[1] == 1
        for statement in _FORGET_OLD:
            self._execute(statement, now - self._session_ttl)
        return self._execute(_BEGIN, *row)[1] == 1

    def delete_session(self, name: str, version: int) -> None:
        """Delete a session, as `SessionStore.delete_session`."""
        if self._execute("DELETE FROM sessions WHERE name = ? AND version = ?", _column_value(name), version)[1]:
            self.purge(name)

    def close(self) -> None:
        """Close the database, which ends a store in memory. Closing twice is allowed."""
        with self._lock:
            self._closer()

    def _execute(self, statement: str, *values: str | bytes | float) -> tuple[list[tuple[Any, ...]], int]:
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


def open_database(
    path: str | os.PathLike[str], tables: str, *, timeout: float, synchronous: str = "NORMAL"
) -> sqlite3.Connection:
    """Open a database in WAL mode for threads that take turns; a new file is for its owner only (mode 0600).

    Raises:
        sqlite3.Error: The file cannot be opened, is not a database, or a later version of this program wrote it.
    """
    if path != MEMORY:
        make_private(path)
    connection = sqlite3.connect(path, timeout=timeout, check_same_thread=False, isolation_level=None)
    try:
        _switch_to_wal(connection)
        connection.execute(f"PRAGMA synchronous={synchronous}")
        check_format(connection)
        connection.executescript(tables)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    """Switch to WAL mode; repeated, because processes that open a new file at once refuse each other for a moment."""
    for attempt in range(1, _WAL_ATTEMPTS):
        with contextlib.suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA journal_mode=WAL")
            return
        time.sleep(_WAL_BACKOFF.delay(attempt))
    connection.execute("PRAGMA journal_mode=WAL")


def check_format(connection: sqlite3.Connection) -> None:
    """Write the version into a file that has none; a file that may only be read is left as it is.

    Raises:
        sqlite3.DatabaseError: a later version of this program wrote the file.
    """
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if found > FORMAT_VERSION:
        raise sqlite3.DatabaseError(
            f"expected a file of version {FORMAT_VERSION} or lower, found {found}: a later version wrote it"
        )
    if found < FORMAT_VERSION:
        with contextlib.suppress(sqlite3.OperationalError):
            connection.execute(f"PRAGMA user_version={FORMAT_VERSION}")


def make_private(path: str | os.PathLike[str]) -> None:
    """Create an SQLite file for its owner only (mode 0600); one that others may write becomes such a file.

    A link that leads to no file yet is followed first, as SQLite would create that file for everybody.

    Raises:
        OSError: The file cannot be created, or others may write it and it is not ours.
    """
    target = os.path.realpath(path)
    try:
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR, _OWNER_ONLY))
    except FileExistsError:
        # SQLite gives its -wal and -shm files the mode of the database; older ones keep theirs.
        for each in (target, f"{target}-wal", f"{target}-shm"):
            with contextlib.suppress(FileNotFoundError):
                _tighten(each)


def _tighten(path: str) -> None:
    found = os.stat(path)
    if not stat.S_ISREG(found.st_mode) or not found.st_mode & _OTHERS_WRITE:
        return
    try:
        os.chmod(path, _OWNER_ONLY)
    except PermissionError:
        mode = stat.S_IMODE(found.st_mode)
        reason = f"expected a file that only its owner may write, found mode {mode:04o}"
        raise PermissionError(errno.EPERM, reason, path) from None


# The store at an address, for commands and configuration files.

_SQLITE: Final = "sqlite:"
_REDIS: Final = ("redis://", "rediss://", "unix://")


def open_store(address: str, *, ttl: float | None = None) -> SqliteColdStore | RedisColdStore:
    """Return the store at `address`: of texts, and of the sessions of a `SessionHost`.

    Args:
        address: `sqlite:PATH`, or a URL of `RedisColdStore`.
        ttl: Minutes after which Redis deletes the texts of a session that stores none; None: never.

    Raises:
        ValueError: The address is neither; the message does not repeat it, since it may hold a password.
        sqlite3.Error: The file cannot be opened.
        ImportError: The extra `redis` is not installed.
    """
    if address.startswith(_SQLITE) and address != _SQLITE:
        return SqliteColdStore(address.removeprefix(_SQLITE))
    if address.startswith(_REDIS):
        from accp_adapters.stores.redis import RedisColdStore  # noqa: PLC0415  optional: the extra `redis`

        return RedisColdStore(address, ttl=ttl)
    raise ValueError("expected sqlite:PATH or redis://HOST, found another address")
