"""The rows or lines of stored texts that contain words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from accp_adapters.fetching.page import cut_row, largest_page, line_page, note_part, remaining_rows, view_of
from accp_adapters.fetching.request import FetchRequest
from accp_adapters.fetching.source_text import shown_source
from accp_core.packing.embedded_json import write_styled_json
from accp_core.ports import TokenCounter
from accp_core.tables import MAX_LINE, OpenedText, Table

__all__ = ["answer_words", "has_phrase"]

_MAX_COLUMNS: Final = 30
"""Columns of a row that is shown whole; of a wider row only the cells that contain the words are."""
_BEFORE: Final = 100
"""Characters of a long line that are shown before the words."""

_Matches = Callable[[str], bool]


class _Hit(NamedTuple):
    """A row that contains the words."""

    table: Table
    row: dict[str, Any]


def has_phrase(words: str, opened: Sequence[OpenedText]) -> bool:
    """Return whether a line or a cell contains `words` as they stand, without regard to case."""
    return next(_hits(opened, _phrase(words)), None) is not None


def answer_words(
    words: str, opened: Sequence[OpenedText], request: FetchRequest, limit: int, counter: TokenCounter
) -> str | None:
    """Return the rows and lines that contain `words` as they stand, else those that contain each of them.

    None: no row or line does.

    Raises:
        ProtocolError: E1004, the offset is behind the last one.
    """
    hits = list(_hits(opened, _phrase(words))) or list(_hits(opened, _each_of(words)))
    if not hits:
        return None
    if all(hit.table.name == "lines" for hit in hits):
        lines = [_line(hit.row["n"], hit.row["text"], words) for hit in hits]
        return line_page("".join(lines), request, limit, counter)
    return _page(hits, request, limit, counter)


def _page(hits: Sequence[_Hit], request: FetchRequest, limit: int, counter: TokenCounter) -> str:
    names = list(dict.fromkeys(hit.table.name for hit in hits))

    def page(count: int) -> str:
        shown = hits[request.offset : request.offset + count]
        by_table = {name: [hit.row for hit in shown if hit.table.name == name] for name in names}
        text = view_of({name: rows for name, rows in by_table.items() if rows}, limit, counter)
        return text and shown_source(text, note_part("rows", request.offset, count, len(hits)))

    remaining = remaining_rows("rows", request, len(hits))
    shown = largest_page(page, remaining, limit, counter)
    if shown:
        return shown
    note = note_part("rows", request.offset, 1, len(hits)) or "\n… row 0 of 1"
    return cut_row(hits[request.offset].row, f"{note}; this row is cut: use SELECT with fewer columns", limit, counter)


def _hits(opened: Sequence[OpenedText], matches: _Matches) -> Iterator[_Hit]:
    """Yield the rows that match; the lines around a JSON document only where its tables have none."""
    for each in opened:
        found = False
        for table in each.tables():
            if table.name == "lines" and found:
                break
            for row in table.rows:
                texts = {name: _text(cell) for name, cell in row.items()}
                if matches("\n".join(texts.values())):
                    found = True
                    yield _Hit(table, _shown(row, texts, matches))


def _shown(row: Any, texts: dict[str, str], matches: _Matches) -> dict[str, Any]:
    if len(texts) <= _MAX_COLUMNS:
        return dict(row)
    return {name: row[name] for name, text in texts.items() if matches(text)} or dict(row)


def _text(cell: Any) -> str:
    return cell if isinstance(cell, str) else write_styled_json(cell, "0u")


def _phrase(words: str) -> _Matches:
    wanted = words.strip("\"'").casefold()
    return lambda text: wanted in text.casefold()


def _each_of(words: str) -> _Matches:
    wanted = [word.strip("\"'").casefold() for word in words.split()]
    return lambda text: all(word in text.casefold() for word in wanted)


def _line(offset: int, line: str, words: str) -> str:
    """Return a line with its offset, of a long line the part around the words with the offset of that part."""
    if len(line) <= MAX_LINE:
        return f"{offset}: {line}\n"
    at = max(0, line.casefold().find(words.casefold()))
    start = max(0, at - _BEFORE)
    return f"{offset + at // MAX_LINE}: {'…' if start else ''}{line[start : start + MAX_LINE - _BEFORE]}…\n"
