"""Rows that JSON writes as arrays side by side, and arrays that are rows of cells.

{"time": [0, 1, 2, 3], "load": [0.5, 0.7, 0.6, 0.9]}            all arrays of a map, of one length, of scalars
{"values": [[0, "1"], [1, "2"]]}                                arrays of pairs in a row
"""

from __future__ import annotations

from itertools import chain
from typing import Any, Final

__all__ = ["columns_side_by_side", "is_matrix"]

_MIN_CELLS: Final = 4
"""Cells of each array that stands beside others: two lists of three things may have one length by chance."""
_CONTAINERS: Final = frozenset((dict, list))


def is_matrix(value: list[Any]) -> bool:
    """Return whether `value` is several arrays of one length, of several scalars each."""
    return (
        len(value) > 1
        and set(map(type, value)) == {list}
        and len(value[0]) > 1
        and set(map(len, value)) == {len(value[0])}
        and _CONTAINERS.isdisjoint(map(type, chain.from_iterable(value)))
    )


def columns_side_by_side(value: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Return the rows of a map whose arrays, of which there are several, have the cells of one row at each place."""
    columns = {name: member for name, member in value.items() if type(member) is list}
    lengths = set(map(len, columns.values()))
    if len(columns) < 2 or len(lengths) > 1 or lengths.pop() < _MIN_CELLS:
        return None
    if not _CONTAINERS.isdisjoint(map(type, chain.from_iterable(columns.values()))):
        return None
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
