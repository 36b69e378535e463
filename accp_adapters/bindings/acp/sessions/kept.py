"""What is kept for a peer after it was answered: bounded in number, and in the bytes that it may take here."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Final, Generic, TypeVar

from accp_adapters.serving.bodies import ByteBudget
from accp_adapters.serving.off_loop import size_of
from accp_core.acp import Part
from accp_core.acp.parts import part_to_json

__all__ = ["Kept", "size_of_parts"]

T = TypeVar("T")


def size_of_parts(parts: Iterable[Part]) -> int:
    """Return about how many bytes parts take: characters take up to four, values more."""
    return 4 * size_of([part_to_json(part) for part in parts], sys.maxsize)


class Kept(Generic[T]):
    """Values by name, the oldest first; of those that hold bytes, the oldest give way."""

    def __init__(self, memory: ByteBudget, owner: str, count: int) -> None:
        """Keep at most `count` values, with bytes of `memory` that `owner` holds."""
        self._memory, self._owner, self._count = memory, owner, count
        self._values: Final[dict[str, tuple[T, int]]] = {}

    def __contains__(self, name: str) -> bool:
        """Return whether a value is kept."""
        return name in self._values

    def __getitem__(self, name: str) -> T:
        """Return a value that is kept."""
        return self._values[name][0]

    def get(self, name: str) -> T | None:
        """Return a value, None where none is kept."""
        return self._values[name][0] if name in self._values else None

    def values(self) -> list[T]:
        """Return the values, the oldest first."""
        return [value for value, _ in self._values.values()]

    def put(self, name: str, value: T, size: int = 0) -> None:
        """Keep `value`, of `size` bytes; not at all where these are not free without the others."""
        _, held = self._values.get(name, (value, 0))
        while not self._memory.take(self._owner, size - held):
            oldest = next((each for each, (_, bytes_) in self._values.items() if bytes_ and each != name), None)
            if oldest is None:
                self._drop(name)
                return
            self._drop(oldest)
        self._values[name] = value, size
        if len(self._values) > self._count:
            self._drop(next(iter(self._values)))

    def clear(self) -> None:
        """Keep nothing."""
        for name in list(self._values):
            self._drop(name)

    def _drop(self, name: str) -> None:
        _, size = self._values.pop(name, (None, 0))
        self._memory.take(self._owner, -size)
