"""A table whose rows are found by what their cells hold."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from accp_core.receipts.spelling import plain
from accp_core.tables import Table

__all__ = ["IndexedTable"]


class IndexedTable:
    """The rows of a table as bits of a number, by what a column holds."""

    def __init__(self, table: Table) -> None:
        """Index `table` when it is first asked for."""
        self._table: Final = table

    @property
    def name(self) -> str:
        """Its name."""
        return self._table.name

    @property
    def rows(self) -> int:
        """All rows."""
        return (1 << len(self._table.rows)) - 1

    @functools.cached_property
    def values(self) -> Mapping[str, Mapping[str, int]]:
        """Of each column the rows of each value, which is written `plain`; those of an empty cell under ""."""
        found: dict[str, dict[str, int]] = {column: defaultdict(int) for column in self._table.columns}
        for number, row in enumerate(self._table.rows):
            for column, of_value in found.items():
                of_value[_text(row.get(column))] |= 1 << number
        return found

    @functools.cached_property
    def numbers(self) -> Mapping[str, Mapping[int, Decimal]]:
        """Of each column with numbers these, by the number of the row."""
        found = {
            column: {
                at: number
                for at, row in enumerate(self._table.rows)
                if (number := _number(row.get(column))) is not None
            }
            for column in self._table.columns
        }
        return {column: numbers for column, numbers in found.items() if numbers}


def _text(cell: Any) -> str:
    words = (
        "" if cell is None or isinstance(cell, dict | list) else plain(cell if isinstance(cell, str) else repr(cell))
    )
    return "" if words == "-" else words


def _number(cell: Any) -> Decimal | None:
    """Return a finite number; where nothing is trapped, any other text is NaN."""
    if not isinstance(cell, str | int | float) or cell is True:
        return None
    number = Decimal(f"{cell}".replace(",", ""))
    return number if number.is_finite() else None
