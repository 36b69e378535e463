"""The preview of tables: what their columns hold, and the rows that are asked for or differ from the others.

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

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, Final

from accp_core.bounded import share
from accp_core.ports import TokenCounter
from accp_core.previews.conditions import NamedRows, find_named_rows
from accp_core.previews.facts import facts_of
from accp_core.previews.marks import Marks
from accp_core.previews.request import Request, find_words
from accp_core.previews.units import MAX_RATED, Excerpt
from accp_core.strict_json import compact_json
from accp_core.tables import MAX_COLUMNS, SampledTables, Table
from accp_core.tables.values import is_left_out
from accp_core.view.notation import write_name
from accp_core.view.render_value import Options, render

__all__ = ["TablePreview"]

_FACTS_SHARE: Final = 0.5
"""The share of a table's room that the facts of its columns may take, or further readings of the request."""
_NAMES_SHARE: Final = 0.65
"""The share that they may take with the names of the other columns."""
_MAX_TABLES: Final = 12
"""Tables that are described; the others are counted."""
_MAX_COLUMNS: Final = 64
"""Columns whose facts are found; the others are named or counted."""
_MAX_INHERITED: Final = 32
"""Columns of its parents that a request may name for the rows of a table."""
_TITLE_CHARS: Final = 40
_ROWS_CHARS: Final = 500
"""Characters of rows that are enough of a table whose rows are short: the others are one query away."""
_MAX_NAMED: Final = 3_000
"""Characters of rows that a request asks for which are enough."""
_LONG_CELL: Final = 100
"""Characters from which a cell is shown as an excerpt."""
_SHORT_CELL: Final = 60
"""Characters of a cell up to which it holds no blob."""
_MAX_CURSOR: Final = 256
"""Characters of a text outside all rows that is shown whatever it looks like."""
_MIN_EXCERPT: Final = 200
"""Characters of a long cell that are shown at least, about."""
_REQUESTED: Final = 4.0
_NAMED: Final = 100.0
"""What rows are worth that have words of the request, and that it asks for."""
_MIN_ROWS: Final = 2
"""Rows that must fit before a row is shown with all its columns."""
_SAMPLE: Final = 20
"""Rows that tell how long the cells of a column are."""
_COUNTED: Final = 2_000
"""Rows that are counted to tell how long all are."""
_MIN_ROOM: Final = 60
"""Characters; in less room no row is shown."""
_EXAMPLE_ROWS: Final = 5
_BRACKETS: Final = frozenset("[]\uff3b\uff3d")
_OPTIONS: Final = Options(repeated_values=False)
"""The first place of a repeated value could be in a row that is not shown."""


class TablePreview:
    """The tables of a value, to be described in any length."""

    def __init__(self, sampled: SampledTables, *, request: Request, marks: Marks, counter: TokenCounter) -> None:
        """Find the facts of the columns and rank the rows of tables."""
        filled = [table for table in sampled.tables if table.rows]
        described = filled[:_MAX_TABLES]
        self._left_out = len(filled) - len(described)
        self.request = request
        self.marks = marks
        self.counter = marks.counting(counter)
        self.totals = sampled.totals
        joined: dict[str, Table] = {}
        inherited: dict[str, frozenset[str]] = {}
        for table in described:
            joined[table.name] = _with_parent(table, joined, inherited)
            inherited[table.name] = frozenset(joined[table.name].columns) - frozenset(table.columns)
        # Of a sample nothing can be counted.
        columns = frozenset(name for table in described for name in table.columns[1:])
        named = {
            name: () if name in sampled.totals else find_named_rows(table, request, inherited[name], others=columns)
            for name, table in joined.items()
        }
        is_sure = any(each.is_sure for found in named.values() for each in found)
        self._tables = []
        for table in described:
            kept = [each for each in named[table.name] if each.is_sure >= is_sure]
            shown = _naming_parents(joined[table.name], inherited[table.name], kept) if kept else table
            shown = _without_repeated(shown)
            self._tables.append(_DescribedTable(table, shown, kept, self))

    @property
    def enough(self) -> float:
        """Characters that are enough: all facts and some rows of each table, and all long texts."""
        return sum(table.enough for table in self._tables)

    @property
    def example(self) -> str:
        """A query of the largest table that works; empty: there is none, or it teaches less than what is asked for.

        It stands in the first line of the preview, so no name in it has a sign that is not printed, or a bracket: it
        could be taken for the end of that line, or for a marker.
        """
        if not self._tables or any(table.is_named for table in self._tables):
            return ""
        table = max(self._tables, key=lambda table: table.size).table
        is_plain = table.name.isprintable() and _BRACKETS.isdisjoint(table.name)
        is_built = len(table.rows) >= _MIN_ROWS and len(table.columns) <= MAX_COLUMNS
        return f'select * from "{table.name}" limit {_EXAMPLE_ROWS}' if is_plain and is_built else ""

    def describe(self, room: float) -> str:
        """Return the names of the tables and all their columns, and the facts that fit in about `room` characters.

        Of several tables, one whose columns do not fit says how many there are.
        """
        text = ""
        for table, own in zip(self._tables, share([table.size for table in self._tables], room), strict=True):
            left = own - _TITLE_CHARS
            told = left * (sum(len(write_name(name)) + 2 for name in table.table.columns) <= left)
            text += f"{table.title(table.describe(told, told))}\n" * (left > 0 and (told > 0 or len(self._tables) > 1))
        return text

    def write(self, room: float) -> str:
        """Return the descriptions and rows of the tables in about `room` characters."""
        rooms = share([table.size for table in self._tables], room)
        parts = [line for table, own in zip(self._tables, rooms, strict=True) for line in table.write(own)]
        if self._left_out:
            parts.append(self.marks.gap(f"{self._left_out} tables"))
        return "\n".join(parts)


class _DescribedTable:
    """One table with the facts of its columns and its rows, those first that the request asks for."""

    def __init__(self, described: Table, table: Table, named: Sequence[NamedRows], shown: TablePreview) -> None:
        self._shown = shown
        self.table = table
        self._named = named
        columns = described.own_columns
        self._facts = {name: facts_of(described, name, shown.marks) for name in columns[:_MAX_COLUMNS]}
        self._further = columns[_MAX_COLUMNS:]
        self._sought = frozenset[str]().union(*(each.columns for each in named))
        key = table.columns[0] if table.columns else ""  # rows such as [] and {} have none
        self._naming = next(iter((*table.naming(key), key)))
        first = _rows_that_come_first(named)
        self._asked = len(named[0].wanted) if named else 0
        self._ranked = _rank(table, [column.rows for column in self._facts.values()], shown.request.words, first)
        self._sized: dict[int, Mapping[str, Any]] = {}
        self._excerpts: dict[tuple[int, str], Excerpt] = {}
        self._rows_size, self._long_size = _sizes(table.rows)
        self._first_size = min(_sizes([table.rows[number] for number in first])[0], _MAX_NAMED) if first else 0
        self.is_named = bool(named)
        """Whether the request asks for some of its rows."""
        self.size = self._rows_size + _TITLE_CHARS
        """Characters of the whole table, about."""

    @property
    def enough(self) -> float:
        """Characters that are enough of the table."""
        facts = sum(len(write_name(name)) + len(column.full) + 4 for name, column in self._facts.items())
        named = sum(len(each.describe(are_shown=True)) for each in self._named) + self._first_size
        return min(self.size, _TITLE_CHARS + facts + _ROWS_CHARS + named + self._long_size)

    def write(self, room: float) -> Iterator[str]:
        """Yield the lines of the table in about `room` characters."""
        left = room - _TITLE_CHARS
        if self.size <= room:
            yield from self._with_rows(self._choose(room), "")
            return
        names = self.describe(0, room * _NAMES_SHARE)
        left -= len(self._describe_named(range(len(self.table.rows)), left))
        # The names of the columns come first, then the rows that are asked for, then facts, then other rows.
        asked = self._choose(left - len(names), most=self._asked) if self._named else {}
        heads = {name: None for row in asked.values() for name in row}
        chars = sum(len(name) + 1 for name in heads) + sum(_size(c) for row in asked.values() for c in row.values())
        facts = self.describe(len(names) + (left - len(names) - chars) * _FACTS_SHARE, room * _NAMES_SHARE)
        rows = self._choose(left - len(facts))
        yield from self._with_rows(rows, facts + self._describe_named(rows, room))

    def _describe_named(self, rows: Container[int], room: float) -> str:
        """Return the lines about the rows that the request names, of which `rows` are shown; those that fit."""
        text = ""
        for named in self._named:
            line = named.describe(are_shown=all(number in rows for number in named.numbers))
            text += f"\n{line}" * (len(text) + len(line) <= room * (_FACTS_SHARE if text else 1))
        return text

    def describe(self, room: float, names_room: float) -> str:
        """Return the names of the columns, how many further ones there are, and the facts that fit in `room`.

        The columns that the request names have all their facts first; then those of few values, which decide more than
        the ends of a range, in few words; then the others; then all that fits.
        """
        columns = list(self._facts)
        names = [f"; {write_name(name)}" for name in (*columns, *self._further)]
        ends = list(accumulate(map(len, names)))
        told = bisect_right(ends, max(names_room, room))
        left = room - (ends[told - 1] if told else 0)
        texts = dict.fromkeys(names[:told], "")
        known = [(text, column, self._facts[column]) for text, column in zip(names[:told], columns, strict=False)]
        named = [(text, facts.full) for text, column, facts in known if self._names(column)]
        known.sort(key=lambda each: (not self._names(each[1]), not each[2].is_counted))
        brief = [(text, facts.brief) for text, _, facts in known]
        full = [(text, facts.full) for text, _, facts in known]
        for name, fact in (*named, *brief, *full):
            added = len(fact) + 2 - len(texts[name])
            if 0 < added <= left:
                texts[name] = f": {fact}"
                left -= added
        gap = f"; {self._shown.marks.gap(f'{len(names) - told:,} columns')}" if told < len(names) else ""
        return "".join(f"{name}{text}" for name, text in texts.items()) + gap

    def _names(self, column: str) -> bool:
        return column in self._sought or bool(self._shown.request.names(column))

    def _with_rows(self, rows: Mapping[int, dict[str, object]], facts: str) -> Iterator[str]:
        asked = frozenset[int]().union(*(each.numbers for each in self._named)) if facts else frozenset()
        first = [row for number, row in rows.items() if number in asked]
        others = [row for number, row in rows.items() if number not in asked]
        yield self.title(facts, f", {len(rows)} shown" if len(rows) < len(self.table.rows) else "")
        if first:
            yield from self._render_apart(first, others)
        elif others:
            yield "other rows:\n" * bool(asked) + self._render(others)

    def title(self, facts: str, shown: str = "") -> str:
        """Return the line of the table: its name, how many rows it has, and the facts of its columns."""
        total = len(self.table.rows)
        count = f"{total:,} row{'s'[: total != 1]}"
        if self.table.name in self._shown.totals:
            count = f"{self._shown.totals[self.table.name]:,} rows, {total:,} of them described"
        link = self.table.parent
        joined = f", {write_name(link.column)} = {write_name(link.table)}.{write_name(link.key)}" if link else ""
        return f"{write_name(self.table.name)}: {count}{shown}{joined}{facts}"

    def _render_apart(self, first: list[dict[str, object]], others: list[dict[str, object]]) -> Iterator[str]:
        """Yield the rows that are asked for, and the others below a line that says so; one header is for both."""
        header, *lines = self._render([*first, *others]).split("\n")
        count = f"[{len(lines)}] "
        if len(lines) == len(first) + len(others) and header.startswith(count):
            parts = [f"[{len(first)}] {header.removeprefix(count)}", *lines[: len(first)]], lines[len(first) :]
        else:
            parts = [self._render(first)], [self._render(others)] if others else []
        yield from parts[0]
        yield from ["other rows:", *parts[1]] if others else []

    def _render(self, rows: list[dict[str, object]]) -> str:
        shown = rows if len(self.table.rows) > 1 else rows[0]
        return render(shown, counter=self._shown.counter, options=_OPTIONS)

    def _choose(self, room: float, most: int | None = None) -> dict[int, dict[str, Any]]:
        """Return rows by their numbers that take about `room` characters, in the order of the table.

        At most so many of those that come first; None: as many as fit.
        """
        columns = self._columns(room) if room >= min(_MIN_ROOM, self._rows_size) else ()
        if not columns and self.table.columns:
            return {}
        chosen: list[int] = []
        left = room - sum(len(name) + 1 for name in columns)
        for number in self._ranked[:most]:
            row = self._row(number)
            size = sum(_size(row[column]) for column in columns if column in row) or 1
            if size > left and chosen:
                break
            chosen.append(number)
            left -= size
        shown = {
            number: {name: self._row(number)[name] for name in columns if name in self._row(number)}
            for number in sorted(chosen)
        }
        places = [(number, name) for number, row in shown.items() for name, cell in row.items() if _is_long(cell)]
        lengths = [len(shown[number][name]) for number, name in places]
        rooms = share(lengths, max(left, 0) + sum(min(length, _MIN_EXCERPT) for length in lengths))
        for (number, name), own in zip(places, rooms, strict=True):
            shown[number][name] = self._abridge(number, name, own)
        return shown

    def _abridge(self, number: int, name: str, room: float) -> str:
        """Return a long cell in about `room` characters."""
        cell = self._row(number)[name]
        if type(cell) is not str:
            return self._shown.marks.gap(f"{'array' if type(cell) is list else 'map'} of {len(cell)}")
        if room >= len(cell):
            return cell
        if (number, name) not in self._excerpts:
            words, marks, most = self._shown.request.words, self._shown.marks, _MIN_EXCERPT // 2
            excerpt = Excerpt(cell, requested=words, marks=marks, max_piece=most, in_line=True)
            self._excerpts[number, name] = excerpt
        return self._excerpts[number, name].write(room)

    def _row(self, number: int) -> Mapping[str, Any]:
        """Return a row with the sizes of the blobs in its cells in their places."""
        if number not in self._sized:
            # A text outside all rows may be a cursor, which the next call needs.
            short = _SHORT_CELL if self.table.path or len(self.table.rows) > 1 else _MAX_CURSOR
            self._sized[number] = {
                column: self._shown.marks.size_blobs(cell) if type(cell) is str and len(cell) > short else cell
                for column, cell in self.table.rows[number].items()
            }
        return self._sized[number]

    def _columns(self, room: float) -> Sequence[str]:
        """Return the columns that are shown: all, or as many as let several rows fit, those that are named first."""
        columns = self.table.columns
        if self._rows_size > room:
            columns = tuple(name for name in columns if name != "_row" and not self._is_constant(name))
        sample = [self._row(number) for number in self._ranked[: self._asked if self._asked >= _MIN_ROWS else _SAMPLE]]
        rows = max(_MIN_ROWS, self._asked)
        shown, left = set(), room
        for name in sorted(columns, key=lambda name: (name != self._naming, not self._names(name))):
            mean = sum(_size(row[name]) for row in sample if name in row) / len(sample)
            # Rows without what is asked of them would say little: rather fewer of them.
            is_asked = name not in self._sought and bool(self._shown.request.names(name))
            least = min(_MIN_ROWS, self._asked or _MIN_ROWS) if is_asked else rows
            if len(name) + 1 + mean * least <= left:
                shown.add(name)
                left -= len(name) + 1 + mean * rows
        return [name for name in columns if name in shown]

    def _is_constant(self, name: str) -> bool:
        return name in self._facts and self._facts[name].is_constant


def _is_long(cell: Any) -> bool:
    return (type(cell) is str and len(cell) > _LONG_CELL) or (type(cell) in (list, dict) and _size(cell) >= _LONG_CELL)


def _rows_that_come_first(named: Sequence[NamedRows]) -> dict[int, float]:
    """Return what the rows are worth that a request asks for."""
    worths: defaultdict[int, float] = defaultdict(float)
    for rank, each in enumerate(named):
        for place, number in enumerate(each.wanted or sorted(each.numbers)[:_EXAMPLE_ROWS]):
            worths[number] += _NAMED / (1 + rank) - place / 100
    return worths


def _rank(
    table: Table, facts: Sequence[Mapping[int, float]], requested: frozenset[str], named: Mapping[int, float]
) -> list[int]:
    """Return the numbers of the rows, those that differ most first, then the others in order."""
    scores = defaultdict(float, {0: 1.0})
    for worths in (named, _matches(table.rows, requested), *facts):
        for number, worth in worths.items():
            scores[number] += worth
    first = sorted(scores, key=lambda number: (-scores[number], number))
    return [*first, *(number for number in range(len(table.rows)) if number not in scores)]


def _matches(rows: Sequence[Mapping[str, Any]], requested: frozenset[str]) -> dict[int, float]:
    """Return how well rows match the words of the request; a word of many rows counts little."""
    holders: dict[str, list[int]] = {word: [] for word in sorted(requested)}
    for number, row in enumerate(rows):
        text = " ".join([str(cell)[:MAX_RATED] for cell in row.values()]).casefold()
        held = [word for word in holders if word in text]
        for word in set(held).intersection(find_words(text)) if held else ():
            holders[word].append(number)
    found: defaultdict[int, float] = defaultdict(float)
    for numbers in holders.values():
        for number in numbers if len(numbers) * 2 <= len(rows) else ():
            found[number] += _REQUESTED / len(numbers)
    return found


def _sizes(rows: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """Return the characters of rows and of the long texts in them; of many rows they are estimated from some."""
    step = -(-len(rows) // _COUNTED)
    cells = [cell for row in rows[::step] for cell in row.values()]
    size = sum(len(cell if type(cell) is str else repr(cell)) + 1 for cell in cells)
    return size * step, step * sum(len(cell) for cell in cells if type(cell) is str and len(cell) > _LONG_CELL)


def _size(cell: Any) -> int:
    """Return about how many characters a cell takes at least."""
    if type(cell) is str:
        return min(len(cell), _MIN_EXCERPT) + 2
    if type(cell) in (list, dict):
        return min(len(compact_json(cell)), _LONG_CELL) + 2
    return len(repr(cell)) + 1


def _with_parent(table: Table, joined: Mapping[str, Table], inherited: Mapping[str, frozenset[str]]) -> Table:
    """Return a child table with the cells of the rows that hold its rows, by the names of their tables and columns."""
    link = table.parent
    parent = joined.get(link.table) if link else None
    if link is None or parent is None:
        return table
    others = [name for name in parent.columns if name != link.key][:_MAX_INHERITED]
    names = {name: name if name in inherited[parent.name] else f"{parent.name}.{name}" for name in others}
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
    kept = {*asked, *above.naming("")}
    shown = tuple(name for name in joined.columns if name not in inherited or name in kept)
    rows = [{name: row[name] for name in shown if name in row} for row in joined.rows]
    return replace(joined, columns=shown, rows=rows)


def _without_repeated(table: Table) -> Table:
    """Return a table without the maps and arrays whose content is shown elsewhere, and columns with nothing else."""
    if not table.repeated:
        return table
    rows = list(map(table.own_cells, table.rows))
    kept = [name for name in table.own_columns if not all(is_left_out(row.get(name)) for row in rows)]
    return replace(table, columns=tuple(kept), rows=rows)
