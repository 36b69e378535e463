"""The lists of objects in a document, as a reader names their entries: by path, by key, by column."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

__all__ = [
    "DocumentTable",
    "Path",
    "Scalar",
    "find_tables",
    "is_same",
    "is_scalar",
    "path_in_words",
    "scalars_by_path",
    "texts_by_path",
]  # fmt: skip

Scalar: TypeAlias = str | int | float | bool | None
Path: TypeAlias = tuple[str | int, ...]
"""The keys and indexes that lead to a value."""

_MIN_ROWS: Final = 4
_PLAIN_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
"""A name that a question can write down so that nobody takes it for a path or another name."""
_MAX_ANSWER: Final = 80
"""Characters of a text that a question asks for or names."""


@dataclass(frozen=True)
class DocumentTable:
    """A list of objects."""

    path: Path
    """Its place in the document."""
    rows: list[dict[str, Scalar]]
    """The scalar members of each object, those of nested objects as `customer.name`."""

    @cached_property
    def columns(self) -> list[str]:
        """The names of all columns, in the order in which they come first."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    @cached_property
    def key(self) -> str | None:
        """The first column whose values tell the rows apart and are short texts or integers."""
        return next((name for name in self.columns if self._is_key(name)), None)

    def values(self, column: str) -> list[Scalar]:
        """Return the values of a column, without the rows that do not have it."""
        return [row[column] for row in self.rows if column in row]

    def count(self, column: str, value: Scalar) -> int:
        """Return how many rows have a value in a column."""
        return sum(is_same(each, value) for each in self.values(column))

    def unique(self, column: str) -> list[dict[str, Scalar]]:
        """Return the rows whose value in a column no other row has."""
        return [row for row in self.rows if column in row and self.count(column, row[column]) == 1]

    def _is_key(self, column: str) -> bool:
        values = self.values(column)
        usable = all(type(value) is int or (type(value) is str and 0 < len(value) <= _MAX_ANSWER) for value in values)
        return usable and len(values) == len(self.rows) == len(set(map(str, values)))


def find_tables(value: Any) -> list[DocumentTable]:
    """Return the lists of four and more objects that a key tells apart, from the outside to the inside."""
    tables = [DocumentTable(path, _plain_rows(rows)) for path, rows in _lists(value, ())]
    return [table for table in tables if table.key is not None and len(table.columns) > 1]


def scalars_by_path(value: Any, path: Path = ()) -> Iterator[tuple[Path, Scalar]]:
    """Yield each short scalar outside of the lists of a value, with its path."""
    if isinstance(value, dict):
        for name, member in _plain_members(value):
            yield from scalars_by_path(member, (*path, name))
    elif is_scalar(value) and path:
        yield path, value


def texts_by_path(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield each text of several lines, with its path."""
    if isinstance(value, dict):
        for name, member in _plain_members(value):
            yield from texts_by_path(member, (*path, name))
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from texts_by_path(member, (*path, index))
    elif isinstance(value, str) and "\n" in value:
        yield path, value


def is_scalar(value: object) -> bool:
    """Return whether a value is a number, a word of JSON or a short text of one line."""
    if type(value) is str:
        return 0 < len(value) <= _MAX_ANSWER and value.isprintable() and value == value.strip()
    return value is None or type(value) in (int, float, bool)


def is_same(left: Scalar, right: Scalar) -> bool:
    """Return whether a reader takes two values for the same: 5 and 5.0 are, 1 and true are not."""
    return left == right and isinstance(left, bool) == isinstance(right, bool)


def path_in_words(path: Path) -> str:
    """Return a path as `data.items[0].name`; "the top-level list" for the value itself."""
    parts = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return f"`{parts.removeprefix('.')}`" if path else "the top-level list"


def _lists(value: Any, path: Path) -> Iterator[tuple[Path, list[Mapping[str, Any]]]]:
    if isinstance(value, dict):
        for name, member in _plain_members(value):
            yield from _lists(member, (*path, name))
    elif isinstance(value, list) and len(value) >= _MIN_ROWS and all(isinstance(row, dict) for row in value):
        yield path, value


def _plain_rows(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Scalar]]:
    """Return the rows with the columns that hold nothing but short scalars, wherever they hold anything."""
    flat = [dict(_flat(row)) for row in rows]
    others = {name for row in flat for name, member in row.items() if not is_scalar(member)}
    return [{name: member for name, member in row.items() if name not in others} for row in flat]


def _flat(row: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, member in _plain_members(row):
        yield prefix + name, member
        if isinstance(member, dict):
            yield from _flat(member, f"{prefix}{name}.")


def _plain_members(value: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the members whose names a question can write down; none beside a name that looks like a path."""
    if any("." in name for name in value):
        return []
    return [(name, member) for name, member in value.items() if _PLAIN_NAME.fullmatch(name)]
