"""Passages of a long line that the reader has read: in a line above, or further left in the same line."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from re import Match
from typing import Final

from accp_core.ports import TokenCounter
from accp_core.projection.repeats.marker import MIN_SAVING, PassageMarker, is_quotable
from accp_core.projection.repeats.read_lines import KEY_CHARS, WORD_PATTERN, LinePlace, ReadLines, TextSpan, pieces_of

__all__ = ["MIN_PASSAGE", "PassageWriter", "find_passage"]

MIN_PASSAGE: Final = 60
"""Characters; a shorter passage costs hardly more than its marker."""
_MAX_FIRST_WORD: Final = 32
"""Characters of the word that a passage begins with at most, so that its marker stays short."""
_MAX_REST_OF_WORD: Final = 12
"""Characters by which the quote of the first words is longer, so that it ends with a whole word."""
_LAST_CHARS: Final = (10, 20, 40)
"""Characters at the end of a passage that a marker may quote; the shortest quote that ends it is used."""
_MAX_CUT: Final = 400
"""Characters by which a passage is cut so that it ends at a break."""
_BREAKS: Final = frozenset(" \t\r\"'()[]{}<>,;|")
"""Characters between which a passage begins and ends, so that no number, name or address is cut."""


class PassageWriter:
    """Writes one line with markers in place of passages.

    Each character is compared with a bounded number of places: where a passage of some length is found, the search goes
    on behind it, whether its marker pays or not.
    """

    def __init__(self, line: str, read: ReadLines, counter: TokenCounter) -> None:
        """Write `line` for a reader of `read`, the lines above it."""
        self._line = line
        self._read = read
        self._counter = counter
        self._left: Final[dict[str, int]] = {}
        """The characters from the end of a word on, to the last offset in the line where they are shown."""
        self._piece_ends: Final[list[int]] = []
        """The offsets in the line where its markers begin."""
        self._parts: list[str] = []
        self._spans: Final[list[TextSpan]] = []
        self._length = 0
        """Characters of the line as it is shown so far."""
        self._done = 0
        """Characters of the line that are shown so far, or that a marker stands for."""

    def write(self) -> tuple[str, list[TextSpan]]:
        """Return the line as the reader is shown it, and its markers."""
        searched = 0
        for word in WORD_PATTERN.finditer(self._line):
            key = self._line[word.end() : word.end() + KEY_CHARS]
            if word.start() < self._done or len(key) < KEY_CHARS:
                continue
            if word.start() >= searched and self._may_begin_with(word) and (place := self._find(key, word)):
                length = self._common_length(word.start(), place)
                if length >= MIN_PASSAGE:
                    end = self._end(word.start(), length, place)
                    searched = max(end, word.start() + length - _MAX_CUT)
                    if end - word.start() >= MIN_PASSAGE and self._replace(word, end):
                        continue
            self._left[key] = word.end()
        return "".join([*self._parts, self._line[self._done :]]), self._spans

    def _may_begin_with(self, word: Match[str]) -> bool:
        """Return whether a passage may begin with `word`."""
        return self._is_break(word.start() - 1) and word.end() - word.start() <= _MAX_FIRST_WORD

    def _is_break(self, index: int) -> bool:
        """Return whether the character at `index` is a break, or outside the line."""
        return not 0 <= index < len(self._line) or self._line[index] in _BREAKS

    def _find(self, key: str, word: Match[str]) -> LinePlace | None:
        """Return the nearest place above where `key` follows as many characters as `word` has."""
        offset = self._left.get(key)
        if offset is None:
            place = self._read.find_place(key)
        else:
            piece = bisect_left(self._piece_ends, offset)
            end = self._piece_ends[piece] if piece < len(self._piece_ends) else word.start()
            place = LinePlace(self._line, offset, end)
        size = word.end() - word.start()
        return place._replace(offset=place.offset - size) if place and place.offset >= size else None

    def _common_length(self, start: int, place: LinePlace) -> int:
        """Return how many characters from `start` on stand at `place`, too."""
        limit = min(len(self._line) - start, place.end - place.offset)
        return _common_length(self._line, start, place.line, place.offset, limit)

    def _end(self, start: int, length: int, place: LinePlace) -> int:
        """Return where the passage ends that begins at `start`: at a break here and there; `start`: there is none."""
        for end in range(start + length, max(start + length - _MAX_CUT, start), -1):
            there = place.offset + end - start
            if self._is_break(end) and (there >= len(place.line) or place.line[there] in _BREAKS):
                return start + len(self._line[start:end].rstrip())
        return start

    def _replace(self, word: Match[str], end: int) -> bool:
        """Put a marker in place of the passage from `word` to `end`; return whether it pays."""
        start = word.start()
        marker = self._marker(start, word.end() + KEY_CHARS, end)
        if marker is None or self._counter(self._line[start:end]) - self._counter(marker) < MIN_SAVING:
            return False
        self._parts += [self._line[self._done : start], marker]
        self._length += start - self._done
        self._spans.append((self._length, self._length + len(marker)))
        self._length += len(marker)
        self._piece_ends.append(start)
        self._done = end
        return True

    def _marker(self, start: int, first_end: int, end: int) -> str | None:
        """Return the marker of a passage that quotes at least what is before `first_end`; None: it would mislead."""
        rest = WORD_PATTERN.match(self._line, first_end, first_end + _MAX_REST_OF_WORD)
        first_end = rest.end() if rest else first_end
        first = self._line[start:first_end]
        for chars in _LAST_CHARS:
            cut = next((cut for cut in range(end - chars, end - 2 * chars, -1) if self._is_break(cut - 1)), end - chars)
            last = self._line[cut:end]
            if self._line.find(last, first_end, end) == cut and is_quotable(first) and is_quotable(last):
                return str(PassageMarker(first, last))
        return None


def find_passage(marker: PassageMarker, line: str, spans: Sequence[TextSpan], read: ReadLines) -> str | None:
    """Return the passage that a marker stands for, None where it stands for none.

    Args:
        marker: The marker.
        line: What is left of it in its line, as the reader is shown it.
        spans: The markers in `line`.
        read: The lines above.
    """
    above = ReadLines(read)
    for _, piece in pieces_of(line, spans):
        above.add(piece)
    word = WORD_PATTERN.match(marker.first)
    place = above.find_place(marker.first[word.end() :][:KEY_CHARS]) if word else None
    if word is None or place is None or place.offset < word.end():
        return None
    start = place.offset - word.end()
    last = place.line.find(marker.last, start + len(marker.first), place.end)
    is_there = place.line.startswith(marker.first, start) and last >= 0
    return place.line[start : last + len(marker.last)] if is_there else None


def _common_length(text: str, start: int, other: str, offset: int, limit: int) -> int:
    """Return how many characters, at most `limit`, are the same from `start` on in `text` and `offset` in `other`."""
    length, step = 0, 64
    while step:
        end = min(length + step, limit)
        if text[start + length : start + end] == other[offset + length : offset + end]:
            if end == limit:
                return limit
            length, step = end, 2 * step
        else:
            # The first difference is before `end`.
            limit, step = end, (end - length) // 2
    return length
