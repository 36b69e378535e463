"""The header of a table that is being read, with the cells that were read so far (see `notation`)."""

from __future__ import annotations

from dataclasses import dataclass, field

from accp_core.packing.tree import NEXT_ROW, Column, Constant, KeyColumn, PooledLists, Table
from accp_core.view.plain_values import column_values

__all__ = ["CellColumn", "Header"]


@dataclass(slots=True)
class CellColumn:
    """A column that has a cell in each row, with the cells that were read so far."""

    inside: Header | CellColumn | None = None
    """The header of the rows inside the brackets of a cell; None: a cell is a value."""
    bracket: str = ""
    """The bracket of each cell: "{" for one row, "[" for several, "" for a value."""
    separator: str = " "
    """The text between a cell and the next one."""
    key: str = ""
    """What a cell of a sparse column begins with, `key=`; "" for a column that has a cell in each row."""
    cells: list[object] = field(default_factory=list)
    """Plain cells as text, which `column_values` converts all at once; strings as QuotedCell; others as values."""

    def to_column(self, rows: int) -> Column:
        """Return the values of the cells."""
        if self.inside is None:
            return column_values(self.cells)
        members = self.inside.to_column(0)
        if self.bracket == "[":
            assert type(members) is Table or type(members) is PooledLists
            return PooledLists(self.cells, members)
        assert type(members) is Table
        return Table(members.columns, self.cells, members.rows)


@dataclass(slots=True)
class Header:
    """The columns of a table, with the rows that were read so far."""

    columns: dict[str, CellColumn | Header | Constant | KeyColumn]
    leaves: list[CellColumn]
    """The columns that have a cell in each row, those of nested headers included, in the order of the cells."""
    slots: list[object] = field(default_factory=list)
    """The slots of the `Table`."""
    rows: int = 0
    """The number of rows that were read."""
    is_sparse: bool = field(init=False)
    """Whether a row may lack cells."""

    def __post_init__(self) -> None:
        self.is_sparse = any(leaf.key for leaf in self.leaves)

    def is_flat(self) -> bool:
        """Return whether all cells are plain ones that no row lacks."""
        return not any(leaf.bracket or leaf.key for leaf in self.leaves)

    def to_column(self, rows: int) -> Column:
        """Return the table; `rows` is the number of rows of the table that contains it, or 0."""
        rows = rows or self.rows
        columns: dict[str, Column] = {
            name: column if isinstance(column, Constant | KeyColumn) else column.to_column(rows)
            for name, column in self.columns.items()
        }
        whole = self.slots.count(NEXT_ROW) == len(self.slots)
        return Table(columns, None if whole else self.slots, rows)
