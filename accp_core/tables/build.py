"""The tables of a JSON value or a text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from accp_core.documents import read
from accp_core.documents.grids import GRIDS
from accp_core.tables.flatten import MAX_DEPTH, FlatRows, Items, flatten, is_keyed_map
from accp_core.tables.layouts import arrange
from accp_core.tables.table import (
    Cell,
    DistinctNames,
    ParentLink,
    Table,
    columns_side_by_side,
    table_of_lines,
)

__all__ = ["MAX_TABLES", "tables_of"]

MAX_TABLES: Final = 200
"""Tables of one value outside rows, and tables whose rows may have children; further arrays are cells."""
_MAX_CHILDREN: Final = 50
"""Child tables of one table."""

_ROOT_ARRAY: Final = "rows"
_ROOT_MAP: Final = "root"
_FIRST_KEYS: Final = ("id", "_id", "key", "uuid", "guid")
_SHORT_KEYS: Final = frozenset((*_FIRST_KEYS, "row", "code", "number", "no", "ref", "sku", "slug"))
"""Columns whose name does not say of what they are the key."""
_KEY: Final = re.compile(
    r"(?i:(?:^|[._ -])(?:id|key|uuid|guid|code|number|no|sku|slug|ref))$|[a-z](?:I[dD]|Key|Uuid|Code|Number)$"
)


def tables_of(value: object, taken: Iterable[str] = (), *, with_objects: bool = False) -> tuple[Table, ...]:
    """Return the tables of a JSON value, or of a text that is none; parents stand before their children.

    The rules are those of the package's docstring. The number of tables is bounded; names, rows and cells are no more
    than those of the value.

    Args:
        value: A JSON value; a string is a text, whose only table is `lines`.
        taken: Names that no table gets, because others have them.
        with_objects: Whether each map and array of maps in a row is a cell of a column, too.
    """
    if isinstance(value, str):
        return (table_of_lines(value),)
    value = arrange(value)
    tables = _Tables(taken, with_objects=with_objects)
    if isinstance(value, dict):
        tables.add_map(value, (), 1)
    else:
        tables.add_array(value if isinstance(value, list) else [value], ())
    return tables.finished()


class _Tables:
    """One walk through a value."""

    def __init__(self, taken: Iterable[str], *, with_objects: bool) -> None:
        self._with_objects = with_objects
        self._tables: list[Table] = []
        self._names = DistinctNames()
        for name in taken:
            self._names.claim(name)
        self._root: dict[tuple[str, ...], Cell] = {}

    def finished(self) -> tuple[Table, ...]:
        """Return the tables, the one of the values outside arrays first."""
        if not self._root:
            return tuple(self._tables)
        names = DistinctNames(map(".".join, self._root))
        row = {names.claim(".".join(path)): cell for path, cell in self._root.items()}
        root = Table(name=self._names.claim(_ROOT_MAP), path=(), columns=tuple(row), rows=(row,))
        return (root, *self._tables)

    def add_map(self, value: dict[str, Any], path: tuple[str, ...], depth: int) -> None:
        """Add the tables of a map that no row holds."""
        if is_keyed_map(value):
            self._add(_keyed_items(value), path)
            return
        if (beside := columns_side_by_side(value)) is not None:
            self.add_array(beside, path)
            value = {name: member for name, member in value.items() if type(member) is not list}
        for name, member in value.items():
            inner = (*path, name)
            if type(member) is list and len(self._tables) < MAX_TABLES:
                self.add_array(member, inner)
            elif type(member) is dict and member and depth < MAX_DEPTH:
                self.add_map(member, inner, depth + 1)
            else:
                self._root[inner] = member
                if type(member) is str and "\n" in member:
                    self._add_text(member, inner)

    def _add_text(self, text: str, path: tuple[str, ...]) -> None:
        """Add the tables of the grids in a text, and of one that is an array."""
        document = read(text)
        for part in (document.whole,) if document.whole else document.values():
            is_grid = part.form in GRIDS or document.whole is not None
            if is_grid and type(part.value) is list and len(self._tables) < MAX_TABLES:
                self.add_array(part.value, path)

    def add_array(self, value: list[Any], path: tuple[str, ...]) -> None:
        """Add the table of an array that no row holds, and its children."""
        self._add(Items(value), path)

    def _add(
        self,
        items: Items,
        path: tuple[str, ...],
        parent: tuple[Table, str] | None = None,
        depth: int = 1,
    ) -> None:
        has_room = depth < MAX_DEPTH and len(self._tables) < MAX_TABLES
        most = _MAX_CHILDREN if has_room else 0
        flat = flatten(items, max_children=most, with_objects=self._with_objects)
        key = _choose_key(flat) if flat.nested else ""
        link = _link(flat, items, parent) if parent else None
        name = self._names.claim(".".join(path) or _ROOT_ARRAY)
        columns, repeated = tuple(flat.columns), frozenset(flat.repeated)
        table = Table(name=name, path=path, columns=columns, rows=flat.rows, parent=link, repeated=repeated)
        self._tables.append(table)
        for inner, members in flat.nested.items():
            self._add(members, (*path, *inner), (table, key), depth + 1)


def _keyed_items(value: dict[str, Any]) -> Items:
    items = Items()
    for key, member in value.items():
        members = member if type(member) is list else [member]
        items.values += members
        items.keys += [key] * len(members)
    return items


def _choose_key(flat: FlatRows) -> str:
    """Return the column that identifies the rows: a key of the source, else `_row`, which is added in front."""
    ranked = [flat.key, *(name for name in _FIRST_KEYS if name in flat.columns), *filter(_KEY.search, flat.columns)]
    for column in filter(None, ranked):
        if _is_unique(flat, column):
            return column
    column = flat.names.claim("_row")
    flat.columns.insert(0, column)
    for number, row in enumerate(flat.rows):
        row[column] = number
    return column


def _is_unique(flat: FlatRows, column: str) -> bool:
    cells = [row.get(column) for row in flat.rows]
    return set(map(type, cells)) <= {str, int} and len(set(map(str, cells))) == len(cells)


def _link(flat: FlatRows, items: Items, parent: tuple[Table, str]) -> ParentLink:
    """Add the key of the parent in front of the columns."""
    table, key = parent
    owner = table.path[-1] if table.path else table.name
    last = key.rpartition(".")[2].removeprefix("_")
    column = flat.names.claim(f"{owner}_{last}" if last in _SHORT_KEYS else last)
    flat.columns.insert(0, column)
    for row, number in zip(flat.rows, items.parents, strict=True):
        row[column] = table.rows[number][key]
    return ParentLink(table=table.name, key=key, column=column)
