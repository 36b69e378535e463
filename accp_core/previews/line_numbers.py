"""The numbers that the lines of a text have in a query, found without a list of all lines."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from accp_core.tables.text_lines import MAX_LINE, has_other_ends

__all__ = ["LineNumbers"]


class LineNumbers:
    """Finds the number of a line from its position."""

    def __init__(self, source: str, shown: str | None = None) -> None:
        """Find the long lines of a text, which have several numbers.

        Args:
            source: The text that a query reads.
            shown: The text whose positions are asked for: the same lines, of which some are shorter; None: `source`.
        """
        self._text = source if shown is None else shown
        self._position = self._line = 0
        self.are_exact = not has_other_ends(source) and source.count("\r") == source.count("\r\n")
        """Whether the text has no line ends but line feeds; else lines can be counted, but have other numbers."""
        self._long: list[int] = []
        """The long lines, as line feeds count them."""
        self._further: list[int] = [0]
        line = at = 0
        for start, end in _long_lines(source):
            line += source.count("\n", at, start)
            at = start
            self._long.append(line)
            self._further.append(self._further[-1] + -(-(end - start) // MAX_LINE) - 1)

    def number_at(self, start: int) -> int:
        """Return the number of the line that begins at `start`; fastest where `start` is asked for in order."""
        if start < self._position:
            self._position = self._line = 0
        self._line += self._text.count("\n", self._position, start)
        self._position = start
        return self.number_of(self._line)

    def number_of(self, line: int) -> int:
        """Return the number of the line that has so many line feeds before it."""
        return line + self._further[bisect_left(self._long, line)]


def _long_lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each line of more than MAX_LINE characters begins and ends, its line feed included."""
    start = 0
    while start < len(text):
        # The lines that end in a part as long as that are shorter: one step passes them all.
        end = text.rfind("\n", start, start + MAX_LINE) + 1
        if not end:
            end = text.find("\n", start) + 1 or len(text)
            if end - start > MAX_LINE:
                yield start, end
        start = end
