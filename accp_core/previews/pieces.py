"""The pieces of a text, and how likely the next step needs each of them.

Rare identifiers, numbers, dates and addresses have the highest score, because in recorded runs the next step needs
them; then errors, words of the request, headings, names, the beginning and the end.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from accp_core.documents.json_styles import STYLE_CODE
from accp_core.previews.asked.request import COMMON
from accp_core.previews.words import find_words, has_error, shape_of, worth_of
from accp_core.view.notation import FENCE

__all__ = ["DEFINITION", "MIN_PIECE_CHARS", "Piece", "cut_lines", "cut_view", "rate"]

MIN_PIECE_CHARS: Final = 40
_MAX_PIECE_CHARS: Final = 240
_EDGE: Final = 4
"""Pieces at the beginning and at the end that have a higher score."""
_REQUESTED_WORTH: Final = 1.5
"""What a piece is worth that alone holds the words of the request which the text has: more than one at an end."""
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
_TABLE: Final = re.compile(rf"(?:.* )?(?:&[0-9]+ |!json{STYLE_CODE} )*[\[{{]([0-9]+)[\]}}](?: |:$)")
_OPEN: Final = ("{", "[{")
_CLOSE: Final = ("}", "}]")

_Parents = list[tuple[int, int | None]]
"""The maps and tables that are open: the index of the first piece, and how many rows follow; None: up to a bracket."""


@dataclass(slots=True)
class Piece:
    """A line, or a part of a long one."""

    text: str
    start: int
    """The position of its first character in the text."""
    parent: int | None = None
    """The index of the piece that must be shown with this one, such as the header of its table; None: none."""
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


def cut_view(text: str, max_chars: int) -> Iterator[Piece]:
    """Yield the pieces of a view, each with its parent."""
    parents: _Parents = []
    number = at = 0
    fences: list[str] = []
    for line in text.split("\n"):
        while parents and parents[-1][1] == 0:
            parents.pop()
        first, parent = number, parents[-1][0] if parents else None
        for part in _cut(line, max_chars):
            yield Piece(part, at, parent)
            number += 1
            at += len(part)
        at += 1
        if not fences:
            fences = FENCE.findall(line)
            _nest(parents, line, first)
        elif line == fences[0]:
            del fences[0]


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


def _nest(parents: _Parents, line: str, piece: int) -> None:
    """Add to `parents` the map or table that `line` opens, with the rows that follow, and remove those it closes."""
    if line in _CLOSE:
        if parents:
            parents.pop()
        return
    if parents and (rows := parents[-1][1]) is not None:
        parents[-1] = (parents[-1][0], rows - 1)
    if line.endswith(_OPEN):
        parents.append((piece, None))
    elif table := _TABLE.match(line):
        parents.append((piece, int(table[1])))


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
