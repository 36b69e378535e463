"""Finds the grids in a text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Final

from accp_core.documents.document import BYTE_ORDER_MARK, Value
from accp_core.documents.grids.access_log import ACCESS_LOG
from accp_core.documents.grids.columns import COLUMNS
from accp_core.documents.grids.delimited import DELIMITED
from accp_core.documents.grids.frame import LineForm, Lines
from accp_core.documents.grids.html_tables import HTML_TABLE, read_tables
from accp_core.documents.grids.logfmt import LOGFMT
from accp_core.documents.grids.records import RECORDS
from accp_core.documents.grids.ruled import RULED

__all__ = ["GRIDS", "grids_in"]

_ANYWHERE: Final = (RULED, RECORDS, LOGFMT, ACCESS_LOG)
_AT_STARTS: Final = (DELIMITED, COLUMNS)
"""Those that begin a paragraph, but for one line before them: a title, a command."""
GRIDS: Final[tuple[LineForm, ...]] = (*_ANYWHERE, *_AT_STARTS, HTML_TABLE)
"""The forms of grids."""
_SIGNS: Final = frozenset("-|:─+┌╭┏╔╒")
"""How one of the first two lines of the others begins."""


def grids_in(source: str) -> list[Value]:
    """Return the grids in a text, each with the lines that it takes; no line is read more than a few times."""
    return read_tables(source) or (list(_find(source)) if "\n" in source else [])


def _find(source: str) -> Iterator[Value]:
    lines = source.split("\n")
    first = len(BYTE_ORDER_MARK) if source.startswith(BYTE_ORDER_MARK) else 0
    lines[0] = lines[0][first:]
    starts: list[int] = []
    at = paragraph = 0
    while at < len(lines) - 1:
        line = lines[at]
        if not line or line.isspace():
            at += 1
            paragraph = at
            continue
        if at - paragraph > 1 and line[0] not in _SIGNS and lines[at + 1][:1] not in _SIGNS:
            at += 1
            continue
        for form in (*_ANYWHERE, *_AT_STARTS) if at - paragraph < 2 else _ANYWHERE:
            found = form.read_lines(Lines(lines, at), at)
            if found is not None:
                rows, end = found
                starts = starts or list(accumulate((len(line) + 1 for line in lines), initial=first))
                last = starts[end] - 1 - lines[end - 1].endswith("\r")
                yield Value(starts[at], last, rows, form, source[starts[at] : last])
                at = paragraph = end
                break
        else:
            at += 1
