"""Collections with a bound: where a peer can add entries, the oldest ones are evicted for those too many."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final, Generic, Self, TypeVar

__all__ = ["BoundedDict", "SizedCache"]

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

    Each operation on it is one operation on a dictionary, so that threads may share it; what they lose to each other is
    computed again.
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
        self._entries[key] = (value, size)
        self.size += size
        evicted = []
        while self.size > self.max_size:
            oldest, (other, its_size) = self._entries.popitem(last=False)
            self.size -= its_size
            evicted.append((oldest, other))
        return evicted
