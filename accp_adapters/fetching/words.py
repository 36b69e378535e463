"""The rows or lines of stored texts that contain words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, Final

from accp_adapters.fetching.budget import WorkBudget
from accp_adapters.fetching.opening import LongText
from accp_adapters.fetching.page import Room, cut_row, lines_around, numbered_line
from accp_adapters.fetching.request import too_much
from accp_adapters.fetching.source_text import shown_source
from accp_core.documents.json_styles import write_styled_json
from accp_core.tables import OpenedText, Row, Table

__all__ = ["answer_words", "has_phrase"]

_MAX_COLUMNS: Final = 30
"""Columns of a row that is shown whole; of a wider row only the cells that contain the words are."""
_MAX_LINE: Final = 400
"""Characters of a line or a cell that is shown whole."""
_BEFORE: Final = 100
"""Characters of a longer one that are shown before each of the words."""
_BEHIND: Final = 200
"""Characters that are shown from the beginning of each of the words on."""
_MAX_PLACES: Final = 20
"""Places of the words in one line or cell that are shown, about."""
_MAX_WORDS: Final = 100
"""Words that each row is searched for."""
_MAX_STEPS: Final = 500_000_000
"""Work of a search, counted as that of a query; all cells of a row are looked through."""
_ROW_STEPS: Final = 50


class _Search:
    """A search for the rows that have the most of some words, those before all others that have them as they stand."""

    def __init__(self, words: str) -> None:
        reason = f"expected a search of at most {_MAX_STEPS:,} steps, it was stopped; use SELECT"
        self._budget = WorkBudget(_MAX_STEPS, reason)
        self.phrase: Final = words.strip("\"'").casefold()
        self.words: Final = list(dict.fromkeys(word.strip("\"'").casefold() for word in words.split()))
        self._looked_for = self.words if self.words != [self.phrase] and len(self.words) <= _MAX_WORDS else []
        self.rows_with: Final = (Counter[str](), Counter[str]())
        """How many rows of tables, and how many lines, have each word."""
        self.searched: Final = [0, 0]
        """How many rows of tables, and how many lines, were searched."""
        self.most = 0
        """How many of the words the rows that were found have; one more where they have them as they stand."""
        self.found: Final[list[tuple[Table, int]]] = []
        """The tables and the places of the rows that were found."""
        self.parents: Final[dict[str, Table]] = {}
        """The tables whose rows hold those of others, by the names of these."""

    @property
    def has_phrase(self) -> bool:
        """Whether the rows that were found have the words as they stand."""
        return self.most > len(self.words)

    @property
    def of_lines(self) -> bool:
        """Whether all that was found is lines."""
        return all(table.holds_lines for table, _ in self.found)

    def words_in(self, text: str) -> list[str]:
        """Return those of the words that a text has; all and one more where it has them as they stand."""
        self._budget.spend(_ROW_STEPS)
        self._budget.look_at((2 + len(self._looked_for)) * len(text))
        folded = text.casefold()
        if self.phrase in folded:
            return [*self.words, self.phrase]
        return [word for word in self._looked_for if word in folded]

    def look_through(self, opened: Sequence[OpenedText]) -> None:
        """Find the rows; the lines around a JSON document only where they have more of the words than its tables."""
        for each in opened:
            found = len(self.found)
            tables = {table.name: table for table in each.tables()}
            for table in tables.values():
                if table.parent:
                    self.parents[table.name] = tables[table.parent.table]
                self._add(table, self._texts_of(each, table), is_beside=table.holds_lines and len(self.found) > found)

    def _texts_of(self, opened: OpenedText, table: Table) -> Iterable[tuple[int, str]]:
        """Return the places and the texts of rows; of a long text of those alone that have one of the words."""
        if isinstance(opened, LongText):
            return ((at, table.rows[at]["text"]) for at in opened.numbers_with(self._looked_for or [self.phrase]))
        return enumerate(_texts(table))

    def _add(self, table: Table, texts: Iterable[tuple[int, str]], *, is_beside: bool) -> None:
        """Add the rows of a table that have the most of the words."""
        kind = int(table.holds_lines)
        self.searched[kind] += len(table.rows)
        least = max(self.most + is_beside, 1)
        for number, text in texts:
            words = self.words_in(text)
            self.rows_with[kind].update(words)
            if len(words) > self.most and len(words) >= least:
                self.most = least = len(words)
                self.found.clear()
            if len(words) == least:
                self.found.append((table, number))

    def shown(self, cell: Any) -> Any:
        """Return a cell as it is shown: of one with a long text what is around the words, or its beginning."""
        text = _text(cell)
        return cell if len(text) <= _MAX_LINE else self._around(text)

    def _around(self, text: str) -> str:
        words, parts, end = [self.phrase] if self.has_phrase else self.words, [], 0
        # As many places of each word: a rare one behind many of another is shown, too.
        each = 1 + _MAX_PLACES // len(words)
        found = (islice(re.finditer(re.escape(word), text, re.IGNORECASE), each) for word in words)
        for at in sorted(hit.start() for hit in chain.from_iterable(found)) or [0]:
            if at >= end:
                parts.append(text[max(end, at - _BEFORE) : at + _BEHIND])
                end = at + _BEHIND
        return f"{'…' * (not text.startswith(parts[0]))}{'…'.join(parts)}{'…' * (end < len(text))}"


def has_phrase(words: str, opened: Sequence[OpenedText]) -> bool:
    """Return whether a line or a cell contains `words` as they stand, without regard to case."""
    search = _Search(words)
    whole = len(search.words) + 1
    return any(
        len(search.words_in(text)) == whole for each in opened for table in each.tables() for text in _texts(table)
    )


def answer_words(words: str, opened: Sequence[OpenedText], room: Room) -> str | None:
    """Return the rows and lines that contain `words` as they stand, else those that contain the most of them.

    None: no row or line contains any.

    Raises:
        ProtocolError: E1004, the offset is behind the last one; E2003, there are too many words, or too much work.
    """
    search = _Search(words)
    search.look_through(opened)
    if not search.has_phrase and len(search.words) > _MAX_WORDS:
        raise too_much(f"expected words that stand together, or at most {_MAX_WORDS} words, found {len(search.words)}")
    if not search.found:
        return None
    before = "" if search.most >= len(search.words) else _missing(search)
    return before + (_line_page if search.of_lines else _row_page)(search, room.below(before))


def _missing(search: _Search) -> str:
    """Return the line that says that no row has all of the words, and how many have each."""
    unit, rows_with = ("lines" if search.of_lines else "rows"), search.rows_with[search.of_lines]
    each = ", ".join(f"{word} {rows_with[word]:,}" for word in search.words)
    total = f"0 of {search.searched[search.of_lines]:,} {unit} have all {len(search.words)} words"
    return f"{total} ({each}); with {search.most}:\n"


def _row_page(search: _Search, room: Room) -> str:
    parents = {name: _names_of(parent, name, search) for name, parent in search.parents.items()}

    def shown(count: int) -> Iterator[tuple[str, dict[str, Any]]]:
        for table, number in islice(search.found, room.request.offset, room.request.offset + count):
            row = table.rows[number]
            above = parents[table.name].get(row[table.parent.column], {}) if table.parent else {}
            yield table.name, _shown(table.own_cells(row), search) | above

    def page(count: int) -> str:
        by_table: dict[str, list[Any]] = {}
        for name, row in shown(count):
            by_table.setdefault(name, []).append(row)
        text = room.view(by_table)
        return text and shown_source(text, room.note("rows", count, len(search.found)))

    if largest := room.largest(page, room.remaining("rows", len(search.found))):
        return largest
    note = room.note("rows", 1, len(search.found)) or "\n… row 0 of 1"
    ((_, row),) = shown(1)
    return cut_row(row, f"{note}; this row is cut: use SELECT with fewer columns", room)


def _line_page(search: _Search, room: Room) -> str:
    """Return a page of lines with the words, few of them with their neighbours."""
    hits = search.found
    around = lines_around(len(hits))

    def page(count: int) -> str:
        text = "".join(_lines(hits[room.request.offset : room.request.offset + count], around, search))
        return shown_source(text, room.note("rows", count, len(hits), text))

    remaining = room.remaining("rows", len(hits))
    return room.largest(page, remaining) or page(min(remaining, 1))


def _lines(hits: Sequence[tuple[Table, int]], around: int, search: _Search) -> Iterator[str]:
    """Yield the lines with their numbers."""
    by_table: dict[int, tuple[Table, set[int]]] = {}
    for table, number in hits:
        by_table.setdefault(id(table), (table, set()))[1].add(number)
    for table, numbers in by_table.values():
        near = {each for number in numbers for each in range(number - around, number + around + 1)}
        for number in sorted(each for each in near if 0 <= each < len(table.rows)):
            row, is_found = table.rows[number], number in numbers
            yield numbered_line(row["n"], search.shown(row["text"]) if is_found else row["text"], is_found=is_found)


def _names_of(parent: Table, child: str, search: _Search) -> dict[Any, dict[str, Any]]:
    """Return by its key what names each row that holds rows of a child table: `{7: {"orders.title": "Lamp"}}`."""
    link = next((table.parent for table, _ in search.found if table.name == child), None)
    if link is None:
        return {}
    names = parent.naming(link.key)
    return {row[link.key]: {f"{parent.name}.{name}": row[name] for name in names if name in row} for row in parent.rows}


def _shown(row: Row, search: _Search) -> dict[str, Any]:
    cells = row.items()
    if len(row) > _MAX_COLUMNS:
        cells = {name: cell for name, cell in cells if search.words_in(_text(cell))}.items() or cells
    return {name: search.shown(cell) for name, cell in cells}


def _texts(table: Table) -> Iterator[str]:
    """Yield the text of each row, of a line without its number."""
    if table.holds_lines:
        return (row["text"] for row in table.rows)
    return ("\n".join(map(_text, table.own_cells(row).values())) for row in table.rows)


def _text(cell: Any) -> str:
    return cell if isinstance(cell, str) else write_styled_json(cell, "0u")
