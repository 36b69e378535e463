"""The lines that a reader has read, and where each beginning of a line and each passage stands last."""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from accp_core.projection.repeats.marker import MIN_QUOTE, beginning_of, beginnings_of

__all__ = ["KEY_CHARS", "WORD_PATTERN", "LinePlace", "ReadLines", "TextSpan", "pieces_of"]

TextSpan = tuple[int, int]
"""The first character of a marker, and the one after its last."""

WORD_PATTERN: Final = re.compile(r"\w+")
KEY_CHARS: Final = 16
"""Characters from the end of a word on by which a passage is found.

A text that holds a word and these characters behind it holds a word's end there, wherever it is cut. So a reader who
searches for them, letter by letter, finds no place that was not looked at here.
"""
_OFFSET_BITS: Final = 32
_ENTRY_BYTES: Final = 100
"""Memory of a beginning or a passage and its index, beside their place in a dictionary."""


class LinePlace(NamedTuple):
    """A place in a line that was read."""

    line: str
    """The line as it was shown."""
    offset: int
    """The characters before the place."""
    end: int
    """Where the next marker of the line begins, or the line ends."""


class ReadLines:
    """Lines in the order in which they were read; a marker names them by what it quotes."""

    def __init__(self, above: ReadLines | None = None) -> None:
        """Begin below the lines of `above`, which do not change while this is used; None: with the first line."""
        self._above: Final = above
        self._start: Final = len(above) if above else 0
        self._lines: Final[list[str | None]] = []
        self._marked: Final[dict[int, tuple[str, list[int]]]] = {}
        """The lines with markers by their index, and where those begin."""
        self._last_with: Final[dict[str, int]] = {}
        """The beginning of a line, without the blanks before it, to the index of the last line that begins so."""
        self._several: Final[set[str]] = set()
        """The beginnings of MIN_QUOTE characters that two different lines have."""
        self._last_at: Final[dict[str, int]] = {}
        """The characters from the end of a word on, to the last place where they stand: line index and offset."""
        self._line_bytes = 0

    @property
    def size(self) -> int:
        """The bytes of memory that its own lines take with all that finds them, about."""
        found = len(self._last_with) + len(self._last_at)
        tables = (self._lines, self._marked, self._last_with, self._several, self._last_at)
        return self._line_bytes + _ENTRY_BYTES * found + sum(map(sys.getsizeof, tables))

    def __len__(self) -> int:
        """Return the number of lines, those above included."""
        return self._start + len(self._lines)

    def add(self, line: str, markers: Sequence[TextSpan] = (), *, is_named: bool = True) -> None:
        """Add the next line as the reader is shown it.

        Args:
            line: The line.
            markers: Where its markers stand; no marker names a line that has one itself.
            is_named: Whether a marker may name it. One that may not hides what stands above it: who looks for the words
                of a marker finds it first.
        """
        for beginning in beginnings_of(line):
            if len(beginning) == MIN_QUOTE and not self._is_last_with(beginning, line):
                self._several.add(beginning)
            self._last_with[beginning] = len(self)
        index = len(self) << _OFFSET_BITS
        for start, piece in pieces_of(line, markers) if len(line) > KEY_CHARS else ():
            last = len(piece) - KEY_CHARS
            ends = [end for word in WORD_PATTERN.finditer(piece) if (end := word.end()) <= last]
            self._last_at.update((piece[end : end + KEY_CHARS], index + start + end) for end in ends)
        if markers:
            self._marked[len(self)] = line, [start for start, _ in markers]
        self._lines.append(line if is_named and not markers else None)
        self._line_bytes += sys.getsizeof(line)

    def end_text(self) -> None:
        """End a text: no marker names lines of two texts."""
        self._lines.append(None)

    def line(self, index: int) -> str | None:
        """Return a line, None for one that no marker names and for those that are not read yet."""
        if index < self._start:
            return self._above.line(index) if self._above else None
        return self._lines[index - self._start] if index < len(self) else None

    def is_sole(self, line: str) -> bool:
        """Return whether all lines that were read and begin as `line` does are the same line."""
        return line.lstrip()[:MIN_QUOTE] not in self._several and (self._above is None or self._above.is_sole(line))

    def _is_last_with(self, beginning: str, line: str) -> bool:
        """Return whether no line was read that begins so, or the last one is `line` but for the blanks before it."""
        index = self.find_line(beginning)
        last = None if index is None else self.line(index)
        return index is None or (last is not None and last.lstrip() == line.lstrip())

    def find_line(self, quote: str) -> int | None:
        """Return the index of the nearest line above that begins with `quote`, None where none does."""
        index = self._last_with.get(beginning_of(quote))
        return self._above.find_line(quote) if index is None and self._above else index

    def find_place(self, key: str) -> LinePlace | None:
        """Return the nearest place above where a word ends and `key` follows.

        None where there is none, or it is in a line that no marker names.
        """
        place = self._last_at.get(key)
        if place is None:
            return self._above.find_place(key) if self._above else None
        index, offset = place >> _OFFSET_BITS, place & ((1 << _OFFSET_BITS) - 1)
        line, markers = self._marked.get(index) or (self._lines[index - self._start], [])
        if line is None:
            return None
        marker = bisect_left(markers, offset)
        return LinePlace(line, offset, markers[marker] if marker < len(markers) else len(line))


def pieces_of(line: str, markers: Sequence[TextSpan]) -> Iterator[tuple[int, str]]:
    """Yield the parts of a line between its markers, each with its offset."""
    start = 0
    for first, end in markers:
        yield start, line[start:first]
        start = end
    yield start, line[start:]
