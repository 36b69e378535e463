"""Repeat markers: lines that the reader has read already, replaced by their place: `[as above: 14 lines from "…"]`.

A marker means the nearest line above that begins with the quoted text, and the lines below that one. It never names
lines that are themselves replaced by a marker.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError
from accp_core.ports import TokenCounter

__all__ = ["Repeats", "Shortened"]

_QUOTE_LENGTHS: Final = (16, 32, 64)
"""Characters of a line that a marker may quote; the shortest quote that finds the lines is used."""
_MIN_SAVING: Final = 12
"""Tokens that a marker must save, because the reader has to look its lines up."""
_MARKER: Final = re.compile(r'\[as above: ([0-9]{1,9}) lines? from "(.*)…"\]')


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortened:
    """A text in which repeat markers may replace lines."""

    text: str
    """The text that the reader gets."""
    marker_lines: tuple[int, ...]
    """The line numbers of its markers, from 0. A line of the source that looks like a marker is not among them."""


class Repeats:
    """The lines that one reader has read, so that the next text need not repeat them."""

    def __init__(self) -> None:
        self._lines: list[str | None] = []
        """The lines in order; None is a marker or the end of a text, which no marker reaches across."""
        self._last_with: dict[str, int] = {}
        """Quote to the index of the last line that begins with it."""

    def add(self, text: str, marker_lines: Sequence[int] = ()) -> None:
        """Add a text that the reader has read; `marker_lines` are the numbers of its lines that are markers."""
        markers = frozenset(marker_lines)
        for number, line in enumerate(text.split("\n")):
            self._add_line(None if number in markers else line)
        self._add_line(None)

    def shorten(self, text: str, *, counter: TokenCounter) -> Shortened:
        """Return `text` with markers in place of lines that the reader has read, where that saves tokens.

        This does not `add` the text. The same texts in the same order give the same result.
        """
        lines = text.split("\n")
        out: list[str] = []
        markers: list[int] = []
        at = 0
        while at < len(lines):
            marker, length = self._find_marker(lines, at, counter)
            if marker:
                markers.append(len(out))
            out.append(marker or lines[at])
            at += length
        short = "\n".join(out)
        if not markers or counter(short) >= counter(text):
            return Shortened(text=text, marker_lines=())
        return Shortened(text=short, marker_lines=tuple(markers))

    def restore(self, short: Shortened) -> str:
        """Return the text that `shorten` was given, after the same texts were added.

        Raises:
            DecodeError: E1001, a marker names lines that were not read.
        """
        lines = short.text.split("\n")
        markers = frozenset(short.marker_lines)
        return "\n".join(self._resolve(line) if number in markers else line for number, line in enumerate(lines))

    def _add_line(self, line: str | None) -> None:
        for quote in _quotes(line or ""):
            self._last_with[quote] = len(self._lines)
        self._lines.append(line)

    def _find_marker(self, lines: Sequence[str], at: int, counter: TokenCounter) -> tuple[str, int]:
        """Return the marker for the longest run of read lines from line `at` on, and its length.

        Where no marker saves enough it is empty and the length is 1.
        """
        runs = ((self._run_length(lines, at, self._last_with.get(quote)), quote) for quote in _quotes(lines[at]))
        length, quote = max(runs, key=lambda run: run[0], default=(0, ""))
        if length:
            marker = f'[as above: {length} {"line" if length == 1 else "lines"} from "{quote}…"]'
            if counter("\n".join(lines[at : at + length])) - counter(marker) >= _MIN_SAVING:
                return marker, length
        return "", 1

    def _run_length(self, lines: Sequence[str], at: int, start: int | None) -> int:
        """Return how many lines from `at` on equal the read lines from `start` on."""
        length = 0
        if start is not None:
            while at + length < len(lines) and self._lines[start + length] == lines[at + length]:
                length += 1
        return length

    def _resolve(self, marker: str) -> str:
        match = _MARKER.fullmatch(marker)
        start = self._last_with.get(match[2]) if match else None
        run = self._lines[start : start + int(match[1])] if match and start is not None else []
        if not match or len(run) < int(match[1]) or None in run:
            raise DecodeError(
                f"expected a repeat marker for lines that were read, found {marker!r}",
                code=ErrorCode.PARSE_ERROR,
                text=marker,
                position=0,
            )
        return "\n".join(line for line in run if line is not None)


def _quotes(line: str) -> list[str]:
    """Return the beginnings of `line` that a marker may quote, the shortest first; none for a short line."""
    start = line.lstrip()
    return [start[:length] for length in _QUOTE_LENGTHS if len(start) >= length]
