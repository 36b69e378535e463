"""The bound on what a short text may become when it is read: repetitions, constants of columns, JSON in strings.

A size is a number of members and characters: each member of an array or a map counts one, and each character of a
string, a key or a number one. Without itself, no value has a larger size than its compact JSON has characters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from accp_core.packing.tree import Column, Constant, Derived, EmbeddedJson, PooledLists, RepeatedValue, Table

__all__ = [
    "DEFAULT_EXPANSION", "OWN_EXPANSION", "Expansion", "ExpansionError", "ExpansionLimits", "size_of", "table_size",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpansionLimits:
    """How large the result of reading a text may be; both limits hold."""

    times: int = 50
    """Members and characters of the result for each character of the text."""
    size: int = 16 * 1024 * 1024
    """Members and characters of the result, unless the text itself has more."""

    def of(self, chars: int) -> int:
        """Return the largest result of a text of `chars` characters, in members and characters."""
        return max(min(self.times * chars, self.size), chars)


DEFAULT_EXPANSION: Final = ExpansionLimits()
"""The limits for texts of others; who holds the source of a view passes the size of the source."""
OWN_EXPANSION: Final = ExpansionLimits(size=1 << 40)
"""The limits for views that this program wrote itself, of sources of any size."""


class ExpansionError(ValueError):
    """A text asks for a larger result than its limits allow; nothing of the part that passes them was built."""

    def __init__(self, sign: str, size: int, left: int) -> None:
        super().__init__(f"expected a result within the limits, found {sign!r}, which adds {size} to at most {left}")
        self.sign = sign
        """What stands in the text where it asks for too much."""


class Expansion:
    """What the reading of one text may still add."""

    def __init__(self, left: int) -> None:
        """Start with `left` members and characters."""
        self.left = left

    def add(self, size: int, sign: str) -> None:
        """Count `size` members and characters before they are built.

        Raises:
            ExpansionError: so many are not left; `sign` stands in the text where they are asked for.
        """
        if size > self.left:
            raise ExpansionError(sign, size, self.left)
        self.left -= size


def size_of(value: object) -> int:
    """Return the members and characters of a tree; a container that is in several places counts in each."""
    size, level = 0, [value]
    while level:
        size += len(level)
        inner: list[object] = []
        for part in level:
            if type(part) is str:
                size += len(part)
            elif type(part) is dict:
                size += sum(map(len, part))
                inner += part.values()
            elif type(part) is list:
                inner += part
            elif type(part) is RepeatedValue or type(part) is EmbeddedJson:
                inner.append(part.value)
            elif type(part) is Derived:
                size += part.kept_chars()
            elif type(part) is int or isinstance(part, float):
                size += len(repr(part))
        level = inner
    return size


def table_size(column: Column, rows: int) -> int:
    """Return what unpacking a column of `rows` rows adds to its cells: the keys of each row, and the constants."""
    if type(column) is Table:
        names = sum(len(name) + 1 for name in column.columns)
        return column.rows * names + sum(table_size(inner, column.rows) for inner in column.columns.values())
    if type(column) is Constant:
        return rows * size_of(column.value)
    return table_size(column.members, 0) if type(column) is PooledLists else 0
