"""The answer to a fetch: as much of a stored text as the token limit allows, and the offset to continue with."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from accp_adapters.fetching.request import FetchRequest
from accp_adapters.fetching.selection import RowSelection, find_rows, select_part
from accp_adapters.fetching.sources import JsonValue, lines_of, only_document, open_source
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.ports import TokenCounter
from accp_core.view import render, render_text

__all__ = ["answer"]


def answer(source: str, request: FetchRequest, *, limit: int, counter: TokenCounter) -> str:
    """Return the part of `source` that `request` asks for, as a view, and the offset of the next part.

    Args:
        source: The stored text.
        request: What the model asks for; its reference was checked by the caller.
        limit: Tokens of the answer. One row or one line of 400 characters is shown whatever the limit is, so that
            every answer leads on.
        counter: Counts the tokens of the model.

    Raises:
        ProtocolError: E1004, the query or the offset fits nothing in `source`.
    """
    is_whole = not request.query and not request.offset and request.limit is None
    if is_whole and (view := render_text(source, counter=counter)).tokens_after <= limit:
        return view.text
    part = _select(open_source(source), request.query)
    selection = part if isinstance(part, RowSelection) else find_rows(part, request.query)
    if selection is None:
        return _line_page(_text_of(part, counter), request, limit, counter)
    return _row_page(selection, request, limit, counter)


def _select(value: JsonValue, query: str) -> JsonValue | RowSelection:
    """Return the part that `query` selects; in a text, its only JSON document is searched before its lines."""
    if query and isinstance(value, str) and (document := only_document(value)) is not None:
        with suppress(ProtocolError):
            return select_part(document, query)
    return select_part(value, query)


def _row_page(selection: RowSelection, request: FetchRequest, limit: int, counter: TokenCounter) -> str:
    def page(count: int) -> str:
        text = _text_of(selection.page(request.offset, count), counter)
        return text + _note("rows", request.offset, count, len(selection.rows))

    remaining = _count_remaining("rows", request, len(selection.rows))
    count = _find_largest(remaining, lambda count: counter(page(count)) <= limit)
    if count or not remaining:
        return page(count)
    return _long_row(selection, request, limit, counter)


def _long_row(selection: RowSelection, request: FetchRequest, limit: int, counter: TokenCounter) -> str:
    """Return the beginning of a row that does not fit, and the path that shows the whole row line by line."""
    index, row = selection.rows[request.offset]
    path = f"{selection.path}.{index}".removeprefix(".")
    total = len(selection.rows)
    note = f"\n… row {request.offset} of {total}, whole: query={path!r}{_next_offset(request.offset + 1, total)}"
    return _line_page(_text_of(row, counter), FetchRequest(), limit - counter(note), counter) + note


def _line_page(text: str, request: FetchRequest, limit: int, counter: TokenCounter) -> str:
    lines = lines_of(text)

    def page(count: int) -> str:
        shown = "".join(lines[request.offset : request.offset + count])
        return shown + _note("lines", request.offset, count, len(lines), shown)

    remaining = _count_remaining("lines", request, len(lines))
    return page(max(_find_largest(remaining, lambda count: counter(page(count)) <= limit), min(remaining, 1)))


def _count_remaining(unit: str, request: FetchRequest, total: int) -> int:
    """Return how many rows or lines the request may show; E1004 where its offset is behind the last one."""
    if request.offset and request.offset >= total:
        raise ProtocolError(
            f"expected an offset below {total} {unit}, found {request.offset!r}", code=ErrorCode.INVALID_TYPE
        )
    remaining = total - request.offset
    return remaining if request.limit is None else min(remaining, request.limit)


def _find_largest(highest: int, fits: Callable[[int], bool]) -> int:
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


def _note(unit: str, start: int, count: int, total: int, shown: str = "") -> str:
    """Return the line that says which part this is; nothing where it is everything."""
    if count == total:
        return ""
    end = start + count
    line_end = "" if shown.endswith("\n") else "\n"
    return f"{line_end}… {unit} {start}-{end - 1} of {total}{_next_offset(end, total)}"


def _next_offset(offset: int, total: int) -> str:
    return f"; next: offset={offset}" if offset < total else ""


def _text_of(value: JsonValue, counter: TokenCounter) -> str:
    return value if isinstance(value, str) else render(value, counter=counter)
