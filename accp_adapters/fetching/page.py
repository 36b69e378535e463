"""As much of a stored text as a fetch may show, and how to go on."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from accp_adapters.fetching.select import Query, Table, narrow, table_of
from accp_adapters.fetching.sources import Value, document_in, lines_of, open_source
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.ports import TokenCounter
from accp_core.view import render, render_text

__all__ = ["answer"]


def answer(source: str, query: Query, *, limit: int, counter: TokenCounter) -> str:
    """Return what `query` asks of `source` as a view of at most `limit` tokens, and the offset to go on with.

    At least one row or line of 400 characters is shown, whatever `limit` says: each answer leads on.

    Raises:
        ProtocolError: E1004, the query fits nothing in `source`.
    """
    if query == Query() and (view := render_text(source, counter=counter)).tokens_after <= limit:
        return view.text
    found = _find(open_source(source), query.select)
    table = found if isinstance(found, Table) else table_of(found, query.select)
    if table is None:
        return _lines(_text_of(found, counter), query, limit, counter)
    return _rows(table, query, limit, counter)


def _find(value: Value, select: str) -> Value | Table:
    """Return what `select` means in `value`; in a text, look in its only JSON document before its lines."""
    if select and isinstance(value, str) and (document := document_in(value)) is not None:
        with suppress(ProtocolError):
            return narrow(document, select)
    return narrow(value, select)


def _rows(table: Table, query: Query, limit: int, counter: TokenCounter) -> str:
    def page(count: int) -> str:
        text = _text_of(table.part(query.offset, count), counter)
        return text + _note("rows", query.offset, count, len(table.rows))

    left = _left("rows", query, len(table.rows))
    count = _most(left, lambda count: counter(page(count)) <= limit)
    if count or not left:
        return page(count)
    return _long_row(table, query, limit, counter)


def _long_row(table: Table, query: Query, limit: int, counter: TokenCounter) -> str:
    """Return the beginning of a row that does not fit, and the path by which its lines can be read on."""
    index, row = table.rows[query.offset]
    whole = f"{table.place}.{index}".removeprefix(".")
    following = _following(query.offset + 1, len(table.rows))
    note = f"\n… row {query.offset} of {len(table.rows)}, whole: select={whole!r}{following}"
    return _lines(_text_of(row, counter), Query(), limit - counter(note), counter) + note


def _lines(text: str, query: Query, limit: int, counter: TokenCounter) -> str:
    lines = lines_of(text)

    def page(count: int) -> str:
        shown = "".join(lines[query.offset : query.offset + count])
        return shown + _note("lines", query.offset, count, len(lines), shown)

    left = _left("lines", query, len(lines))
    return page(max(_most(left, lambda count: counter(page(count)) <= limit), min(left, 1)))


def _left(unit: str, query: Query, total: int) -> int:
    """Return how many units the query leaves; E1004 when it begins behind the last one."""
    if query.offset and query.offset >= total:
        raise ProtocolError(
            f"expected an offset below {total} {unit}, found {query.offset!r}", code=ErrorCode.INVALID_TYPE
        )
    left = total - query.offset
    return left if query.limit is None else min(left, query.limit)


def _most(highest: int, fits: Callable[[int], bool]) -> int:
    """Return the largest count up to `highest` that fits, 0 when none does; small ones are tried first."""
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
    """Return the line that says what part this is; nothing when it is everything."""
    if count == total:
        return ""
    end = start + count
    feed = "" if shown.endswith("\n") else "\n"
    return f"{feed}… {unit} {start}-{end - 1} of {total}{_following(end, total)}"


def _following(offset: int, total: int) -> str:
    return f"; next: offset={offset}" if offset < total else ""


def _text_of(value: Any, counter: TokenCounter) -> str:
    return value if isinstance(value, str) else render(value, counter=counter)
