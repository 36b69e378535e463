"""Which part of a stored text a fetch asks for: a path, columns, rows by value, or lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from accp_adapters.fetching.sources import Value, lines_of
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["Query", "Table", "narrow", "table_of"]

_ABSENT: Final = object()
# How many names a refusal lists.
_NAMED: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What a fetch asks for."""

    select: str = ""
    """`col,col`, `col=value`, a path `a.b`, words that lines of a text contain; empty: everything."""
    offset: int = 0
    """How many rows (or lines) to pass over."""
    limit: int | None = None
    """How many rows (or lines) at most; None: as many as fit."""

    @classmethod
    def of(cls, select: object, offset: object, limit: object) -> Query:
        """Return the query that a model's arguments mean; it may leave any out, and write numbers as text.

        Raises:
            ProtocolError: E1004, `offset` or `limit` is no number or negative.
        """
        start = _whole_number("offset", offset)
        return cls(select=str(select or "").strip(), offset=start, limit=_whole_number("limit", limit) or None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The rows of a value, which a fetch can pass over, count and filter."""

    rows: Sequence[tuple[int, Value]]
    """Each row with its index where it stands."""
    place: str
    """The path to the rows, such as "data.items"; empty: the whole value is the rows."""
    key: str = ""
    """The key of the rows in the object that holds them; empty: no object does."""
    beside: Mapping[str, Value] | None = None
    """That object, for what it holds beside the rows; None: it holds nothing, or nobody asked for it."""

    def part(self, start: int, count: int) -> Value:
        """Return the value with only `count` of its rows, from row `start` on."""
        rows = [row for _, row in self.rows[start : start + count]]
        return rows if self.beside is None else {**self.beside, self.key: rows}


def table_of(value: Value, place: str = "") -> Table | None:
    """Return the rows of `value`: its items, or those of the only list in it; None when it has none.

    `place` is the path at which `value` stands.
    """
    if isinstance(value, list):
        return Table(rows=list(enumerate(value)), place=place)
    names = [name for name in value if isinstance(value[name], list)] if isinstance(value, dict) else []
    if len(names) != 1:
        return None
    key = names[0]
    rows = list(enumerate(value[key]))
    return Table(rows=rows, place=f"{place}.{key}" if place else key, key=key, beside=value)


def narrow(value: Value, select: str) -> Value | Table:
    """Return what `select` means in `value`.

    Raises:
        ProtocolError: E1004, `select` names nothing in `value`.
    """
    if not select:
        return value
    if isinstance(value, str):
        return _lines_with(value, select)
    found = _follow(value, select)
    if found is not _ABSENT:
        return found
    table = table_of(value)
    if table is None:
        raise _no_such(select, value)
    return _pick(table, [term.strip() for term in select.split(",") if term.strip()])


def _pick(table: Table, terms: Iterable[str]) -> Table:
    """Keep the rows that every `col=value` fits, and of them the columns that the other terms name."""
    columns: list[str] = []
    for term in terms:
        column, equals, wanted = (part.strip() for part in term.partition("="))
        if not column or all(_follow(row, column) is _ABSENT for _, row in table.rows):
            raise _no_such(column, *(row for _, row in table.rows))
        if equals:
            table = replace(table, rows=[pair for pair in table.rows if _is(_follow(pair[1], column), wanted)])
        else:
            columns.append(column)
    if not columns:
        return table
    # What stands beside the rows was not asked for.
    return replace(table, rows=[(index, _project(row, columns)) for index, row in table.rows], beside=None)


def _project(row: Value, columns: Iterable[str]) -> dict[str, Value]:
    cells = ((column, _follow(row, column)) for column in columns)
    return {column: cell for column, cell in cells if cell is not _ABSENT}


def _follow(value: Value, path: str) -> Value:
    """Return what stands at `path`; a key that holds dots is found before a path through keys."""
    if not path:
        return value
    if isinstance(value, dict):
        if path in value:
            return value[path]
        names = [name for name in value if path.startswith(f"{name}.")]
        tries = (_follow(value[name], path[len(name) + 1 :]) for name in names)
        return next((found for found in tries if found is not _ABSENT), _ABSENT)
    if isinstance(value, list):
        index, _, rest = path.partition(".")
        if index.isdecimal() and int(index) < len(value):
            return _follow(value[int(index)], rest)
    return _ABSENT


def _is(cell: Value, wanted: str) -> bool:
    """Return whether `cell` is what a model writes as `wanted`: text as it is, other values as JSON."""
    if isinstance(cell, str):
        return cell in (wanted, wanted.strip("\"'"))
    return cell is not _ABSENT and json.dumps(cell) == wanted


def _lines_with(text: str, words: str) -> str:
    """Return the lines that contain `words`, each with the offset at which it is found again."""
    lines = enumerate(lines_of(text))
    found = [f"{number}: {line}" for number, line in lines if words.casefold() in line.casefold()]
    if not found:
        raise ProtocolError(f"expected words that stand in the text, found {words!r}", code=ErrorCode.INVALID_TYPE)
    return "".join(found)


def _no_such(name: str, *values: Value) -> ProtocolError:
    known = dict.fromkeys(key for value in values if isinstance(value, dict) for key in value)
    listed = ", ".join(list(known)[:_NAMED]) or "a list index or nothing"
    return ProtocolError(f"expected select to name one of: {listed}; found {name!r}", code=ErrorCode.INVALID_TYPE)


def _whole_number(name: str, value: object) -> int:
    try:
        number = int(str(value or 0))
    except ValueError:
        number = -1
    if number < 0:
        raise ProtocolError(
            f"expected {name} to be a whole number from 0 on, found {value!r}", code=ErrorCode.INVALID_TYPE
        )
    return number
