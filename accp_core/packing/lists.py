"""Lists of the same length, such as rows of a database, as a table whose columns are the positions.

`pack_lists` and `unpack_lists` are inverse.
"""

from __future__ import annotations

from typing import Final

from accp_core.packing.columns import pack_rows, unpack_table
from accp_core.packing.tree import Column, Constant, SameColumn, Table

__all__ = ["pack_lists", "positions", "unpack_lists"]

_MIN_ROWS: Final = 3
"""Lists from which a header pays."""
_MAX_LENGTH: Final = 100
"""Members of each list; with more of them a reader does not find a cell by its position."""


def pack_lists(items: list[object]) -> Table | None:
    """Return lists of the same length as a table; None if they are not or a line for each is as short."""
    rows = [item for item in items if type(item) is list]
    if len(rows) < len(items) or len(rows) < _MIN_ROWS:
        return None
    lengths = set(map(len, rows))
    if len(lengths) > 1 or not 1 < max(lengths) <= _MAX_LENGTH:
        return None
    names = positions(max(lengths))
    table = pack_rows([dict(zip(names, row, strict=True)) for row in rows])
    saved = sum(_saved_tokens(column, len(rows)) for column in table.columns.values()) if table else 0
    # Each position in the header takes a token and a blank.
    return table if saved > 2 * len(names) + 1 else None


def _saved_tokens(column: Column, rows: int) -> int:
    """Return the approximate tokens that a column saves: rows of numbers are as short in brackets."""
    if isinstance(column, list):
        # A blank and a word are one token, a comma and a word two.
        return sum(type(cell) is str and cell[:1].isalpha() and " " not in cell for cell in column)
    return rows if isinstance(column, Constant | SameColumn) else 2 * rows


def positions(count: int) -> list[str]:
    """Return the names of the columns of lists with `count` members: their positions from 1."""
    return [str(position) for position in range(1, count + 1)]


def unpack_lists(table: Table) -> list[object]:
    """Return the lists that the table was packed from.

    Raises:
        ValueError: a column is not named after its position, or a row is none, or lacks a cell.
    """
    names = list(table.columns)
    if names != positions(len(names)):
        raise ValueError(f"expected the positions from 1 as columns of lists, found {names[:5]!r}")
    rows = unpack_table(table)
    if not all(type(row) is dict and len(row) == len(names) for row in rows):
        raise ValueError(f"expected {len(names)} cells in each row")
    return [list(row.values()) for row in rows if type(row) is dict]
