"""The texts for a peer: which were written, which were acknowledged, which are to be sent again (section 3.3)."""

from __future__ import annotations

from collections.abc import Collection

from accp_core.acp.sent_log import SentLog

__all__ = ["Outgoing"]


class Outgoing:
    """A log of numbered texts and two positions in it: the last text written, and the last one that the peer has.

    A peer that acknowledges holds the second one back: no text is dropped before it has it. For any other peer, what
    was written counts as received.
    """

    def __init__(self, *, window: int, characters: int) -> None:
        """Start empty; keep at most `window` texts and `characters` characters."""
        self._log = SentLog(entries=window, characters=characters)
        self._window = window
        self._characters = characters
        self._skipped: tuple[int, frozenset[int]] = 0, frozenset()
        self.written = 0
        """The number of the last text that was written."""
        self.acknowledged = 0
        """The number of the last text that the peer is known to have."""
        self.is_acknowledging = False
        """Whether the peer says what it has received."""

    @property
    def last(self) -> int:
        """The number of the last text."""
        return self._log.last

    @property
    def in_flight(self) -> int:
        """How many texts were written and not acknowledged; 0 for a peer that does not acknowledge."""
        return max(0, self.written - self.acknowledged) if self.is_acknowledging else 0

    def has_room(self, size: int) -> bool:
        """Return whether a text of `size` characters can be kept without dropping one that the peer may not have.

        One text has room where nothing else waits, however long it is.
        """
        base = self.acknowledged if self.is_acknowledging else self.written
        waiting = self._log.last - base
        return not waiting or (waiting < self._window and self._log.characters_after(base) + size <= self._characters)

    def append(self, text: str) -> int:
        """Keep a text; return its number."""
        return self._log.append(text)

    def waiting(self, limit: int | None = None) -> list[tuple[int, str]]:
        """Return the texts that are not written yet, with their numbers, oldest first."""
        below, kept = self._skipped
        after = self._log.after(self.written)
        return [(number, text) for number, text in after if number > below or number in kept][:limit]

    def after(self, cursor: int, limit: int | None = None) -> list[tuple[int, str]]:
        """Return the texts after number `cursor` that are kept, whether they were written or not."""
        return self._log.after(cursor, limit)

    def mark_written(self, number: int) -> None:
        """Report that the texts up to `number` were written."""
        self.written = max(self.written, min(number, self._log.last))

    def acknowledge(self, number: int) -> None:
        """Report that the peer has the texts up to `number`, and that it says so."""
        self.is_acknowledging = True
        self.acknowledged = max(self.acknowledged, min(number, self._log.last))

    def resume_after(self, cursor: int) -> int:
        """Send again what follows number `cursor`; return how many of these texts are not kept any more."""
        self.written = cursor
        return max(0, self._log.oldest - 1 - cursor)

    def restart(self, unanswered: Collection[int]) -> int:
        """Send again, to a peer that has forgotten everything, what was not acknowledged and what awaits a reply.

        Returns:
            How many of the texts without acknowledgement are not kept any more.
        """
        self._skipped = self.acknowledged, frozenset(unanswered)
        lost = self.resume_after(self.acknowledged)
        self.written = min([self.acknowledged, *(number - 1 for number in unanswered)])
        return lost
