"""Frames collected by their session, each session a thread; a log that only grows is read on from where it ended."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from accp_adapters.inspector.live.events import frame_events
from accp_adapters.inspector.live.frame_record import FrameRecord
from accp_adapters.inspector.live.threads import MAX_THREADS, Observed, Thread, identified

__all__ = ["MAX_FRAMES", "LoggedSessions"]

MAX_FRAMES: Final = 20_000
"""Frames of one session that are kept; of more, the last ones."""
_MAX_CHARS: Final = 200_000_000
"""Characters of all texts that are kept."""


@dataclass(slots=True)
class _Session:
    records: deque[FrameRecord] = field(default_factory=lambda: deque(maxlen=MAX_FRAMES))
    dropped: int = 0
    note: str = ""
    thread: Thread | None = None


class LoggedSessions:
    """The sessions of one source."""

    def __init__(self) -> None:
        """Begin with none."""
        self._sessions: Final[dict[str, _Session]] = {}
        self._left_out: Final[set[str]] = set()
        self._chars = 0
        self.unread = 0
        """Entries that were no frames of any known kind."""
        self._observed: Observed | None = None

    def add(self, record: FrameRecord | None, session: str = "") -> None:
        """Add a frame, None for an entry of another kind; `session` names its session, empty: the frame does."""
        self._observed = None
        if record is None:
            self.unread += 1
            return
        found = self._session(session or record.session or "frames")
        if found is None:
            return
        self._chars += len(record.text) + len(record.words)
        if len(found.records) == MAX_FRAMES:
            found.dropped += 1
        if self._chars > _MAX_CHARS:
            self.unread += 1
            return
        found.records.append(record)
        found.thread = None

    def tell(self, session: str, note: str) -> None:
        """Show `note` with a session: a sentence about its frames that are left out."""
        found = self._session(session)
        if found is not None and found.note != note:
            found.note, found.thread, self._observed = note, None, None

    def observed(self) -> Observed:
        """Return all sessions as they are now; the same object where nothing has changed."""
        if self._observed is None:
            findings = (f"{self.unread:,} entries of other kinds, or beyond what is kept",) if self.unread else ()
            threads = tuple(identified(_thread(name, session) for name, session in self._sessions.items()))
            self._observed = Observed(threads=threads, left_out=len(self._left_out), findings=findings)
        return self._observed

    def _session(self, name: str) -> _Session | None:
        if name not in self._sessions:
            if len(self._sessions) >= MAX_THREADS:
                if len(self._left_out) < MAX_THREADS:
                    self._left_out.add(name)
                return None
            self._sessions[name] = _Session()
        return self._sessions[name]


def _thread(name: str, session: _Session) -> Thread:
    if session.thread is None:
        dropped = f"{session.dropped:,} earlier frames are not shown" if session.dropped else ""
        events = tuple(frame_events(session.records))
        session.thread = Thread(name=name, events=events, note="; ".join(filter(None, (session.note, dropped))))
    return session.thread
