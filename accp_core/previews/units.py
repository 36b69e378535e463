"""The preview of text: its pieces, how likely the next step needs each of them, and marks for the gaps.

A long text is rated in parts: the beginning and the end, lines with errors or words of the request, and an even sample.
Of marks for lines only the first one says so: `[…lines 41-97]`, then `[…112-130]`.
"""

from __future__ import annotations

import functools
import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from typing import Final

from accp_core.previews.marks import Marks
from accp_core.previews.request import COMMON, find_words
from accp_core.tables.table import LineNumbers, has_other_numbers

__all__ = ["MAX_RATED", "Excerpt"]


MAX_RATED: Final = 64_000
"""Characters of a text that is rated whole, and of the parts of a longer one."""
_MAX_IN_CELL: Final = 8_000
"""The same of the text of a cell."""
_HEAD: Final = 8
_TAIL: Final = 10
"""The parts of what is rated that are the beginning and the end."""
_BEFORE: Final = 200
_AFTER: Final = 240
"""Characters of a line before and after a word that was found in it."""
_HITS: Final = 8
"""Places of one word from the beginning on, and as many from the end."""
_ERRORS: Final = (
    "error", "exception", "traceback", "fail", "fatal", "critical", "panic", "timeout", "timed out", "denied",
    "refused", "abort", "crash", "unavailable", "unreachable", "invalid", "warn",
)  # fmt: skip
"""What a text says of something that did not work."""
_SAMPLES: Final = 80
_CHUNK: Final = 100_000
"""Characters of a part in which words are looked for."""

_Span = tuple[int, int]


def candidate_spans(text: str, requested: Iterable[str], most: int = MAX_RATED) -> list[_Span]:
    """Return the spans (start, end) of `text` that are rated, in order; all of a short text.

    Args:
        text: The text.
        requested: The words of the request without regard to case.
        most: Characters of a text that is rated whole, and of the parts of a longer one, about.
    """
    if len(text) <= most:
        return [(0, len(text))]
    spans = [(0, most // _HEAD), (len(text) - most // _TAIL, len(text))]
    left = most - most // _HEAD - most // _TAIL
    for place in chain(_places_of_words(text, requested), range(0, len(text), max(len(text) // _SAMPLES, 1))):
        span = _line_around(text, place)
        left -= span[1] - span[0]
        if left < 0:
            break
        spans.append(span)
    return list(_merge(sorted(spans)))


def _places_of_words(text: str, requested: Iterable[str]) -> Iterator[int]:
    """Yield the first and the last places of the words of a request, then those of words for errors."""
    found: dict[str, list[int]] = {word: [] for word in (*sorted(requested), *_ERRORS)}
    # A whole copy of a text of megabytes would take as much memory as the text, or more.
    for start in range(0, len(text), _CHUNK):
        part = text[start : start + _CHUNK].lower()
        for word, places in found.items():
            places += (start + place.start() for place in islice(re.finditer(re.escape(word), part), 2 * _HITS))
    for places in found.values():
        yield from (*places[:_HITS], *places[-_HITS:])


def _line_around(text: str, place: int) -> _Span:
    """Return the line that holds `place`, of a long one the part around it."""
    low, high = max(place - _BEFORE, 0), min(place + _AFTER, len(text))
    start = text.rfind("\n", low, place) + 1 or text.find(" ", low, place) + 1 or low
    end = text.find("\n", place, high)
    if end < 0:
        end = text.rfind(" ", place, high) if high < len(text) else high
    return start, high if end < 0 else end


def _merge(spans: Iterable[_Span]) -> Iterator[_Span]:
    """Yield sorted spans, those that meet as one."""
    start = end = 0
    for span in spans:
        if span[0] > end:
            yield start, end
            start = span[0]
        end = max(end, span[1])
    yield start, end


# The pieces of a text, and how likely the next step needs each of them.

MIN_PIECE_CHARS: Final = 40
_MAX_PIECE_CHARS: Final = 240
_EDGE: Final = 4
"""Pieces at the beginning and at the end that have a higher score."""
_REQUESTED_WORTH: Final = 1.5
"""What a piece is worth that alone holds the words of the request which the text has: more than one at an end."""
_UNIT_WORTH: Final = 1.0
"""What the pieces of a unit share that alone has the most of the request's words."""
_NEARLY: Final = 0.9
"""The share of the most from which a unit has nearly as many of them."""
_MAX_UNITS: Final = 12
"""Units up to which they tell what is asked for."""
_MAX_UNIT: Final = 1_200
"""Characters of a unit that is shown whole."""
_MAX_ABOVE: Final = 200
"""Pieces above a unit among which its heading is looked for."""
_ERROR_WORTH: Final = 6.0
"""What a piece is worth that alone names an error of its kind."""
_MAX_ERRORS: Final = 0.2
"""The share of the pieces that do so up to which it is worth anything."""
_HEADING: Final = re.compile(r"[#=\[*]+ ?\S|[A-Z][^.]{2,80}:$")
_INDENT: Final = re.compile(r"(?: *\d+\t)?(\s*)\S")
"""The blanks before a line, behind its number."""


@dataclass(slots=True)
class Piece:
    """A line, or a part of a long one."""

    text: str
    start: int
    """The position of its first character in the text."""
    score: float = 0.0

    @property
    def end(self) -> int:
        """The position behind its last character."""
        return self.start + len(self.text)


def cut_lines(text: str, spans: Iterable[_Span], max_chars: int) -> Iterator[Piece]:
    """Yield the pieces of the lines in each span (start, end) of `text`."""
    for start, end in spans:
        at = start
        for line in text[start:end].split("\n"):
            for part in [line] if len(line) <= max_chars else _cutter(max_chars).findall(line):
                yield Piece(part, at)
                at += len(part)
            at += 1


@functools.lru_cache(maxsize=64)
def _cutter(max_chars: int) -> re.Pattern[str]:
    """Return what cuts a long line between sentences, and a long sentence between words."""
    most = max(MIN_PIECE_CHARS, min(max_chars, _MAX_PIECE_CHARS))
    sentence = r"(?:(?<=[.!?])(?= )|$)"
    return re.compile(
        rf".{{1,{most}}}{sentence}|.{{1,{2 * most}}}?{sentence}|.{{1,{most}}}(?:(?<=[.;,|>])|(?= )|$)|.{{1,{most}}}",
        re.DOTALL,
    )


def rate(pieces: list[Piece], requested: frozenset[str]) -> None:
    """Set the score of each piece.

    Args:
        pieces: The pieces of one text.
        requested: The words of the request without regard to case.
    """
    # In the order of the text: a set has another order in each process, which would change the sums.
    words = [dict.fromkeys(find_words(piece.text)) for piece in pieces]
    uses = Counter(word for piece_words in words for word in piece_words)
    wanted = _wanted(uses, requested - COMMON, len(pieces))
    errors = _error_worths(pieces)
    for number, piece in enumerate(pieces):
        edge = max(0, _EDGE - min(number, len(pieces) - 1 - number))
        score = (edge / 2 + errors[number]) / math.sqrt(len(piece.text) + 20)
        piece.score = score + _REQUESTED_WORTH * sum(wanted.get(word, 0.0) for word in words[number])
    _lift_units(pieces, words, wanted)


def _wanted(uses: Mapping[str, int], requested: frozenset[str], total: int) -> dict[str, float]:
    """Return what each word of the request in `total` pieces is worth: 0.0 in all of them, together 1.0 at most."""
    counts = Counter[str]()
    for word, count in uses.items():
        if word.casefold() in requested:
            counts[word.casefold()] += count
    # Shared, because a request that quotes the whole text would leave no room for facts.
    most = len(counts) * math.log(max(total, 2))
    worths = {word: max(math.log(total / count), 0.0) / most for word, count in counts.items()}
    return {word: worths[word.casefold()] for word in uses if word.casefold() in worths}


def _error_worths(pieces: list[Piece]) -> list[float]:
    """Return what each piece is worth for the errors that it names and few others do."""
    named = [[word for word in _ERRORS if word in piece.text.lower()] for piece in pieces]
    counts = Counter(chain(*named))
    most = max(_MAX_ERRORS * len(pieces), 1)
    return [_ERROR_WORTH * max([0.0, *(1 - counts[word] / most for word in words)]) for words in named]


def _lift_units(pieces: Sequence[Piece], words: Sequence[Mapping[str, None]], wanted: Mapping[str, float]) -> None:
    """Raise the scores of the units of text that have the most of the request's words, from the heading to the end.

    A unit ends with a blank line.
    """
    starts = [0, *(n + 1 for n, piece in enumerate(pieces[:-1]) if not piece.text.strip())]
    units = list(pairwise([*starts, len(pieces)]))
    held = (dict.fromkeys(chain(*words[start:end])) for start, end in units)
    matches = [sum(wanted[word] for word in each if word in wanted) for each in held]
    best = max(matches, default=0.0)
    top = [unit for unit, match in zip(units, matches, strict=True) if best and match >= _NEARLY * best]
    for start, end in top if len(top) <= _MAX_UNITS else ():
        for piece in pieces[start:end] if sum(len(piece.text) for piece in pieces[start:end]) <= _MAX_UNIT else ():
            piece.score += _UNIT_WORTH / len(top)
        above = range(start - 1, max(start - _MAX_ABOVE, -1), -1)
        heading = next((n for n in above if _heads(pieces[n].text, pieces[start].text)), start)
        pieces[heading].score += _REQUESTED_WORTH / len(top)


def _heads(line: str, below: str) -> bool:
    """Return whether a line begins like a heading, or is less indented than one below it."""
    first, second = _INDENT.match(line), _INDENT.match(below)
    return _HEADING.match(line) is not None or bool(first and second and len(first[1]) < len(second[1]))


# The parts of a text that a preview shows, with a mark for each gap: `[…lines 41-97]`, `[…310 characters]`.

_GAP_CHARS: Final = 3
"""Characters that a mark for a gap is counted as; of more, pieces beside shown ones would displace facts elsewhere."""
_MIN_GAP: Final = 16
"""Characters of a gap from which a mark takes no more tokens than its text; a shorter one is shown."""


class Excerpt:
    """A text whose pieces have scores, to be written in any length."""

    def __init__(
        self, text: str, *, requested: frozenset[str], marks: Marks, max_piece: int = 240, in_line: bool = False,
        spans: Sequence[_Span] | None = None, worths: Sequence[tuple[int, int, float]] = (),
    ) -> None:  # fmt: skip
        """Rate the pieces of `text`; of a text that is too long for that, only parts of it.

        Args:
            text: The text.
            requested: The words of the request without regard to case.
            marks: Write the gaps.
            max_piece: Characters of a piece at most.
            in_line: Whether the excerpt stands in a cell, so that all gaps are counted in characters.
            spans: The parts (start, end) of a text that may be shown; None: all.
            worths: Parts (start, end, worth) that are worth more than others, or less: sorted, none in another.
        """
        self._text = text
        self._marks = marks
        self._numbers = LineNumbers(text)
        self._counts_lines = has_other_numbers(text)
        self._in_line = in_line
        self._says_lines = True
        """Whether the next mark for lines says that its numbers are those of lines; the first one of a text does."""
        rated = _spans(text, spans, requested, _MAX_IN_CELL if in_line else MAX_RATED)
        self._pieces = list(cut_lines(text, rated, max_piece))
        rate(self._pieces, requested)
        starts = [start for start, _, _ in worths]
        for piece in self._pieces:
            at = bisect_right(starts, piece.start) - 1
            piece.score += worths[at][2] if at >= 0 and piece.start < worths[at][1] else 0.0
        self._shown: set[int] = set()
        self._blank = {number for number, piece in enumerate(self._pieces) if not piece.text.strip()}
        numbers = (number for number in range(len(self._pieces)) if number not in self._blank)
        self._ranked = sorted(numbers, key=lambda number: (-self._pieces[number].score, number))

    def write(self, room: float) -> str:
        """Return the pieces with the highest scores in about `room` characters, in their order, with marks."""
        self._shown = self._choose(room)
        shown = [self._pieces[number] for number in sorted(self._shown)]
        self._says_lines = True
        parts = ((self._between(a, b), b.text if b else "") for a, b in pairwise([None, *shown, None]))
        return "".join(chain(*parts))

    @property
    def has_any(self) -> bool:
        """Whether the last text that was written has any piece."""
        return bool(self._shown)

    def shows(self, start: int, end: int) -> bool:
        """Return whether the last text that was written has all pieces of any worth between two positions."""
        within = ((number, piece) for number, piece in enumerate(self._pieces) if start <= piece.start < end)
        return all(number in self._shown or number in self._blank or piece.score < 0 for number, piece in within)

    def _choose(self, room: float) -> set[int]:
        """Return the indexes of the pieces with the highest score that fit."""
        shown: set[int] = set()
        left = room
        for number in self._ranked:
            beside = any(number + step in shown or number + step in self._blank for step in (-1, 1))
            chars = len(self._pieces[number].text) + 1 + (0 if beside else _GAP_CHARS)
            if chars <= left:
                shown.add(number)
                left -= chars
            elif left < MIN_PIECE_CHARS:
                break
        return shown

    def _between(self, last: Piece | None, piece: Piece | None) -> str:
        """Return what stands between two shown pieces, of which the first or the second may be missing."""
        start, end = last.end if last else 0, piece.start if piece else len(self._text)
        if last and piece and end - start < _MIN_GAP:
            return self._text[start:end]
        is_whole = (not last or self._text[start : start + 1] == "\n") and (not piece or self._text[end - 1] == "\n")
        if self._in_line or not is_whole:
            chars = self._marks.gap(f"{end - start:,} characters") if end - start >= _MIN_GAP else self._text[start:end]
            return f"{' ' * bool(last)}{chars}{' ' * bool(piece and piece.text[0] != ' ')}" if end > start else ""
        lines = self._skip_lines(start + bool(last), end)
        return "\n" * bool(last and (lines or piece)) + lines + "\n" * bool(lines and piece)

    def _skip_lines(self, start: int, end: int) -> str:
        """Return the mark for the lines from the one at `start` to before the one at `end`."""
        if start >= end:
            return ""
        is_open = self._text[end - 1] != "\n"
        if self._counts_lines:
            count = self._text.count("\n", start, end) + is_open
            return self._marks.gap(f"{count:,} line{'s'[: count > 1]}")
        first, last = self._numbers.number_at(start), self._numbers.number_at(end) - (not is_open)
        if first == last:
            return self._marks.gap(f"line {first}")
        word, self._says_lines = "lines " * self._says_lines, False
        return self._marks.gap(f"{word}{first}-{last}")


def _spans(text: str, spans: Sequence[_Span] | None, requested: Iterable[str], most: int) -> Iterator[_Span]:
    """Yield the spans that are rated: those of `candidate_spans`, within `spans` where they are given."""
    for low, high in [(0, len(text))] if spans is None else spans:
        share = most * (high - low) // max(len(text), 1)
        yield from ((low + start, low + end) for start, end in candidate_spans(text[low:high], requested, share))
