"""Pages: as many rows or lines as the token limit allows, and the offset to continue with.

The rows and lines are text of others: what looks like a line of ours in them says that it is source text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from accp_adapters.fetching.opening import MAX_CHARS, lines_of_long, parts_of
from accp_adapters.fetching.paths import RowSelection
from accp_adapters.fetching.request import FetchRequest
from accp_adapters.fetching.source_text import one_line, shown_source
from accp_core.documents.json_styles import write_styled_json
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.ports import TokenCounter
from accp_core.tables import FIRST_LINE, lines_of
from accp_core.view import render_text

__all__ = [
    "cut_row", "find_largest", "largest_page", "line_page", "lines_around", "may_fit", "next_offset", "note_part",
    "numbered_line", "remaining_rows", "row_page", "split_page", "text_page", "view_of",
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


def may_fit(text: str, limit: int) -> bool:
    """Return whether the view of a text may have `limit` tokens; that of a longer text is not made."""
    return len(text) <= _TOKEN_CHARS * limit


def row_page(selection: RowSelection, request: FetchRequest, limit: int, counter: TokenCounter) -> str:
    """Return a page of rows; of a row that does not fit, its beginning and the path that shows all of it."""

    def page(count: int) -> str:
        text = view_of(selection.page(request.offset, count), limit, counter)
        return text and shown_source(text, note_part("rows", request.offset, count, len(selection.rows)))

    remaining = remaining_rows("rows", request, len(selection.rows))
    shown = largest_page(page, remaining, limit, counter)
    if shown or not remaining:
        return shown or page(0)
    path = f"{selection.path}.{request.offset}".removeprefix(".")
    total = len(selection.rows)
    note = f"\n… row {request.offset} of {total}, whole: query={path!r}{next_offset(request.offset + 1, total)}"
    return cut_row(selection.rows[request.offset], note, limit, counter)


def cut_row(row: Any, note: str, limit: int, counter: TokenCounter) -> str:
    """Return the beginning of a row that does not fit, and a note."""
    room = max(1, limit - counter(note))
    text = view_of(row, limit, counter) or write_styled_json(row, "0u")[: _TOKEN_CHARS * limit]
    return line_page(text, FetchRequest(), room, counter) + note


def line_page(text: str, request: FetchRequest, limit: int, counter: TokenCounter) -> str:
    """Return a page of the lines of a text, at least one; of a text with a line too long for a page, of its parts."""
    if len(text) > MAX_CHARS:
        is_wide = re.search(f"[^\n]{{{limit + 1}}}", text) is not None
        unit, pieces = ("parts", parts_of(text, _PART_CHARS)) if is_wide else ("lines", lines_of_long(text))
        return text_page(unit, pieces, request, limit, counter)
    lines = lines_of(text)
    longest = max(lines, key=len, default="")
    if len(longest) <= _PART_CHARS or (may_fit(longest, limit) and counter(longest) <= limit):
        return text_page("lines", lines, request, limit, counter)
    parts = [line[start : start + _PART_CHARS] for line in lines for start in range(0, len(line), _PART_CHARS)]
    return text_page("parts", parts, request, limit, counter)


def text_page(unit: str, lines: Sequence[str], request: FetchRequest, limit: int, counter: TokenCounter) -> str:
    """Return a page of some lines, at least one; `unit`: what they are, as in `note_part`."""

    def page(count: int) -> str:
        shown = "".join(lines[request.offset : request.offset + count])
        return shown_source(shown, note_part(unit, request.offset, count, len(lines), shown))

    remaining = remaining_rows(unit, request, len(lines))
    return largest_page(page, remaining, limit, counter) or page(min(remaining, 1))


def largest_page(page: Callable[[int], str], highest: int, limit: int, counter: TokenCounter) -> str:
    """Return the page of the most rows or lines, up to `highest`, that fits; an empty text where none does."""

    def fits(count: int) -> bool:
        text = page(count)
        return bool(text) and len(text) <= _TOKEN_CHARS * limit and counter(text) <= limit

    count = find_largest(highest, fits)
    if 0 < count < highest and highest - count <= max(1, _REST * highest):
        # A small rest is not worth a call of its own.
        whole = page(highest)
        if whole and len(whole) <= _TOKEN_CHARS * limit and counter(whole) <= (1 + _REST) * limit:
            return whole
    return page(count) if count else ""


def remaining_rows(unit: str, request: FetchRequest, total: int) -> int:
    """Return how many rows or lines the request may show.

    Raises:
        ProtocolError: E1004, its offset is behind the last one.
    """
    if request.offset and request.offset >= total:
        raise ProtocolError(
            f"expected an offset below {total} {unit}, found {request.offset!r}", code=ErrorCode.INVALID_TYPE
        )
    remaining = total - request.offset
    return remaining if request.limit is None else min(remaining, request.limit)


def find_largest(highest: int, fits: Callable[[int], bool]) -> int:
    """Return the largest count up to `highest` that fits, 0 where none does; small counts are tried first."""
    low, high = 0, 1
    while high < highest and fits(high):
        low, high = high, high * 2
    high = min(high, highest)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def note_part(unit: str, start: int, count: int, total: int, shown: str = "") -> str:
    """Return the line that says which part this is; nothing where it is everything.

    Args:
        unit: "rows", which are numbered from 0 as in paths, "lines" as in a query, or "parts" of a text.
        start: How many of them are before this part.
        count: How many are shown.
        total: How many there are.
        shown: What is shown.
    """
    if count == total:
        return ""
    end = start + count
    line_end = "" if shown.endswith("\n") else "\n"
    first = 0 if unit == "rows" else FIRST_LINE
    return f"{line_end}… {unit} {start + first}-{end + first - 1} of {total}{next_offset(end, total)}"


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


def view_of(value: Any, limit: int, counter: TokenCounter) -> str:
    """Return the view of a value, whose numbers keep the spelling of the source; a text as it is.

    An empty text stands for a value that is so long that its view cannot have `limit` tokens; counting the tokens of
    megabytes would take seconds.
    """
    if isinstance(value, str):
        return value
    text = write_styled_json(value, "0u")
    return render_text(text, counter=counter).text if len(text) <= _TOKEN_CHARS * limit else ""
