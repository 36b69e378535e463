"""The rows or lines of stored texts that contain words."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, islice
from typing import Any, Final, NamedTuple

from accp_adapters.fetching.budget import WorkBudget
from accp_adapters.fetching.opening import LongText
from accp_adapters.fetching.page import (
    cut_row,
    largest_page,
    lines_around,
    note_few,
    note_part,
    numbered_line,
    remaining_rows,
    view_of,
)
from accp_adapters.fetching.request import FetchRequest
from accp_adapters.fetching.source_text import shown_source
from accp_core.documents.json_styles import write_styled_json
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.ports import TokenCounter
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
"""Places of the words in one line or cell that are shown."""
_MAX_WORDS: Final = 100
"""Words that each row is searched for."""
_MAX_STEPS: Final = 500_000_000
"""Work of a search, counted as that of a query; all cells of a row are looked through."""
_ROW_STEPS: Final = 50


class _Hits(NamedTuple):
    """The rows of a table that contain the words."""

    table: Table
    numbers: Sequence[int]
    parent: Table | None
    """The table whose rows hold these."""


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
        self.found: Final[list[_Hits]] = []

    @property
    def has_phrase(self) -> bool:
        """Whether the rows that were found have the words as they stand."""
        return self.most > len(self.words)

    @property
    def of_lines(self) -> bool:
        """Whether all that was found is lines."""
        return all(hits.table.holds_lines for hits in self.found)

    def words_in(self, text: str) -> list[str]:
        """Return those of the words that a text has; all and one more where it has them as they stand."""
        self._budget.spend(_ROW_STEPS)
        folded = self._budget.in_pieces(str.casefold, text)
        if self._budget.find(folded, self.phrase) >= 0:
            return [*self.words, self.phrase]
        return [word for word in self._looked_for if self._budget.find(folded, word) >= 0]

    def look_through(self, opened: Sequence[OpenedText]) -> None:
        """Find the rows; the lines around a JSON document only where they have more of the words than its tables."""
        for each in opened:
            has_rows = False
            tables = {table.name: table for table in each.tables()}
            for table in tables.values():
                texts = self._texts_of(each, table)
                parent = tables[table.parent.table] if table.parent else None
                has_rows = self._add(table, parent, texts, is_beside=table.holds_lines and has_rows) or has_rows

    def _texts_of(self, opened: OpenedText, table: Table) -> Iterator[tuple[int, str]]:
        """Yield the place and the text of rows; of a long text of those alone that have one of the words."""
        if isinstance(opened, LongText):
            return ((at, table.rows[at]["text"]) for at in opened.numbers_with(self._looked_for or [self.phrase]))
        return enumerate(_texts(table))

    def _add(self, table: Table, parent: Table | None, texts: Iterable[tuple[int, str]], *, is_beside: bool) -> bool:
        """Add the rows of a table that have the most of the words; return whether there are any."""
        kind = int(table.holds_lines)
        self.searched[kind] += len(table.rows)
        numbers: list[int] = []
        least = max(self.most + is_beside, 1)
        for number, text in texts:
            words = self.words_in(text)
            self.rows_with[kind].update(words)
            if len(words) > self.most and len(words) >= least:
                self.most = least = len(words)
                self.found.clear()
                numbers.clear()
            if len(words) == least:
                numbers.append(number)
        if numbers:
            self.found.append(_Hits(table, numbers, parent))
        return bool(numbers)

    def shown(self, cell: Any) -> Any:
        """Return a cell as it is shown: of one with a long text what is around the words, or its beginning."""
        text = _text(cell)
        return cell if len(text) <= _MAX_LINE else self._around(text)

    def _around(self, text: str) -> str:
        at, total = _positions(text, [self.phrase] if self.has_phrase else self.words)
        spans: list[tuple[int, int]] = []
        for place in sorted(at) or [0]:
            start, end = max(0, place - _BEFORE), place + _BEHIND
            if spans and start <= spans[-1][1]:
                start, _ = spans.pop()
            spans.append((start, end))
        parts = "…".join(text[start:end] for start, end in spans)
        more = f" [{total - _MAX_PLACES} more]" if total > _MAX_PLACES else ""
        return f"{'…' * (spans[0][0] > 0)}{parts}{'…' * (spans[-1][1] < len(text))}{more}"


def has_phrase(words: str, opened: Sequence[OpenedText]) -> bool:
    """Return whether a line or a cell contains `words` as they stand, without regard to case."""
    search = _Search(words)
    whole = len(search.words) + 1
    return any(
        len(search.words_in(text)) == whole for each in opened for table in each.tables() for text in _texts(table)
    )


def answer_words(
    words: str, opened: Sequence[OpenedText], request: FetchRequest, limit: int, counter: TokenCounter
) -> str | None:
    """Return the rows and lines that contain `words` as they stand, else those that contain the most of them.

    None: no row or line contains any.

    Raises:
        ProtocolError: E1004, the offset is behind the last one; E2003, there are too many words, or too much work.
    """
    search = _Search(words)
    search.look_through(opened)
    if not search.has_phrase and len(search.words) > _MAX_WORDS:
        reason = f"expected words that stand together, or at most {_MAX_WORDS} words, found {len(search.words)}"
        raise ProtocolError(reason, code=ErrorCode.BUDGET_EXCEEDED)
    if not search.found:
        return None
    before = "" if search.most >= len(search.words) else _missing(search)
    room = max(1, limit - counter(before)) if before else limit
    return before + (_line_page if search.of_lines else _row_page)(search, request, room, counter)


def _missing(search: _Search) -> str:
    """Return the line that says that no row has all of the words, and how many have each."""
    unit, rows_with = ("lines" if search.of_lines else "rows"), search.rows_with[search.of_lines]
    each = ", ".join(f"{word} {rows_with[word]:,}" for word in search.words)
    total = f"0 of {search.searched[search.of_lines]:,} {unit} have all {len(search.words)} words"
    return f"{total} ({each}); with {search.most}:\n"


def _hits(search: _Search) -> list[tuple[Table, int]]:
    return [(hits.table, number) for hits in search.found for number in hits.numbers]


def _row_page(search: _Search, request: FetchRequest, limit: int, counter: TokenCounter) -> str:
    hits = _hits(search)
    few = note_few(request, len(hits), search.searched[search.of_lines])
    parents = {hits.table.name: _parents(hits) for hits in search.found}

    def shown(count: int) -> Iterator[tuple[str, dict[str, Any]]]:
        for table, number in islice(hits, request.offset, request.offset + count):
            row = table.rows[number]
            above = parents[table.name].get(row[table.parent.column], {}) if table.parent else {}
            yield table.name, _shown(table.own_cells(row), search) | above

    def page(count: int) -> str:
        by_table: dict[str, list[Any]] = {}
        for name, row in shown(count):
            by_table.setdefault(name, []).append(row)
        text = view_of(by_table, limit, counter)
        return text and shown_source(text, _note(request, count, len(hits), few))

    remaining = remaining_rows("rows", request, len(hits))
    largest = largest_page(page, remaining, limit, counter, few=few)
    if largest:
        return largest
    note = note_part("rows", request.offset, 1, len(hits)) or "\n… row 0 of 1"
    ((_, row),) = shown(1)
    return cut_row(row, f"{note}; this row is cut: use SELECT with fewer columns", limit, counter)


def _line_page(search: _Search, request: FetchRequest, limit: int, counter: TokenCounter) -> str:
    """Return a page of lines with the words, few of them with their neighbours."""
    hits = _hits(search)
    around = lines_around(len(hits))
    few = note_few(request, len(hits), search.searched[search.of_lines])

    def page(count: int) -> str:
        text = "".join(_lines(hits[request.offset : request.offset + count], around, search))
        return shown_source(text, _note(request, count, len(hits), few, text))

    remaining = remaining_rows("rows", request, len(hits))
    return largest_page(page, remaining, limit, counter, few=few) or page(min(remaining, 1))


def _note(request: FetchRequest, count: int, total: int, few: str, shown: str = "") -> str:
    part = note_part("rows", request.offset, count, total, shown)
    return part and part + few


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


def _parents(hits: _Hits) -> dict[Any, dict[str, Any]]:
    """Return by its key what names each row that holds rows of a child table: `{7: {"orders.title": "Lamp"}}`."""
    link, parent = hits.table.parent, hits.parent
    if link is None or parent is None:
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


def _positions(text: str, words: Sequence[str]) -> tuple[list[int], int]:
    """Return where folded words are in a text, of many those of the rarest words, and how often they are there."""
    folded = text.casefold()
    counts = {word: folded.count(word) for word in words}
    rarest = sorted(counts, key=counts.__getitem__)
    all_found = chain.from_iterable(re.finditer(re.escape(word), folded) for word in rarest)
    at = [found.start() for found in islice(all_found, _MAX_PLACES)]
    return at if len(folded) == len(text) else list(_unfolded(text, sorted(at))), sum(counts.values())


def _unfolded(text: str, places: Sequence[int]) -> Iterator[int]:
    """Yield where in a text the places in its folded form are: folding makes several letters of some, such as ß."""
    waiting, before = deque(places), 0
    for start in range(0, len(text), _MAX_LINE):
        piece = text[start : start + _MAX_LINE]
        ends = list(accumulate(len(letter.casefold()) for letter in piece))
        while waiting and waiting[0] < before + ends[-1]:
            yield start + bisect_left(ends, waiting.popleft() - before + 1)
        before += ends[-1]
