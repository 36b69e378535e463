"""Which part of a stored value a query selects: a path, columns, rows by value, or lines that contain words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from accp_adapters.fetching.sources import JsonValue, lines_of
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["RowSelection", "find_rows", "select_part"]

_ABSENT: Final = object()
_MAX_NAMES: Final = 20
"""Names that a refusal lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSelection:
    """Rows of a value, which can be counted, filtered and shown in pages."""

    rows: Sequence[tuple[int, JsonValue]]
    """Each row with its index in the list that holds it."""
    path: str
    """The path to that list, such as "data.items"; empty: the whole value is the list."""
    key: str = ""
    """The key of the list in the object that holds it; empty: no object does."""
    parent: Mapping[str, JsonValue] | None = None
    """That object, shown with the rows; None: there is none, or the query names columns only."""

    def page(self, start: int, count: int) -> JsonValue:
        """Return the value with `count` of its rows, from row `start` on."""
        rows = [row for _, row in self.rows[start : start + count]]
        return rows if self.parent is None else {**self.parent, self.key: rows}


def find_rows(value: JsonValue, path: str = "") -> RowSelection | None:
    """Return the rows of `value`: its items, or those of the only list in it; None where it has none.

    Args:
        value: A list or an object; other values have no rows.
        path: The path to `value` in the whole stored value.
    """
    if isinstance(value, list):
        return RowSelection(rows=list(enumerate(value)), path=path)
    names = [name for name in value if isinstance(value[name], list)] if isinstance(value, dict) else []
    if len(names) != 1:
        return None
    key = names[0]
    rows = list(enumerate(value[key]))
    return RowSelection(rows=rows, path=f"{path}.{key}" if path else key, key=key, parent=value)


def select_part(value: JsonValue, query: str) -> JsonValue | RowSelection:
    """Return the part of `value` that `query` selects; all of it where the query is empty.

    Raises:
        ProtocolError: E1004, `query` names nothing in `value`.
    """
    if not query:
        return value
    if isinstance(value, str):
        return _lines_with(value, query)
    part = _follow(value, query)
    if part is not _ABSENT:
        return part
    selection = find_rows(value)
    if selection is None:
        raise _unknown_name(query, value)
    return _filter(selection, [term.strip() for term in query.split(",") if term.strip()])


def _filter(selection: RowSelection, terms: Iterable[str]) -> RowSelection:
    """Keep the rows that match every `col=value`, and of these rows the columns that the other terms name."""
    columns: list[str] = []
    for term in terms:
        column, equals, wanted = (part.strip() for part in term.partition("="))
        if not column or all(_follow(row, column) is _ABSENT for _, row in selection.rows):
            raise _unknown_name(column, *(row for _, row in selection.rows))
        if equals:
            matching = [pair for pair in selection.rows if _equals(_follow(pair[1], column), wanted)]
            selection = replace(selection, rows=matching)
        else:
            columns.append(column)
    if not columns:
        return selection
    rows = [(index, _project(row, columns)) for index, row in selection.rows]
    return replace(selection, rows=rows, parent=None)


def _project(row: JsonValue, columns: Iterable[str]) -> dict[str, JsonValue]:
    cells = ((column, _follow(row, column)) for column in columns)
    return {column: cell for column, cell in cells if cell is not _ABSENT}


def _follow(value: JsonValue, path: str) -> JsonValue:
    """Return the value at `path`, or `_ABSENT`; a key that contains dots comes before a path through keys."""
    if not path:
        return value
    if isinstance(value, dict):
        if path in value:
            return value[path]
        names = [name for name in value if path.startswith(f"{name}.")]
        parts = (_follow(value[name], path[len(name) + 1 :]) for name in names)
        return next((part for part in parts if part is not _ABSENT), _ABSENT)
    if isinstance(value, list):
        index, _, rest = path.partition(".")
        if index.isdecimal() and int(index) < len(value):
            return _follow(value[int(index)], rest)
    return _ABSENT


def _equals(cell: JsonValue, wanted: str) -> bool:
    """Return whether `cell` is the value that a model writes as `wanted`: text as it is, other values as JSON."""
    if isinstance(cell, str):
        return cell in (wanted, wanted.strip("\"'"))
    return cell is not _ABSENT and json.dumps(cell) == wanted


def _lines_with(text: str, words: str) -> str:
    """Return the lines that contain `words`, each with its offset."""
    lines = enumerate(lines_of(text))
    matching = [f"{number}: {line}" for number, line in lines if words.casefold() in line.casefold()]
    if not matching:
        raise ProtocolError(f"expected words of the stored text, found {words!r}", code=ErrorCode.INVALID_TYPE)
    return "".join(matching)


def _unknown_name(name: str, *values: JsonValue) -> ProtocolError:
    known = dict.fromkeys(key for value in values if isinstance(value, dict) for key in value)
    listed = ", ".join(list(known)[:_MAX_NAMES]) or "a list index or nothing"
    return ProtocolError(f"expected a query that names one of: {listed}; found {name!r}", code=ErrorCode.INVALID_TYPE)
