"""The rows or lines of stored texts that contain words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import Any, Final, TypeAlias

from accp_adapters.fetching.page import Room, numbered_line
from accp_adapters.fetching.request import STEP_CHARS, WorkBudget
from accp_core.documents.json_styles import write_styled_json
from accp_core.tables import FIRST_LINE, OpenedText, Row, Table

__all__ = ["WordSearch"]

_MAX_COLUMNS: Final = 30
"""Columns of a row that is shown whole; of a wider row only the cells that contain the words are."""
_MAX_LINE: Final = 400
"""Characters of a line or a cell that is shown whole."""
_BEFORE: Final = 100
"""Characters of a longer one that are shown before each of the words."""
_BEHIND: Final = 200
"""Characters that are shown from the beginning of each of the words on."""
_AROUND, _FEW = 2, 10
"""So many lines are shown before and behind each of those that were found, if they are few."""
_MAX_PLACES: Final = 20
"""Places of the words in one line or cell that are shown, about."""
_IN_QUOTES: Final = re.compile(r"'[^']+'|\"[^\"]+\"")
_MAX_WORDS: Final = 100
"""Words that each row is searched for, the first ones."""
_PIECE: Final = 1_000_000
"""Characters that are looked at together."""
_MAX_STEPS: Final = 24_000_000
"""Work of a search, counted as that of a query; all cells of a row are looked through."""
_ROW_STEPS: Final = 30
_Found: TypeAlias = list[tuple[Table, int]]


class WordSearch:
    """A search for the rows that have the most of some words, wherever these stand; words in quotes are one word.

    Case does not count, nor do quotes and `,;?!` around words. The texts are looked through once, when it is
    first asked for what it found. That raises a ProtocolError: E2003, it takes too much work.
    """

    def __init__(self, words: str, opened: Sequence[OpenedText]) -> None:
        """Begin a search for words in texts."""
        reason = f"expected a search of at most {_MAX_STEPS:,} steps, it was stopped; use SELECT"
        self._budget = WorkBudget(_MAX_STEPS, reason)
        self._opened: Final = opened
        self._phrase: Final = words.strip("\"'").casefold()
        is_quoted = _IN_QUOTES.fullmatch(words) is not None
        each = dict.fromkeys(word.strip("\"',;?!") or word for word in words.casefold().split())
        self._words: Final = [self._phrase] if is_quoted else list(each)[:_MAX_WORDS]
        self._having: Final = Counter[str]()
        """How many lines have each word; of a text without lines, how many rows."""
        self._searched: Final = Counter[str]()
        """How many lines and how many rows that is."""
        self._most = 0
        """How many of the words the rows that were found have."""
        self._is_phrase_found = False

    @property
    def has_phrase(self) -> bool:
        """Whether a line or a cell contains the words as they stand, without regard to case."""
        return bool(self._found) and self._is_phrase_found

    @cached_property
    def _found(self) -> _Found:
        """The tables and the places of the rows that have the most of the words.

        Of the lines that a table holds only those with more of the words than its rows have.
        """
        found: _Found = []
        for each in self._opened:
            before = len(found)
            for table in each.own_tables:
                outside = {at - FIRST_LINE for first, last in each.outside for at in range(first, last + 1)}
                is_beside = table.holds_lines and len(found) > before
                is_counted = table.holds_lines or each.prose is None
                self._look_through(table, found, outside if is_beside else None, is_counted=is_counted)
        return found

    def _look_through(self, table: Table, found: _Found, outside: set[int] | None, *, is_counted: bool) -> None:
        """Look through a table; of lines beside rows, `outside` are those that no row holds."""
        self._searched["lines" if table.holds_lines else "rows"] += len(table.rows) * is_counted
        least = max(self._most + (outside is not None), 1)
        for number, text in enumerate(_texts(table)):
            words = self._words_in(text)
            if words and is_counted:
                self._having.update(words)
            if len(words) > self._most and len(words) >= least:
                self._most = least = len(words)
                found.clear()
            if len(words) == least or (outside and len(words) == self._most and number in outside):
                found.append((table, number))

    def _words_in(self, text: str) -> list[str]:
        """Return those of the words that a text has."""
        self._budget.spend(_ROW_STEPS + (2 + len(self._words)) * len(text) // STEP_CHARS)
        found: set[str] = set()
        for at in range(0, len(text) or 1, _PIECE):
            folded = text[at : at + _PIECE + len(self._phrase)].casefold()
            self._is_phrase_found = self._is_phrase_found or self._phrase in folded
            found.update(word for word in self._words if word in folded)
        return [word for word in self._words if word in found]

    def answer(self, room: Room) -> str | None:
        """Return the rows and lines with the most of the words; None: none has any.

        Raises:
            ProtocolError: E1004, the offset is behind the last one; E2003, there is too much work.
        """
        if not self._found:
            return None
        of_lines = all(table.holds_lines for table, _ in self._found)
        before = "" if self._most == len(self._words) else self._missing()
        room = room.below(before)
        return before + (self._line_page(room) if of_lines else self._row_page(room))

    def _missing(self) -> str:
        """Return the line that says that no row has all of the words, and how many have each."""
        each = ", ".join(f"{word} {self._having[word]:,}" for word in self._words)
        searched = " and ".join(f"{count:,} {kind}" for kind, count in (+self._searched).items())
        return f"0 of {searched} have all {len(self._words)} words ({each}); with {self._most}:\n"

    def _row_page(self, room: Room) -> str:
        offset = room.request.offset

        def rows(count: int) -> dict[str, list[Any]]:
            by_table: dict[str, list[Any]] = {}
            for table, number in self._found[offset : offset + count]:
                by_table.setdefault(table.name, []).append(self._row(table.own_cells(table.rows[number])))
            return by_table

        way = ", cut: use SELECT with fewer columns"
        return room.page("rows", len(self._found), lambda count: room.view(rows(count)), row=lambda: rows(1), way=way)

    def _line_page(self, room: Room) -> str:
        """Return a page of lines with the words, few of them with their neighbours."""
        hits, offset = self._found, room.request.offset
        around = _AROUND * (len(hits) <= _FEW)
        return room.page("rows", len(hits), lambda count: "".join(self._lines(hits[offset : offset + count], around)))

    def _lines(self, hits: Sequence[tuple[Table, int]], around: int) -> Iterator[str]:
        """Yield the lines with their numbers."""
        by_table: dict[int, tuple[Table, set[int]]] = {}
        for table, number in hits:
            by_table.setdefault(id(table), (table, set()))[1].add(number)
        for table, numbers in by_table.values():
            near = {each for number in numbers for each in range(number - around, number + around + 1)}
            for number in sorted(each for each in near if 0 <= each < len(table.rows)):
                row, is_found = table.rows[number], number in numbers
                yield numbered_line(row["n"], self._cell(row["text"]) if is_found else row["text"], is_found=is_found)

    def _row(self, row: Row) -> dict[str, Any]:
        is_whole = len(row) <= _MAX_COLUMNS
        return {name: self._cell(cell) for name, cell in row.items() if is_whole or self._words_in(_text(cell))}

    def _cell(self, cell: Any) -> Any:
        """Return a cell as it is shown: of one with a long text what is around the words, or its beginning."""
        text = _text(cell)
        return cell if len(text) <= _MAX_LINE else self._around(text)

    def _around(self, text: str) -> str:
        words, parts, end = [self._phrase] if self._phrase in text.casefold() else self._words, [], 0
        # As many places of each word: a rare one behind many of another is shown, too.
        each = 1 + _MAX_PLACES // len(words)
        found = (islice(re.finditer(re.escape(word), text, re.IGNORECASE), each) for word in words)
        for at in sorted(hit.start() for hit in chain.from_iterable(found)) or [0]:
            if at >= end:
                parts.append(text[max(end, at - _BEFORE) : at + _BEHIND])
                end = at + _BEHIND
        return f"{'…' * (not text.startswith(parts[0]))}{'…'.join(parts)}{'…' * (end < len(text))}"


def _texts(table: Table) -> Iterator[str]:
    """Yield the text of each row, of a line without its number."""
    if table.holds_lines:
        return (row["text"] for row in table.rows)
    return ("\n".join(map(_text, table.own_cells(row).values())) for row in table.rows)


def _text(cell: Any) -> str:
    return str(cell) if isinstance(cell, str) or type(cell) is int else write_styled_json(cell, "0u")
