"""What a stored text holds; of a text that is too long to be opened within the work of an answer, only its lines."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Final, overload

from accp_core.documents import looks_cut
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.tables import FIRST_LINE, LINES, OpenedText, Table, open_text
from accp_core.tables.table import MadeRows

__all__ = ["MAX_CHARS", "LongText", "TextLines", "TextParts", "open_bounded", "too_long", "work_of"]

MAX_CHARS: Final = 4_000_000
"""Characters of a text whose values and tables are read; a longer one has lines and words."""
_LINE_CHARS: Final = 40
_CELL_CHARS: Final = 10
"""Characters that take as long to read as a line, and as what stands between two separators."""
_PIECE: Final = 4_096
"""Characters between two places whose line is remembered."""
_FOLDED: Final = 1_000_000
"""Characters that are searched at a time."""
_MAX_HITS: Final = 100_000
"""Lines with one of the words that are compared."""


def work_of(text: str) -> int:
    """Return how long a text takes to be read as tables, in characters; a line without any takes little."""
    lines = text.count("\n") - text.count("\n\n")
    return len(text) + _LINE_CHARS * lines + _CELL_CHARS * sum(map(text.count, ",;|\t"))


def too_long(text: str) -> ProtocolError:
    """Return the refusal of a query of the values or tables of a text that is too long for them (E2003)."""
    reason = (
        f"expected a text of at most {MAX_CHARS:,} characters for a query, where a line counts as {_LINE_CHARS} more"
    )
    found = f"and a separator as {_CELL_CHARS}, found {work_of(text):,}; use words, lines 41-97, or offset and limit"
    return ProtocolError(f"{reason} {found}", code=ErrorCode.BUDGET_EXCEEDED)


def open_bounded(text: str) -> OpenedText:
    """Return the value in a text; a text that is too long is only lines."""
    is_long = len(text) > MAX_CHARS or work_of(text) > MAX_CHARS
    return LongText(value=text, prose=text, is_cut=looks_cut(text)) if is_long else open_text(text)


class TextLines(Sequence[str]):
    """The lines of a text with their ends, found where they are asked for."""

    def __init__(self, text: str) -> None:
        """Count the lines of `text` in pieces."""
        self._text: Final = text
        pieces = range(0, len(text), _PIECE)
        self._before: Final = list(accumulate((text.count("\n", at, at + _PIECE) for at in pieces), initial=0))

    def __len__(self) -> int:
        """Return how many lines there are."""
        return self._before[-1] + (self._text[-1:] not in ("", "\n"))

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        """Return a line, or some that follow each other."""
        if isinstance(at, int):
            return self[at : at + 1][0]
        first, behind, _ = at.indices(len(self))
        starts = [self._start(first)]
        while len(starts) <= behind - first:
            starts.append(self._text.find("\n", starts[-1]) + 1 or len(self._text))
        return [self._text[one:other] for one, other in pairwise(starts)]

    def _start(self, number: int) -> int:
        if number == 0:
            return 0
        piece = bisect_right(self._before, number - 1) - 1
        at = piece * _PIECE
        for _ in range(number - self._before[piece]):
            at = self._text.find("\n", at) + 1
        return at


class TextParts(Sequence[str]):
    """A text in parts of one length."""

    def __init__(self, text: str, chars: int) -> None:
        """Begin; each part but the last has `chars` characters."""
        self._text: Final = text
        self._chars: Final = chars

    def __len__(self) -> int:
        """Return how many parts there are."""
        return -(-len(self._text) // self._chars)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        """Return a part, or some that follow each other."""
        if isinstance(at, int):
            return self[at : at + 1][0]
        first, behind, _ = at.indices(len(self))
        return [self._text[each * self._chars : (each + 1) * self._chars] for each in range(first, behind)]


@dataclass(frozen=True, kw_only=True)
class LongText(OpenedText):
    """A text that is too long to be opened."""

    @cached_property
    def lines(self) -> TextLines:
        """Its lines."""
        return TextLines(self.value)

    def tables(self, *, with_objects: bool = False) -> tuple[Table, ...]:
        """Return the table of its lines."""
        lines = self.lines

        def row(at: int) -> dict[str, object]:
            return {"n": at + FIRST_LINE, "text": lines[at].removesuffix("\n").removesuffix("\r")}

        return (Table(name=LINES, path=(), columns=("n", "text"), rows=MadeRows(range(len(lines)), row)),)

    def has(self, words: str) -> bool:
        """Return whether words stand in it as they are, without regard to case."""
        return any(words.casefold() in piece for piece in self._pieces())

    def numbers_with(self, words: Sequence[str]) -> Iterator[int]:
        """Yield the place of each line that has one of some words without regard to case, from 0 on.

        Raises:
            ProtocolError: E2003, more lines than can be compared have one.
        """
        before = hits = 0
        for piece in self._pieces():
            numbers: set[int] = set()
            for word in words:
                numbers.update(before + at for at in _numbers_with(word, piece, _MAX_HITS - hits))
            hits += len(numbers)
            if hits >= _MAX_HITS:
                reason = f"expected words of at most {_MAX_HITS:,} lines of a text of {len(self.value):,} characters"
                raise ProtocolError(f"{reason}, found more; use rarer words", code=ErrorCode.BUDGET_EXCEEDED)
            yield from sorted(numbers)
            before += piece.count("\n")

    def _pieces(self) -> Iterator[str]:
        """Yield the text in whole lines, without regard to case."""
        start = 0
        while start < len(self.value):
            end = self.value.find("\n", start + _FOLDED) + 1 or len(self.value)
            yield self.value[start:end].casefold()
            start = end


def _numbers_with(word: str, piece: str, most: int) -> Iterator[int]:
    """Yield the place in a piece of a text of each of `most` lines that have a word."""
    number = start = 0
    for _ in range(most):
        at = piece.find(word, start)
        if at < 0:
            return
        number += piece.count("\n", start, at)
        yield number
        start = piece.find("\n", at) + 1 or len(piece)
        number += 1
