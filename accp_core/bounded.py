"""Collections with a bound: what a peer can make grow forgets its oldest entry."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, TypeVar

__all__ = ["BoundedDict"]

K = TypeVar("K")
V = TypeVar("V")


class BoundedDict(OrderedDict[K, V]):
    """A dictionary of at most `limit` entries, in the order in which they were put; add to it by `put` only."""

    def __init__(self, limit: int) -> None:
        """Start empty.

        Raises:
            ValueError: `limit` is negative.
        """
        if limit < 0:
            raise ValueError(f"expected a limit of at least 0, found {limit!r}")
        super().__init__()
        self.limit: Final = limit

    def put(self, key: K, value: V) -> tuple[K, V] | None:
        """Set `key` as the newest entry; return the oldest one where that was one too many."""
        self[key] = value
        self.move_to_end(key)
        return self.popitem(last=False) if len(self) > self.limit else None
