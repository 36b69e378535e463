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

import math
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, islice
from types import MappingProxyType
from typing import Any, Final

from accp_core.ports import TokenCounter
from accp_core.previews.conditions import NamedRows, find_named_rows
from accp_core.previews.facts import ColumnFacts, facts_of
from accp_core.previews.marks import Marks
from accp_core.previews.request import Request, find_words
from accp_core.previews.units import MAX_RATED, Excerpt
from accp_core.strict_json import compact_json
from accp_core.tables import MAX_COLUMNS, LineNumbers, Table
from accp_core.view.notation import write_name
from accp_core.view.render_value import Options, render

__all__ = ["RankedRows", "TablePreview", "fill", "query_lines", "query_table", "share"]


# How a preview fills its room: the fullest text within a limit of tokens, and how parts share room.

_TRIES: Final = 5
"""How often a text is written and counted; the number of characters in a token depends on the text."""
_AIM: Final = 0.98
"""The share of the limit that a try aims at."""
_MAX_SHRINK: Final = 0.94
"""The share of the room that is left at most after a text that was too long."""

_STEP: Final = 0.75
"""The share of it that is left after the same text again."""


def fill(write: Callable[[float], str], *, limit: int, token_chars: float, counter: TokenCounter) -> str:
    """Return the text of `write(characters)` that has the most tokens up to `limit`.

    Args:
        write: Returns a text of about so many characters; of 0: the shortest one, which fits.
        limit: Tokens of the text at most.
        token_chars: The mean number of characters in a token, an estimate.
        counter: Counts the tokens of the model.
    """
    fullest = write(0)
    fullest_tokens = counter(fullest)
    room = limit * token_chars
    last = ""
    for _ in range(_TRIES):
        text = write(room)
        tokens = counter(text)
        if fullest_tokens < tokens <= limit:
            fullest, fullest_tokens = text, tokens
        change = _AIM * limit / max(tokens, 1)
        # Texts grow in steps: a little less room may give the same text again, much less does not.
        room *= change if tokens <= limit else min(change, _MAX_SHRINK) * (_STEP if text == last else 1)
        last = text
    return fullest


def share(sizes: Sequence[float], total: float) -> list[float]:
    """Return parts of `total`: the smallest sizes are met first, what they leave goes to the larger ones equally."""
    parts = [0.0] * len(sizes)
    left = total
    for rank, index in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__)):
        parts[index] = left / (len(sizes) - rank)
        left -= min(parts[index], sizes[index])
    return parts


_LONG_CELL: Final = 100
"""Characters from which a cell is shown as an excerpt."""
_SHORT_CELL: Final = 60
"""Characters of a cell up to which it holds no blob."""
_MAX_CURSOR: Final = 256
"""Characters of a text outside all rows that is shown whatever it looks like."""
_MIN_RATED: Final = 2_000
"""Characters of a long cell that are rated at least; all of them share what may be rated of a text."""
_MIN_EXCERPT: Final = 200
"""Characters of a long cell that are shown at least, about."""
_REQUESTED: Final = 4.0
_EDGES: Final = {0: 1.0, 1: 0.3, -1: 0.6}
_MIN_ROWS: Final = 2
"""Rows that must fit before a row is shown with all its columns."""
_LETTERS: Final = 0.6
"""The share of letters from which a text is a name, not a code."""
_SAMPLED_ROWS: Final = 20
"""Rows that tell how long the cells of a column are."""
_COUNTED: Final = 2_000
"""Rows that are counted to tell how long all are."""
_CHUNK: Final = 500
"""Rows in which the words of the request are searched for at once."""
_MAX_NAMED: Final = 3_000
"""Characters of rows that a request asks for which are enough."""
_MAX_NAMED_ROWS: Final = 60
"""Rows that a request asks for up to which all of them come first; of more, the ends of their ranges."""
_DULL: Final = re.compile(r"(?i)(?:url|uri|href|avatar|gravatar|node_?id|_links|etag|hash|checksum)")
"""Columns that few requests need."""
_NAMED: Final = 100.0
_MIN_ROOM: Final = 60
"""Characters; in less room no row is shown."""


class RankedRows:
    """The rows of a table, those first that differ from the others or that the request names."""

    def __init__(
        self,
        table: Table,
        facts: Sequence[ColumnFacts],
        *,
        request: Request,
        marks: Marks,
        named: Sequence[NamedRows] = (),
    ) -> None:
        """Rank the rows of `table`; `named` are those whose values the request names."""
        self._table = table
        self._request = request
        self._marks = marks
        self._first = _rows_that_come_first(named)
        self.asked = len(named[0].wanted) if named else 0
        """Rows that the first reading of the request asks for, which come before all others."""
        self._sought = frozenset[str]().union(*(each.columns for each in named))
        self._naming = _naming(table)
        self.named_size = (
            min(_sizes([table.rows[number] for number in self._first])[0], _MAX_NAMED) if self._first else 0
        )
        """Characters of the named rows that come first, about."""
        self._ranked = _rank(table, facts, request.words, self._first)
        self._sized: dict[int, Mapping[str, Any]] = {}
        self._excerpts: dict[tuple[int, str], Excerpt] = {}
        self._max_rated = MAX_RATED
        sizes, long_sizes = _sizes(table.rows)
        self.size = sizes
        """Characters of all rows, about."""
        self.long_size = long_sizes
        """Characters of the long texts in them, about."""

    def choose(self, room: float, most: int | None = None) -> dict[int, dict[str, Any]]:
        """Return rows by their numbers that take about `room` characters, in the order of the table.

        At most so many of those that come first; None: as many as fit.
        """
        if room < min(_MIN_ROOM, self.size):
            return {}
        columns = self._columns(room)
        chosen: list[int] = []
        left = room - sum(len(name) + 1 for name in columns)
        for number in self._ranked[:most]:
            row = self._row(number)
            size = sum(_size(row[column]) for column in columns if column in row) or 1
            if size > left and chosen:
                break
            chosen.append(number)
            left -= size
        places = [(number, column) for number in chosen for column in columns if self._is_long(number, column)]
        self._max_rated = max(MAX_RATED // max(len(places), 1), _MIN_RATED)
        lengths = [len(self._row(number)[column]) for number, column in places]
        rooms = dict(
            zip(
                places, share(lengths, max(left, 0) + sum(min(length, _MIN_EXCERPT) for length in lengths)), strict=True
            )
        )
        return {number: self._show(number, columns, rooms) for number in sorted(chosen)}

    def chars(self, rows: Mapping[int, Mapping[str, Any]]) -> int:
        """Return about how many characters chosen rows take, with their header."""
        names = {name: None for row in rows.values() for name in row}
        return sum(len(name) + 1 for name in names) + sum(_size(cell) for row in rows.values() for cell in row.values())

    def _row(self, number: int) -> Mapping[str, Any]:
        """Return a row with the sizes of the blobs in its cells in their places."""
        if number not in self._sized:
            row = self._table.rows[number]
            # A text outside all rows may be a cursor, which the next call needs.
            short = _SHORT_CELL if self._table.path or len(self._table.rows) > 1 else _MAX_CURSOR
            self._sized[number] = {
                column: self._marks.size_blobs(cell) if type(cell) is str and len(cell) > short else cell
                for column, cell in row.items()
            }
        return self._sized[number]

    def _columns(self, room: float) -> Sequence[str]:
        """Return the columns that are shown: all, or as many as let several rows fit."""
        columns = self._table.columns
        sample = [
            self._row(number) for number in self._ranked[: self.asked if self.asked >= _MIN_ROWS else _SAMPLED_ROWS]
        ]
        rows = max(_MIN_ROWS, self.asked)
        sizes = {
            name: len(name) + 1 + sum(_size(row[name]) for row in sample if name in row) * rows / len(sample)
            for name in columns
        }
        if sum(sizes.values()) <= room:
            return columns
        shown, left = set(), room
        for name in sorted(columns, key=self._rank_of_column):
            if sizes[name] <= left:
                shown.add(name)
                left -= sizes[name]
        return [name for name in columns if name in shown]

    def _rank_of_column(self, name: str) -> int:
        """Return how late a column is shown where not all are."""
        if name == self._naming[0]:
            return 0
        if name in self._sought or self._request.names(name):
            return 1
        if name == self._table.columns[0] or name in self._naming:
            return 2
        return 4 if _DULL.search(name) else 3

    def _is_long(self, number: int, column: str) -> bool:
        cell = self._row(number).get(column)
        return type(cell) is str and len(cell) > _LONG_CELL

    def _show(self, number: int, columns: Sequence[str], rooms: Mapping[tuple[int, str], float]) -> dict[str, Any]:
        row = self._row(number)
        return {column: self._cell((number, column), row[column], rooms) for column in columns if column in row}

    def _cell(self, place: tuple[int, str], cell: Any, rooms: Mapping[tuple[int, str], float]) -> Any:
        if place in rooms:
            return self._excerpt(*place, cell).write(rooms[place]) if rooms[place] < len(cell) else cell
        if type(cell) in (list, dict) and _size(cell) >= _LONG_CELL:
            return self._marks.gap(f"{'array' if type(cell) is list else 'map'} of {len(cell)}")
        return cell

    def _excerpt(self, number: int, column: str, cell: str) -> Excerpt:
        place = (number, column)
        if place not in self._excerpts:
            self._excerpts[place] = Excerpt(
                cell,
                requested=self._request.words,
                marks=self._marks,
                max_piece=_MIN_EXCERPT // 2,
                in_line=True,
                max_rated=self._max_rated,
            )
        return self._excerpts[place]


def _naming(table: Table) -> Sequence[str]:
    """Return the columns that say which row one is, best first: its name, a text that no other row has, or its key."""
    if not table.columns:  # rows such as [] and {}
        return ()
    first = table.columns[0]
    return (*table.naming(first), *(name for name in table.columns if _is_label(table, name)), first)


def _is_label(table: Table, name: str) -> bool:
    cells = [cell for cell in table.cells(name) if type(cell) is str and 0 < len(cell) <= _LONG_CELL]
    letters = sum(map(str.isalpha, "".join(cells[:_SAMPLED_ROWS])))
    is_text = letters > _LETTERS * sum(map(len, cells[:_SAMPLED_ROWS]))
    return is_text and len(set(cells)) == len(table.rows) and not _DULL.search(name)


def _rows_that_come_first(named: Sequence[NamedRows]) -> dict[int, float]:
    """Return what the rows are worth that a request asks for."""
    worths: dict[int, float] = {}
    for rank, each in enumerate(named):
        for place, number in enumerate(each.wanted):
            worths[number] = worths.get(number, 0.0) + _NAMED / (1 + rank) - place / 100
        if each.first and len(each.numbers) <= _MAX_NAMED_ROWS:
            for number in each.numbers:
                worths[number] = worths.get(number, 0.0) + 1.0
    return worths


def _rank(
    table: Table, facts: Sequence[ColumnFacts], requested: frozenset[str], named: Mapping[int, float]
) -> list[int]:
    """Return the numbers of the rows, those that differ most first, then the others in order."""
    scores: defaultdict[int, float] = defaultdict(float)
    total = len(table.rows)
    edges = {edge % total: worth for edge, worth in _EDGES.items()}
    for worths in (edges, named, _matches(table.rows, requested), *(column.rows for column in facts)):
        for number, worth in worths.items():
            scores[number] += worth
    first = sorted(scores, key=lambda number: (-scores[number], number))
    return [*first, *(number for number in range(total) if number not in scores)]


def _matches(rows: Sequence[Mapping[str, Any]], requested: frozenset[str]) -> dict[int, float]:
    """Return how well rows match the words of the request; a word of many rows counts little."""
    if not requested:
        return {}
    holders: dict[str, list[int]] = {word: [] for word in sorted(requested)}
    for start in range(0, len(rows), _CHUNK):
        texts = [
            " ".join([str(cell)[:MAX_RATED] for cell in row.values()]).casefold()
            for row in rows[start : start + _CHUNK]
        ]
        chunk = "\n".join(texts)
        wanted = [word for word in holders if word in chunk]
        for number, text in enumerate(texts, start):
            held = [word for word in wanted if word in text]
            for word in set(held).intersection(find_words(text)) if held else ():
                holders[word].append(number)
    found: defaultdict[int, float] = defaultdict(float)
    for numbers in holders.values():
        if len(numbers) * 2 <= len(rows):
            for number in numbers:
                found[number] += _REQUESTED / len(numbers)
    return found


def _sizes(rows: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """Return the characters of rows and of the long texts in them; of many rows they are estimated from some."""
    step = -(-len(rows) // _COUNTED)
    size = long_size = 0
    for row in rows[::step]:
        for cell in row.values():
            if type(cell) is str:
                size += len(cell) + 1
                long_size += len(cell) if len(cell) > _LONG_CELL else 0
            else:
                size += len(repr(cell)) + 1
    return size * step, long_size * step


def _size(cell: Any) -> int:
    """Return about how many characters a cell takes at least."""
    if type(cell) is str:
        return min(len(cell), _MIN_EXCERPT) + 2
    if type(cell) in (list, dict):
        return min(len(compact_json(cell)), _LONG_CELL) + 2
    return len(repr(cell)) + 1


# An example of a query that works on a stored value: a preview shows one, because a model follows examples.

_LINES: Final = 20
"""Lines that the example for a text asks for."""
_ROWS: Final = 5
_MIN_QUERIED: Final = 2
_BRACKETS: Final = frozenset("[]\uff3b\uff3d")


def query_table(table: Table, facts: Sequence[ColumnFacts]) -> str:
    """Return a query of `table`: a count by the column that has few values, else its first rows; empty: none works.

    A table of one row has none: it would ask for what is described.

    It stands in the first line of the preview, so no name in it has a sign that is not printed, or a bracket: it could
    be taken for the end of that line, or for a marker.
    """
    if len(table.rows) < _MIN_QUERIED or len(table.columns) > MAX_COLUMNS or not _stands_plainly(table.name):
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


# The preview of a JSON value: which tables it has, what their columns hold, and the rows that differ.

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
