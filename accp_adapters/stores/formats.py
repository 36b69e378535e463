"""The version of our SQLite files, in their header: a file of a later version is refused, not misread."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import Final

__all__ = ["FORMAT_VERSION", "check_format"]

FORMAT_VERSION: Final = 1
"""The version of the tables that this program writes; 0 is a file of 0.1 without a version, which is the same."""


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
