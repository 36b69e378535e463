"""A form: lines of JSON objects or arrays (JSON Lines)."""

from __future__ import annotations

from typing import Final

from accp_core.documents import json_document
from accp_core.documents.document import BYTE_ORDER_MARK
from accp_core.documents.json_layout import describe_json, write_json
from accp_core.packing.expansion import Expansion

__all__ = ["CODE", "IS_SEVERAL", "describe", "read", "recognise", "write"]

CODE: Final = "n"
IS_SEVERAL: Final = True


def recognise(text: str) -> bool:
    """Return whether `text` begins like JSON and has a second line."""
    return text.removeprefix(BYTE_ORDER_MARK).startswith(("{", "[")) and "\n" in text


def read(text: str) -> list[object]:
    """Return the values of the lines, of which there are several; blank lines hold none."""
    # Files that were joined have a byte order mark in front of the first line of each.
    lines = (line.removeprefix(BYTE_ORDER_MARK) for line in text.splitlines())
    values = [json_document.read(line) for line in lines if line.strip()]
    if len(values) < 2 or not all(isinstance(value, (dict, list)) for value in values):
        raise ValueError("expected several lines of JSON objects or arrays")
    return values


def describe(text: str, value: object) -> str | None:
    """Return the layout of all lines (see `json_layout`)."""
    return describe_json(text, _members(value))


def write(value: object, how: str, expansion: Expansion) -> str:
    """Return the lines in a layout."""
    return write_json(_members(value), how, expansion)


def _members(value: object) -> list[object]:
    if type(value) is not list:
        raise ValueError(f"expected an array for JSON Lines, found {type(value).__name__!r}")
    return value
