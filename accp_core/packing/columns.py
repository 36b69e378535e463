"""Maps of similar shape as a table: keys once, values by column, nested maps and lists of maps as nested tables.

`pack_table` and `unpack_table` are inverse, and so are `pack_column` and `unpack_column`. An absent key is not the same
as null. The order of keys is kept, so maps whose keys come in contradictory orders are not packed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from accp_core.packing.equality import common_value
from accp_core.packing.tree import (
    ABSENT,
    NEXT_ROW,
    Column,
    Constant,
    Placeholder,
    PooledLists,
    RepeatedValue,
    Repetition,
    Table,
    content_of,
    with_content,
)

__all__ = [
    "cell_count", "has_cells", "last_column_with_cells", "pack_column", "pack_list", "pack_table", "unpack_column",
    "unpack_table",
]  # fmt: skip

_STRUCTURED: Final = frozenset((dict, list, RepeatedValue, Repetition))
_MAPS: Final = frozenset((dict, Repetition))
_LISTS: Final = frozenset((list, Repetition))
_OTHER_TYPES: Final = frozenset((Repetition, Placeholder, type(None)))
"""Types that a column of maps or lists may have besides."""


def pack_list(items: list[object]) -> Table | PooledLists | None:
    """Return the members of an array as a table or as pooled lists, or None if they do not fit either."""
    if len(items) < 2 or type(items[0]) not in _STRUCTURED:
        return None
    kinds = _kinds(items)
    if dict in kinds and kinds <= _MAPS:
        table = pack_table(items)
        # In a row of one cell nobody could tell a repeated row from a repeated cell.
        return None if table and table.slots is not None and cell_count(table) == 1 else table
    if list in kinds and kinds <= _LISTS:
        return _pack_lists(items)
    return None


def _kinds(values: list[object]) -> set[type]:
    """Return the types of values, of a RepeatedValue that of its content."""
    kinds = set(map(type, values))
    return {type(content_of(value)) for value in values} if RepeatedValue in kinds else kinds


def pack_table(items: list[object]) -> Table | None:
    """Return `items` as a table of the maps among them; None if there are fewer than two or they differ too much."""
    if len(items) < 2:
        return None
    slots, maps = _slots(items)
    if len(maps) < 2:
        return None
    shapes = dict.fromkeys(map(tuple, maps))
    if len(shapes) == 1:
        names = next(iter(shapes))
        cells = list(map(list, zip(*[members.values() for members in maps], strict=True)))
    else:
        present = sum(map(len, maps))
        # With more names than this there are more absent cells than present ones.
        merged = _merge_names(shapes, 2 * present // len(maps))
        if merged is None or not _is_dense(len(merged), len(maps), present):
            return None
        names = merged
        cells = [[members.get(name, ABSENT) for members in maps] for name in names]
    if not names:
        return None
    columns = {name: pack_column(column) for name, column in zip(names, cells, strict=True)}
    return Table(columns, slots, len(maps))


def pack_column(values: list[object]) -> Column:
    """Return the values of one key, one per row, in the shortest form that fits them all."""
    kinds = set(map(type, values))
    if len(kinds) == 1 and common_value(values) is not ABSENT:
        return Constant(values[0])
    if kinds.isdisjoint((dict, list, RepeatedValue)):
        return values
    kinds = _kinds(values) - _OTHER_TYPES
    if kinds == {dict}:
        return pack_table(values) or values
    if kinds == {list}:
        return _pack_lists(values) or values
    return values


def _pack_lists(values: list[object]) -> PooledLists | None:
    pool = [member for value in map(content_of, values) if type(value) is list for member in value]
    members = pack_list(pool)
    if members is None:
        return None
    return PooledLists(
        [with_content(value, len(items)) if type(items := content_of(value)) is list else value for value in values],
        members,
    )


def _slots(items: list[object]) -> tuple[list[object] | None, list[dict[str, object]]]:
    """Return the slots of a table, and the maps that are its rows."""
    if set(map(type, items)) == {dict}:
        return None, items  # type: ignore[return-value]  # all are maps
    slots = [with_content(item, NEXT_ROW) if type(content_of(item)) is dict else item for item in items]
    return slots, [content for item in items if type(content := content_of(item)) is dict]


def _merge_names(shapes: Iterable[tuple[str, ...]], max_names: int) -> tuple[str, ...] | None:
    """Return all keys in an order that every shape follows; None if two contradict or there are over `max_names`."""
    names: list[str] = []
    rank: dict[str, int] = {}
    for shape in shapes:
        at = 0
        added: list[tuple[int, str]] = []
        for name in shape:
            if name in rank:
                at = max(at, rank[name] + 1)
            else:
                added.append((at + len(added), name))
        for position, name in added:
            names.insert(position, name)
        if len(names) > max_names:
            return None
        if added:
            rank = {name: position for position, name in enumerate(names)}
    return tuple(names) if all(_is_sorted([rank[name] for name in shape]) for shape in shapes) else None


def _is_sorted(ranks: list[int]) -> bool:
    return ranks == sorted(ranks)


def _is_dense(names: int, rows: int, present: int) -> bool:
    """Return whether the header and the absent cells are shorter than the keys that the table saves."""
    absent = names * rows - present
    return absent <= present and 2 * names + absent < 2 * present


def cell_count(table: Table) -> int:
    """Return the number of cells in a row of the table."""
    return sum(
        cell_count(column) if type(column) is Table and column.slots is None else type(column) is not Constant
        for column in table.columns.values()
    )


def has_cells(column: Column) -> bool:
    """Return whether the column has a cell in each row."""
    if type(column) is Table and column.slots is None:
        return any(map(has_cells, column.columns.values()))
    return type(column) is not Constant


def last_column_with_cells(table: Table) -> str | None:
    """Return the key of the last column that has a cell in each row, or None if none has."""
    for name in reversed(table.columns):
        if has_cells(table.columns[name]):
            return name
    return None


def unpack_table(table: Table) -> list[object]:
    """Return the items that the table was packed from."""
    columns = [
        column if type(column) is list else unpack_column(column, table.rows) for column in table.columns.values()
    ]
    names = tuple(table.columns)
    cells = zip(*columns, strict=True)
    if any(ABSENT in column for column in columns):
        rows = [{name: cell for name, cell in zip(names, row, strict=True) if cell is not ABSENT} for row in cells]
    else:
        rows = [dict(zip(names, row, strict=True)) for row in cells]
    return list(rows if table.slots is None else _fill(table.slots, iter(rows)))


def unpack_column(column: Column, rows: int) -> list[object]:
    """Return the values of one key in each of `rows` rows."""
    if type(column) is Constant:
        return [column.value] * rows
    if type(column) is Table:
        return unpack_table(column)
    if type(column) is PooledLists:
        return _unpack_lists(column)
    assert type(column) is list
    return column


def _unpack_lists(lists: PooledLists) -> list[object]:
    members = iter(unpack_column(lists.members, 0))
    return [
        with_content(slot, list(islice(members, length))) if type(length := content_of(slot)) is int else slot
        for slot in lists.slots
    ]


def _fill(slots: list[object], rows: Iterator[dict[str, object]]) -> Iterator[object]:
    for slot in slots:
        yield with_content(slot, next(rows)) if content_of(slot) is NEXT_ROW else slot
