"""Reads what a text holds, once for all that use it."""

from __future__ import annotations

from collections.abc import Iterable

from accp_core.documents.document import BYTE_ORDER_MARK, Document, Literal, Value
from accp_core.documents.forms import FORMS
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
    if all(sign not in body for sign in "{[\\"):
        return []
    literals = literals_of_repr(source, start, end) if with_literals else None
    if literals is None:
        return values_inside(source)
    return [
        Literal(at, at + chars, Document(text, _values(text, with_literals=False)), quote)
        for at, chars, text, quote in literals
    ]


def _read_whole(body: str, start: int) -> Value | None:
    for form in FORMS.values():
        if form.recognise(body):
            try:
                return Value(start, start + len(body), form.read(body), form, body)
            except ValueError:
                continue
    return None
