"""The rows or lines of stored texts that contain words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from accp_adapters.fetching.deadline import Deadline
from accp_adapters.fetching.page import cut_row, largest_page, note_part, remaining_rows, text_page, view_of
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
"""Characters of a line that is shown whole."""
_BEFORE: Final = 100
"""Characters of a long line that are shown before the words."""
_MAX_WORDS: Final = 100
"""Words that each row is searched for."""
_MAX_SECONDS: Final = 10.0
"""Time of a search; a row of a table takes longer than in a query, since all of its cells are looked through."""

_Matches = Callable[[str], bool]


class _Hits(NamedTuple):
    """The rows of a table that contain the words."""

    table: Table
    numbers: Sequence[int]


def has_phrase(words: str, opened: Sequence[OpenedText]) -> bool:
    """Return whether a line or a cell contains `words` as they stand, without regard to case."""
    matches = _phrase(words, _deadline())
    return any(next(_matching(table, matches), None) is not None for each in opened for table in each.tables())


def answer_words(
    words: str, opened: Sequence[OpenedText], request: FetchRequest, limit: int, counter: TokenCounter
) -> str | None:
    """Return the rows and lines that contain `words` as they stand, else those that contain each of them.

    None: no row or line does.

    Raises:
        ProtocolError: E1004, the offset is behind the last one; E2003, there are too many words, or it takes too long.
    """
    deadline = _deadline()
    for search in (_phrase, *((_each_of,) if len(words.split()) > 1 else ())):
        matches = search(words, deadline)
        found = list(_find(opened, matches))
        if found and all(hits.table.holds_lines for hits in found):
            lines = [_line(hits.table.rows[number], words) for hits in found for number in hits.numbers]
            return text_page("rows", lines, request, limit, counter)
        if found:
            return _page(found, matches, request, limit, counter)
    return None


def _find(opened: Sequence[OpenedText], matches: _Matches) -> Iterator[_Hits]:
    """Yield the rows that match; the lines around a JSON document only where its tables have none."""
    for each in opened:
        found = False
        for table in each.tables():
            numbers = [] if found and table.holds_lines else list(_matching(table, matches))
            if numbers:
                found = True
                yield _Hits(table, numbers)


def _matching(table: Table, matches: _Matches) -> Iterator[int]:
    """Yield the numbers of the rows that match, a line by its text alone."""
    if table.holds_lines:
        return (number for number, row in enumerate(table.rows) if matches(row["text"]))
    return (number for number, row in enumerate(table.rows) if matches("\n".join(map(_text, row.values()))))


def _page(found: Sequence[_Hits], matches: _Matches, request: FetchRequest, limit: int, counter: TokenCounter) -> str:
    total = sum(len(hits.numbers) for hits in found)

    def shown(count: int) -> Iterator[tuple[str, dict[str, Any]]]:
        rows = ((hits.table.name, hits.table.rows[number]) for hits in found for number in hits.numbers)
        for name, row in islice(rows, request.offset, request.offset + count):
            yield name, _shown(row, matches)

    def page(count: int) -> str:
        by_table: dict[str, list[Any]] = {}
        for name, row in shown(count):
            by_table.setdefault(name, []).append(row)
        text = view_of(by_table, limit, counter)
        return text and shown_source(text, note_part("rows", request.offset, count, total))

    remaining = remaining_rows("rows", request, total)
    largest = largest_page(page, remaining, limit, counter)
    if largest:
        return largest
    note = note_part("rows", request.offset, 1, total) or "\n… row 0 of 1"
    ((_, row),) = shown(1)
    return cut_row(row, f"{note}; this row is cut: use SELECT with fewer columns", limit, counter)


def _shown(row: Row, matches: _Matches) -> dict[str, Any]:
    if len(row) <= _MAX_COLUMNS:
        return dict(row)
    return {name: cell for name, cell in row.items() if matches(_text(cell))} or dict(row)


def _text(cell: Any) -> str:
    return cell if isinstance(cell, str) else write_styled_json(cell, "0u")


def _deadline() -> Deadline:
    return Deadline(_MAX_SECONDS, f"expected a search of at most {_MAX_SECONDS:g} seconds, it was stopped; use SELECT")


def _phrase(words: str, deadline: Deadline) -> _Matches:
    return _all_in([words.strip("\"'").casefold()], deadline)


def _each_of(words: str, deadline: Deadline) -> _Matches:
    wanted = list(dict.fromkeys(word.strip("\"'").casefold() for word in words.split()))
    if len(wanted) > _MAX_WORDS:
        reason = f"expected words that stand together, or at most {_MAX_WORDS} words, found {len(wanted)}"
        raise ProtocolError(reason, code=ErrorCode.BUDGET_EXCEEDED)
    return _all_in(wanted, deadline)


def _all_in(wanted: Sequence[str], deadline: Deadline) -> _Matches:
    def matches(text: str) -> bool:
        deadline.check()
        folded = deadline.in_pieces(str.casefold, text)
        return all(word in folded for word in wanted)

    return matches


def _line(row: Row, words: str) -> str:
    """Return a line with its number, of a long line the part around the words."""
    number, line = row["n"], row["text"]
    if len(line) <= _MAX_LINE:
        return f"{number}: {line}\n"
    at = max(0, line.casefold().find(words.casefold()))
    start = max(0, at - _BEFORE)
    end = start + _MAX_LINE - _BEFORE
    return f"{number}: {'…' * (start > 0)}{line[start:end]}{'…' * (end < len(line))}\n"
