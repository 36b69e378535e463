"""The preview of a JSON value: which tables it has, what their columns hold, and the rows that differ.

orders: 110 rows, 3 shown; id: ord_001 to ord_110; total: 15.2 to 2246.03; status: shipped (85), late (1)
[3] id total, status
ord_001 15.2 shipped
ord_017 80.0 late
ord_110 2246.03 pending
orders.items: 214 rows, 2 shown, orders_id = orders.id; …

Where the request names values of columns, a second line says which rows have them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from accp_core.ports import TokenCounter
from accp_core.previews.column_facts import facts_of
from accp_core.previews.example import query_table
from accp_core.previews.fit import share
from accp_core.previews.marks import Marks
from accp_core.previews.named_rows import find_named_rows
from accp_core.previews.request import Request
from accp_core.previews.rows import RankedRows
from accp_core.tables import Table
from accp_core.view.notation import write_name
from accp_core.view.render_value import Options, render

__all__ = ["TablePreview"]

_FACTS_SHARE: Final = 0.5
"""The share of a table's room that the facts of its columns may take."""
_FACTS_BESIDE_NAMED: Final = 0.3
"""The same where the request asks for some of the rows."""
_NAMES_SHARE: Final = 0.65
"""The share that they may take with the names of the other columns."""
_NAMED_SHARE: Final = 0.5
"""The share of what the facts leave that the line about the named rows may take."""
_MAX_TABLES: Final = 12
"""Tables that are described; the others are counted."""
_MAX_COLUMNS: Final = 64
"""Columns whose facts are found; the others are named or counted."""
_TITLE_CHARS: Final = 40
_ROWS_CHARS: Final = 500
"""Characters of rows that are enough of a table whose rows are short: the others are one query away."""
_OPTIONS: Final = Options(repeated_values=False)
"""The first place of a repeated value could be in a row that is not shown."""


class TablePreview:
    """The tables of a value, to be described in any length."""

    def __init__(
        self,
        tables: Sequence[Table],
        *,
        request: Request,
        marks: Marks,
        counter: TokenCounter,
        totals: Mapping[str, int | None] = MappingProxyType({}),
    ) -> None:
        """Find the facts of the columns and rank the rows of `tables`; `totals` are as in `SampledTables`."""
        filled = [table for table in tables if table.rows]
        described = filled[:_MAX_TABLES]
        self._left_out = len(filled) - len(described)
        self._marks = marks
        self._tables = [_DescribedTable(table, request, marks, counter, totals) for table in described]

    @property
    def enough(self) -> float:
        """Characters that are enough: all facts and some rows of each table, and all long texts."""
        return sum(table.enough for table in self._tables)

    @property
    def example(self) -> str:
        """A query of the largest table that works; empty: there is none."""
        return max(self._tables, key=lambda table: table.size).example if self._tables else ""

    def write(self, room: float) -> str:
        """Return the descriptions and rows of the tables in about `room` characters."""
        parts: list[str] = []
        rooms = share([table.size for table in self._tables], room)
        for table, own in zip(self._tables, rooms, strict=True):
            parts += table.write(own)
        if self._left_out:
            parts.append(self._marks.gap(f"{self._left_out} tables"))
        return "\n".join(parts)


class _DescribedTable:
    """One table with the facts of its columns."""

    def __init__(
        self,
        table: Table,
        request: Request,
        marks: Marks,
        counter: TokenCounter,
        totals: Mapping[str, int | None],
    ) -> None:
        self._totals = totals
        self._table = _without_repeated(table)
        self._marks = marks
        self._counter = marks.counting(counter)
        self._facts = [facts_of(table, name, marks) for name in self._table.columns[:_MAX_COLUMNS]]
        # Of a sample nothing can be counted.
        self._named = () if table.name in totals else find_named_rows(self._table, request)
        self._rows = RankedRows(self._table, self._facts, request=request, marks=marks, named=self._named)
        self._facts_share = _FACTS_BESIDE_NAMED if self._named else _FACTS_SHARE
        self.size = self._rows.size + _TITLE_CHARS
        """Characters of the whole table, about."""

    @property
    def enough(self) -> float:
        """Characters that are enough of the table."""
        facts = sum(len(write_name(column.name)) + len(column.texts[-1]) + 4 for column in self._facts)
        named = sum(len(each.describe(are_shown=True)) for each in self._named) + self._rows.named_size
        return min(self.size, _TITLE_CHARS + facts + _ROWS_CHARS + named + self._rows.long_size)

    @property
    def example(self) -> str:
        """A query of the table that works; empty: there is none."""
        return query_table(self._table, self._facts)

    def write(self, room: float) -> Iterator[str]:
        """Yield the lines of the table in about `room` characters."""
        rows = self._rows.choose(room if self.size <= room else room - _TITLE_CHARS)
        if self.size <= room or self._shows_all(rows):
            yield from self._with_rows(list(rows.values()), "")
            return
        facts = self._describe(room)
        left = room - len(facts) - _TITLE_CHARS
        rows = self._rows.choose(left - len(self._describe_named(rows, left)))
        yield from self._with_rows(list(rows.values()), facts + self._describe_named(rows, left))

    def _describe_named(self, rows: Mapping[int, object], room: float) -> str:
        """Return the lines about the rows that the request names, of which `rows` are shown; those that fit."""
        text = ""
        for named in self._named:
            line = named.describe(are_shown=named.numbers <= rows.keys())
            text += f"\n{line}" if len(text) + len(line) <= room * _NAMED_SHARE else ""
        return text

    def _shows_all(self, rows: Mapping[int, Mapping[str, object]]) -> bool:
        """Return whether every row is among `rows` with all its cells, so that facts would repeat what they show."""
        total = self._table.rows
        return len(rows) == len(total) and all(len(row) == len(total[number]) for number, row in rows.items())

    def _with_rows(self, rows: list[dict[str, object]], facts: str) -> Iterator[str]:
        total = len(self._table.rows)
        shown = f", {len(rows)} shown" if len(rows) < total else ""
        count = f"{total:,} row{'s'[: total != 1]}"
        if self._table.name in self._totals:
            whole = self._totals[self._table.name]
            count = f"{whole:,} rows, {total:,} of them described" if whole else f"{total:,} of its rows described"
        link = self._table.parent
        joined = f", {write_name(link.column)} = {write_name(link.table)}.{write_name(link.key)}" if link else ""
        yield f"{write_name(self._table.name)}: {count}{shown}{joined}{facts}"
        if rows:
            yield render(rows if total > 1 else rows[0], counter=self._counter, options=_OPTIONS)

    def _describe(self, room: float) -> str:
        """Return the facts of the columns, with as much detail as the room allows."""
        further = self._table.columns[len(self._facts) :]
        for detail in (2, 1, 0)[bool(self._named) :] if not further else ():
            text = "".join(f"; {write_name(column.name)}: {column.texts[detail]}" for column in self._facts)
            if len(text) <= room * self._facts_share:
                return text
        return self._abbreviate(further, room)

    def _abbreviate(self, further: Sequence[str], room: float) -> str:
        """Return the facts of the first columns, the names of further ones and how many there are."""
        facts = [(f"; {write_name(column.name)}", f": {column.texts[0]}") for column in self._facts]
        texts = [*facts, *((f"; {write_name(name)}", "") for name in further)]
        text = ""
        for number, (name, fact) in enumerate(texts):
            added = name + fact if len(text) + len(name + fact) <= room * self._facts_share else name
            if len(text) + len(added) > room * _NAMES_SHARE:
                return f"{text}; {self._marks.gap(f'{len(texts) - number:,} columns')}"
            text += added
        return text


def _without_repeated(table: Table) -> Table:
    """Return a table without the maps and arrays in its cells whose content is shown in columns of its own."""
    if not table.repeated:
        return table
    return replace(table, columns=table.own_columns, rows=list(map(table.own_cells, table.rows)))
