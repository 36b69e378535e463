"""The texts for a peer: which were written, which were acknowledged, which are to be sent again (section 3.3)."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection

__all__ = ["Outgoing"]


class Outgoing:
    """The last texts, numbered without gaps; of these, the last one written, and the last one that the peer has.

    For a peer that acknowledges, no text is dropped before it has it. For any other peer, what
    was written counts as received.
    """

    def __init__(self, *, window: int, characters: int) -> None:
        """Start empty; keep at most `window` texts and `characters` characters."""
        self._window = window
        self._characters = characters
        self._texts: deque[str] = deque()
        self._ends: deque[int] = deque()
        self._dropped = self._total = 0
        self._skipped: tuple[int, frozenset[int]] = 0, frozenset()
        self.last = 0
        """The number of the last text."""
        self.written = 0
        """The number of the last text that was written."""
        self.acknowledged = 0
        """The number of the last text that the peer is known to have."""
        self.is_acknowledging = False
        """Whether the peer says what it has received."""

    @property
    def in_flight(self) -> int:
        """How many texts were written and not acknowledged; 0 for a peer that does not acknowledge."""
        return max(0, self.written - self.acknowledged) if self.is_acknowledging else 0

    @property
    def characters(self) -> int:
        """The characters of the texts that are kept."""
        return self._total - self._dropped

    def has_room(self, size: int) -> bool:
        """Return whether a text of `size` characters can be kept without dropping one that the peer may not have.

        One text has room where nothing else waits, however long it is.
        """
        base = self.acknowledged if self.is_acknowledging else self.written
        waiting = self.last - base
        return not waiting or (waiting < self._window and self._characters_after(base) + size <= self._characters)

    def append(self, text: str) -> int:
        """Keep a text; return its number."""
        self._total += len(text)
        self._texts.append(text)
        self._ends.append(self._total)
        self.last += 1
        while len(self._texts) > self._window or self.characters > self._characters:
            self._texts.popleft()
            self._dropped = self._ends.popleft()
        return self.last

    def waiting(self, limit: int | None = None) -> list[tuple[int, str]]:
        """Return the texts that are not written yet, with their numbers, oldest first."""
        below, kept = self._skipped
        return [(number, text) for number, text in self.after(self.written) if number > below or number in kept][:limit]

    def after(self, cursor: int, limit: int | None = None) -> list[tuple[int, str]]:
        """Return the texts after number `cursor` that are kept, whether they were written or not."""
        first = max(cursor + 1, self._oldest)
        return [(number, self._texts[number - self._oldest]) for number in range(first, self.last + 1)[:limit]]

    def mark_written(self, number: int) -> None:
        """Report that the texts up to `number` were written."""
        self.written = max(self.written, min(number, self.last))

    def acknowledge(self, number: int) -> None:
        """Report that the peer has the texts up to `number`, and that it says so."""
        self.is_acknowledging = True
        self.acknowledged = max(self.acknowledged, min(number, self.last))

    def resume_after(self, cursor: int) -> int:
        """Send again what follows number `cursor`; return how many of these texts are not kept any more."""
        self.written = cursor
        return max(0, self._oldest - 1 - cursor)

    def restart(self, unanswered: Collection[int]) -> int:
        """Send again, to a peer that has forgotten everything, what was not acknowledged and what awaits a reply.

        Returns:
            How many of the texts without acknowledgement are not kept any more.
        """
        self._skipped = self.acknowledged, frozenset(unanswered)
        lost = self.resume_after(self.acknowledged)
        self.written = min([self.acknowledged, *(number - 1 for number in unanswered)])
        return lost

    @property
    def _oldest(self) -> int:
        """The number of the first text that is kept; of the next text where none is."""
        return self.last - len(self._texts) + 1

    def _characters_after(self, cursor: int) -> int:
        """Return the characters of the texts after number `cursor` that are kept."""
        kept = cursor - self._oldest
        return self._total - (self._ends[kept] if kept >= 0 else self._dropped)
