"""The parts of a text that a preview shows, with a mark for each gap: `[…lines 41-97]`, `[…310 characters]`.

Of several marks for lines only the first one says so, the others are `[…112-130]`: two tokens less for each.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from accp_core.previews.candidates import MAX_RATED, candidate_spans
from accp_core.previews.marks import Marks
from accp_core.previews.pieces import MIN_PIECE_CHARS, Piece, cut_lines, cut_view, rate
from accp_core.tables import LineNumbers, has_other_numbers

__all__ = ["Excerpt"]

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
        is_view: bool = False,
        in_line: bool = False,
        max_rated: int = MAX_RATED,
        spans: Sequence[tuple[int, int]] | None = None,
        worths: Sequence[tuple[int, int, float]] = (),
    ) -> None:
        """Rate the pieces of `text`; of a text that is no view and too long for that, only parts of it.

        Args:
            text: The text.
            requested: The words of the request without regard to case.
            marks: Write the gaps.
            max_piece: Characters of a piece at most.
            is_view: Whether the text is a view: its rows are shown with their headers, and the lines in its gaps are
                counted; those of any other text are named by the numbers that they have in a query, unless it has
                numbers of its own.
            in_line: Whether the excerpt stands in a cell, so that all gaps are counted in characters.
            max_rated: Characters of a text that is rated whole, and of the parts of a longer one, about.
            spans: The parts (start, end) of a text that may be shown, no view; None: all.
            worths: Parts (start, end, worth) that are worth more than others, or less: sorted, none in another.
        """
        self._text = text
        self._marks = marks
        self._numbers = LineNumbers(text)
        self._counts_lines = is_view or has_other_numbers(text)
        self._in_line = in_line
        self._says_lines = True
        """Whether the next mark for lines says that its numbers are those of lines; the first one of a text does."""
        pieces = (
            cut_view(text, max_piece)
            if is_view
            else cut_lines(text, _spans(text, spans, requested, max_rated), max_piece)
        )
        self._pieces = list(pieces)
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

    def shows(self, start: int, end: int) -> bool:
        """Return whether the last text that was written has all pieces that begin between two positions."""
        pieces = (number for number, piece in enumerate(self._pieces) if start <= piece.start < end)
        return all(number in self._shown or number in self._blank for number in pieces)

    def _choose(self, room: float) -> set[int]:
        """Return the indexes of the pieces with the highest score that fit, and of their parents."""
        shown: set[int] = set()
        left = room
        for number in self._ranked:
            added = [index for index in self._with_parents(number) if index not in shown]
            chars = sum(len(self._pieces[index].text) + 1 for index in added)
            chars += 0 if self._joins(number, shown) else _GAP_CHARS
            if chars <= left:
                shown.update(added)
                left -= chars
            elif left < MIN_PIECE_CHARS:
                break
        return shown

    def _joins(self, number: int, shown: set[int]) -> bool:
        """Return whether a piece stands beside one that is shown, so that it needs no gap of its own."""
        return any(number + step in shown or number + step in self._blank for step in (-1, 1))

    def _with_parents(self, number: int) -> Iterator[int]:
        current: int | None = number
        while current is not None:
            yield current
            current = self._pieces[current].parent

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
            # A reader must know that there was more, whatever is shown.
            cut = ", cut off here in the source" * (self._marks.cut_line in self._text[start:end])
            return self._marks.gap(f"{count:,} line{'s'[: count > 1]}{cut}")
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
