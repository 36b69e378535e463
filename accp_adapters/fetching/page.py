"""Pages: as many rows or lines as the token limit allows, and the offset to continue with.

The rows and lines are text of others. No line of them passes for one that we write (`accp_core.markers`). A character
that shows nothing, such as one that moves a cursor or turns the direction of writing, is an escape of JSON. A line of a
text that has one is a JSON string, as is one that would look like it; other lines stand as they are.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final

from accp_adapters.fetching.request import FetchRequest, refuse
from accp_core.documents.json_styles import write_styled_json
from accp_core.error_codes import ErrorCode
from accp_core.markers import UNSEEN
from accp_core.ports import TokenCounter
from accp_core.tables import FIRST_LINE, count_lines
from accp_core.view import render_text
from accp_core.view.layout import AS_IS, escape_view
from accp_core.view.notation import HIDDEN_SIGN, quote, visible

__all__ = ["Room", "line_page", "lines_from", "numbered_line", "quoted_lines", "row_page", "shown_source"]

_INNER_NEXT: Final = re.compile(r"(\n… \w+ \S+ of \d+); next: offset=\d+\Z")
"""The last line of a page of one row, whose offset is left out: that of a request counts rows."""
_TOKEN_CHARS: Final = 50
"""Characters that a token stands for at most in a text that is not made of blanks."""
_LEVEL_CHARS: Final = 30
"""Characters that take as long to render as a map in a row."""
_STEPS: Final = 64
"""Numbers of rows that are told apart up to a number that does not fit; of fewer rows, all are."""
_REST: Final = 0.1
"""The share of the rows that are shown with the others, although the page then has so much more than its limit."""
_NEIGHBOUR_CHARS: Final = 100
"""Characters of a line that are shown beside one that was found."""
PART_CHARS: Final = 400
"""Characters of a part of a text with a line that no page has room for, such as minified HTML."""

_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_ESCAPED: Final = re.compile(r"\\[bfru]")
"""The beginning of an escape that a quoted line may have."""
_SPACE: Final = rf"(?:(?!\n)[{UNSEEN}])*+"
_REFUSAL: Final = re.compile(rf"(?im)^(?=_(?:source text:_)*+(?:{'|'.join(ErrorCode)})_:)".replace("_", _SPACE))
"""Where a line begins that a reader could take for a refusal of ours."""


def quoted_lines(text: str) -> str:
    """Return the lines of a text, as JSON strings those with a character that `visible` would replace.

    So are those that look like such a string, which tells both apart.
    """
    if not HIDDEN_SIGN.search(text) and not _ESCAPED.search(text):
        return text
    return "\n".join(map(_quoted_line, text.split("\n")))


def _quoted_line(line: str) -> str:
    text = line.removesuffix("\r")
    looks_quoted = text[:1] == text[-1:] == '"' and _ESCAPED.search(text)
    return quote(text) + line[len(text) :] if looks_quoted or HIDDEN_SIGN.search(text) else line


def shown_source(text: str, notes: str = "", *, layout: str = AS_IS) -> str:
    """Return a text of a source as an answer shows it, and our notes behind it; `layout` is that of a view."""
    return _REFUSAL.sub("source text: ", visible(escape_view(text, layout))) + notes


def numbered_line(number: int, text: str, *, is_found: bool) -> str:
    """Return a line as `grep -n -C` shows it: `52: ` before one that was found, `53- ` before a neighbour."""
    if is_found:
        return f"{number}: {quoted_lines(text)}\n"
    return f"{number}- {quoted_lines(text[:_NEIGHBOUR_CHARS])}{'…' * (len(text) > _NEIGHBOUR_CHARS)}\n"


def lines_from(text: str, first: int, chars: int) -> list[str]:
    """Return lines of a text with their ends, from one place on, until they have so many characters.

    All lines of a text take many times its memory.
    """
    lines: list[str] = []
    for found in islice(_LINE.finditer(text), first, None):
        lines.append(found[0])
        chars -= len(found[0])
        if chars < 0:
            break
    return lines


@dataclass(frozen=True, slots=True)
class Room:
    """What one answer may show: which part of what is found, in how many tokens."""

    request: FetchRequest
    limit: int
    counter: TokenCounter

    def below(self, line: str) -> Room:
        """Return the room that is left below a line."""
        return replace(self, limit=max(1, self.limit - self.counter(line))) if line else self

    @property
    def chars(self) -> int:
        """The characters that may fit: counting the tokens of megabytes would take seconds."""
        return _TOKEN_CHARS * self.limit

    def fits(self, text: str, share: float = 1) -> bool:
        """Return whether a text, unless it is empty, has at most this share of the tokens."""
        return bool(text) and len(text) <= self.chars and self.counter(text) <= share * self.limit

    def view(self, value: Any) -> str:
        """Return the view of a value, whose numbers keep the spelling of the source; a text as it is; "": too long."""
        if isinstance(value, str):
            return value
        text = write_styled_json(value, "0u")
        chars = len(text) + _LEVEL_CHARS * text.count("{")
        return render_text(text, counter=self.counter).text if chars <= self.chars else ""

    def page(
        self, unit: str, total: int, write: Callable[[int], str], *, notes: str = "",
        row: Callable[[], Any] | None = None, way: str = "",
    ) -> str:  # fmt: skip
        """Return as many rows or lines as fit, at least one, our notes, and which part of them all this is.

        Args:
            unit: "rows", which are numbered from 0 as in paths, "lines" as in a query, or "parts" of a text.
            total: How many there are.
            write: Returns so many of them from the offset on; "": they are too long.
            notes: Our notes.
            row: Returns the first one, of which only the beginning is shown if it does not fit; None: it is a text.
            way: How to see all of that one.

        Raises:
            ProtocolError: E1004, the offset is behind the last one.
        """
        offset, limit = self.request.offset, self.request.limit
        if offset and offset >= total:
            raise refuse(f"expected an offset below {total} {unit}, found {offset!r}")

        def shown(count: int) -> str:
            text = write(count)
            return text and shown_source(text, notes + self._part(unit, count, total, text))

        remaining = min(total - offset, limit or total)
        largest = self._largest(shown, remaining)
        if not largest and remaining and row:
            note = f"{notes}\n… row {offset} of {total}{way}{_next(offset + 1, total)}"
            return _cut_row(row(), note, self)
        return largest or shown(min(remaining, 1))

    def _largest(self, page: Callable[[int], str], highest: int) -> str:
        """Return the page of the most rows or lines, up to `highest`, that fits; an empty text where none does."""
        count = _find_largest(highest, lambda count: self.fits(page(count)))
        if 0 < count < highest and highest - count <= max(1, _REST * highest) and self.fits(page(highest), 1 + _REST):
            # A small rest is not worth a call of its own.
            return page(highest)
        return page(count) if count else ""

    def _part(self, unit: str, count: int, total: int, shown: str) -> str:
        """Return the line that says which part of all is shown; nothing where it is everything."""
        if count == total:
            return ""
        first = (start := self.request.offset) + FIRST_LINE * (unit != "rows")
        line_end = "" if shown.endswith("\n") else "\n"
        return f"{line_end}… {unit} {first}-{first + count - 1} of {total}{_next(start + count, total)}"


def _find_largest(highest: int, fits: Callable[[int], bool]) -> int:
    """Return the largest count up to `highest` that fits, 0 where none does; small counts are tried first.

    Large ones are tried in steps, as each takes its time.
    """
    high = 1
    while high < highest and fits(high):
        high *= 2
    counts = range(high // 2, min(high, highest) + 1, max(1, high // _STEPS))
    return counts[bisect_left(counts, True, 1, key=lambda count: not fits(count)) - 1]


def row_page(rows: list[Any], path: str, around: Callable[[list[Any]], Any], room: Room) -> str:
    """Return a page of what `find_rows` returns; of a row that does not fit, its beginning and the path to it."""
    offset = room.request.offset
    left, way = rows[offset:], f", whole: query={f'{path}[{offset}]'!r}"
    return room.page("rows", len(rows), lambda count: room.view(around(left[:count])), row=lambda: left[0], way=way)


def _cut_row(row: Any, note: str, room: Room) -> str:
    """Return the beginning of a row that does not fit, and a note."""
    shown = line_page(row, replace(room.below(note), request=FetchRequest()), style="0u")
    return _INNER_NEXT.sub(r"\1", shown) + note


def line_page(value: object, room: Room, *, style: str = "2u") -> str:
    """Return a page of the lines of a text, at least one; of a text with a line too long for a page, of its parts.

    Another value is the text of its view; of one that is too long, its JSON in this style.
    """
    text = room.view(value) or write_styled_json(value, style)
    shown = quoted_lines if isinstance(value, str) else str
    wide = re.finditer(f"(?m)^[^\n]{{{max(PART_CHARS, room.limit) + 1},}}+", text)
    widest = max((found[0] for found in wide), key=len, default="")
    offset = room.request.offset
    if widest and not room.fits(widest):
        start, parts = offset * PART_CHARS, -(-len(text) // PART_CHARS)
        return room.page("parts", parts, lambda count: shown(text[start : start + count * PART_CHARS]))
    lines = lines_from(text, offset, room.chars)
    return room.page("lines", count_lines(text), lambda count: shown("".join(lines[:count])) * (count <= len(lines)))


def _next(offset: int, total: int) -> str:
    """Return how to continue at `offset`; nothing where that is the end."""
    return f"; next: offset={offset}" if offset < total else ""
