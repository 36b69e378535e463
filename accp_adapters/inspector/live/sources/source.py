"""What the inspector asks of a source, and a source that reads everything again when it has changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Protocol

from accp_adapters.inspector.live.threads import Observed

__all__ = ["RereadSource", "Source", "file_state"]


class Source(Protocol):
    """Something that may change while it is read; a method raises UnreadableRun, OSError or ProtocolError."""

    @property
    def name(self) -> str:
        """What it is called, without a password."""
        ...

    def read(self) -> Observed:
        """Return what it holds now; an equal object where nothing has changed."""
        ...


@dataclass(slots=True)
class RereadSource:
    """Reads all of a source when its state is another one than at the last look."""

    name: str
    """What it is called."""
    load: Callable[[], Observed]
    """Reads everything."""
    state: Callable[[], Hashable]
    """Returns something cheap that changes with the source."""
    _seen: Hashable = None
    _observed: Observed | None = None

    def read(self) -> Observed:
        """Return what the source holds now."""
        # Before reading: what is written meanwhile is seen by the next look.
        state = self.state()
        if self._observed is None or state != self._seen:
            self._observed, self._seen = self.load(), state
        return self._observed


def file_state(*paths: str) -> Hashable:
    """Return what tells whether files were written to; with each SQLite file its write-ahead log."""
    return tuple(_stat(f"{path}{suffix}") for path in paths for suffix in ("", "-wal"))


def _stat(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
