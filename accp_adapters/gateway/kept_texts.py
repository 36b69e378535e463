"""The texts that previews of a gateway cite, in memory: each for its owner, for some time, within a bound."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Final

from accp_core.bounded import BoundedDict, SizedCache

__all__ = ["KeptTexts"]

_MIB: Final = 1024 * 1024


class KeptTexts:
    """Texts by owner and name; each compression of a conversation keeps its texts anew."""

    def __init__(
        self,
        *,
        seconds: float = 3_600.0,
        max_bytes: int = 16 * _MIB,
        max_owners: int = 64,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Keep nothing yet.

        Args:
            seconds: How long a text is kept after it was put.
            max_bytes: Bytes of the texts of one owner, in UTF-8; those that were put first are dropped first.
            max_owners: Owners whose texts are kept; the one who put nothing for the longest time loses its texts first.
            clock: Returns seconds, of which only differences count.

        Raises:
            ValueError: A bound leaves no room for anything; it names the bound and the value.
        """
        for name, value in (("seconds", seconds), ("max_bytes", max_bytes), ("max_owners", max_owners)):
            if not value > 0:
                raise ValueError(f"expected {name} to be more than 0, found {value!r}")
        self.max_bytes: Final = max_bytes
        """Bytes of the texts of one owner."""
        self._seconds, self._clock = seconds, clock
        self._owners: Final[BoundedDict[str, SizedCache[str, tuple[str, float]]]] = BoundedDict(max_owners)

    def put(self, owner: str, texts: Mapping[str, str]) -> None:
        """Keep `texts` of `owner`, by name."""
        if not texts:
            return
        kept = self._owners.get(owner) or SizedCache(self.max_bytes)
        self._owners.put(owner, kept)
        until = self._clock() + self._seconds
        for name, text in texts.items():
            kept.put(name, (text, until), len(text.encode("utf-8", "surrogatepass")))

    def get(self, owner: str, name: str) -> str | None:
        """Return the text of `owner` with this name, None where none is kept."""
        kept = self._owners.get(owner)
        found = kept.get(name) if kept else None
        if kept is None or found is None:
            return None
        text, until = found
        if self._clock() < until:
            return text
        kept.pop(name)
        return None
