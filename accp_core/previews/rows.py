"""Which rows of a table a preview shows, and how."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from accp_core.previews.asked.named_rows import NamedRows
from accp_core.previews.asked.request import Request
from accp_core.previews.candidates import MAX_RATED
from accp_core.previews.column_facts import ColumnFacts
from accp_core.previews.excerpt import Excerpt
from accp_core.previews.fit import share
from accp_core.previews.marks import Marks
from accp_core.previews.words import find_words
from accp_core.strict_json import compact_json
from accp_core.tables import Table

__all__ = ["RankedRows"]

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
_SAMPLE: Final = 20
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
        sample = [self._row(number) for number in self._ranked[: self.asked if self.asked >= _MIN_ROWS else _SAMPLE]]
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
    letters = sum(map(str.isalpha, "".join(cells[:_SAMPLE])))
    is_text = letters > _LETTERS * sum(map(len, cells[:_SAMPLE]))
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
