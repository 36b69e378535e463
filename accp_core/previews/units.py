"""The preview of text: its pieces, how likely the next step needs each of them, and marks for the gaps.

A long text is rated in parts: the beginning and the end, lines with errors or words of the request, lines of a rare
shape, and an even sample. Of marks for lines only the first one says so: `[…lines 41-97]`, then `[…112-130]`.
"""

from __future__ import annotations

import functools
import math
import re
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from typing import Final

from accp_core.previews.marks import Marks
from accp_core.previews.request import COMMON, find_words, worth_of
from accp_core.tables import LineNumbers, has_other_numbers

__all__ = ["DEFINITION", "MAX_RATED", "Excerpt"]


MAX_RATED: Final = 64_000
"""Characters of a text that is rated whole, and of the parts of a longer one."""
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
    "refused", "abort", "unavailable", "unreachable", "invalid", "warn",
)  # fmt: skip
_SAMPLES: Final = 80
_CHUNK: Final = 100_000

_Span = tuple[int, int]
_ERROR: Final = re.compile(
    r"error|exception|traceback|fail(?:ed|ure|s|\b)|fatal|critical|panic|time[sd]? ?-?out|denied|refused|abort|crash|"
    r"unreachable|unavailable|invalid|warn",
    re.IGNORECASE,
)
_WITH_DIGIT: Final = re.compile(r"\w*\d[\w.:+-]*")
_MAX_SHAPED: Final = 80
"""Characters that the shape of a text is made of."""


def has_error(text: str) -> bool:
    """Return whether `text` names an error, a warning or something that did not work."""
    return _ERROR.search(text) is not None


def shape_of(text: str) -> str:
    """Return `text` with `#` for each word that has a digit: lines of one kind have one shape."""
    return _WITH_DIGIT.sub("#", text[:_MAX_SHAPED])


def candidate_spans(text: str, requested: Iterable[str], most: int = MAX_RATED) -> list[_Span]:
    """Return the spans (start, end) of `text` that are rated, in order; all of a short text.

    Args:
        text: The text.
        requested: The words of the request without regard to case.
        most: Characters of a text that is rated whole, and of the parts of a longer one, about.
    """
    if len(text) <= most:
        return [(0, len(text))]
    places = chain(
        _places_of_words(text, requested),
        range(0, len(text), max(len(text) // _SAMPLES, 1)),
    )
    spans = [(0, most // _HEAD), (len(text) - most // _TAIL, len(text))]
    left = most - most // _HEAD - most // _TAIL
    for place in places:
        span = _line_around(text, place)
        left -= span[1] - span[0]
        if left < 0:
            break
        spans.append(span)
    return list(_merge(sorted(spans)))


def _places_of_words(text: str, requested: Iterable[str]) -> Iterator[int]:
    """Yield the first and the last places of the words of a request, then those of words for errors.

    The text is lowered in parts: a whole copy of a text of megabytes takes as much memory as the text, or more.
    """
    found: dict[str, tuple[list[int], deque[int]]] = {
        word: ([], deque(maxlen=_HITS)) for word in dict.fromkeys((*sorted(requested), *_ERRORS))
    }
    overlap = max(map(len, found)) - 1
    for start in range(0, len(text), _CHUNK):
        part = _lowered(text[start : start + _CHUNK + overlap])
        for word, (first, last) in found.items():
            at = part.find(word)
            while 0 <= at < _CHUNK and len(first) < _HITS:
                first.append(start + at)
                at = part.find(word, at + 1)
            last.extend(reversed(list(_last_places(part, word, start)) if 0 <= at < _CHUNK else []))
    for first, last in found.values():
        yield from first
        yield from last


def _last_places(part: str, word: str, start: int) -> Iterator[int]:
    at = part.rfind(word, 0, _CHUNK + len(word) - 1)
    for _ in range(_HITS):
        if at < 0:
            return
        yield start + at
        at = part.rfind(word, 0, at + len(word) - 1)


def _lowered(text: str) -> str:
    """Return `text` in lower case, or as it is where that has another length."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text


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
_ERROR_WORTH: Final = 1.0
_ERROR_WORTH_IN_LOGS: Final = 6.0
_MAX_ERRORS: Final = 0.2
"""The share of pieces with errors up to which an error is worth showing; the fewer there are, the more."""
_SHAPE_WORTH: Final = 2.0
"""What a piece of a rare shape is worth in a log: where most pieces have a common one."""
_COMMON: Final = 10
_RARE: Final = 3
"""Pieces of one shape from which it is common, and up to which it is rare."""
_HEADING_WORTH: Final = 0.3
DEFINITION: Final = re.compile(
    r"(?: *\d+\t)?(?:(?:export|default|public|private|static|async|pub) )*"
    r"(?:def|class|func|fn|function|struct|interface|type) \w"
)
"""The first line of a function or a type, perhaps with the number of the line."""
_HEADING: Final = re.compile(rf"#{{1,6}} \S|{DEFINITION.pattern}|[A-Z][^.]{{2,80}}:$")


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


def cut_lines(text: str, spans: Iterable[tuple[int, int]], max_chars: int) -> Iterator[Piece]:
    """Yield the pieces of the lines in each span (start, end) of `text`."""
    for start, end in spans:
        at = start
        for line in text[start:end].split("\n"):
            for part in _cut(line, max_chars):
                yield Piece(part, at)
                at += len(part)
            at += 1


def _cut(line: str, max_chars: int) -> Iterable[str]:
    """Return the parts of a line, cut between sentences; a long sentence is cut between words."""
    return (line,) if len(line) <= max_chars else _cutter(max_chars).findall(line)


@functools.lru_cache(maxsize=64)
def _cutter(max_chars: int) -> re.Pattern[str]:
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
    worth = {word: worth_of(word) / count for word, count in uses.items()}
    wanted = _wanted(uses, requested - COMMON, len(pieces))
    extra = _extra_worths(pieces)
    for number, piece in enumerate(pieces):
        facts = sum(worth[word] for word in words[number])
        matches = sum(wanted[word] for word in words[number] if word in wanted)
        edge = max(0, _EDGE - min(number, len(pieces) - 1 - number))
        score = (2 * facts + edge / 2 + extra[number]) / math.sqrt(len(piece.text) + 20)
        piece.score = score + _REQUESTED_WORTH * matches
    _lift_units(pieces, words, wanted)


def _lift_units(pieces: Sequence[Piece], words: Sequence[Mapping[str, None]], wanted: Mapping[str, float]) -> None:
    """Raise the scores of the units of text that have the most of the request's words, from the heading to the end."""
    units = list(pairwise([*_unit_starts(pieces), len(pieces)]))
    matches = []
    for start, end in units:
        found = dict.fromkeys(word for own in words[start:end] for word in own if word in wanted)
        matches.append(sum(wanted[word] for word in found))
    best = max(matches, default=0.0)
    top = [unit for unit, match in zip(units, matches, strict=True) if best and match >= _NEARLY * best]
    for start, end in top if len(top) <= _MAX_UNITS else ():
        for piece in pieces[start:end] if sum(len(piece.text) for piece in pieces[start:end]) <= _MAX_UNIT else ():
            piece.score += _UNIT_WORTH / len(top)
        for number in _headings_above(pieces, start):
            pieces[number].score += _REQUESTED_WORTH / len(top)


def _unit_starts(pieces: Sequence[Piece]) -> list[int]:
    """Return where units begin: behind a blank line."""
    return [0, *(n + 1 for n, piece in enumerate(pieces[:-1]) if not piece.text.strip())]


def _headings_above(pieces: Sequence[Piece], start: int) -> Iterator[int]:
    """Yield the first line of a unit, and the nearest heading above it."""
    yield start
    above = range(start - 1, max(start - _MAX_ABOVE, -1), -1)
    yield from islice((n for n in above if _HEADING.match(pieces[n].text)), 1)


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


def _extra_worths(pieces: list[Piece]) -> list[float]:
    """Return what each piece is worth for the errors that it names, for a rare shape and for being a heading."""
    shapes = [shape_of(piece.text) for piece in pieces]
    uses = Counter(shapes)
    is_log = 2 * sum(count for count in uses.values() if count >= _COMMON) > len(pieces)
    errors = [has_error(piece.text) for piece in pieces]
    error_worth = _ERROR_WORTH_IN_LOGS if is_log else _ERROR_WORTH
    error_worth *= max(0.0, 1 - sum(errors) / max(_MAX_ERRORS * len(pieces), 1))
    shape_worth = _SHAPE_WORTH if is_log else 0.0
    return [
        error_worth * error
        + shape_worth * (uses[shape] <= _RARE)
        + _HEADING_WORTH * (_HEADING.match(piece.text) is not None)
        for piece, shape, error in zip(pieces, shapes, errors, strict=True)
    ]


# The parts of a text that a preview shows, with a mark for each gap: `[…lines 41-97]`, `[…310 characters]`.

_GAP_CHARS: Final = 3
"""Characters that a mark for a gap is counted as; of more, pieces beside shown ones would displace facts elsewhere."""
_MIN_GAP: Final = 16
"""Characters of a gap from which a mark takes no more tokens than its text; a shorter one is shown."""


class Excerpt:
    """A text whose pieces have scores, to be written in any length."""

    def __init__(
        self,
        text: str,
        *,
        requested: frozenset[str],
        marks: Marks,
        max_piece: int = 240,
        in_line: bool = False,
        max_rated: int = MAX_RATED,
        spans: Sequence[tuple[int, int]] | None = None,
        worths: Sequence[tuple[int, int, float]] = (),
    ) -> None:
        """Rate the pieces of `text`; of a text that is too long for that, only parts of it.

        Args:
            text: The text.
            requested: The words of the request without regard to case.
            marks: Write the gaps.
            max_piece: Characters of a piece at most.
            in_line: Whether the excerpt stands in a cell, so that all gaps are counted in characters.
            max_rated: Characters of a text that is rated whole, and of the parts of a longer one, about.
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
        self._pieces = list(cut_lines(text, _spans(text, spans, requested, max_rated), max_piece))
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
        out: list[str] = []
        self._says_lines = True
        for last, piece in pairwise([None, *shown, None]):
            out += (self._between(last, piece), piece.text if piece else "")
        return "".join(out)

    @property
    def has_any(self) -> bool:
        """Whether the last text that was written has any piece."""
        return bool(self._shown)

    def shows(self, start: int, end: int) -> bool:
        """Return whether the last text that was written has all pieces that begin between two positions."""
        pieces = (number for number, piece in enumerate(self._pieces) if start <= piece.start < end)
        return all(number in self._shown or number in self._blank for number in pieces)

    def _choose(self, room: float) -> set[int]:
        """Return the indexes of the pieces with the highest score that fit."""
        shown: set[int] = set()
        left = room
        for number in self._ranked:
            chars = len(self._pieces[number].text) + 1 + (0 if self._joins(number, shown) else _GAP_CHARS)
            if chars <= left:
                shown.add(number)
                left -= chars
            elif left < MIN_PIECE_CHARS:
                break
        return shown

    def _joins(self, number: int, shown: set[int]) -> bool:
        """Return whether a piece stands beside one that is shown, so that it needs no gap of its own."""
        return any(number + step in shown or number + step in self._blank for step in (-1, 1))

    def _between(self, last: Piece | None, piece: Piece | None) -> str:
        """Return what stands between two shown pieces, of which the first or the second may be missing."""
        start, end = last.end if last else 0, piece.start if piece else len(self._text)
        if last and piece and end - start < _MIN_GAP:
            return self._text[start:end]
        first = self._text.find("\n", start, end) if last else -1
        final = self._text.rfind("\n", start, end)
        if self._in_line or (first < 0 if last else final < 0):
            after = "" if piece is None or piece.text[0] == " " else " "
            return self._skip(start, end, f" {{}}{after}" if last else f"{{}}{after}")
        hidden = first + 1 if last else 0, final + 1 if piece else len(self._text)
        rest = self._skip(start, first, " {}") + "\n" if last else ""
        lines = self._skip_lines(*hidden)
        if piece is None:
            return f"{rest}{lines}" if lines else rest.rstrip("\n")
        lines += "\n" * bool(lines)
        return rest + lines + self._skip(final + 1, end, "{} ")

    def _skip(self, start: int, end: int, form: str) -> str:
        """Return the mark for some characters, or a few characters as they are."""
        if start >= end:
            return ""
        if end - start < _MIN_GAP:
            return self._text[start:end]
        return form.format(self._marks.gap(f"{end - start:,} characters"))

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


def _spans(
    text: str, spans: Sequence[tuple[int, int]] | None, requested: Iterable[str], most: int
) -> Iterator[tuple[int, int]]:
    """Yield the spans that are rated: those of `candidate_spans`, within `spans` where they are given."""
    for low, high in [(0, len(text))] if spans is None else spans:
        part = text if spans is None else text[low:high]
        share = most * len(part) // max(len(text), 1) if spans else most
        yield from ((low + start, low + end) for start, end in candidate_spans(part, requested, share))


# The records of a text as the rows of a table: commits, mails, functions, entries of a log, or lines.


# The records of a text that a request asks for: how many they are, and which of its lines are worth the most.
