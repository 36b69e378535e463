"""The last changes of a folder: its git history, or its newest files where there is none."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, Final

from accp_adapters.cli.demo.snapshot import FolderSnapshot

__all__ = ["read_history"]

_FIELDS: Final = ("commit", "author", "date", "subject")
_FORMAT: Final = "--pretty=format:%x1e" + "%x1f".join(("%h", "%an", "%ad", "%s")) + "%x1f"
_TIMEOUT: Final = 20
"""Seconds that git may take."""


def read_history(snapshot: FolderSnapshot, limit: int) -> list[dict[str, Any]]:
    """Return the last `limit` changes, the latest first.

    In a git repository these are commits with author, date, subject and files. Elsewhere, and where git is not
    installed, each of the newest files is one change.
    """
    log = _git_log(snapshot.root, limit)
    changes = [_commit(record) for record in log.split("\x1e") if record.strip()]
    return changes or _newest_files(snapshot, limit)


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


def _newest_files(snapshot: FolderSnapshot, limit: int) -> list[dict[str, Any]]:
    latest = sorted(snapshot.files, key=lambda file: (file.modified, file.path), reverse=True)
    return [
        {"commit": "", "author": "", "date": file.modified, "subject": "", "files": [file.path]}
        for file in latest[:limit]
    ]
