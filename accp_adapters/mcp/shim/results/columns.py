"""Tables in frames: an array of maps of one shape as a header row and rows, and the order of keys that frames lose.

Section 3.1.1 sorts the keys of a map, and a frame says each key again in each map. Both are undone by a note that
travels in the result's `_meta`: at which paths tables stand, and in which order each shape of map had its keys.
`pack` and `unpack` are inverse, the order of keys included; maps of the same keys in two orders cannot be noted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from accp_core.packing.number import SpelledFloat

__all__ = ["Packed", "pack", "unpack"]

Path: TypeAlias = list[str | int]
Packed: TypeAlias = tuple[object, list[Path], list[list[str]]]
"""The value with tables in it, where they stand (outer ones first), and the keys of each shape in their order."""

_FEWEST_ROWS: Final = 2
_MOST_CELLS: Final = 2_000_000
"""Of one unpacked value: a few rows may not ask for more maps than a peer has memory for."""


def pack(value: object, *, columns: bool = True) -> Packed:
    """Return `value` with its arrays of maps as tables, and what `unpack` needs to know.

    Raises: ValueError: maps of the same keys have them in two orders; a number is spelled unusually; RecursionError.
    """
    tables: list[Path] = []
    packed = _tables(value, [], tables) if columns else value
    return packed, tables, _orders(packed)


def unpack(value: object, tables: list[Path], orders: list[list[str]]) -> Any:
    """Return the value that `pack` was given.

    Raises: ValueError, TypeError, LookupError where the note does not fit the value.
    """
    by_shape = {frozenset(order): order for order in orders}
    ordered = _reorder(value, by_shape)
    holder = [ordered]
    left = _MOST_CELLS
    for path in tables:
        parent: Any = holder
        for step in [0, *path][:-1]:
            parent = parent[step]
        last = ([0, *path])[-1]
        header, *rows = parent[last]
        left -= len(header) * len(rows)
        if left < 0:
            raise ValueError(f"expected at most {_MOST_CELLS} cells")
        parent[last] = [dict(zip(header, row, strict=True)) for row in rows]
    return holder[0]


def _tables(value: object, path: Path, tables: list[Path]) -> object:
    if type(value) is SpelledFloat:
        raise ValueError(f"expected a number that a float holds, got {value!r}")
    if isinstance(value, dict):
        return {key: _tables(member, [*path, key], tables) for key, member in value.items()}
    if not isinstance(value, list):
        return value
    header = _header(value)
    if header is None:
        return [_tables(member, [*path, index], tables) for index, member in enumerate(value)]
    tables.append(path)
    # Where a table stands within a row, its path is that of the maps which the outer table becomes.
    rows = [
        [_tables(cell, [*path, index, key], tables) for key, cell in row.items()] for index, row in enumerate(value)
    ]
    return [header, *rows]


def _header(items: list[Any]) -> list[str] | None:
    if len(items) < _FEWEST_ROWS or not all(isinstance(item, dict) for item in items):
        return None
    header = list(items[0])
    return header if header and all(list(item) == header for item in items) else None


def _orders(value: object) -> list[list[str]]:
    """Return the order of keys of each shape that is not sorted by their UTF-8 bytes."""
    found: dict[frozenset[str], list[str]] = {}
    for members in _maps(value):
        keys = list(members)
        if found.setdefault(frozenset(keys), keys) != keys:
            raise ValueError(f"expected the same keys in the same order, got {keys!r} in two")
    return [
        keys for keys in found.values() if keys != sorted(keys, key=lambda key: key.encode("utf-8", "surrogatepass"))
    ]


def _maps(value: object) -> Iterator[dict[str, Any]]:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if type(each) is SpelledFloat:
            raise ValueError(f"expected a number that a float holds, got {each!r}")
        if isinstance(each, dict):
            yield each
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each


def _reorder(value: object, orders: dict[frozenset[str], list[str]]) -> object:
    if isinstance(value, dict):
        names = orders.get(frozenset(value), value)
        return {name: _reorder(value[name], orders) for name in names}
    if isinstance(value, list):
        return [_reorder(member, orders) for member in value]
    return value
