"""Rows that JSON does not write as an array of maps: columns with rows of cells, and arrays side by side.

{"columns": ["id", "name"], "rows": [[1, "Ann"], [2, "Bo"]]}    whatever the keys are; or columns {"name": "id"}
{"time": [0, 1, 2, 3], "load": [0.5, 0.7, 0.6, 0.9]}            all arrays of a map, of one length, of scalars
{"values": [[0, "1"], [1, "2"]]}                                arrays of pairs in a row
"""

from __future__ import annotations

from itertools import chain
from typing import Any, Final

__all__ = ["columns_side_by_side", "is_matrix", "named_rows"]

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


def named_rows(value: dict[str, Any]) -> tuple[str, str, list[dict[str, Any]]] | None:
    """Return the keys of the rows and of the names of their columns in a map, and the rows; None: it has none."""
    for rows_key, rows in value.items():
        if type(rows) is not list or set(map(type, rows)) != {list} or len(set(map(len, rows))) > 1:
            continue
        for columns_key, columns in value.items():
            names = _names(columns) if type(columns) is list and len(columns) == len(rows[0]) else []
            if names and columns_key != rows_key:
                return rows_key, columns_key, [dict(zip(names, row, strict=True)) for row in rows]
    return None


def _names(columns: list[Any]) -> list[str]:
    """Return the distinct names of columns, strings or maps with a `name`; none where they are something else."""
    names: list[Any] = [column.get("name") if type(column) is dict else column for column in columns]
    return names if set(map(type, names)) == {str} and len(set(names)) == len(names) else []


def columns_side_by_side(value: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Return the rows of a map whose arrays, of which there are several, have the cells of one row at each place."""
    columns = {name: member for name, member in value.items() if type(member) is list}
    lengths = set(map(len, columns.values()))
    if len(columns) < 2 or len(lengths) > 1 or lengths.pop() < _MIN_CELLS:
        return None
    if not _CONTAINERS.isdisjoint(map(type, chain.from_iterable(columns.values()))):
        return None
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
