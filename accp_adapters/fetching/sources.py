"""The stored text of a tool result, opened: the JSON value in it, or its lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final, TypeAlias

from accp_core.view.layout import Document, find_documents

__all__ = ["Value", "document_in", "lines_of", "open_source"]

Value: TypeAlias = Any
"""A JSON value; a text that is no JSON is a str."""

_ABSENT: Final = object()
# A JSON document in a string in a text block, as MCP servers answer, is two deep.
_NESTED: Final = 3
# So that one huge line (minified HTML) can be paged, too.
_LINE: Final = 400


def open_source(source: str) -> Value:
    """Return the JSON value in `source`, or `source` itself where it is none or reading would lose something.

    It opens a JSON document, lines of JSON, a Python literal, JSON inside a JSON string, and the text
    block of an MCP answer. A number that a float does not hold (NaN, too many digits) is read as text.
    """
    text = source
    for _ in range(_NESTED):
        value = _inner(_parse(text))
        if not isinstance(value, str):
            return text if value is _ABSENT else value
        text = value
    return text


def lines_of(text: str) -> list[str]:
    """Return the lines of `text` with their ends; one of more than 400 characters counts as several."""
    lines = text.splitlines(keepends=True)
    return [line[start : start + _LINE] for line in lines for start in range(0, len(line), _LINE)]


def document_in(text: str) -> Value:
    """Return the value of the only JSON document within other text, None when there is none or several."""
    documents = find_documents(text)
    return documents[0].value if len(documents) == 1 else None


def _parse(text: str) -> Value:
    """Return the JSON value of `text`, a list of its lines' values, or `_ABSENT`."""
    for form in (_DECODE, _lines, _literal):
        try:
            return form(text)
        except (ValueError, RecursionError):
            continue
    return _ABSENT


def _lines(text: str) -> Value:
    rows = [_DECODE(line) for line in text.splitlines() if line.strip()]
    if len(rows) < 2 or not all(isinstance(row, (dict, list)) for row in rows):
        raise ValueError("expected several lines of JSON objects or arrays")
    return rows


def _literal(text: str) -> Value:
    """Open what `str()` makes of a list or dict: many tools print that instead of JSON."""
    match find_documents(text):
        case [Document(form="p", value=value)]:
            return value
    raise ValueError("expected a Python literal")


def _inner(value: Value) -> Value:
    """Return the text of a single MCP text block, else `value`."""
    match value:
        case [{"type": "text", "text": str(text)}]:
            return text
    return value


def _unique(pairs: list[tuple[str, Value]]) -> dict[str, Value]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("expected each name once in an object")
    return found


def _exact(digits: str) -> float | str:
    number = float(digits)
    return number if Decimal(repr(number)) == Decimal(digits) else digits


_DECODE: Final[Callable[[str], Value]] = json.JSONDecoder(
    object_pairs_hook=_unique, parse_float=_exact, parse_constant=str
).decode
