"""The tables of a JSON text of megabytes, made of a sample: some members of its long arrays and maps.

The sample has the first and the last members, some from everywhere, and those that hold given places.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from accp_core.documents import BYTE_ORDER_MARK, json_lines
from accp_core.tables.build import tables_of
from accp_core.tables.shortened import (
    BEYOND_BMP,
    CLOSE,
    SAMPLE,
    SPACE,
    Place,
    Shortened,
    Shortening,
    scan,
    string_end,
)
from accp_core.tables.source import decode_document, records_of, unwrap
from accp_core.tables.table import Table
from accp_core.tables.text_lines import has_other_ends

__all__ = ["MAX_WHOLE", "SampledTables", "sample_tables"]

MAX_WHOLE: Final = 2_000_000
"""Characters of a text that is read whole."""
_MAX_FIRST_LINE: Final = 65_536
_MIN_LINES: Final = 8

_WRAPPED: Final = re.compile(
    r'\ufeff?\s*+(?:(?:(?:\{\s*+"content"\s*+:\s*+)?\[\s*+)?\{\s*+"type"\s*+:\s*+"text"\s*+,\s*+"text"\s*+:\s*+)?"'
)
_LINE_END: Final = re.compile(r"[ \t]*(?:\r?\n[ \t\r\n]*|\Z)")
_PAIR: Final = re.compile(r"(?<!\\)((?:\\\\)*+)\\(u[dD][89abAB][0-9a-fA-F]{2})\\(u[dD][c-fC-F][0-9a-fA-F]{2})")
"""The escape of a character beyond U+FFFF, with the escaped backslashes before it."""

FindPlaces = Callable[[str], Iterable[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledTables:
    """The tables of a text of which most rows were left out."""

    tables: tuple[Table, ...]
    """Those of the sample; columns of row numbers, which differ from those of the whole text, are left out."""
    totals: Mapping[str, int | None]
    """The names of the tables whose rows are a sample, with all their rows in the text; None: they were not counted."""


def sample_tables(text: str, find_places: FindPlaces) -> SampledTables | None:
    """Return the tables of a sample of a long text: of JSON, of lines of JSON, or of JSON in a string or an MCP answer.

    Args:
        text: The text, of more than MAX_WHOLE characters.
        find_places: Returns positions in a text; the members that hold them are in the sample.

    Returns:
        None where the text is no JSON, or what must be left out of it is not rows of tables.
    """
    try:
        wrapped = _WRAPPED.match(text)
        if wrapped and len(text) - string_end(text, wrapped.end() - 1) <= SAMPLE:
            inner = unwrap(decode_document(_keep_narrow(text)))
            if isinstance(inner, str):
                return sample_tables(inner, find_places)
        return _of_lines(text, find_places) or _of_value(text, find_places)
    except (ValueError, StopIteration, RecursionError):
        return None


def _keep_narrow(text: str) -> str:
    """Return a JSON text whose strings have escapes for the characters beyond U+FFFF when they are read.

    In a string that holds JSON again they mean the same, and Python does not keep all of it in four bytes a character.
    """
    return _PAIR.sub(r"\1\\\\\2\\\\\3", text) if BEYOND_BMP.search(text) else text


def _of_lines(text: str, find_places: FindPlaces) -> SampledTables | None:
    """Return the tables of lines of JSON; None: the first value is not followed by a line."""
    start = _start_of_value(text)
    first = text[start : text.find("\n", start, start + _MAX_FIRST_LINE) + 1]
    if first[:1] not in CLOSE or not _is_value(first) or has_other_ends(text):
        return None
    walk = Shortening(text, find_places(text))
    end, lines = walk.shorten_members(start, _LINE_END, Place())
    if end < len(text) or len(lines) < _MIN_LINES:
        return None
    values = json_lines.read("\n".join(lines))
    rows = records_of(values)
    found = _tables(rows, walk.found)
    # Lines were counted, not the records in their arrays.
    return found if found is None or rows is values else replace(found, totals=dict.fromkeys(found.totals))


def _is_value(line: str) -> bool:
    try:
        return scan(line, 0)[1] <= len(line.rstrip())
    except (ValueError, StopIteration):
        return False


def _of_value(text: str, find_places: FindPlaces) -> SampledTables | None:
    """Return the tables of one JSON document; None: there is text behind it."""
    walk = Shortening(text, find_places(text))
    end, shortened = walk.shorten(_start_of_value(text), Place())
    if _end_of_space(text, end) < len(text):
        return None
    return _tables(decode_document(shortened), walk.found)


def _start_of_value(text: str) -> int:
    return _end_of_space(text, len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0)


def _end_of_space(text: str, at: int) -> int:
    return SPACE.match(text, at).end()  # type: ignore[union-attr]  # it matches no space, too


def _tables(value: Any, shortened: Sequence[Shortened]) -> SampledTables | None:
    """Return the tables of a sample; None: what was left out is not rows of tables."""
    tables = tables_of(value)
    names: dict[str, int | None] = {}
    for each in shortened:
        found = _find_totals(tables, each)
        if not found:
            return None
        names |= found
    for table in tables:
        if table.parent and table.parent.table in names:
            names[table.name] = None
    return SampledTables(tables=tuple(_without_numbers(table, names) for table in tables), totals=names)


def _find_totals(tables: Sequence[Table], shortened: Shortened) -> dict[str, int | None]:
    """Return the names of the tables that have the members of an array or a map as rows, with their number."""
    if not shortened.is_in_row:
        for table in tables:
            if table.path == shortened.path and table.parent is None and len(table.rows) >= shortened.kept:
                return {table.name: shortened.total if len(table.rows) == shortened.kept else None}
    return {table.name: None for table in tables if _may_hold(table, shortened.path)}


def _may_hold(table: Table, path: tuple[str, ...]) -> bool:
    """Return whether the rows of a child table may come from an array at a path, whose keys may be those of rows."""
    names = iter(path)
    return table.parent is not None and table.path[-1:] == path[-1:] and all(name in names for name in table.path)


def _without_numbers(table: Table, sampled: Mapping[str, int | None]) -> Table:
    """Return a table without the columns that number the rows of a sampled table: the whole text numbers others."""
    if table.name not in sampled:
        return table
    numbered = {"_row"} & set(table.columns)
    if table.parent and table.parent.key == "_row":
        numbered.add(table.parent.column)
        table = replace(table, parent=None)
    return replace(table, columns=tuple(name for name in table.columns if name not in numbered))
