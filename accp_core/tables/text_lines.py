"""The lines of a text, as pages count them and as a table."""

from __future__ import annotations

from itertools import accumulate
from typing import Final

from accp_core.tables.plain_rows import MadeRows
from accp_core.tables.table import LINES, Row, Table

__all__ = ["MAX_LINE", "has_other_ends", "lines_of", "table_of_lines"]

MAX_LINE: Final = 400
"""Characters; a longer line (minified HTML) counts as several, so that it can be shown in pages, too."""

_OTHER_ENDS: Final = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"


def has_other_ends(text: str) -> bool:
    """Return whether `text` has line ends of `str.splitlines` other than line feeds and carriage returns."""
    # A search for one character takes a fortieth of one for any of them.
    return any(end in text for end in _OTHER_ENDS)


def lines_of(text: str) -> list[str]:
    """Return the lines of `text` with their ends; one of more than 400 characters counts as several."""
    lines = text.splitlines(keepends=True)
    return [line[start : start + MAX_LINE] for line in lines for start in range(0, len(line), MAX_LINE)]


def table_of_lines(text: str) -> Table:
    """Return the table `lines(n, text)`: the offset at which `lines_of` has a line, and the whole line without its end.

    Long lines are whole here, so that words are found across their parts.
    """
    lines = text.splitlines(keepends=True)
    offsets = list(accumulate((-(-length // MAX_LINE) for length in map(len, lines)), initial=0))

    def row(at: int) -> Row:
        return {"n": offsets[at], "text": lines[at].rstrip("\r\n")}

    return Table(name=LINES, path=(), columns=("n", "text"), rows=MadeRows(range(len(lines)), row))
