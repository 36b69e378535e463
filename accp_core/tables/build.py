"""The tables of a JSON value or a text."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from accp_core.bounded import WATCH
from accp_core.documents import read
from accp_core.documents.grids import GRIDS
from accp_core.strict_json import is_json
from accp_core.tables.layouts import NUMBERED, arrange
from accp_core.tables.table import DistinctNames, ParentLink, Table, columns_side_by_side, is_matrix

__all__ = ["MAX_TABLES", "tables_of"]


# The shape of the maps in an array: which names they have, and which maps within them are tables of their own.

_MAX_DEPTH: Final = 12
"""Levels of maps within maps that get columns or tables; deeper ones are cells."""

_MAX_NAMED: Final = 16
"""Members of a map that are read as names of fields; in a map of more arrays or like maps they are read as keys."""
_MAX_FIELDS: Final = 50
"""The same for scalars."""
_CODE: Final = re.compile(r"[A-Z\d][A-Z\d:./_+ -]*$")
"""A key in capitals, such as one of a currency, under which there are arrays of maps."""
_MIN_SPARSE: Final = 64
"""Names that a sparse map in a row must have over all rows to be read as keys."""


@dataclass(eq=False, slots=True)
class _Shape:
    """What the maps in one place of all rows have in common."""

    names: dict[str, _Shape] = field(default_factory=dict)
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
                shape = self.names[name] = _Shape()
            shape._seen += 1
            if type(member) is list:
                shape._holds_lists = True
                shape.holds_maps = shape.holds_maps or dict in set(map(type, member))
                shape.holds_rows = shape.holds_maps or shape.holds_rows or is_matrix(member)
            elif type(member) is not dict or not member:
                shape._holds_values = True
            if type(member) is not dict:
                self._only_maps = False
            elif depth < _MAX_DEPTH:
                shape.add(member, depth + 1)

    def is_mixed(self, rows: int) -> bool:
        """Return whether a row of so many has a cell here (null, a scalar, an empty map), or no map where others do."""
        is_optional = self._maps > 0 and (self._seen < rows or self._holds_lists)
        return self._holds_values or is_optional or (self._holds_lists and not self.holds_rows)

    @property
    def is_keyed(self) -> bool:
        """Whether the names are keys rather than fields: many maps of like shape, or many names that few rows have."""
        if len(self.names) > 1 and all(map(NUMBERED.match, self.names)):
            return True
        if len(self.names) <= _MAX_NAMED:
            return False
        if self._only_maps and _are_like([set(shape.names) for shape in self.names.values()]):
            return True
        return len(self.names) > _MIN_SPARSE and 4 * self._cells < self._maps * len(self.names)


def _keyed_members(value: dict[str, Any]) -> dict[str, Any]:
    """Return the members of a map outside all rows that are rows, and whose names are keys: some, or all.

    Keys are numbers or dates, or the names of members that are alike or many.
    """
    numbered = {name: member for name, member in value.items() if NUMBERED.match(name)}
    shapes = {"rows" if type(each) is list and dict in map(type, each) else type(each) for each in numbered.values()}
    if len(numbered) > 1 and (shapes in ({dict}, {"rows"}) or shapes.isdisjoint((dict, list, "rows"))):
        return numbered
    kinds = set(map(type, value.values()))
    is_keyed = len(value) > _MAX_FIELDS and kinds.isdisjoint((dict, list))
    if kinds == {dict}:
        is_keyed = len(value) > 1 and _are_like(list(map(set, value.values())))
    elif kinds == {list}:
        rows = [item for member in value.values() for item in member]
        are_rows = len(value) > 1 and set(map(type, rows)) == {dict} and _are_like(list(map(set, rows)))
        is_keyed = len(value) > _MAX_NAMED or (are_rows and all(map(_CODE.match, value)))
    return value if is_keyed else {}


def _are_like(names: list[set[str]]) -> bool:
    """Return whether at least half of all names are ones that more than half of the sets have."""
    counts = Counter(name for each in names for name in each)
    common = sum(count for count in counts.values() if 2 * count > len(names))
    return common > 0 and 2 * common >= counts.total()


@dataclass(slots=True)
class _Items:
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


@dataclass(eq=False, slots=True)
class _FlatRows:
    """The rows of a table before its keys are chosen; made in one walk through its items."""

    max_children: int = 0
    """How many arrays of maps may be tables of their own; further ones are cells."""
    with_objects: bool = False
    """Whether each map and array of maps in the rows is a cell of a column, too."""
    sources: Mapping[int, Any] = field(default_factory=dict)
    """The maps of the source by the identities of those that `arrange` made of them: a cell is what the source has."""
    columns: list[str] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    names: DistinctNames = field(default_factory=DistinctNames)
    nested: defaultdict[tuple[str, ...], _Items] = field(default_factory=lambda: defaultdict(_Items))
    """The members of each array of maps in the rows, by the path from the row to the array."""
    repeated: set[str] = field(default_factory=set)
    """The columns with maps and arrays in cells whose content has columns or tables of its own, too."""
    key: str = ""
    """The column that holds the keys of a map; empty: the table is an array."""
    _claimed: dict[tuple[str, ...], str] = field(default_factory=dict)
    """The columns of the cells at paths from the row."""
    _count: int = 0

    def claim(self, name: str, *, is_invented: bool = False) -> str:
        """Return a new last column; `is_invented`: no key of the source is called so."""
        column = self.names.claim(name, is_invented=is_invented)
        self.columns.append(column)
        return column

    def add_lists(self, values: list[list[Any]]) -> None:
        """Add a row for each array, whose cells are the columns `c0`, `c1` …"""
        columns = [self.claim(f"c{number}") for number in range(max(map(len, values)))]
        # The columns are as many as the longest array has members: arrays of unlike length have fewer cells.
        self.rows = [dict(zip(columns, value, strict=False)) for value in values]

    def add_items(self, values: list[Any]) -> None:
        """Add a row for each map; any other item is the cell of a column `value`."""
        shape = _Shape()
        WATCH.get()()
        for value in values:
            if type(value) is dict:
                shape.add(value)
        WATCH.get()()
        self._count = len(values)
        self.names = DistinctNames(_names_of(shape))
        value_column = ""
        for value in values:
            row: dict[str, Any] = {}
            self.rows.append(row)
            if type(value) is dict:
                self._add_map(value, shape, (), row)
            else:
                value_column = value_column or self.claim("value", is_invented=True)
                row[value_column] = value

    def _add_map(self, value: dict[str, Any], shape: _Shape, above: tuple[str, ...], row: dict[str, Any]) -> None:
        number = len(self.rows) - 1
        for name, member in value.items():
            inner, path = shape.names[name], (*above, name)
            is_map = type(member) is dict and bool(member)
            if is_map and inner.is_keyed and not inner.holds_maps and self._may_nest(path):
                self.nested[path].add(list(member.values()), number, list(member))
            elif (inner.holds_maps if is_map else type(member) is list and inner.holds_rows) and self._may_nest(path):
                self.nested[path].add([member] if is_map else member, number)
            elif is_map and inner.names:
                self._add_map(member, inner, path, row)
            else:
                row[self._column(path)] = member
                continue
            if self.with_objects or inner.is_mixed(self._count):
                # Without it nothing tells the rows that have a map from those that have none.
                column = self._column(path)
                self.repeated.add(column)
                row[column] = self.sources.get(id(member), (member, member))[1]

    def _column(self, path: tuple[str, ...]) -> str:
        column = self._claimed.get(path)
        if column is None:
            column = self._claimed[path] = self.claim(".".join(path))
        return column

    def _may_nest(self, path: tuple[str, ...]) -> bool:
        return path in self.nested or len(self.nested) < self.max_children

    def add_first(self, wanted: str, cells: Iterable[Any]) -> str:
        """Put a column in front; return its name."""
        column = self.names.claim(wanted)
        self.columns.insert(0, column)
        for row, cell in zip(self.rows, cells, strict=True):
            row[column] = cell
        return column


def _names_of(shape: _Shape, above: str = "") -> Iterator[str]:
    """Yield the names that keys of the rows have as columns."""
    for name, inner in shape.names.items():
        yield above + name
        yield from _names_of(inner, f"{above}{name}.")


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


def tables_of(value: object, names: DistinctNames | None = None, *, with_objects: bool = False) -> tuple[Table, ...]:
    """Return the tables of a JSON value; parents stand before their children.

    The rules are those of the package's docstring. The number of tables is bounded; names, rows and cells are no more
    than those of the value.

    Args:
        value: A JSON value.
        names: The names of other tables, which take those of these; None: there are no others.
        with_objects: Whether each map and array of maps in a row is a cell of a column, too.
    """
    tables = _Tables(names or DistinctNames(), with_objects=with_objects)
    value = arrange(value, tables.sources)
    if isinstance(value, dict):
        tables.add_map(value, (), 1)
    else:
        tables.add_array(value if isinstance(value, list) else [value], ())
    return tables.finished()


class _Tables:
    """One walk through a value."""

    def __init__(self, names: DistinctNames, *, with_objects: bool) -> None:
        self._with_objects = with_objects
        self.sources: Final[dict[int, Any]] = {}
        """What `arrange` made anew, by its identity, and what it was."""
        self._tables: list[Table] = []
        self._names = names
        self._root: dict[tuple[str, ...], Any] = {}

    def finished(self) -> tuple[Table, ...]:
        """Return the tables, the one of the values outside arrays first."""
        if not self._root:
            return tuple(self._tables)
        names = DistinctNames(map(".".join, self._root))
        row = {names.claim(".".join(path)): cell for path, cell in self._root.items()}
        return (Table(name=self._names.claim(_ROOT_MAP), path=(), columns=tuple(row), rows=(row,)), *self._tables)

    def add_map(self, value: dict[str, Any], path: tuple[str, ...], depth: int) -> None:
        """Add the tables of a map that no row holds."""
        if keyed := _keyed_members(value):
            self._add(_keyed_items(keyed), path)
            value = {name: member for name, member in value.items() if name not in keyed}
        if (beside := columns_side_by_side(value)) is not None:
            self.add_array(beside, path)
            value = {name: member for name, member in value.items() if type(member) is not list}
        for name, member in value.items():
            inner = (*path, name)
            if type(member) is list and len(self._tables) < MAX_TABLES:
                self.add_array(member, inner)
            elif type(member) is dict and member and depth < _MAX_DEPTH:
                self.add_map(member, inner, depth + 1)
            else:
                self._root[inner] = member
                if type(member) is str and ("\n" in member or is_json(member)):
                    self._add_text(member, inner, depth)

    def _add_text(self, text: str, path: tuple[str, ...], depth: int) -> None:
        """Add the tables of the grids in a text, and of one that is an array or a map."""
        document = read(text)
        if document.whole and type(document.whole.value) is dict and depth < _MAX_DEPTH:
            self.add_map(document.whole.value, path, depth + 1)
        for part in (document.whole,) if document.whole else document.values():
            is_grid = part.form in GRIDS or document.whole is not None
            if is_grid and type(part.value) is list and len(self._tables) < MAX_TABLES:
                self.add_array(part.value, path)

    def add_array(self, value: list[Any], path: tuple[str, ...]) -> None:
        """Add the table of an array that no row holds, and its children."""
        self._add(_Items(value), path)

    def _add(
        self, items: _Items, path: tuple[str, ...], parent: tuple[Table, str] | None = None, depth: int = 1
    ) -> None:
        has_room = depth < _MAX_DEPTH and len(self._tables) < MAX_TABLES
        flat = _FlatRows(_MAX_CHILDREN if has_room else 0, self._with_objects, self.sources)
        if items.values and all(type(value) is list for value in items.values):
            flat.add_lists(items.values)
        else:
            flat.add_items(items.values)
        if any(key is not None for key in items.keys):
            flat.key = flat.add_first("key", items.keys)
        key = _choose_key(flat) if flat.nested else ""
        link = _link(flat, items, parent) if parent else None
        name = self._names.claim(".".join(path) or _ROOT_ARRAY)
        columns, repeated = tuple(flat.columns), frozenset(flat.repeated)
        table = Table(name=name, path=path, columns=columns, rows=flat.rows, parent=link, repeated=repeated)
        self._tables.append(table)
        for inner, members in flat.nested.items():
            self._add(members, (*path, *inner), (table, key), depth + 1)


def _keyed_items(value: dict[str, Any]) -> _Items:
    items = _Items()
    for key, member in value.items():
        members = member if type(member) is list else [member]
        items.values += members
        items.keys += [key] * len(members)
    return items


def _choose_key(flat: _FlatRows) -> str:
    """Return the column that identifies the rows: a key of the source, else `_row`, which is added in front."""
    ranked = [flat.key, *(name for name in _FIRST_KEYS if name in flat.columns), *filter(_KEY.search, flat.columns)]
    for column in filter(None, ranked):
        cells = [row.get(column) for row in flat.rows]
        if set(map(type, cells)) <= {str, int} and len(set(map(str, cells))) == len(cells):
            return column
    return flat.add_first("_row", range(len(flat.rows)))


def _link(flat: _FlatRows, items: _Items, parent: tuple[Table, str]) -> ParentLink:
    """Add the key of the parent in front of the columns."""
    table, key = parent
    owner = table.path[-1] if table.path else table.name
    last = key.rpartition(".")[2].removeprefix("_")
    keys = (table.rows[number][key] for number in items.parents)
    column = flat.add_first(f"{owner}_{last}" if last in _SHORT_KEYS else last, keys)
    return ParentLink(table=table.name, key=key, column=column)
