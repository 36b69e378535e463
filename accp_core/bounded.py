"""Collections with a bound: where a peer can add entries, the oldest ones are evicted for those too many.

`share` divides a bound among several. Long work calls `WATCH`, which ends it when its caller has left.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, Final, Generic, Self, TypeVar

__all__ = ["WATCH", "BoundedDict", "SizedCache", "share"]

K = TypeVar("K")
V = TypeVar("V")

WATCH: Final[ContextVar[Callable[[], object]]] = ContextVar("accp_watch", default=lambda: None)
"""Long work calls this function now and then; it raises an error when the caller has left."""


def share(sizes: Sequence[float], total: float) -> list[float]:
    """Return parts of `total`: the smallest sizes are met first, what they leave goes to the larger ones equally."""
    parts = [0.0] * len(sizes)
    left = total
    for rank, index in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__)):
        parts[index] = left / (len(sizes) - rank)
        left -= min(parts[index], sizes[index])
    return parts


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

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to copy it; an ordered dictionary is otherwise made without arguments."""
        return type(self), (self.limit,), None, None, iter(self.items())

    def copy(self) -> Self:
        """Return a copy with the same limit."""
        other = type(self)(self.limit)
        other.update(self)
        return other

    __copy__ = copy


class SizedCache(Generic[K, V]):
    """A cache whose values take at most `max_size` together; the least recently put ones are evicted first.

    Threads may share it: each change is one operation on a dictionary, and who adds or removes an entry counts it. What
    they lose to each other is computed again.
    """

    def __init__(self, max_size: int) -> None:
        """Create an empty cache.

        Args:
            max_size: The sum of the sizes of all values, in the unit of `put`.
        """
        self.max_size: Final = max_size
        self.size = 0
        """The sum of the sizes of the values that it holds."""
        self._entries: Final[OrderedDict[K, tuple[V, int]]] = OrderedDict()

    def __contains__(self, key: object) -> bool:
        """Return whether there is a value under `key`."""
        return key in self._entries

    def get(self, key: K) -> V | None:
        """Return the value under `key`, None where there is none."""
        entry = self._entries.get(key)
        return entry[0] if entry else None

    def keys(self) -> tuple[K, ...]:
        """Return the keys, the least recently put one first."""
        return tuple(self._entries)

    def pop(self, key: K) -> V | None:
        """Remove and return the value under `key`, None where there is none."""
        entry = self._entries.pop(key, None)
        if entry is None:
            return None
        self.size -= entry[1]
        return entry[0]

    def put(self, key: K, value: V, size: int) -> list[tuple[K, V]]:
        """Keep `value` of `size` under `key`; return what was evicted for it, itself if it is too large."""
        self.pop(key)
        if size > self.max_size:
            return [(key, value)]
        entry = (value, size)
        # What another thread has put meanwhile was counted there, so that it must not be overwritten.
        while self._entries.setdefault(key, entry) is not entry:
            self.pop(key)
        self.size += size
        return self._evict()

    def use(self, key: K) -> V | None:
        """Return the value under `key` as the newest entry, None where there is none."""
        entry = self._entries.pop(key, None)
        if entry is None:
            return None
        self.size -= entry[1]
        self.put(key, *entry)
        return entry[0]

    def _evict(self) -> list[tuple[K, V]]:
        evicted = []
        with suppress(KeyError):  # another thread has evicted the last one
            while self.size > self.max_size:
                oldest, (value, size) = self._entries.popitem(last=False)
                self.size -= size
                evicted.append((oldest, value))
        if not self._entries:
            # A key whose hash is written in Python lets a thread overwrite what another one has counted.
            self.size = 0
        return evicted
