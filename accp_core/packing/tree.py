"""The nodes that the transforms put into a tree of JSON values; each node says how its value is rebuilt."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, TypeAlias

__all__ = [
    "ABSENT", "BESIDE", "IS_VIEW", "NEXT_ROW", "NODES", "Column", "Constant", "Derived", "EmbeddedJson", "KeyColumn",
    "Placeholder", "PooledLists", "RepeatedValue", "Repetition", "Sparse", "Table", "containers_of",
    "content_of", "copy_of", "is_deeper", "map_members", "members_of", "with_content",
]  # fmt: skip


class Placeholder(Enum):
    """What a slot of a table may hold instead of a value."""

    ABSENT = "absent"
    """The map has no such key, which is not the same as null."""
    NEXT_ROW = "next row"
    """The next row of the table."""


ABSENT: Final = Placeholder.ABSENT
NEXT_ROW: Final = Placeholder.NEXT_ROW
IS_VIEW: Final = "view"
"""The style of a text that is shown as its view."""
BESIDE: Final = "~"
"""The style of JSON that is laid out as no code says: its layout is kept beside the view."""


@dataclass(slots=True)
class EmbeddedJson:
    """The value of a JSON document inside a string; `style` is a code of `documents.json_styles.STYLES`
    or `BESIDE`.

    With the style `IS_VIEW` it is a text, the view of the text that the string is.
    """

    value: object
    style: str

    @property
    def mark(self) -> str:
        """What stands before it in a view."""
        return f"!{self.style}" if self.style == IS_VIEW else f"!json{self.style}"


@dataclass(slots=True)
class RepeatedValue:
    """The first place of a value that occurs several times; the other places are `Repetition(number)`."""

    number: int
    value: object


@dataclass(slots=True)
class Repetition:
    """The value of `RepeatedValue(number, …)` again; the RepeatedValue comes first in reading order."""

    number: int


@dataclass(slots=True)
class Derived:
    """A string that contains another value of the same map: `before`, the value of `name`, `behind`."""

    before: str
    name: str
    behind: str
    text: str = field(default="", compare=False)
    """The whole string; "" if it was not derived yet."""

    def kept_chars(self) -> int:
        """Return the characters that are written."""
        return len(self.before) + 1 + len(self.name) + len(self.behind)


@dataclass(slots=True)
class Constant:
    """A column in which all rows have the same value."""

    value: object


@dataclass(slots=True)
class KeyColumn:
    """A column that has in each row of a keyed table the key of the row."""


@dataclass(slots=True)
class Sparse:
    """A column that few rows have: a cell is written with its key, and nothing where it is absent."""

    values: list[object]
    """A value, or ABSENT, for each row."""


@dataclass(slots=True)
class Table:
    """Maps of similar shape: their keys once, their values by column."""

    columns: dict[str, Column]
    slots: list[object] | None
    """NEXT_ROW (perhaps inside a RepeatedValue), or another value, for each item; None: every item is a row."""
    rows: int


@dataclass(slots=True)
class PooledLists:
    """Lists whose members are all in one column."""

    slots: list[object]
    """The length (perhaps inside a RepeatedValue) of each list, or another value in its place."""
    members: Table | PooledLists


Column: TypeAlias = "list[object] | Constant | KeyColumn | Sparse | Table | PooledLists"
NODES: Final = frozenset((dict, list, EmbeddedJson, RepeatedValue, Repetition))
"""Types of what may contain other values, or stands for one that does."""


def content_of(value: object) -> object:
    """Return the value inside a RepeatedValue; any other value is its own content."""
    return value.value if type(value) is RepeatedValue else value


def with_content(value: object, content: object) -> object:
    """Return `content`, inside a RepeatedValue with the number of `value` if `value` is one."""
    return RepeatedValue(value.number, content) if type(value) is RepeatedValue else content


def map_members(
    container: dict[str, object] | list[object], convert: Callable[[object], object], types: Container[type]
) -> dict[str, object] | list[object]:
    """Return a map or a list with the members of those types converted and the others as they are."""
    if type(container) is dict:
        return {name: convert(member) if type(member) in types else member for name, member in container.items()}
    return [convert(member) if type(member) in types else member for member in container]


def copy_of(value: object) -> object:
    """Return a copy of `value`; without one, a change in one place would appear in another."""
    if type(value) is dict or type(value) is list:
        return map_members(value, copy_of, NODES)
    if type(value) is RepeatedValue:
        return RepeatedValue(value.number, copy_of(value.value))
    return EmbeddedJson(copy_of(value.value), value.style) if type(value) is EmbeddedJson else value


def is_deeper(value: object, most: int) -> bool:
    """Return whether arrays, maps and embedded documents are nested in more than that many levels."""
    level, levels = containers_of([value]), 0
    while level and levels <= most:
        level = containers_of(members_of(level))
        levels += 1
    return levels > most


def containers_of(values: list[object]) -> list[object]:
    """Return the maps, lists and embedded documents among values."""
    return [value for value in values if type(value) is dict or type(value) is list or type(value) is EmbeddedJson]


def members_of(containers: list[object]) -> list[object]:
    """Return what maps, lists and embedded documents hold."""
    members: list[object] = []
    for value in containers:
        if type(value) is dict:
            members += value.values()
        elif type(value) is list:
            members += value
        else:
            assert type(value) is EmbeddedJson
            members.append(value.value)
    return members
