"""The rows of one table: the maps of an array with their nested maps as dotted columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

from accp_core.tables.table import Cell, DistinctNames, is_matrix

__all__ = ["MAX_DEPTH", "FlatRows", "Items", "Shape", "are_like", "flatten", "is_keyed_map", "measure"]


# The shape of the maps in an array: which names they have, and which maps within them are tables of their own.

MAX_DEPTH: Final = 12
"""Levels of maps within maps that get columns or tables; deeper ones are cells."""

_MAX_NAMED: Final = 16
"""Members of a map that are read as names of fields; in a map of more arrays or like maps they are read as keys."""
_MAX_FIELDS: Final = 50
"""The same for scalars."""
_MIN_SPARSE: Final = 64
"""Names that a sparse map in a row must have over all rows to be read as keys."""


@dataclass(eq=False, slots=True)
class Shape:
    """What the maps in one place of all rows have in common."""

    names: dict[str, Shape] = field(default_factory=dict)
    """Each name that a map has in this place, with the shape of the maps that it leads to."""
    holds_rows: bool = False
    """Whether an array of maps, or of arrays of one length, is here in any row."""
    holds_maps: bool = False
    """Whether an array of maps is here in any row, so that a map alone is an array of one."""
    _holds_lists: bool = False
    _holds_values: bool = False
    _seen: int = 0
    _maps: int = 0
    _cells: int = 0
    _only_maps: bool = True

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


@dataclass(slots=True)
class Items:
    """Members of an array, or of a map whose names are keys; three lists, because an object for each takes memory."""

    values: list[Any] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    """Their names in the map, None for one that is a member of an array; empty: all of them are."""
    parents: list[int] = field(default_factory=list)
    """The numbers of the parent's rows that hold them; empty: they have no parent."""

    def add(self, values: Sequence[Any], parent: int, keys: Sequence[str] | None = None) -> None:
        """Add the members of an array or a map in the row `parent`."""
        self.values += values
        self.keys += [None] * len(values) if keys is None else keys
        self.parents += [parent] * len(values)


@dataclass(slots=True)
class FlatRows:
    """The rows of a table before its keys are chosen."""

    columns: list[str] = field(default_factory=list)
    rows: list[dict[str, Cell]] = field(default_factory=list)
    names: DistinctNames = field(default_factory=DistinctNames)
    nested: dict[tuple[str, ...], Items] = field(default_factory=dict)
    """The members of each array of maps in the rows, by the path from the row to the array."""
    repeated: set[str] = field(default_factory=set)
    """The columns with maps and arrays in cells whose content has columns or tables of its own, too."""
    key: str = ""
    """The column that holds the keys of a map; empty: the table is an array."""

    def claim(self, name: str, *, is_invented: bool = False) -> str:
        """Return a new last column; `is_invented`: no key of the source is called so."""
        column = self.names.claim(name, is_invented=is_invented)
        self.columns.append(column)
        return column


def flatten(items: Items, *, max_children: int, with_objects: bool = False) -> FlatRows:
    """Return the rows that `items` are.

    Args:
        items: The members of an array or a map.
        max_children: How many arrays of maps may be tables of their own; further ones are cells.
        with_objects: Whether each map and array of maps in the rows is a cell of a column, too.
    """
    if not items.parents and not items.keys and (columns := _flat_columns(items.values)):
        return FlatRows(columns, items.values)
    flat = _Flattening(max_children, with_objects=with_objects)
    if items.values and all(type(value) is list for value in items.values):
        flat.add_lists(items.values)
    else:
        flat.add_items(items.values)
    if any(key is not None for key in items.keys):
        _add_keys(flat.result, items.keys)
    return flat.result


def _flat_columns(values: list[Any]) -> list[str]:
    """Return the columns of maps that are rows as they are, which need no copies; empty: some are none."""
    if set(map(type, values)) != {dict} or not all(map(_is_flat, values)):
        return []
    columns = list(dict.fromkeys(chain.from_iterable(values)))
    claim = DistinctNames().claim
    return columns if all(claim(name) == name for name in columns) else []


def _is_flat(value: dict[str, Any]) -> bool:
    """Return whether the members of a map are all cells: scalars, and arrays without maps."""
    return not any(
        (type(member) is dict and member)
        or (type(member) is list and (dict in set(map(type, member)) or is_matrix(member)))
        for member in value.values()
    )


def _add_keys(result: FlatRows, keys: list[str | None]) -> None:
    result.key = result.names.claim("key")
    result.columns.insert(0, result.key)
    for row, key in zip(result.rows, keys, strict=True):
        row[result.key] = key


def _names_of(shape: Shape, above: str = "") -> Iterator[str]:
    """Yield the names that keys of the rows have as columns."""
    for name, inner in shape.names.items():
        yield above + name
        yield from _names_of(inner, f"{above}{name}.")


@dataclass(eq=False, slots=True)
class _Place:
    """One place in the rows where maps are: the columns of their cells."""

    path: tuple[str, ...]
    shape: Shape
    columns: dict[str, str] = field(default_factory=dict)
    places: dict[str, _Place] = field(default_factory=dict)

    def inner(self, name: str) -> _Place:
        """Return the place of the maps that `name` leads to."""
        place = self.places.get(name)
        if place is None:
            place = self.places[name] = _Place((*self.path, name), self.shape.names[name])
        return place


class _Flattening:
    """One walk through the items of a table."""

    def __init__(self, max_children: int, *, with_objects: bool) -> None:
        self.result = FlatRows()
        self._with_objects = with_objects
        self._max_children = max_children
        self._count = 0

    def add_lists(self, values: list[list[Any]]) -> None:
        """Add a row for each array, whose cells are the columns `c0`, `c1` …"""
        columns = [self.result.claim(f"c{number}") for number in range(max(map(len, values)))]
        # The columns are as many as the longest array has members: arrays of unlike length have fewer cells.
        self.result.rows = [dict(zip(columns, value, strict=False)) for value in values]

    def add_items(self, values: list[Any]) -> None:
        """Add a row for each map; any other item is the cell of a column `value`."""
        root = _Place((), measure(values))
        self._count = len(values)
        self.result.names = DistinctNames(_names_of(root.shape))
        value_column = ""
        for value in values:
            row: dict[str, Cell] = {}
            self.result.rows.append(row)
            if type(value) is dict:
                self._add_map(value, root, row)
            else:
                value_column = value_column or self.result.claim("value", is_invented=True)
                row[value_column] = value

    def _add_map(self, value: dict[str, Any], place: _Place, row: dict[str, Cell]) -> None:
        number = len(self.result.rows) - 1
        for name, member in value.items():
            shape = place.shape.names[name]
            if type(member) is dict and member and shape.holds_maps and self._may_nest((*place.path, name)):
                self._nest((*place.path, name)).add([member], number)
            elif type(member) is dict and member and shape.names:
                self._add_inner(member, place.inner(name), row)
            elif type(member) is list and shape.holds_rows and self._may_nest((*place.path, name)):
                self._nest((*place.path, name)).add(member, number)
            else:
                row[self._column(place, name)] = member
                continue
            if self._with_objects or shape.is_mixed(self._count):
                # Without it nothing tells the rows that have a map from those that have none.
                column = self._column(place, name)
                self.result.repeated.add(column)
                row[column] = member

    def _column(self, place: _Place, name: str) -> str:
        column = place.columns.get(name)
        if column is None:
            column = place.columns[name] = self.result.claim(".".join((*place.path, name)))
        return column

    def _add_inner(self, value: dict[str, Any], place: _Place, row: dict[str, Cell]) -> None:
        if place.shape.is_keyed and self._may_nest(place.path):
            self._nest(place.path).add(list(value.values()), len(self.result.rows) - 1, list(value))
        else:
            self._add_map(value, place, row)

    def _may_nest(self, path: tuple[str, ...]) -> bool:
        return path in self.result.nested or len(self.result.nested) < self._max_children

    def _nest(self, path: tuple[str, ...]) -> Items:
        """Return the members of the child table at `path`, to be added to."""
        nested = self.result.nested.get(path)
        if nested is None:
            nested = self.result.nested[path] = Items()
        return nested
