"""A table of a stored value: what a preview describes and a query reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

__all__ = ["FIELDS", "LINES", "MAX_COLUMNS", "TEXT_RECORDS", "Cell", "ParentLink", "Row", "Table"]

MAX_COLUMNS: Final = 2_000
"""Columns of a table that can be queried; a table of more is described, but not built."""

LINES: Final = "lines"
"""The name of the table of the lines of a text; an array of that name in the text is `lines_2`."""

FIELDS: Final = "fields"
"""The name of the table of the words of lines that begin alike and name no columns."""

TEXT_RECORDS: Final = "records"
"""The name of the table of the records of a text that has no other table but its lines."""

_NAME: Final = re.compile(r"(?i:(?:^|[._])(?:name|title|key|number|code|sku))$")
_MAX_NAMING: Final = 2
"""Columns that name a row for the rows of its child tables."""

Cell: TypeAlias = Any
"""A scalar of JSON, or an array or map that has no columns of its own."""
Row: TypeAlias = Mapping[str, Cell]
"""The cells of a row by column; a cell that the source does not have is absent, which is not null."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParentLink:
    """How the rows of a child table are joined to those of its parent."""

    table: str
    """The name of the parent table."""
    key: str
    """The column of the parent that identifies its rows: one of the source, or `_row`."""
    column: str
    """The column of the child that holds that key, the first one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of one shape; names of tables and columns are distinct without regard to case, too."""

    name: str
    """The name in a query, such as "data.items"."""
    path: tuple[str, ...]
    """The keys that lead to it from the root, those of its parents' rows among them."""
    columns: tuple[str, ...]
    """The names of the columns in order; they hold no control characters and no double quote."""
    rows: Sequence[Row]
    """Its rows in the order of the source."""
    parent: ParentLink | None = None
    """How to join it to the table whose rows hold it; None: no row holds it."""

    repeated: frozenset[str] = frozenset()
    """The columns with maps and arrays in cells whose content has columns or tables of its own, too."""

    @property
    def holds_lines(self) -> bool:
        """Whether its rows are the lines of a text, not those of an array of that name."""
        return self.name == LINES and not self.path

    def own_cells(self, row: Row) -> dict[str, Cell]:
        """Return the cells of a row without maps and arrays whose content stands in other columns or tables, too."""
        if not self.repeated:
            return dict(row)
        return {name: cell for name, cell in row.items() if name not in self.repeated or type(cell) not in (dict, list)}

    @property
    def own_columns(self) -> tuple[str, ...]:
        """The columns without those that hold nothing but such maps and arrays, where a row has anything."""
        held = {name for name in self.repeated if any(type(cell) not in (dict, list) for cell in self.cells(name))}
        return tuple(name for name in self.columns if name in held or name not in self.repeated)

    def naming(self, key: str) -> tuple[str, ...]:
        """Return the columns that say which row one is, beside the column `key`: its name, its number."""
        names = (name for name in self.columns if name != key and _NAME.search(name))
        return tuple(sorted(names, key=lambda name: name.count("."))[:_MAX_NAMING])

    def cells(self, column: str) -> Iterator[Cell]:
        """Yield the cells of a column from the first row to the last, without those that are absent."""
        return (row[column] for row in self.rows if column in row)
