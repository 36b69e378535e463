"""The stored text of a tool result, opened: the JSON value in it, or its lines."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final, TypeAlias

from accp_core.strict_json import strict_decoder
from accp_core.view.layout import Document, find_documents

__all__ = ["JsonValue", "lines_of", "only_document", "open_source"]

JsonValue: TypeAlias = Any
"""A JSON value; a text that is not JSON is a str."""

_ABSENT: Final = object()
# A JSON document in a string in a text block, as MCP servers answer, is two deep.
_MAX_NESTED: Final = 3
_MAX_LINE: Final = 400
"""Characters; a longer line (minified HTML) counts as several, so that it can be shown in pages, too."""


def open_source(source: str) -> JsonValue:
    """Return the JSON value in `source`, or `source` itself where there is none or reading would lose something.

    It opens a JSON document, lines of JSON, a Python literal, JSON inside a JSON string, and the text block of an MCP
    answer. A number that a float does not hold (NaN, too many digits) becomes text.
    """
    text = source
    for _ in range(_MAX_NESTED):
        value = _unwrap(_parse(text))
        if not isinstance(value, str):
            return text if value is _ABSENT else value
        text = value
    return text


def lines_of(text: str) -> list[str]:
    """Return the lines of `text` with their ends; one of more than 400 characters counts as several."""
    lines = text.splitlines(keepends=True)
    return [line[start : start + _MAX_LINE] for line in lines for start in range(0, len(line), _MAX_LINE)]


def only_document(text: str) -> JsonValue:
    """Return the value of the only JSON document within other text, None where there is none or several."""
    documents = find_documents(text)
    return documents[0].value if len(documents) == 1 else None


def _parse(text: str) -> JsonValue:
    """Return the JSON value of `text`, a list of its lines' values, or `_ABSENT`."""
    for read in (_read_json, _read_lines, _read_literal):
        try:
            return read(text)
        except (ValueError, RecursionError):
            continue
    return _ABSENT


def _read_lines(text: str) -> JsonValue:
    rows = [_read_json(line) for line in text.splitlines() if line.strip()]
    if len(rows) < 2 or not all(isinstance(row, (dict, list)) for row in rows):
        raise ValueError("expected several lines of JSON objects or arrays")
    return rows


def _read_literal(text: str) -> JsonValue:
    """Read the `str()` of a list or dict: many tools print that instead of JSON."""
    match find_documents(text):
        case [Document(form="p", value=value)]:
            return value
    raise ValueError("expected a Python literal")


def _unwrap(value: JsonValue) -> JsonValue:
    """Return the text of a single MCP text block, else `value`."""
    match value:
        case [{"type": "text", "text": str(text)}]:
            return text
    return value


def _float_or_digits(digits: str) -> float | str:
    number = float(digits)
    return number if Decimal(repr(number)) == Decimal(digits) else digits


_read_json: Final = strict_decoder(read_float=_float_or_digits, read_constant=str)
