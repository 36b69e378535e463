"""Collections with a bound: where a peer can add entries, the oldest one is evicted for each one too many."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, TypeVar

__all__ = ["BoundedDict"]

K = TypeVar("K")
V = TypeVar("V")


class BoundedDict(OrderedDict[K, V]):
    """A dictionary of at most `limit` entries, the oldest first. Only `put` keeps to the limit."""

    def __init__(self, limit: int) -> None:
        """Create an empty dictionary.

        Raises:
            ValueError: `limit` is negative.
        """
        if limit < 0:
            raise ValueError(f"expected a limit of at least 0, found {limit!r}")
        super().__init__()
        self.limit: Final = limit

    def put(self, key: K, value: V) -> tuple[K, V] | None:
        """Set `key` to `value` as the newest entry; return the entry that was evicted for it, or None."""
        self[key] = value
        self.move_to_end(key)
        return self.popitem(last=False) if len(self) > self.limit else None
