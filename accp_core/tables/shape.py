"""The shape of the maps in an array: which names they have, and which maps within them are tables of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from accp_core.tables.json_grids import is_matrix

__all__ = ["MAX_DEPTH", "Shape", "are_like", "is_keyed_map", "measure"]

MAX_DEPTH: Final = 12
"""Levels of maps within maps that get columns or tables; deeper ones are cells."""

_MAX_NAMED: Final = 16
"""Members of a map that are read as names of fields; in a map of more arrays or like maps they are read as keys."""
_MAX_FIELDS: Final = 50
"""The same for scalars."""
_MIN_SPARSE: Final = 64
"""Names that a sparse map in a row must have over all rows to be read as keys."""


class Shape:
    """What the maps in one place of all rows have in common."""

    __slots__ = (
        "_cells",
        "_holds_lists",
        "_holds_values",
        "_maps",
        "_only_maps",
        "_seen",
        "holds_maps",
        "holds_rows",
        "names",
    )

    def __init__(self) -> None:
        self.names: dict[str, Shape] = {}
        """Each name that a map has in this place, with the shape of the maps that it leads to."""
        self.holds_rows = False
        """Whether an array of maps, or of arrays of one length, is here in any row."""
        self.holds_maps = False
        """Whether an array of maps is here in any row, so that a map alone is an array of one."""
        self._holds_lists = False
        self._holds_values = False
        self._seen = 0
        self._maps = 0
        self._cells = 0
        self._only_maps = True

    def add(self, value: dict[str, Any], depth: int = 1) -> None:
        """Count a map, and those within it."""
        self._maps += 1
        self._cells += len(value)
        for name, member in value.items():
            shape = self.names.get(name)
            if shape is None:
                shape = self.names[name] = Shape()
            shape._seen += 1
            if type(member) is list:
                shape._holds_lists = True
                shape.holds_maps = shape.holds_maps or dict in set(map(type, member))
                shape.holds_rows = shape.holds_maps or shape.holds_rows or is_matrix(member)
            elif type(member) is not dict or not member:
                shape._holds_values = True
            if type(member) is not dict:
                self._only_maps = False
            elif depth < MAX_DEPTH:
                shape.add(member, depth + 1)

    def is_mixed(self, rows: int) -> bool:
        """Return whether a row of so many has a cell here (null, a scalar, an empty map), or no map where others do."""
        is_optional = self._maps > 0 and (self._seen < rows or self._holds_lists)
        return self._holds_values or is_optional or (self._holds_lists and not self.holds_rows)

    @property
    def is_keyed(self) -> bool:
        """Whether the names are keys rather than fields: many maps of like shape, or many names that few rows have."""
        if len(self.names) <= _MAX_NAMED:
            return False
        if self._only_maps and are_like([set(shape.names) for shape in self.names.values()]):
            return True
        return len(self.names) > _MIN_SPARSE and 4 * self._cells < self._maps * len(self.names)


def measure(values: Iterable[Any]) -> Shape:
    """Return the shape of the maps among `values`."""
    shape = Shape()
    for value in values:
        if type(value) is dict:
            shape.add(value)
    return shape


def is_keyed_map(value: dict[str, Any]) -> bool:
    """Return whether a map outside all rows is a table: its members are rows, and their names are keys."""
    kinds = set(map(type, value.values()))
    if kinds == {dict}:
        return len(value) > 1 and are_like([set(member) for member in value.values()])
    if kinds == {list}:
        return len(value) > _MAX_NAMED
    return len(value) > _MAX_FIELDS and kinds.isdisjoint((dict, list))


def are_like(names: list[set[str]]) -> bool:
    """Return whether at least half of all names are ones that more than half of the sets have."""
    counts = Counter(name for each in names for name in each)
    common = sum(count for count in counts.values() if 2 * count > len(names))
    return common > 0 and 2 * common >= counts.total()
