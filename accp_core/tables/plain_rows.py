"""Rows that need no table of their own memory: flat maps as they are, scalars, arrays and lines made on request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, Final, overload

from accp_core.tables.json_grids import is_matrix
from accp_core.tables.names import DistinctNames
from accp_core.tables.table import Row

__all__ = ["MadeRows", "plain_rows"]

_CONTAINERS: Final = frozenset((dict, list))


def plain_rows(values: list[Any]) -> tuple[tuple[str, ...], Sequence[Row]] | None:
    """Return the columns and rows that `flatten` gives for an array, without a copy; None where it needs one.

    No copy is needed for arrays of scalars, of arrays, and of maps whose members are cells under their own names.
    """
    kinds = set(map(type, values))
    if kinds == {dict}:
        return _flat_maps(values)
    if not values or dict in kinds:
        return None
    if kinds == {list}:
        columns = tuple(f"c{number}" for number in range(max(map(len, values))))
        return columns, MadeRows(values, lambda value: dict(zip(columns, value, strict=False)))
    return ("value",), MadeRows(values, lambda value: {"value": value})


def _flat_maps(values: list[dict[str, Any]]) -> tuple[tuple[str, ...], Sequence[Row]] | None:
    if not all(map(_is_flat, values)):
        return None
    columns = tuple(dict.fromkeys(chain.from_iterable(values)))
    claim = DistinctNames().claim
    return (columns, values) if all(claim(name) == name for name in columns) else None


def _is_flat(value: dict[str, Any]) -> bool:
    """Return whether the members of a map are all cells: scalars, and arrays without maps."""
    if _CONTAINERS.isdisjoint(map(type, value.values())):
        return True
    return not any(
        (type(member) is dict and member)
        or (type(member) is list and (dict in set(map(type, member)) or is_matrix(member)))
        for member in value.values()
    )


class MadeRows(Sequence[Row]):
    """Rows that are made when they are asked for."""

    def __init__(self, values: Sequence[Any], to_row: Callable[[Any], Row]) -> None:
        self._values = values
        self._to_row = to_row

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Row]:
        return map(self._to_row, self._values)

    @overload
    def __getitem__(self, number: int) -> Row: ...

    @overload
    def __getitem__(self, number: slice) -> list[Row]: ...

    def __getitem__(self, number: int | slice) -> Row | list[Row]:
        if isinstance(number, slice):
            return list(map(self._to_row, self._values[number]))
        return self._to_row(self._values[number])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # as that of a list
