"""An example of a query that works on a stored value: a preview shows one, because a model follows examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from accp_core.previews.column_facts import ColumnFacts
from accp_core.tables import MAX_COLUMNS, Table

__all__ = ["query_lines", "query_table"]

_LINES: Final = 20
"""Lines that the example for a text asks for."""
_ROWS: Final = 5


def query_table(table: Table, facts: Sequence[ColumnFacts]) -> str:
    """Return a query of `table`: a count by the column that has few values, else its first rows; empty: none works.

    It stands in the first line of the preview, so no name in it has a sign that is not printed.
    """
    if len(table.columns) > MAX_COLUMNS or not table.name.isprintable():
        return ""
    name = _identifier(table.name)
    for column in facts:
        if column.is_counted and column.name.isprintable():
            counted = _identifier(column.name)
            return f"select {counted}, count(*) from {name} group by {counted}"
    return f"select * from {name} limit {_ROWS}"


def query_lines(lines: int) -> str:
    """Return a query of some lines in the middle of a text."""
    start = max(lines // 2 - _LINES // 2, 0)
    return f"select text from lines where n between {start} and {start + _LINES}"


def _identifier(name: str) -> str:
    """Return a name as SQL reads it, whatever its characters are; no name holds a double quote."""
    return f'"{name}"'
