"""The last texts that were sent to a peer, by server_seq (ACP transport 0.3, section 3.4 and binding D)."""

from __future__ import annotations

from collections import deque

__all__ = ["SentLog"]


class SentLog:
    """The last texts in order and without gaps; a peer names the last one that it has, and gets those after it."""

    def __init__(self, *, entries: int, characters: int) -> None:
        """Start empty; keep at most `entries` texts and `characters` characters."""
        self._limits = entries, characters
        self._texts: deque[str] = deque()
        self._ends: deque[int] = deque()
        self._dropped = self._total = 0
        self.last = 0
        """The server_seq of the last text."""

    def __len__(self) -> int:
        return len(self._texts)

    @property
    def oldest(self) -> int:
        """The server_seq of the first text that is kept; of the next text where none is."""
        return self.last - len(self._texts) + 1

    def append(self, text: str) -> int:
        """Keep a text; return its server_seq."""
        self._total += len(text)
        self._texts.append(text)
        self._ends.append(self._total)
        self.last += 1
        entries, characters = self._limits
        while len(self._texts) > entries or self._total - self._dropped > characters:
            self._texts.popleft()
            self._dropped = self._ends.popleft()
        return self.last

    def after(self, cursor: int, limit: int | None = None) -> list[tuple[int, str]]:
        """Return the texts after server_seq `cursor` with their numbers, oldest first; those dropped are left out."""
        oldest = self.oldest
        return [
            (number, self._texts[number - oldest]) for number in range(max(cursor + 1, oldest), self.last + 1)[:limit]
        ]

    def characters_after(self, cursor: int) -> int:
        """Return the characters of the texts after server_seq `cursor` that are kept."""
        kept = cursor - self.oldest
        return self._total - (self._ends[kept] if kept >= 0 else self._dropped)
