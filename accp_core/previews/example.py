"""An example of a query that works on a stored value: a preview shows one, because a model follows examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from accp_core.previews.column_facts import ColumnFacts
from accp_core.tables import MAX_COLUMNS, LineNumbers, Table

__all__ = ["query_lines", "query_table"]

_LINES: Final = 20
"""Lines that the example for a text asks for."""
_ROWS: Final = 5
_MIN_ROWS: Final = 2
_BRACKETS: Final = frozenset("[]\uff3b\uff3d")


def query_table(table: Table, facts: Sequence[ColumnFacts]) -> str:
    """Return a query of `table`: a count by the column that has few values, else its first rows; empty: none works.

    A table of one row has none: it would ask for what is described.

    It stands in the first line of the preview, so no name in it has a sign that is not printed, or a bracket: it could
    be taken for the end of that line, or for a marker.
    """
    if len(table.rows) < _MIN_ROWS or len(table.columns) > MAX_COLUMNS or not _stands_plainly(table.name):
        return ""
    name = _identifier(table.name)
    for column in facts:
        if column.is_counted and _stands_plainly(column.name):
            counted = _identifier(column.name)
            return f"select {counted}, count(*) from {name} group by {counted}"
    return f"select * from {name} limit {_ROWS}"


def _stands_plainly(name: str) -> bool:
    return name.isprintable() and _BRACKETS.isdisjoint(name)


def query_lines(source: str) -> str:
    """Return a query of some lines in the middle of a text, by the numbers that they have in a query."""
    middle = LineNumbers(source).number_at(len(source) // 2)
    start = max(middle - _LINES // 2, 1)
    return f"select text from lines where n between {start} and {start + _LINES - 1}"


def _identifier(name: str) -> str:
    """Return a name as SQL reads it, whatever its characters are; no name holds a double quote."""
    return f'"{name}"'
