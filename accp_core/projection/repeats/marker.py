"""The two repeat markers, as the reader sees them.

    [as above: 14 lines from "Martial Arts Sch…"]      whole lines: the nearest line above that begins with the quote,
                                                        and the lines below that one
    [as above: "the first words … the last words"]     a passage of a line: it begins at the nearest place above where
                                                        the first words stand, and ends with the next last words there

Above is everything that was sent before the marker: lines of the same text and the beginning of the same line, too, but
no other marker. Blanks at the beginning of a line do not matter to a reader who looks for it. A quote never holds what
would make its marker ambiguous.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from accp_core.markers import MarkerStart

__all__ = [
    "MIN_QUOTE", "MIN_SAVING", "LineMarker", "Marker", "PassageMarker", "beginning_of", "beginnings_of",
    "is_quotable", "parse_marker", "quotes_of",
]  # fmt: skip

MIN_SAVING: Final = 6
"""Tokens that a marker must save, because the reader has to look up what it stands for.

Measured on six recorded corpora with 6, 8 and 12: whichever corpus is left out, 6 gives the smallest prompts for the
others, and for it; 4 saves hardly more.
"""
_QUOTE_LENGTHS: Final = (16, 32, 64)
"""Characters of a line that a marker may quote, without the blanks it begins with."""
MIN_QUOTE: Final = 8
"""Characters of the shortest quote: a line of so few that is quoted as a whole, or one that alone begins so."""
_LINES: Final = re.compile(r'\[as above: ([0-9]{1,9}) lines? from "(.*)…"\]')
_PASSAGE: Final = re.compile(r'\[as above: "([^…]+) … ([^…]+)"\]')
_NOT_QUOTABLE: Final = re.compile(r'…|"\]|\[as above', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LineMarker:
    """A marker in place of whole lines."""

    count: int
    """How many lines it stands for, at least 1."""
    quote: str
    """How the first of them begins, with its blanks."""

    def __str__(self) -> str:
        return f'{MarkerStart.REPEAT}{self.count} {"line" if self.count == 1 else "lines"} from "{self.quote}…"]'


@dataclass(frozen=True, slots=True)
class PassageMarker:
    """A marker in place of a part of a line."""

    first: str
    """How the passage begins."""
    last: str
    """How it ends."""

    def __str__(self) -> str:
        return f'{MarkerStart.REPEAT}"{self.first} … {self.last}"]'


Marker = LineMarker | PassageMarker


def parse_marker(text: str) -> Marker | None:
    """Return the marker that is written as `text`, None where it is none."""
    if lines := _LINES.fullmatch(text):
        return LineMarker(int(lines[1]), lines[2])
    passage = _PASSAGE.fullmatch(text)
    return PassageMarker(passage[1], passage[2]) if passage else None


def quotes_of(line: str, *, is_sole: bool = False) -> list[str]:
    """Return the beginnings of `line` that a marker may quote, the shortest first; none for a very short line.

    Args:
        line: A line that was read.
        is_sole: Whether no other line was read that begins with the same MIN_QUOTE characters.
    """
    blanks = len(line) - len(line.lstrip())
    length = len(line) - blanks
    lengths = [each for each in (MIN_QUOTE, *_QUOTE_LENGTHS)[not is_sole :] if each <= length]
    lengths = lengths or [length] * (length >= MIN_QUOTE)
    return [line[: blanks + each] for each in lengths if MarkerStart.REPEAT not in line[: blanks + each]]


def beginnings_of(line: str) -> list[str]:
    """Return the keys under which `line` is found by what a marker quotes of it."""
    start = line.lstrip()[: _QUOTE_LENGTHS[-1]]
    return [start[:length] for length in (MIN_QUOTE, *_QUOTE_LENGTHS) if length <= len(start)]


def beginning_of(quote: str) -> str:
    """Return the key under which the line is found that a marker quotes."""
    start = quote.lstrip()
    return start if len(start) in _QUOTE_LENGTHS else start[:MIN_QUOTE]


def is_quotable(words: str) -> bool:
    """Return whether a passage marker may quote `words`."""
    return not _NOT_QUOTABLE.search(words)
