"""What the transforms put into a tree of JSON values: each node says how the value that stood there is rebuilt."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

__all__ = [
    "ABSENT",
    "NEXT_ROW",
    "Column",
    "Constant",
    "EmbeddedJson",
    "Placeholder",
    "PooledLists",
    "RepeatedValue",
    "Repetition",
    "Table",
    "content_of",
    "with_content",
]  # fmt: skip


class Placeholder(Enum):
    """What a slot of a table may hold instead of a value."""

    ABSENT = "absent"
    """The map has no such key; not the same as a null."""
    NEXT_ROW = "present"
    """Here stands the table's next row."""


ABSENT: Final = Placeholder.ABSENT
NEXT_ROW: Final = Placeholder.NEXT_ROW


@dataclass(slots=True)
class EmbeddedJson:
    """A string that holds a JSON document; `style` is a code of `opened.STYLES`."""

    value: object
    style: str


@dataclass(slots=True)
class RepeatedValue:
    """The first place of a value that stands in several; the others are `Repetition(number)`."""

    number: int
    value: object


@dataclass(slots=True)
class Repetition:
    """The same value as stands at `RepeatedValue(number, …)`, earlier in reading order."""

    number: int


@dataclass(slots=True)
class Constant:
    """A column in which all rows hold the same value."""

    value: object


@dataclass(slots=True)
class Table:
    """Maps of like shape: their keys once, their values by column.

    `slots` has an entry per item where not every item is a map of its own: PRESENT (perhaps inside an
    `RepeatedValue`) for the next row, else what stands there instead; None where all items are rows.
    """

    columns: dict[str, Column]
    slots: list[object] | None
    rows: int


@dataclass(slots=True)
class PooledLists:
    """Lists whose members are pooled into one column; `slots` holds their lengths, or what stands instead."""

    slots: list[object]
    members: Table | PooledLists


Column: TypeAlias = "list[object] | Constant | Table | PooledLists"


def content_of(value: object) -> object:
    """Return `value` without the anchor it may stand at."""
    return value.value if type(value) is RepeatedValue else value


def with_content(value: object, content: object) -> object:
    """Return `content`, standing at the anchor of `value` if that has one."""
    return RepeatedValue(value.number, content) if type(value) is RepeatedValue else content
