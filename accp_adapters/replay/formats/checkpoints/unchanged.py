"""SQLite files opened so that nothing is written, not even the files that SQLite keeps beside a write-ahead log.

`mode=ro` makes a `-shm` (and a `-wal`) beside a database in WAL mode unless they are there; `immutable=1` makes none,
but does not look at the log. Source: https://www.sqlite.org/wal.html, "Read-Only Databases".
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

__all__ = ["open_unchanged"]

_VERSIONS: Final = slice(18, 20)
"""Where the header of a file says how it is written and read: 2 is WAL."""


@contextmanager
def open_unchanged(path: str, *, patience: float = 5.0) -> Iterator[sqlite3.Connection]:
    """Open a SQLite file that another process may write to; no file is made beside it.

    A database without a write-ahead log is read as it stands; one with a log through the files of its writer; a log
    that no writer has open is read from a copy in a temporary folder.

    Args:
        path: The file.
        patience: Seconds to wait for a writer that has locked it.

    Raises:
        sqlite3.Error: it cannot be read, or was changed while it was read without its writer's files.
        OSError: it cannot be copied.
    """
    file = Path(path).resolve()
    log, index = (file.with_name(f"{file.name}{suffix}") for suffix in ("-wal", "-shm"))
    if not _is_wal(file) or (log.exists() and index.exists()):
        with _connected(file, "mode=ro", patience) as database:
            yield database
    elif not log.exists() or not log.stat().st_size:
        before = _stat(file)
        with _connected(file, "immutable=1", patience) as database:
            yield database
        if _stat(file) != before:
            raise sqlite3.OperationalError("the file was written to while it was read")
    else:
        with tempfile.TemporaryDirectory() as folder:
            for each in (file, log):
                shutil.copyfile(each, Path(folder, each.name))
            with _connected(Path(folder, file.name), "mode=ro", patience) as database:
                yield database


@contextmanager
def _connected(file: Path, how: str, patience: float) -> Iterator[sqlite3.Connection]:
    """Connect; the schema of a hostile file calls nothing, and this connection changes nothing."""
    with closing(sqlite3.connect(f"{file.as_uri()}?{how}", uri=True, timeout=patience)) as database:
        database.execute("PRAGMA query_only = ON")
        database.execute("PRAGMA trusted_schema = OFF")
        yield database


def _is_wal(file: Path) -> bool:
    with file.open("rb") as stream:
        return 2 in stream.read(_VERSIONS.stop)[_VERSIONS]


def _stat(file: Path) -> tuple[int, int, int]:
    found = os.stat(file)
    return found.st_ino, found.st_size, found.st_mtime_ns
