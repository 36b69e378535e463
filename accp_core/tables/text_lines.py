"""The lines of a text and their numbers: those of `grep -n`, `wc -l` and editors.

A line ends with a line feed and with nothing else, is one line whatever its length, and the first one has number 1.
Queries, pages, the marks of previews and the counts that they say all number lines by this module.
"""

from __future__ import annotations

import re
from typing import Final

from accp_core.tables.plain_rows import MadeRows
from accp_core.tables.table import LINES, Row, Table

__all__ = [
    "FIRST_LINE", "LineNumbers", "count_lines", "has_other_ends", "has_other_numbers", "lines_of", "table_of_lines"
]  # fmt: skip

FIRST_LINE: Final = 1
"""The number of the first line of a text."""

_OTHER_ENDS: Final = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
_NUMBERED: Final = re.compile(r"[ \t]*([0-9]{1,9})(?![0-9.,/])")
_LOOKED_AT: Final = 8_000
"""Characters at the beginning of a text that show whether it numbers its lines."""
_MIN_NUMBERED: Final = 3
"""Lines with consecutive numbers that show it."""


def has_other_ends(text: str) -> bool:
    """Return whether `text` has line ends of `str.splitlines` other than line feeds and carriage returns."""
    # A search for one character takes a fortieth of one for any of them.
    return any(end in text for end in _OTHER_ENDS)


def count_lines(text: str) -> int:
    """Return how many lines `text` has; a line feed at its end begins no further one."""
    return text.count("\n") + (text[-1:] not in ("", "\n"))


def lines_of(text: str) -> list[str]:
    """Return the lines of `text` with their line feeds."""
    *lines, last = text.split("\n")
    return [f"{line}\n" for line in lines] + [last] * bool(last)


def table_of_lines(text: str) -> Table:
    """Return the table `lines(n, text)`: the number of each line, and the line without its end."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()

    def row(at: int) -> Row:
        return {"n": at + FIRST_LINE, "text": lines[at].removesuffix("\r")}

    return Table(name=LINES, path=(), columns=("n", "text"), rows=MadeRows(range(len(lines)), row))


class LineNumbers:
    """Finds the number of a line from its position."""

    def __init__(self, text: str) -> None:
        """Begin at the first line of `text`."""
        self._text = text
        self._position = 0
        self._number = FIRST_LINE

    def number_at(self, start: int) -> int:
        """Return the number of the line that holds `start`; fastest where `start` is asked for in order."""
        if start < self._position:
            self._position, self._number = 0, FIRST_LINE
        self._number += self._text.count("\n", self._position, start)
        self._position = start
        return self._number


def has_other_numbers(text: str) -> bool:
    """Return whether the lines of `text` begin with numbers of their own, which are not those that they have here.

    Such a text is a part of a file, as tools show it; two numberings beside each other would be taken for one.
    """
    run, before = 0, None
    for number, line in enumerate(text[:_LOOKED_AT].split("\n"), FIRST_LINE):
        own = int(found[1]) if (found := _NUMBERED.match(line)) else None
        run = run + 1 if own is not None and before is not None and own == before + 1 else 1
        if run >= _MIN_NUMBERED and own != number:
            return True
        before = own
    return False
