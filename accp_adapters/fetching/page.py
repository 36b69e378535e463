"""Pages: as many rows or lines as the token limit allows, and the offset to continue with.

The rows and lines are text of others: what looks like a line of ours in them says that it is source text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from accp_adapters.fetching.opening import MAX_CHARS, lines_of_long, parts_of
from accp_adapters.fetching.paths import RowSelection
from accp_adapters.fetching.request import FetchRequest, refuse
from accp_adapters.fetching.source_text import one_line, shown_source
from accp_core.documents.json_styles import write_styled_json
from accp_core.ports import TokenCounter
from accp_core.tables import FIRST_LINE, lines_of
from accp_core.view import render_text

__all__ = [
    "Room", "cut_row", "line_page", "lines_around", "next_offset", "numbered_line", "row_page", "split_page",
    "text_page",
]  # fmt: skip

_NOTES: Final = re.compile(r"(?:(?:\A|\n)…[^\n]*)+\s*\Z")
"""The last lines of an answer, where they are notes."""
_NEXT: Final = re.compile(r"; next: offset=(\d+)")
_TOKEN_CHARS: Final = 100
"""Characters that a token stands for at most in a text that is not made of blanks."""
_REST: Final = 0.1
"""The share of the rows that are shown with the others, although the page then has so much more than its limit."""
_NEIGHBOURS: Final = ((5, 2), (20, 1))
"""So many lines are shown before and behind each of so many lines that were found; of more, none."""
_NEIGHBOUR_CHARS: Final = 100
"""Characters of a line that are shown beside one that was found."""
_PART_CHARS: Final = 400
"""Characters of a part of a text with a line that no page has room for, such as minified HTML."""


def lines_around(hits: int) -> int:
    """Return how many lines are shown before and behind each of so many lines that were found."""
    return next((lines for most, lines in _NEIGHBOURS if hits <= most), 0)


def numbered_line(number: int, text: str, *, is_found: bool) -> str:
    """Return a line as `grep -n -C` shows it: `52: ` before one that was found, `53- ` before a neighbour."""
    if is_found:
        return f"{number}: {one_line(text)}\n"
    return f"{number}- {one_line(text[:_NEIGHBOUR_CHARS])}{'…' * (len(text) > _NEIGHBOUR_CHARS)}\n"


@dataclass(frozen=True, slots=True)
class Room:
    """What one answer may show: which part of what is found, in how many tokens."""

    request: FetchRequest
    limit: int
    counter: TokenCounter

    def below(self, line: str) -> Room:
        """Return the room that is left below a line."""
        return replace(self, limit=max(1, self.limit - self.counter(line))) if line else self

    def may_fit(self, text: str) -> bool:
        """Return whether a text may fit: counting the tokens of megabytes would take seconds."""
        return len(text) <= _TOKEN_CHARS * self.limit

    def fits(self, text: str, share: float = 1) -> bool:
        """Return whether a text, unless it is empty, has at most this share of the tokens."""
        return bool(text) and self.may_fit(text) and self.counter(text) <= share * self.limit

    def view(self, value: Any) -> str:
        """Return the view of a value, whose numbers keep the spelling of the source; a text as it is; "": too long."""
        if isinstance(value, str):
            return value
        text = write_styled_json(value, "0u")
        return render_text(text, counter=self.counter).text if self.may_fit(text) else ""

    def remaining(self, unit: str, total: int) -> int:
        """Return how many of `total` rows or lines may be shown.

        Raises:
            ProtocolError: E1004, the offset is behind the last one.
        """
        offset, limit = self.request.offset, self.request.limit
        if offset and offset >= total:
            raise refuse(f"expected an offset below {total} {unit}, found {offset!r}")
        return total - offset if limit is None else min(total - offset, limit)

    def largest(self, page: Callable[[int], str], highest: int) -> str:
        """Return the page of the most rows or lines, up to `highest`, that fits; an empty text where none does."""
        count = _find_largest(highest, lambda count: self.fits(page(count)))
        if 0 < count < highest and highest - count <= max(1, _REST * highest) and self.fits(page(highest), 1 + _REST):
            # A small rest is not worth a call of its own.
            return page(highest)
        return page(count) if count else ""

    def note(self, unit: str, count: int, total: int, shown: str = "") -> str:
        """Return the line that says which part this is; nothing where it is everything.

        Args:
            unit: "rows", which are numbered from 0 as in paths, "lines" as in a query, or "parts" of a text.
            count: How many are shown.
            total: How many there are.
            shown: What is shown.
        """
        if count == total:
            return ""
        start, end = self.request.offset, self.request.offset + count
        line_end = "" if shown.endswith("\n") else "\n"
        first = 0 if unit == "rows" else FIRST_LINE
        return f"{line_end}… {unit} {start + first}-{end + first - 1} of {total}{next_offset(end, total)}"


def _find_largest(highest: int, fits: Callable[[int], bool]) -> int:
    """Return the largest count up to `highest` that fits, 0 where none does; small counts are tried first."""
    low, high = 0, 1
    while high < highest and fits(high):
        low, high = high, high * 2
    high = min(high, highest)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def row_page(selection: RowSelection, room: Room) -> str:
    """Return a page of rows; of a row that does not fit, its beginning and the path that shows all of it."""
    offset, total = room.request.offset, len(selection.rows)

    def page(count: int) -> str:
        text = room.view(selection.page(offset, count))
        return text and shown_source(text, room.note("rows", count, total))

    remaining = room.remaining("rows", total)
    shown = room.largest(page, remaining)
    if shown or not remaining:
        return shown or page(0)
    path = f"{selection.path}.{offset}".removeprefix(".")
    note = f"\n… row {offset} of {total}, whole: query={path!r}{next_offset(offset + 1, total)}"
    return cut_row(selection.rows[offset], note, room)


def cut_row(row: Any, note: str, room: Room) -> str:
    """Return the beginning of a row that does not fit, and a note."""
    text = room.view(row) or write_styled_json(row, "0u")[: _TOKEN_CHARS * room.limit]
    return line_page(text, replace(room.below(note), request=FetchRequest())) + note


def line_page(text: str, room: Room) -> str:
    """Return a page of the lines of a text, at least one; of a text with a line too long for a page, of its parts."""
    if len(text) > MAX_CHARS:
        is_wide = re.search(f"[^\n]{{{room.limit + 1}}}", text) is not None
        unit, pieces = ("parts", parts_of(text, _PART_CHARS)) if is_wide else ("lines", lines_of_long(text))
        return text_page(unit, pieces, room)
    lines = lines_of(text)
    longest = max(lines, key=len, default="")
    if len(longest) <= _PART_CHARS or room.fits(longest):
        return text_page("lines", lines, room)
    parts = [line[start : start + _PART_CHARS] for line in lines for start in range(0, len(line), _PART_CHARS)]
    return text_page("parts", parts, room)


def text_page(unit: str, lines: Sequence[str], room: Room) -> str:
    """Return a page of some lines, at least one; `unit`: what they are, as in `Room.note`."""

    def page(count: int) -> str:
        shown = "".join(lines[room.request.offset : room.request.offset + count])
        return shown_source(shown, room.note(unit, count, len(lines), shown))

    remaining = room.remaining(unit, len(lines))
    return room.largest(page, remaining) or page(min(remaining, 1))


def split_page(answer: str) -> tuple[str, int | None]:
    """Return what an answer shows of a source, without our notes, and the offset of the next part, None at the end."""
    notes = _NOTES.search(answer)
    if notes is None:
        return answer, None
    following = _NEXT.search(notes[0])
    return answer[: notes.start()], int(following[1]) if following else None


def next_offset(offset: int, total: int) -> str:
    """Return how to continue at `offset`; nothing where that is the end."""
    return f"; next: offset={offset}" if offset < total else ""
