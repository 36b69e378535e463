"""Reads what a text holds, once for all that use it."""

from __future__ import annotations

from bisect import bisect_left
from typing import Final

from accp_core.documents import json_document, printed
from accp_core.documents.cut.omissions import omits_text
from accp_core.documents.document import BYTE_ORDER_MARK, Document, Literal, Value
from accp_core.documents.forms import WHOLE_FORMS
from accp_core.documents.grids import grids_in
from accp_core.documents.inside import values_inside
from accp_core.documents.literals import literals_of_repr, whole_literal

__all__ = ["BYTE_ORDER_MARK", "read", "read_verbatim", "wrapped_text"]

_TEXT_KEYS: Final = frozenset({"content", "contents", "data", "file_content", "file_text", "output", "result", "text"})
"""Under which tools wrap the text of a file in a JSON object."""
_MAX_KEYS: Final = 12
"""Keys of such an object, such as those for the path, the size and the encoding of the file."""


def read(source: str) -> Document:
    """Return what `source` holds: one value, or the values inside other text; a text that is none is prose."""
    return _document(source, with_literals=True)


def _document(source: str, *, with_literals: bool) -> Document:
    return Document(source, _values(source, with_literals=with_literals))


def _values(source: str, *, with_literals: bool) -> list[Value | Literal]:
    start = len(source) - len(source.lstrip())
    end = len(source.rstrip())
    body = source[start:end]
    if not body:
        return []
    if (found := whole_literal(body)) is not None:
        chars, text, quote, style = found
        return [Literal(start, start + chars, _document(text, with_literals=True), quote, style)]
    if (whole := _read_whole(body, start)) is not None:
        return [whole]
    if body.startswith(BYTE_ORDER_MARK) and (whole := _read_whole(body[1:], start + 1)) is not None:
        return [whole]
    grids = grids_in(source)
    if all(sign not in body for sign in "{[(\\"):
        return [*grids]
    literals = literals_of_repr(source, start, end) if with_literals and not grids else None
    if not literals and not grids and (whole := _read_printed(body, start)) is not None:
        return [whole]
    if literals is None:
        return _beside(grids, values_inside(source))
    return [Literal(at, at + chars, _document(text, with_literals=False), quote) for at, chars, text, quote in literals]


def _read_whole(body: str, start: int) -> Value | None:
    for form in WHOLE_FORMS:
        if form.recognise(body):
            try:
                return Value(start, start + len(body), form.read(body), form, body)
            except ValueError:
                continue
    return None


def _read_printed(body: str, start: int) -> Value | None:
    if not printed.recognise(body) or omits_text(body):
        return None
    try:
        return Value(start, start + len(body), printed.read(body), printed, body)
    except (ValueError, RecursionError):
        return None


def _beside(grids: list[Value], values: list[Value]) -> list[Value | Literal]:
    """Return the values of a text from left to right; one that is in a grid is a cell of it."""
    if not grids:
        return [*values]
    starts = [grid.start for grid in grids]

    def is_inside(value: Value) -> bool:
        before = bisect_left(starts, value.end)
        return before > 0 and grids[before - 1].end > value.start

    outside = [value for value in values if not is_inside(value)]
    return sorted([*grids, *outside], key=lambda value: value.start)


def read_verbatim(source: str) -> Document:
    """Return `source` as prose; a JSON object that wraps a text of several lines as its value."""
    body = source.strip()
    if not (body.startswith("{") and body.endswith("}") and json_document.recognise(body)):
        return Document(source, [])
    try:
        value = json_document.read(body)
    except ValueError:
        return Document(source, [])
    if wrapped_text(value, len(body)) is None:
        return Document(source, [])
    start = source.index("{")
    return Document(source, [Value(start, start + len(body), value, json_document, body)])


def wrapped_text(value: object, chars: int) -> str | None:
    """Return the text of several lines that a map of `chars` characters is written for; None: it is not such a map.

    Its other values are no maps or arrays, and the text takes at least half of it.
    """
    if not isinstance(value, dict) or len(value) > _MAX_KEYS:
        return None
    if any(isinstance(each, (dict, list)) for each in value.values()):
        return None
    texts = [text for key, text in value.items() if key in _TEXT_KEYS and isinstance(text, str) and "\n" in text]
    return texts[0] if len(texts) == 1 and 2 * len(texts[0]) >= chars else None
