"""What one reader has read, and the texts that need not repeat it.

A marker never names lines that are replaced by a marker themselves, so a reader looks once. Nor does it stand for a gap
of a preview (`[…lines 5-9]`) but with the first line of that preview: equal gaps of two texts may hide other lines.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError
from accp_core.markers import MarkerStart
from accp_core.ports import TokenCounter
from accp_core.projection.repeats.marker import MIN_SAVING, LineMarker, parse_marker, quotes_of
from accp_core.projection.repeats.passages import MIN_PASSAGE, PassageWriter, find_passage
from accp_core.projection.repeats.read_lines import ReadLines, TextSpan

__all__ = ["Repeats", "Shortened"]

_GAP: Final = re.compile(rf"{re.escape(MarkerStart.GAP)}[^\]]")
"""What a preview leaves out; "[…]" is a usual sign in texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortened:
    """A text in which repeat markers may replace lines."""

    text: str
    """The text that the reader gets."""
    markers: tuple[TextSpan, ...] = ()
    """Where its markers stand, in order. What looks like a marker and was in the source is not among them."""


class Repeats:
    """The lines that one reader has read, so that the next text need not repeat them."""

    def __init__(self) -> None:
        """Begin with nothing read."""
        self._read: Final = ReadLines()

    @property
    def size(self) -> int:
        """The bytes of memory that the lines take, about."""
        return self._read.size

    def add(self, text: Shortened) -> None:
        """Add a text that the reader has read."""
        _add(self._read, text)

    def hide(self, text: str) -> None:
        """Add a text that the reader has read and that no marker names, such as an argument of a call."""
        for line in text.split("\n"):
            self._read.add(line, is_named=False)

    def shorten(self, texts: Sequence[str], *, counter: TokenCounter, whole_lines: bool = False) -> list[Shortened]:
        """Return the texts of the next message with markers in place of lines that the reader has read by then.

        A marker stands where it saves tokens; it may name lines of the same text. This does not `add` the texts. The
        same texts in the same order give the same result.

        Args:
            texts: The texts of the message.
            counter: Counts the tokens of the model.
            whole_lines: Whether no part of a line becomes a marker: who edits a file must match its lines.
        """
        read = ReadLines(self._read)
        shown: list[Shortened] = []
        for text in texts:
            if shown:
                _add(read, shown[-1])
            shown.append(_Writer(text, read, counter, whole_lines=whole_lines).write())
        return shown

    def known_share(self, text: str) -> float:
        """Return the share of `text`, from 0 to 1, that is whole lines which the reader has read; cheap to find out."""
        known = sum(len(line) for line in text.split("\n") if self._is_known(line))
        return known / max(len(text), 1)

    def _is_known(self, line: str) -> bool:
        index = self._read.find_line(line) if line else None
        return index is not None and self._read.line(index) == line

    def restore(self, texts: Sequence[Shortened]) -> list[str]:
        """Return the texts that `shorten` was given, after the same texts were added.

        Raises:
            DecodeError: E1001, a marker names lines that were not read.
        """
        read = ReadLines(self._read)
        return [_restore(text, read) for text in texts]


class _Writer:
    """Writes one text for a reader of the lines above it."""

    def __init__(self, text: str, read: ReadLines, counter: TokenCounter, *, whole_lines: bool) -> None:
        self._text = text
        self._lines = text.split("\n")
        self._read = ReadLines(read)
        self._counter = counter
        self._whole_lines = whole_lines

    def write(self) -> Shortened:
        """Return the text with its markers."""
        shown: list[str] = []
        markers: list[TextSpan] = []
        at = position = 0
        while at < len(self._lines):
            line, spans, length = self._write_line(at)
            markers += [(position + start, position + end) for start, end in spans]
            shown.append(line)
            self._read.add(line, spans)
            at += length
            position += len(line) + 1
        short = Shortened(text="\n".join(shown), markers=tuple(markers))
        if not markers or self._counter(short.text) >= self._counter(self._text):
            return Shortened(text=self._text)
        return short

    def _write_line(self, at: int) -> tuple[str, list[TextSpan], int]:
        """Return the next line to show, its markers, and how many lines of the text it stands for."""
        marker, length = self._find_marker(at)
        if marker:
            return marker, [(0, len(marker))], length
        line = self._lines[at]
        if self._whole_lines or len(line) < MIN_PASSAGE or _GAP.search(line):
            return line, [], 1
        return *PassageWriter(line, self._read, self._counter).write(), 1

    def _find_marker(self, at: int) -> tuple[str, int]:
        """Return the marker for the longest run of read lines from line `at` on, and its length.

        Where no marker saves enough it is empty and the length is 1.
        """
        line = self._lines[at]
        quotes = quotes_of(line, is_sole=self._read.is_sole(line))
        runs = ((self._run_length(at, quote), quote) for quote in quotes)
        length, quote = max(runs, key=lambda run: run[0], default=(0, ""))
        if length:
            marker = str(LineMarker(length, quote))
            if self._counter("\n".join(self._lines[at : at + length])) - self._counter(marker) >= MIN_SAVING:
                return marker, length
        return "", 1

    def _run_length(self, at: int, quote: str) -> int:
        """Return how many lines from `at` on equal the read lines that a marker with `quote` names."""
        start = self._read.find_line(quote)
        if start is None:
            return 0
        # The first line of a preview names its source.
        hides_the_same = self._lines[at].startswith(MarkerStart.PREVIEW)
        length = 0
        for line in islice(self._lines, at, None):
            if self._read.line(start + length) != line or (not hides_the_same and _GAP.search(line)):
                break
            length += 1
        return length


def _add(read: ReadLines, text: Shortened) -> None:
    for line, spans in _lines_of(text):
        read.add(line, spans)
    read.end_text()


def _lines_of(text: Shortened) -> Iterator[tuple[str, list[TextSpan]]]:
    """Yield each line with its markers."""
    markers = deque(text.markers)
    position = 0
    for line in text.text.split("\n"):
        spans = []
        while markers and markers[0][1] <= position + len(line):
            start, end = markers.popleft()
            spans.append((start - position, end - position))
        yield line, spans
        position += len(line) + 1


def _restore(short: Shortened, read: ReadLines) -> str:
    """Return the source of a text, and add the text to what the reader has read."""
    lines = []
    for line, spans in _lines_of(short):
        lines.append(_restore_line(line, spans, read))
        read.add(line, spans)
    read.end_text()
    return "\n".join(lines)


def _restore_line(line: str, spans: Sequence[TextSpan], read: ReadLines) -> str:
    parts = []
    done = 0
    for number, (start, end) in enumerate(spans):
        meant = _resolve(line[start:end], line[:start], spans[:number], read)
        parts += [line[done:start], meant]
        done = end
    return "".join([*parts, line[done:]])


def _resolve(written: str, left: str, spans: Sequence[TextSpan], read: ReadLines) -> str:
    """Return what a marker stands for, of the line that has `left` and the markers `spans` before it."""
    marker = parse_marker(written)
    if isinstance(marker, LineMarker):
        meant = _find_lines(marker, read)
    else:
        meant = find_passage(marker, left, spans, read) if marker else None
    if meant is None:
        raise DecodeError(
            f"expected a repeat marker for something that was read, found {written!r}",
            code=ErrorCode.PARSE_ERROR,
            text=written,
            position=0,
        )
    return meant


def _find_lines(marker: LineMarker, read: ReadLines) -> str | None:
    """Return the lines that a marker stands for, None where they were not read."""
    start = read.find_line(marker.quote)
    lines: list[str] = []
    while start is not None and len(lines) < marker.count:
        line = read.line(start + len(lines))
        if line is None:
            return None
        lines.append(line)
    return "\n".join(lines) if lines else None
