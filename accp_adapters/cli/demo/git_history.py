"""The last commits of a folder's git history; none where it has no history."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, Final

__all__ = ["read_history"]

_FIELDS: Final = ("commit", "author", "date", "subject")
_FORMAT: Final = "--pretty=format:%x1e" + "%x1f".join(("%h", "%an", "%ad", "%s")) + "%x1f"
_TIMEOUT: Final = 20
"""Seconds that git may take."""


def read_history(root: Path, limit: int) -> list[dict[str, Any]]:
    """Return the last `limit` commits, the latest first, with author, date, subject and files.

    There are none outside a git repository, and where git is not installed.
    """
    return [_commit(record) for record in _git_log(root, limit).split("\x1e") if record.strip()]


def _git_log(root: Path, limit: int) -> str:
    """Return the log that git prints, an empty text where git fails."""
    git = ["git", "-C", str(root), "-c", "core.quotepath=off", "--no-pager"]
    log = ["log", f"-{limit}", "--date=iso-strict", "--name-only", _FORMAT, "--relative", "--", "."]
    try:
        done = subprocess.run([*git, *log], capture_output=True, check=True, timeout=_TIMEOUT)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace")


def _commit(record: str) -> dict[str, Any]:
    *fields, files = record.split("\x1f")
    return dict(zip(_FIELDS, fields, strict=True)) | {"files": [path for path in files.split("\n") if path]}
