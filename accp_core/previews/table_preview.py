"""The preview of a JSON value: which tables it has, what their columns hold, and the rows that differ.

orders: 110 rows, 3 shown; id: ord_001 to ord_110; total: 15.2 to 2246.03; status: shipped (85), late (1)
[3] id total, status
ord_001 15.2 shipped
ord_017 80.0 late
ord_110 2246.03 pending
orders.items: 214 rows, 2 shown, orders_id = orders.id; …

Where the request names values of columns, a second line says which rows have them; the others that are shown stand
apart from them, below `other rows:`.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, islice
from types import MappingProxyType
from typing import Final

from accp_core.ports import TokenCounter
from accp_core.previews.asked.named_rows import NamedRows, find_named_rows
from accp_core.previews.asked.request import Request
from accp_core.previews.column_facts import facts_of
from accp_core.previews.example import query_table
from accp_core.previews.fit import share
from accp_core.previews.marks import Marks
from accp_core.previews.rows import RankedRows
from accp_core.tables import Table
from accp_core.view.notation import write_name
from accp_core.view.render_value import Options, render

__all__ = ["TablePreview"]

_FACTS_SHARE: Final = 0.5
"""The share of a table's room that the facts of its columns may take."""
_MAX_INHERITED: Final = 32
"""Columns of its parents that a request may name for the rows of a table."""
_NAMES_SHARE: Final = 0.65
"""The share that they may take with the names of the other columns."""
_NAMED_SHARE: Final = 0.5
"""The share of what the facts leave that the lines about the named rows may take."""
_RANGES_SHARE: Final = 0.1
"""The share that such a line may take with the ranges and sums of numbers."""
_SHORT_FACTS: Final = 32
"""Characters of the counted values of a column that come before the facts of others."""
_MIN_APART: Final = 3
"""Rows that a request does not ask for which are worth a header of their own below those that it asks for."""
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
        joined: dict[str, Table] = {}
        for table in described:
            joined[table.name] = _with_parent(table, joined, described)
        inherited = {
            table.name: frozenset(joined[table.name].columns) - frozenset(table.columns) for table in described
        }
        # Of a sample nothing can be counted.
        named = {
            table.name: ()
            if table.name in totals
            else find_named_rows(joined[table.name], request, inherited[table.name])
            for table in described
        }
        is_sure = any(each.is_sure for found in named.values() for each in found)
        self._tables = [
            _DescribedTable(
                table,
                _naming_parents(joined[table.name], inherited[table.name], kept) if kept else _without_repeated(table),
                kept,
                request,
                marks,
                counter,
                totals,
            )
            for table in described
            for kept in [[each for each in named[table.name] if each.is_sure >= is_sure]]
        ]

    @property
    def is_named(self) -> bool:
        """Whether the request asks for rows of a table."""
        return any(table.is_named for table in self._tables)

    @property
    def enough(self) -> float:
        """Characters that are enough: all facts and some rows of each table, and all long texts."""
        return sum(table.enough for table in self._tables)

    @property
    def example(self) -> str:
        """A query of the largest table that works; empty: there is none, or it teaches less than what is asked for."""
        is_taught = not self._tables or self.is_named
        return "" if is_taught else max(self._tables, key=lambda table: table.size).example

    def write(self, room: float) -> str:
        """Return the descriptions and rows of the tables in about `room` characters."""
        parts: list[str] = []
        rooms = share(
            [table.schema_size if self.is_named and not table.is_named else table.size for table in self._tables], room
        )
        for table, own in zip(self._tables, rooms, strict=True):
            parts += table.write(own, is_beside=self.is_named and not table.is_named)
        if self._left_out:
            parts.append(self._marks.gap(f"{self._left_out} tables"))
        return "\n".join(parts)


class _DescribedTable:
    """One table with the facts of its columns."""

    def __init__(
        self,
        described: Table,
        table: Table,
        named: Sequence[NamedRows],
        request: Request,
        marks: Marks,
        counter: TokenCounter,
        totals: Mapping[str, int | None],
    ) -> None:
        self._totals = totals
        self._table = table
        self._marks = marks
        self._counter = marks.counting(counter)
        columns = _without_repeated(described).columns
        self._facts = [facts_of(described, name, marks) for name in columns[:_MAX_COLUMNS]]
        self._named = named
        self._further = columns[_MAX_COLUMNS:]
        self._rows = RankedRows(self._table, self._facts, request=request, marks=marks, named=self._named)
        self.is_named = bool(self._named)
        """Whether the request asks for some of its rows."""
        self.schema_size = _TITLE_CHARS + len(self._describe(0, math.inf))
        """Characters of its description without rows, about."""
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

    def write(self, room: float, *, is_beside: bool) -> Iterator[str]:
        """Yield the lines of the table in about `room` characters; beside one that is asked for, only its columns."""
        rows = self._rows.choose(room if self.size <= room else room - _TITLE_CHARS)
        if self.size <= room or self._shows_all(rows):
            yield from self._with_rows(rows, "")
            return
        left = room - _TITLE_CHARS
        if is_beside and room <= self.schema_size:
            yield from self._with_rows({}, self._describe(0, room))
            return
        facts = self._describe(room * _FACTS_SHARE, room * _NAMES_SHARE)
        if self._named:
            facts = self._describe_beside_named(left)
            left -= len(self._describe_named(range(len(self._table.rows)), left))
        rows = self._rows.choose(left - len(facts))
        yield from self._with_rows(rows, facts + self._describe_named(rows, room))

    def _describe_beside_named(self, room: float) -> str:
        """Return the facts that leave the rows room that the request asks for; the names of the columns at least."""
        names = self._describe(0, room * _NAMES_SHARE)
        left = room - len(self._describe_named(range(len(self._table.rows)), room)) - len(names)
        asked = self._rows.choose(left, most=self._rows.asked)
        return self._describe(len(names) + (left - self._rows.chars(asked)) * _FACTS_SHARE, room * _NAMES_SHARE)

    def _describe_named(self, rows: Container[int], room: float) -> str:
        """Return the lines about the rows that the request names, of which `rows` are shown; those that fit."""
        text = ""
        for named in self._named:
            are_shown = all(number in rows for number in named.numbers)
            line = named.describe(are_shown=are_shown)
            if len(line) > room * _RANGES_SHARE:
                line = named.describe(are_shown=are_shown, with_ranges=False)
            text += f"\n{line}" if len(text) + len(line) <= room * _NAMED_SHARE else ""
        return text

    def _shows_all(self, rows: Mapping[int, Mapping[str, object]]) -> bool:
        """Return whether every row is among `rows` with all its cells, so that facts would repeat what they show."""
        total = self._table.rows
        return len(rows) == len(total) and all(len(row) == len(total[number]) for number, row in rows.items())

    def _with_rows(self, rows: Mapping[int, dict[str, object]], facts: str) -> Iterator[str]:
        total = len(self._table.rows)
        asked = frozenset[int]().union(*(each.numbers for each in self._named)) if facts else frozenset()
        first = [row for number, row in rows.items() if number in asked]
        others = [row for number, row in rows.items() if number not in asked]
        if first and len(others) < _MIN_APART:
            others = []
        number_shown = len(first) + len(others)
        shown = f", {number_shown} shown" if number_shown < total else ""
        count = f"{total:,} row{'s'[: total != 1]}"
        if self._table.name in self._totals:
            whole = self._totals[self._table.name]
            count = f"{whole:,} rows, {total:,} of them described" if whole else f"{total:,} of its rows described"
        link = self._table.parent
        joined = f", {write_name(link.column)} = {write_name(link.table)}.{write_name(link.key)}" if link else ""
        yield f"{write_name(self._table.name)}: {count}{shown}{joined}{facts}"
        if first:
            unasked = (dict(row) for number, row in enumerate(self._table.rows) if number not in asked)
            beside = others or (list(islice(unasked, 1)) if len(first) == 1 else [])
            yield from self._render_apart(first, others, beside)
        elif others:
            yield self._render(others)

    def _render_apart(
        self, first: list[dict[str, object]], others: list[dict[str, object]], beside: list[dict[str, object]]
    ) -> Iterator[str]:
        """Yield the rows that are asked for, and the others below a line that says so; one header is for both.

        One row alone has a header, too: that of a table which it shares with the row `beside`.
        """
        header, *lines = self._render([*first, *beside]).split("\n")
        count = f"[{len(lines)}] "
        if len(lines) != len(first) + len(beside) or not header.startswith(count):
            yield self._render(first)
            yield from ["other rows:", self._render(others)] if others else []
            return
        yield f"[{len(first)}] {header.removeprefix(count)}"
        yield from lines[: len(first)]
        yield from ["other rows:", *lines[len(first) :]] if others else []

    def _render(self, rows: list[dict[str, object]]) -> str:
        shown = rows if len(self._table.rows) > 1 else rows[0]
        return render(shown, counter=self._counter, options=_OPTIONS)

    def _describe(self, room: float, names_room: float) -> str:
        """Return the facts of the columns in `room`, with as much detail as it allows, and the other names.

        The few values of a column decide more than the ends of a range: if they are short, they come first.
        """
        further = self._further
        for detail in (2, 1, 0) if not further else ():
            text = "".join(f"; {write_name(column.name)}: {column.texts[detail]}" for column in self._facts)
            if len(text) <= room:
                return text
        return self._abbreviate(further, room, names_room)

    def _abbreviate(self, further: Sequence[str], room: float, names_room: float) -> str:
        """Return the names of the columns, how many further ones there are, and the facts that fit."""
        most = max(names_room, room)
        columns = [
            *((column.name, f": {column.texts[0]}") for column in self._facts),
            *((name, "") for name in further),
        ]
        names = [f"; {write_name(name)}" for name, _ in columns]
        ends = list(accumulate(map(len, names)))
        named = bisect_right(ends, most)
        gap = f"; {self._marks.gap(f'{len(columns) - named:,} columns')}" if named < len(columns) else ""
        size = ends[named - 1] if named else 0
        facts = [fact for _, fact in columns[:named]]
        counted = [n for n in range(min(named, len(self._facts))) if self._is_short(n)]
        told = set[int]()
        for n in dict.fromkeys((*counted, *range(named))):
            if size + len(facts[n]) <= room:
                told.add(n)
                size += len(facts[n])
        return "".join(f"{names[n]}{facts[n] * (n in told)}" for n in range(named)) + gap

    def _is_short(self, number: int) -> bool:
        """Return whether the facts of a column count its few values in few characters."""
        column = self._facts[number]
        return column.is_counted and len(column.texts[0]) <= _SHORT_FACTS


def _with_parent(table: Table, joined: Mapping[str, Table], tables: Sequence[Table]) -> Table:
    """Return a child table with the cells of the rows that hold its rows, by the names of their tables and columns."""
    link = table.parent
    parent = joined.get(link.table) if link else None
    if link is None or parent is None:
        return table
    own = next(each for each in tables if each.name == parent.name).columns
    others = [name for name in parent.columns if name != link.key][:_MAX_INHERITED]
    names = {name: f"{parent.name}.{name}" if name in own else name for name in others}
    by_key = {row.get(link.key): row for row in parent.rows}
    rows = []
    for row in table.rows:
        above = by_key.get(row.get(link.column), {})
        rows.append({**{new: above[name] for name, new in names.items() if name in above}, **row})
    return replace(table, columns=tuple(dict.fromkeys((link.column, *names.values(), *table.columns))), rows=rows)


def _naming_parents(joined: Table, inherited: frozenset[str], named: Sequence[NamedRows]) -> Table:
    """Return a child table with those cells of its parents that say which rows they are, or that are asked for."""
    asked = inherited.intersection(*(each.columns for each in named[:1]))
    above = replace(joined, columns=tuple(name for name in joined.columns if name in inherited))
    names = above.naming("")
    if joined.parent and joined.parent.key != "_row":
        names = tuple(name for name in names if name.endswith(("name", "title")))
    kept = {*asked, *names}
    shown = tuple(name for name in joined.columns if name not in inherited or name in kept)
    rows = [{name: row[name] for name in shown if name in row} for row in joined.rows]
    return _without_repeated(replace(joined, columns=shown, rows=rows))


def _without_repeated(table: Table) -> Table:
    """Return a table without the maps and arrays in its cells whose content is shown in columns of its own."""
    if not table.repeated:
        return table
    return replace(table, columns=table.own_columns, rows=list(map(table.own_cells, table.rows)))
