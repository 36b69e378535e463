"""Reads what a text holds, once for all that use it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from accp_core.documents.document import BYTE_ORDER_MARK, Document, Literal, Value
from accp_core.documents.forms import WHOLE_FORMS
from accp_core.documents.grids import grids_in
from accp_core.documents.inside import values_inside
from accp_core.documents.literals import literals_of_repr

__all__ = ["BYTE_ORDER_MARK", "read"]


def read(source: str) -> Document:
    """Return what `source` holds: one value, or the values inside other text; a text that is none is prose."""
    return Document(source, _values(source, with_literals=True))


def _values(source: str, *, with_literals: bool) -> Iterable[Value | Literal]:
    start = len(source) - len(source.lstrip())
    end = len(source.rstrip())
    body = source[start:end]
    if not body:
        return []
    if (whole := _read_whole(body, start)) is not None:
        return [whole]
    if body.startswith(BYTE_ORDER_MARK) and (whole := _read_whole(body[1:], start + 1)) is not None:
        return [whole]
    grids = grids_in(source)
    if all(sign not in body for sign in "{[\\"):
        return grids
    literals = literals_of_repr(source, start, end) if with_literals and not grids else None
    if literals is None:
        return _beside(grids, values_inside(source))
    return [
        Literal(at, at + chars, Document(text, _values(text, with_literals=False)), quote)
        for at, chars, text, quote in literals
    ]


def _read_whole(body: str, start: int) -> Value | None:
    for form in WHOLE_FORMS:
        if form.recognise(body):
            try:
                return Value(start, start + len(body), form.read(body), form, body)
            except ValueError:
                continue
    return None


def _beside(grids: list[Value], values: list[Value]) -> list[Value]:
    """Return the values of a text from left to right; one that is in a grid is a cell of it."""
    if not grids:
        return values
    starts = [grid.start for grid in grids]

    def is_inside(value: Value) -> bool:
        before = bisect_left(starts, value.end)
        return before > 0 and grids[before - 1].end > value.start

    outside = [value for value in values if not is_inside(value)]
    return sorted([*grids, *outside], key=lambda value: value.start)
