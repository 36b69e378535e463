"""The numbers that the lines of a text have in a query, found without a list of all lines."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Final

__all__ = ["LineNumbers"]

_LINE_PART: Final = 400
"""Characters after which a long line has a further number, as in `accp_core.tables.lines_of`."""
_LONG_LINE: Final = re.compile(rf"[^\n]{{{_LINE_PART},}}+\n?")
_OTHER_ENDS: Final = re.compile("\r(?!\n)|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


class LineNumbers:
    """Finds the number of a line from its position."""

    def __init__(self, text: str) -> None:
        """Find the long lines of `text`, which have several numbers."""
        self._text = text
        self._position = self._number = 0
        self.are_exact = _OTHER_ENDS.search(text) is None
        """Whether the text has no line ends but line feeds; else lines can be counted, but have other numbers."""
        self._starts: list[int] = []
        self._further: list[int] = [0]
        for line in _LONG_LINE.finditer(text):
            self._starts.append(line.start())
            self._further.append(self._further[-1] + -(-len(line.group()) // _LINE_PART) - 1)

    def number_at(self, start: int) -> int:
        """Return the number of the line that begins at `start`; fastest where `start` is asked for in order."""
        if start < self._position:
            self._position = self._number = 0
        self._number += self._text.count("\n", self._position, start)
        self._position = start
        return self._number + self._further[bisect_left(self._starts, start)]
