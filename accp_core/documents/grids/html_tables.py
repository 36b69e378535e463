"""A form: the tables of a web page, which are rows for queries; the page itself stays as it is.

The names of the columns are the cells of the rows that begin a table and have nothing but `th`, those of several such
rows joined. A cell is its text without markup; one of several columns or rows stands in each of them.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from typing import Final

from accp_core.documents.document import Value
from accp_core.documents.grids.cells import Rows, distinct_names, rows_of
from accp_core.documents.grids.frame import LineForm

__all__ = ["HTML_TABLE", "read_tables"]

_MAX_SPAN: Final = 1_000
"""Columns or rows of one cell."""
_MAX_COPIES: Final = 8
"""Cells of a table for each one that is written."""
_MIN_ROWS: Final = 2
_TAG: Final = re.compile(
    r"(?:</t[dh]>\s*+)?<(?:(/?)(table|tr)|(t[dh])|(script|style|template))\b([^<>]*+)>|<(!--)",
    re.IGNORECASE,
)
_BREAK: Final = re.compile(r"<br\b[^<>]*+>", re.IGNORECASE)
_MARKUP: Final = re.compile(r"</?[a-zA-Z][^<>]*+>")
_SPAN: Final = re.compile(r"""(?i:\b(col|row)span\s*=\s*["']?([0-9]{1,6}))""")


def read_tables(source: str) -> list[Value]:
    """Return the tables of a text that begins like a page; no character is read more than a few times."""
    if not source.lstrip().startswith("<") or ("<t" not in source and "<T" not in source):
        return []
    return _Page(source).tables()


@dataclass(slots=True)
class _Cell:
    is_header: bool
    columns: int
    rows: int
    parts: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Table:
    start: int
    rows: list[list[_Cell]] = field(default_factory=list)
    is_in_cell: bool = False


class _Page:
    """One walk through the tags of a page."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.open: list[_Table] = []
        self.found: list[Value] = []

    def tables(self) -> list[Value]:
        """Return the tables that are whole, those within the cell of another one in place of that."""
        at = 0
        while tag := _TAG.search(self.source, at):
            self._add_text(at, tag.start())
            at = tag.end()
            if tag[6] or tag[4]:
                # What ends a script is taken from a cell as other markup is.
                end = self.source.find("-->" if tag[6] else f"</{tag[4]}", at)
                at = len(self.source) if end < 0 else end + 3 * bool(tag[6])
            elif tag[3]:
                self._begin_cell(tag)
            else:
                self._take(tag)
        return self.found

    def _add_text(self, start: int, end: int) -> None:
        if self.open and self.open[-1].is_in_cell and start < end:
            self.open[-1].rows[-1][-1].parts.append(self.source[start:end])

    def _take(self, tag: re.Match[str]) -> None:
        if len(tag[2]) > len("tr"):
            if not tag[1]:
                self.open.append(_Table(tag.start(1) - 1))
            elif self.open:
                self._close(self.open.pop(), tag.end())
        elif self.open:
            self.open[-1].is_in_cell = False
            if not tag[1]:
                self.open[-1].rows.append([])

    def _begin_cell(self, tag: re.Match[str]) -> None:
        table = self.open[-1] if self.open else None
        if table is None or not table.rows:
            return
        table.is_in_cell = True
        spans = (
            {kind.lower(): min(int(count), _MAX_SPAN) or 1 for kind, count in _SPAN.findall(tag[5])} if tag[5] else {}
        )
        table.rows[-1].append(_Cell(tag[3] in ("th", "TH"), spans.get("col", 1), spans.get("row", 1)))

    def _close(self, table: _Table, end: int) -> None:
        rows = _rows_of_table([row for row in table.rows if row])
        # A table that holds another one lays out a page.
        if rows is not None and (not self.found or self.found[-1].start < table.start):
            self.found.append(Value(table.start, end, rows, HTML_TABLE, self.source[table.start : end]))


def _rows_of_table(rows: list[list[_Cell]]) -> Rows | None:
    """Return a map for each row; None: there are no two rows of two columns, or too many copies."""
    headers = 0
    while headers < len(rows) and all(cell.is_header for cell in rows[headers]):
        headers += 1
    texts = _spread(rows)
    if texts is None or len(texts) - headers < _MIN_ROWS or max(map(len, texts)) < 2:
        return None
    size = max(map(len, texts))
    header = [
        " ".join(dict.fromkeys(row[column] for row in texts[:headers] if column < len(row) and row[column]))
        for column in range(size)
    ]
    return rows_of(distinct_names(header, size), texts[headers:])


def _spread(rows: list[list[_Cell]]) -> list[list[str]] | None:
    """Return the texts of the cells, those of several columns or rows in each of them; None: they are too many."""
    most, size = _MAX_COPIES * sum(map(len, rows)) + _MAX_SPAN, 0
    below: dict[int, tuple[int, str]] = {}
    spread: list[list[str]] = []
    for row in rows:
        texts: list[str] = []
        for cell in row:
            _take_from_above(texts, below)
            text = _text("".join(cell.parts))
            for _ in range(cell.columns):
                if cell.rows > 1:
                    below[len(texts)] = cell.rows - 1, text
                texts.append(text)
            if size + len(texts) > most:
                return None
        _take_from_above(texts, below)
        size += len(texts)
        spread.append(texts)
    return spread


def _text(markup: str) -> str:
    if "<" in markup:
        markup = _MARKUP.sub("", _BREAK.sub(" ", markup))
    return " ".join(html.unescape(markup).split())


def _take_from_above(texts: list[str], below: dict[int, tuple[int, str]]) -> None:
    """Add the cells of earlier rows that span this row."""
    while len(texts) in below:
        rows, text = below.pop(len(texts))
        if rows > 1:
            below[len(texts)] = rows - 1, text
        texts.append(text)


HTML_TABLE: Final = LineForm("h", "<", lambda lines, at: None)
