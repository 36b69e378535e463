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
        self._characters = 0
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
        self._texts.append(text)
        self._characters += len(text)
        self.last += 1
        entries, characters = self._limits
        while len(self._texts) > entries or self._characters > characters:
            self._characters -= len(self._texts.popleft())
        return self.last

    def after(self, cursor: int, limit: int | None = None) -> list[tuple[int, str]]:
        """Return the texts after server_seq `cursor` with their numbers, oldest first; those dropped are left out."""
        first = max(cursor + 1, self.oldest)
        numbered = list(enumerate(self._texts, self.oldest))[first - self.oldest :]
        return numbered[:limit]
