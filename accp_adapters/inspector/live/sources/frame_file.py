"""A file that gets a frame a line: its text, a JSON object that has it, or a line of `accp --debug-json`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from accp_adapters.inspector.live.frame_record import FrameRecord, record_of_event, record_of_text
from accp_adapters.inspector.live.sources.sessions import LoggedSessions
from accp_adapters.inspector.live.threads import Observed
from accp_core.strict_json import read_json

__all__ = ["FrameFile", "is_frame_line"]

_MAX_LINE: Final = 1 << 20
"""Bytes of one line."""
_AT_ONCE: Final = 1 << 28
"""Bytes that one look reads."""


class FrameFile:
    """A file of frames that may grow."""

    def __init__(self, path: str) -> None:
        """Follow the file at `path`."""
        self.name = path
        self._file: tuple[int, int] | None = None
        self._read = 0
        self._sessions = LoggedSessions()

    def read(self) -> Observed:
        """Return the frames that are there now.

        Raises:
            OSError: the file cannot be read.
        """
        with Path(self.name).open("rb") as stream:
            found = os.fstat(stream.fileno())
            if self._file != (found.st_dev, found.st_ino) or found.st_size < self._read:
                self._file, self._read, self._sessions = (found.st_dev, found.st_ino), 0, LoggedSessions()
            if found.st_size > self._read:
                stream.seek(self._read)
                self._take(stream.read(_AT_ONCE))
        return self._sessions.observed()

    def _take(self, content: bytes) -> None:
        """Add the lines that are whole; the rest of the last one is read when it is."""
        whole, ended, rest = content.rpartition(b"\n")
        if not ended and len(rest) <= _MAX_LINE:
            return
        self._read += len(whole) + len(ended) if ended else len(rest)
        for line in filter(bytes.strip, whole.split(b"\n")):
            text = line.decode("utf-8", "replace").strip()
            self._sessions.add(_record(text) if len(line) <= _MAX_LINE else None)


def is_frame_line(line: str) -> bool:
    """Return whether a line is one of a file of frames."""
    record = _record(line.strip())
    return record is not None and (bool(record.words) or record.intent is not None)


def _record(line: str) -> FrameRecord | None:
    if not line.startswith(("{", '"')):
        return record_of_text(line) if line.startswith("@") else None
    try:
        value = read_json(line)
    except (ValueError, RecursionError):
        return None
    match value:
        case str():
            return record_of_text(value)
        case {"frame": str(text)}:
            return record_of_text(text, session=str(value.get("session_id") or ""), at=_time(value.get("at")))
        case {"direction": str(), "session_id": str()}:
            return record_of_event(value)
    return None


def _time(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
