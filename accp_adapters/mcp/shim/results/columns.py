"""Tables in frames: an array of objects with the same keys as a header row and rows; the order of keys in a frame.

Section 3.1.1 sorts the keys of a map, and a frame repeats every key in every map. The paths of the tables and the
original orders of keys travel in the result's `_meta`, so `pack_tables` and `unpack_tables` are inverse. A value in
which the same keys stand in two orders cannot be packed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from accp_core.packing.expansion import DEFAULT_EXPANSION, Expansion
from accp_core.packing.number import SpelledFloat

__all__ = ["PackedTables", "pack_tables", "unpack_tables"]

Path: TypeAlias = list[str | int]
PackedTables: TypeAlias = tuple[object, list[Path], list[list[str]]]
"""The value with tables in it; the paths of the tables, outer ones first; the keys of each shape in their order."""

_MIN_ROWS: Final = 2


def pack_tables(value: object, *, columns: bool = True) -> PackedTables:
    """Return `value` with tables in place of its arrays of objects, and what `unpack_tables` needs to restore it.

    Args:
        value: A JSON value.
        columns: Whether to write tables at all.

    Raises:
        ValueError: The same keys stand in two orders, or a number has an unusual spelling.
        RecursionError: The value nests too deep.
    """
    tables: list[Path] = []
    packed = _with_tables(value, [], tables) if columns else value
    return packed, tables, _key_orders(packed)


def unpack_tables(
    value: object, tables: list[Path], orders: list[list[str]], expansion: Expansion | None = None
) -> Any:
    """Return the value that `pack_tables` was given.

    Args:
        value: The value with tables in it.
        tables: The paths of the tables.
        orders: The keys of each shape in their order.
        expansion: What the keys of the rows may add; None: the default size.

    Raises:
        ExpansionError: The rows would add more than `expansion` has left.
        ValueError, TypeError, LookupError: The tables and orders do not fit the value.
    """
    expansion = expansion or Expansion(DEFAULT_EXPANSION.size)
    by_shape = {frozenset(order): order for order in orders}
    holder = [_reorder(value, by_shape)]
    for path in tables:
        parent: Any = holder
        *steps, last = [0, *path]
        for step in steps:
            parent = parent[step]
        header, *rows = parent[last]
        expansion.add(len(rows) * sum(len(name) + 1 for name in header), "a table")
        parent[last] = [dict(zip(header, row, strict=True)) for row in rows]
    return holder[0]


def _with_tables(value: object, path: Path, tables: list[Path]) -> object:
    if type(value) is SpelledFloat:
        raise ValueError(f"expected a number that a float holds, found {value!r}")
    if isinstance(value, dict):
        return {key: _with_tables(member, [*path, key], tables) for key, member in value.items()}
    if not isinstance(value, list):
        return value
    header = _header(value)
    if header is None:
        return [_with_tables(member, [*path, index], tables) for index, member in enumerate(value)]
    tables.append(path)
    # A table inside a row has its path in the unpacked outer table, which is unpacked first.
    rows = [
        [_with_tables(cell, [*path, index, key], tables) for key, cell in row.items()]
        for index, row in enumerate(value)
    ]
    return [header, *rows]


def _header(items: list[Any]) -> list[str] | None:
    """Return the keys that all `items` have in one order, None if they are not the rows of a table."""
    if len(items) < _MIN_ROWS or not all(isinstance(item, dict) for item in items):
        return None
    header = list(items[0])
    return header if header and all(list(item) == header for item in items) else None


def _key_orders(value: object) -> list[list[str]]:
    """Return the keys of each shape whose order is not that of their UTF-8 bytes."""
    by_shape: dict[frozenset[str], list[str]] = {}
    for members in _objects(value):
        keys = list(members)
        if by_shape.setdefault(frozenset(keys), keys) != keys:
            raise ValueError(f"expected the same keys in one order, found {keys!r} in two")
    return [
        keys for keys in by_shape.values() if keys != sorted(keys, key=lambda key: key.encode("utf-8", "surrogatepass"))
    ]


def _objects(value: object) -> Iterator[dict[str, Any]]:
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if type(part) is SpelledFloat:
            raise ValueError(f"expected a number that a float holds, found {part!r}")
        if isinstance(part, dict):
            yield part
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part


def _reorder(value: object, orders: dict[frozenset[str], list[str]]) -> object:
    if isinstance(value, dict):
        names = orders.get(frozenset(value), value)
        return {name: _reorder(value[name], orders) for name in names}
    if isinstance(value, list):
        return [_reorder(member, orders) for member in value]
    return value
