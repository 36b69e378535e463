"""An array of maps of several kinds, such as events of different types, as one table for each kind.

`pack_kinds` and `unpack_kinds` are inverse.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from accp_core.packing.columns import maps_in_order, pack_rows, table_cost, unpack_table
from accp_core.packing.tree import Kinds, RepeatedValue, Repetition, Table

__all__ = ["MAX_KINDS", "pack_kinds", "unpack_kinds"]

MAX_KINDS: Final = 26
"""Kinds, one for each letter."""
_MAX_SHAPES: Final = 200
"""Sets of keys in an array; with more of them, no few kinds describe it."""
_COMMON: Final = (3, 4)
"""Share of the keys of two shapes that both have, from which they are one kind."""
_MAPS: Final = frozenset((dict, RepeatedValue, Repetition))

_Shape: TypeAlias = frozenset[tuple[str, ...]]
"""The paths of the keys of a map and of the maps in it."""


def pack_kinds(items: list[object], table: Table | None) -> Kinds | None:
    """Return maps as several tables, or None if one table (`table`) or a map in each line is shorter."""
    if not set(map(type, items)) <= _MAPS:
        return None
    if table is not None and table_cost(table) <= len(items):
        # The letters of the rows alone would cost as much.
        return None
    maps = {at: item for at, item in enumerate(items) if type(item) is dict}
    # Without a table there may be one of the maps whose keys are in the same order.
    groups = [] if table else [[0] * len(maps)]
    if (kinds := _kinds_of(list(maps.values()))) and max(kinds):
        groups.append(kinds)
    packed = [_pack(items, maps, group) for group in groups if group]
    known = table_cost(table) if table else sum(2 * len(item) for item in maps.values())
    shortest = min((kinds for kinds in packed if kinds.tables), key=_cost, default=None)
    return shortest if shortest and _cost(shortest) < known else None


def _pack(items: list[object], maps: dict[int, dict[str, object]], group: list[int]) -> Kinds:
    """Return `items` with a table for each number in `group`, the kind of each map."""
    members: dict[int, list[int]] = {}
    for at, kind in zip(maps, group, strict=True):
        members.setdefault(kind, []).append(at)
    result = Kinds([], list(items))
    for places in members.values():
        _add_kind(result, places, maps)
    return result


def _add_kind(kinds: Kinds, places: list[int], maps: dict[int, dict[str, object]]) -> None:
    """Add the table of the maps at `places`, without those whose keys are in another order."""
    _, in_order = maps_in_order([maps[at] for at in places])
    rows = [at for at, follows in zip(places, in_order, strict=True) if follows]
    table = pack_rows([maps[at] for at in rows])
    if table is not None and table.slots is None:
        for at in rows:
            kinds.order[at] = len(kinds.tables)
        kinds.tables.append(table)


def unpack_kinds(kinds: Kinds) -> list[object]:
    """Return the items that `kinds` was packed from."""
    rows = [iter(unpack_table(table)) for table in kinds.tables]
    return [next(rows[kind]) if type(kind) is int else kind for kind in kinds.order]


def _paths(members: dict[str, object], above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for name, member in members.items():
        yield (*above, name)
        if type(member) is dict:
            yield from _paths(member, (*above, name))


def _kinds_of(maps: list[dict[str, object]]) -> list[int] | None:
    """Return the kind of each map, the number of the first map that is like it; None if there are too many."""
    shapes = [frozenset(_paths(members, ())) for members in maps]
    distinct = dict.fromkeys(shapes, 0)
    if len(distinct) > _MAX_SHAPES:
        return None
    models: list[_Shape] = []
    for shape in distinct:
        kind = next((at for at, model in enumerate(models) if _is_like(shape, model)), len(models))
        if kind == MAX_KINDS:
            return None
        if kind == len(models):
            models.append(shape)
        distinct[shape] = kind
    return [distinct[shape] for shape in shapes]


def _is_like(one: _Shape, other: _Shape) -> bool:
    part, whole = _COMMON
    sizes = part * (len(one) + len(other))
    # Of the keys of both together, those that both have count twice.
    least = part + whole
    return least * min(len(one), len(other)) >= sizes and least * len(one & other) >= sizes


def _cost(kinds: Kinds) -> int:
    """Return the approximate tokens besides the values, for a letter in each row."""
    others = sum(2 * len(item) for item in kinds.order if type(item) is dict)
    return len(kinds.order) + others + sum(2 + table_cost(table) for table in kinds.tables)
