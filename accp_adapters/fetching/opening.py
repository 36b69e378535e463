"""What a stored text holds; of a text that is too long to be opened within the work of an answer, only its lines."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Final, overload

from accp_adapters.fetching.request import too_much
from accp_core.documents import looks_cut
from accp_core.errors import ProtocolError
from accp_core.tables import FIRST_LINE, LINES, OpenedText, Table, open_text
from accp_core.tables.table import MadeRows

__all__ = ["MAX_CHARS", "LongText", "lines_of_long", "open_bounded", "parts_of", "too_long", "work_of"]

MAX_CHARS: Final = 4_000_000
"""Characters of a text whose values and tables are read; a longer one has lines and words."""
_LINE_CHARS: Final = 40
_CELL_CHARS: Final = 10
"""Characters that take as long to read as a line, and as what stands between two separators."""
_SEPARATOR: Final = re.compile(r"[,;|\t]|(?<=\S) {2}")
_PIECE: Final = 4_096
"""Characters between two places whose line is remembered."""
_MAX_HITS: Final = 100_000
"""Places of words whose lines are compared."""


def work_of(text: str) -> int:
    """Return how long a text takes to be read as tables, in characters; a line without any takes little."""
    lines = text.count("\n") - text.count("\n\n")
    return len(text) + _LINE_CHARS * lines + _CELL_CHARS * sum(1 for _ in _SEPARATOR.finditer(text))


def too_long(text: str) -> ProtocolError:
    """Return the refusal of a query of the values or tables of a text that is too long for them (E2003)."""
    reason = (
        f"expected a text of at most {MAX_CHARS:,} characters for a query, where a line counts as {_LINE_CHARS} more"
    )
    found = f"and a separator as {_CELL_CHARS}, found {work_of(text):,}; use words, lines 41-97, or offset and limit"
    return too_much(f"{reason} {found}")


def open_bounded(text: str) -> OpenedText:
    """Return the value in a text; a text that is too long is only lines."""
    is_long = len(text) > MAX_CHARS or work_of(text) > MAX_CHARS
    return LongText(value=text, prose=text, is_cut=looks_cut(text)) if is_long else open_text(text)


class Pieces(Sequence[str]):
    """Parts of a text, which are made where they are asked for."""

    def __init__(self, count: int, between: Callable[[int, int], list[str]]) -> None:
        """Begin with how many there are, and what returns those between two places."""
        self._count: Final = count
        self._between: Final = between

    def __len__(self) -> int:
        """Return how many there are."""
        return self._count

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        """Return one, or some that follow each other."""
        if isinstance(at, int):
            return self._between(at, at + 1)[0]
        first, behind, _ = at.indices(self._count)
        return self._between(first, behind)


def lines_of_long(text: str) -> Pieces:
    """Return the lines of a text with their ends."""
    starts = range(0, len(text), _PIECE)
    before = list(accumulate((text.count("\n", at, at + _PIECE) for at in starts), initial=0))

    def between(first: int, behind: int) -> list[str]:
        piece = bisect_right(before, first - 1) - 1 if first else 0
        start, lines = piece * _PIECE, []
        for number in range(before[piece], behind):
            end = text.find("\n", start) + 1 or len(text)
            if number >= first:
                lines.append(text[start:end])
            start = end
        return lines

    return Pieces(before[-1] + (text[-1:] not in ("", "\n")), between)


def parts_of(text: str, chars: int) -> Pieces:
    """Return a text in parts of one length."""

    def between(first: int, behind: int) -> list[str]:
        return [text[at * chars : (at + 1) * chars] for at in range(first, behind)]

    return Pieces(-(-len(text) // chars), between)


@dataclass(frozen=True, kw_only=True)
class LongText(OpenedText):
    """A text that is too long to be opened."""

    @cached_property
    def lines(self) -> Pieces:
        """Its lines."""
        return lines_of_long(self.value)

    def tables(self, *, with_objects: bool = False) -> tuple[Table, ...]:
        """Return the table of its lines."""
        lines = self.lines

        def row(at: int) -> dict[str, object]:
            return {"n": at + FIRST_LINE, "text": lines[at].removesuffix("\n").removesuffix("\r")}

        return (Table(name=LINES, path=(), columns=("n", "text"), rows=MadeRows(range(len(lines)), row)),)

    def has(self, words: str) -> bool:
        """Return whether words stand in it as they are, without regard to case."""
        return re.search(re.escape(words), self.value, re.IGNORECASE) is not None

    def numbers_with(self, words: Sequence[str]) -> Iterator[int]:
        """Yield the place of each line that has one of some words without regard to case, from 0 on.

        Raises:
            ProtocolError: E2003, the words occur more often than can be compared.
        """
        number, at, last = 0, 0, -1
        found = re.finditer("|".join(map(re.escape, words)), self.value, re.IGNORECASE)
        for count, hit in enumerate(found):
            if count >= _MAX_HITS:
                reason = f"expected words that occur at most {_MAX_HITS:,} times in {len(self.value):,} characters"
                raise too_much(f"{reason}, found more; use rarer words")
            number, at = number + self.value.count("\n", at, hit.start()), hit.start()
            if number > last:
                yield number
            last = number
