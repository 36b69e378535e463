"""A form: lines of JSON objects or arrays (JSON Lines)."""

from __future__ import annotations

from typing import Final

from accp_core.documents import json_document
from accp_core.documents.document import BYTE_ORDER_MARK
from accp_core.documents.json_styles import LINE_STYLES, find_style, write_styled_json
from accp_core.packing.expansion import Expansion

__all__ = ["CODE", "IS_SEVERAL", "common_style", "describe", "read", "recognise", "write"]

CODE: Final = "l"
IS_SEVERAL: Final = True


def recognise(text: str) -> bool:
    """Return whether `text` begins like JSON and has a second line."""
    return text.startswith(("{", "[")) and "\n" in text


def read(text: str) -> list[object]:
    """Return the values of the lines, of which there are several; blank lines hold none."""
    # Files that were joined have a byte order mark in front of the first line of each.
    lines = (line.removeprefix(BYTE_ORDER_MARK) for line in text.splitlines())
    values = [json_document.read(line) for line in lines if line.strip()]
    if len(values) < 2 or not all(isinstance(value, (dict, list)) for value in values):
        raise ValueError("expected several lines of JSON objects or arrays")
    return values


def describe(text: str, value: object, cut: int | None = None) -> str | None:
    """Return the code of the style that all lines have."""
    lines = text.split("\n")
    values = _members(value)
    if len(lines) != len(values):
        return None
    styles = []
    for line, member in zip(lines, values, strict=True):
        style = find_style(line, member)
        if style is None:
            return None
        styles.append(style)
    return common_style(lines, values, styles)


def common_style(lines: list[str], values: list[object], styles: list[str]) -> str | None:
    """Return the one style in which each line writes its value, None where there is none; `styles` are their own.

    An ASCII line is the same in both styles of its kind, a line such as `[1]` in all; one line may have characters that
    the style escapes, and another the raw Unicode.
    """
    raw = [f"{style}u" for style in styles if f"{style}u" in LINE_STYLES]
    for style in dict.fromkeys([*styles, *raw]):
        if all(
            own == style or write_styled_json(value, style) == line
            for value, own, line in zip(values, styles, lines, strict=True)
        ):
            return style
    return None


def write(value: object, how: str, expansion: Expansion) -> str:
    """Return the lines in a style."""
    return "\n".join([json_document.write(member, how, expansion) for member in _members(value)])


def _members(value: object) -> list[object]:
    if type(value) is not list:
        raise ValueError(f"expected an array for JSON Lines, found {type(value).__name__!r}")
    return value
