"""Which parts of a long text are rated at all, so that the work for a text of megabytes stays small.

These are the beginning and the end, lines with errors or words of the request, lines of a rare shape, and an even
sample.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

__all__ = ["MAX_RATED", "candidate_spans", "places_of_words"]

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
_MAX_SHAPES: Final = 4_000
_MAX_SHAPE_SHARE: Final = 0.5
_MIN_LINES: Final = 200
_MIN_LINE_CHARS: Final = 8
_MAX_RARE_LINES: Final = 60
_RARE: Final = 3
"""Lines of one shape that are rare."""
_CHUNK: Final = 100_000
_VARIABLE: Final = b"0123456789abcdefABCDEF.:,+-"
"""What lines of one shape differ in: numbers, times and hexadecimal digits."""

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
    places = chain(
        places_of_words(text, requested),
        _rare_lines(text),
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


def places_of_words(text: str, requested: Iterable[str]) -> Iterator[int]:
    """Yield the first and the last places of the words of a request, then those of words for errors.

    The text is lowered in parts: a whole copy of a text of megabytes takes as much memory as the text, or more.
    """
    words = dict.fromkeys((*sorted(requested), *_ERRORS))
    overlap = max(map(len, words)) - 1
    first = _first_hits(text, words, overlap)
    last = _last_hits(text, {word: hits[-1] + 1 for word, hits in first.items() if len(hits) == _HITS}, overlap)
    for word in words:
        yield from first[word]
        yield from last.get(word, ())


def _first_hits(text: str, words: Iterable[str], overlap: int) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {word: [] for word in words}
    left = list(found)
    for start in range(0, len(text), _CHUNK):
        part = _lowered(text[start : start + _CHUNK + overlap])
        for word in left:
            at = part.find(word)
            while 0 <= at < _CHUNK and len(found[word]) < _HITS:
                found[word].append(start + at)
                at = part.find(word, at + 1)
        left = [word for word in left if len(found[word]) < _HITS]
    return found


def _last_hits(text: str, starts: Mapping[str, int], overlap: int) -> dict[str, list[int]]:
    """Return the last places of words, the last one first; none before a place given for its word."""
    found: dict[str, list[int]] = {word: [] for word in starts}
    left = list(found)
    parts = reversed(range(0, len(text), _CHUNK))
    while left:
        start = next(parts)
        part = _lowered(text[start : start + _CHUNK + overlap])
        for word in left:
            hits, low = found[word], max(starts[word] - start, 0)
            while len(hits) < _HITS and (at := part.rfind(word, low, _end_before(hits, start, part))) >= 0:
                hits.append(start + at)
        left = [word for word in left if len(found[word]) < _HITS and starts[word] < start]
    return found


def _end_before(hits: Sequence[int], start: int, part: str) -> int:
    """Return where in `part`, which begins at `start`, a place before the last one of `hits` ends at most."""
    return min(hits[-1] - start, len(part)) if hits else len(part)


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


def _rare_lines(text: str) -> Iterator[int]:
    """Yield the places of lines whose shape few lines have, where most lines have the shape of many others."""
    lines = text.count("\n")
    if lines < _MIN_LINES or lines * _MIN_LINE_CHARS > len(text):
        return
    shapes: Counter[bytes] = Counter()
    for _, chunk in _chunks(text):
        shapes.update(_shapes(chunk))
        if len(shapes) > min(_MAX_SHAPES, lines * _MAX_SHAPE_SHARE):
            return
    found = 0
    for start, chunk in _chunks(text):
        at = start
        for shape, line in zip(_shapes(chunk), chunk.split("\n"), strict=True):
            if shapes[shape] <= _RARE:
                yield at
                found += 1
            at += len(line) + 1
        if found >= _MAX_RARE_LINES:
            return


def _chunks(text: str) -> Iterator[tuple[int, str]]:
    """Yield parts of a text that end with a line, each with its position."""
    start = 0
    while start < len(text):
        end = text.find("\n", min(start + _CHUNK, len(text)))
        end = len(text) if end < 0 else end
        yield start, text[start:end]
        start = end + 1


def _shapes(chunk: str) -> list[bytes]:
    return chunk.encode("utf-8", "surrogatepass").translate(None, _VARIABLE).split(b"\n")


def _merge(spans: Iterable[_Span]) -> Iterator[_Span]:
    """Yield sorted spans, those that meet as one."""
    start = end = 0
    for span in spans:
        if span[0] > end:
            yield start, end
            start = span[0]
        end = max(end, span[1])
    yield start, end
