"""How our SQLite files are opened, and the version in their header: a file of a later one is refused, not misread."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from typing import Final

from accp_adapters.backoff import Backoff
from accp_adapters.stores.private_files import make_private

__all__ = ["FORMAT_VERSION", "MEMORY", "check_format", "open_database"]

FORMAT_VERSION: Final = 1
"""The version of the tables that this program writes; 0 is a file of 0.1 without a version, which is the same."""
MEMORY: Final = ":memory:"
"""The path of a database that ends with its process."""
_WAL_ATTEMPTS: Final = 8
_WAL_BACKOFF: Final = Backoff(first=0.02, longest=1.0)


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
