"""Grids in a text: rows of cells that programs write for people, alone or between other lines.

    delimited    id,name            CSV, TSV, `;`
    ruled        | id | name |      Markdown, psql, MySQL, boxes
    logfmt       level=info took=5  logs of Go and others
    columns      ID    NAME         columns under the words of a header
    markup       <table><tr>        tables of web pages

Each module has a form (`cells.LineForm`). What it takes for the beginning of a grid is strict: prose, code, logs and
lists have the signs of grids, too.

Finds the grids in a text.

Where none begins is found out by one pattern for all forms, as nearly every text has none.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Final

from accp_core.documents.document import BYTE_ORDER_MARK, Value
from accp_core.documents.grids.cells import LineForm, Lines
from accp_core.documents.grids.columns import COLUMNS
from accp_core.documents.grids.lines import DELIMITED, LOGFMT
from accp_core.documents.grids.markup import HTML_TABLE, read_tables
from accp_core.documents.grids.ruled import RULED
from accp_core.lazy_patterns import lazy_pattern

__all__ = ["DRAWN", "GRIDS", "grids_in"]

_ANYWHERE: Final[tuple[LineForm, ...]] = (RULED, LOGFMT)
_AT_STARTS: Final = (*_ANYWHERE, DELIMITED, COLUMNS)
"""The last ones begin a paragraph, but for one line before them: a title, a command."""
GRIDS: Final[tuple[LineForm, ...]] = (*_AT_STARTS, HTML_TABLE)
"""The forms of grids."""
DRAWN: Final = (RULED, COLUMNS)
"""Those that are drawn for people, in which a cell may take several lines."""


def _start_of(forms: Sequence[LineForm]) -> str:
    return "|".join(f"(?:{form.start})" for form in forms)


_START: Final = {form.CODE: re.compile(form.start) for form in GRIDS}
# From the end of a line: a blank line and one that begins a grid below it, or below a title, or a line that does.
_NEXT: Final = lazy_pattern(
    rf"\n(?:(?P<blank>[ \t\r]*+\n)(?![ \t\r]*+\n)(?=(?:[^\n]++\n)?(?:{_start_of(_AT_STARTS)}))"
    rf"|(?={_start_of(_ANYWHERE)}))"
)


def grids_in(source: str) -> list[Value]:
    """Return the grids in a text, each with the lines that it takes; no line is read more than a few times."""
    return read_tables(source) or (list(_find(source)) if "\n" in source else [])


def _find(source: str) -> Iterator[Value]:
    at = len(BYTE_ORDER_MARK) if source.startswith(BYTE_ORDER_MARK) else 0
    text = _Text(source, at)
    is_start = True
    while 0 <= at < len(source):
        if not is_start:
            found = _NEXT.search(source, at - 1)
            if found is None:
                return
            at, is_start = found.end(), found["blank"] is not None
        behind = source.find("\n", at) + 1 or len(source)
        grid = text.grid_at(at, _AT_STARTS if is_start else _ANYWHERE)
        if grid is None and is_start:
            grid = text.grid_at(behind, _AT_STARTS)
        is_start = grid is not None
        if grid is not None:
            yield grid
            behind = source.find("\n", grid.end) + 1 or len(source)
        at = behind


class _Text:
    """A text, whose lines are told apart when the first grid may begin."""

    def __init__(self, source: str, start: int) -> None:
        self.source = source
        self.start = start

    @cached_property
    def lines(self) -> list[str]:
        return self.source[self.start :].split("\n")

    @cached_property
    def starts(self) -> list[int]:
        """The position of each line, and where the last one ends."""
        return list(accumulate((len(line) + 1 for line in self.lines), initial=self.start))

    def grid_at(self, start: int, forms: Sequence[LineForm]) -> Value | None:
        """Return the grid that begins with the line at a position; None: none does."""
        for form in forms:
            if _START[form.CODE].match(self.source, start):
                at = bisect_left(self.starts, start)
                found = form.parse(Lines(self.lines, at), at)
                if found is not None:
                    last = self.starts[found.end] - 1 - self.lines[found.end - 1].endswith("\r")
                    return Value(start, last, found.rows(), form, self.source[start:last])
        return None
