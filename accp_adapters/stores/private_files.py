"""Database files that nobody but their owner may read or change."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from typing import Final

__all__ = ["make_private"]

_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_OWNER_ONLY: Final = stat.S_IRUSR | stat.S_IWUSR


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
            with suppress(FileNotFoundError):
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
