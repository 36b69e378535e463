"""String literals, whole or cut off: one that a text is, in JSON or Python, and those in the `repr` of an object."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from json.decoder import scanstring  # type: ignore[attr-defined]  # the stubs miss it
from typing import Final

from accp_core.documents.cut.cut_json import MIN_CUT_CHARS
from accp_core.documents.json_styles import find_style, write_styled_json
from accp_core.documents.python_literal import DOUBLE, SINGLE, STRING
from accp_core.strict_json import is_utf8

__all__ = ["literal_size", "literals_of_repr", "read_literal", "whole_literal", "write_literal"]

_MIN_CHARS: Final = 16
"""Characters of a literal; a shorter one saves nothing."""
# The `repr` of an object, or of a list of them: `meta=None content=[TextContent(type='text', text='…')]`.
_REPR: Final = re.compile(r"\[?[A-Za-z_][A-Za-z0-9_.]*[=(<]")
# A literal that was cut off, perhaps within an escape, ends the line.
_LITERAL: Final = re.compile(rf"(?<==)(?:{STRING}|(?P<open>{SINGLE}|{DOUBLE})(?:\\[xuU]?[0-9a-f]*)?\Z)")

_JSON: Final = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+')
_ESCAPE_LEFT: Final = re.compile(r"\\?u?[0-9a-fA-F]{0,3}\Z")
"""What is left of an escape in which a text was cut off."""
_STEP: Final = 4096
"""Characters of a literal that are measured at once."""


def literals_of_repr(source: str, start: int, end: int) -> list[tuple[int, int, str, str]] | None:
    """Return the string literals of the repr of an object whose escapes stand for line breaks, quotes or a document.

    Of each: its position, its characters, its text, and the quote with which it begins if it was cut off. None where
    the text from `start` to `end` is no such repr.
    """
    if _REPR.match(source, start) is None:
        return None
    line = source.find("\n", start, end)
    stop = end if line == -1 else line
    found = list(_LITERAL.finditer(source, start, stop))
    if stop < end and not (found and found[-1]["open"]):
        return None
    return list(_texts(found))


def _texts(found: list[re.Match[str]]) -> Iterator[tuple[int, int, str, str]]:
    for literal in found:
        written = literal["open"] or literal[0]
        quote = written[0] if literal["open"] else ""
        is_worth = "\\" in written or written[1:2] in ("[", "{")
        if len(written) >= _MIN_CHARS and is_worth and (text := read_literal(written, quote)) is not None:
            yield literal.start(), len(written), text, quote


def whole_literal(body: str) -> tuple[int, str, str, str | None] | None:
    """Return the characters, text, open quote and style of the literal that a text is; None where it is none.

    The style is that of JSON (`json_styles`), None as Python writes it. A literal was cut off only where it is of JSON
    and holds JSON.
    """
    if len(body) < _MIN_CHARS or body[0] not in "\"'" or not ("\\" in body or body[1] in "[{"):
        return None
    found = _JSON.match(body)
    if found is None or body[found.end() : found.end() + 1] == "\n":
        text = read_literal(body) if body[0] == body[-1] else None
        return None if text is None else (len(body), text, "", None)
    if found.end() == len(body) - 1 and body[-1] == '"':
        return _json_literal(body, "")
    is_cut = found.end() >= MIN_CUT_CHARS and body[1] in "[{\\" and _ESCAPE_LEFT.match(body, found.end())
    return _json_literal(found[0], '"') if is_cut else None


def _json_literal(written: str, open_quote: str) -> tuple[int, str, str, str | None] | None:
    whole = written + open_quote
    text = scanstring(whole, 1)[0]
    style = find_style(whole, text) if is_utf8(text) else None
    return None if style is None else (len(written), text, open_quote, style)


def read_literal(written: str, open_quote: str = "") -> str | None:
    """Return the text of a literal; None if `write_literal` would not write the same characters.

    Args:
        written: The literal.
        open_quote: The quote with which it begins, if it was cut off before it ends with one.
    """
    try:
        text = ast.literal_eval(written + open_quote)
    except (ValueError, SyntaxError):
        return None
    return text if type(text) is str and is_utf8(text) and write_literal(text, open_quote) == written else None


def write_literal(text: str, open_quote: str = "", style: str | None = None) -> str:
    """Return a text as a literal.

    Args:
        text: The text.
        open_quote: The quote with which the literal begins, if it was cut off before its end.
        style: The code of a style of JSON; None: as Python writes it.
    """
    if style is not None:
        written = write_styled_json(text, style)
        return written[:-1] if open_quote else written
    if not open_quote:
        return repr(text)
    # Python takes single quotes, unless only they would need an escape.
    return repr(f'{text}"' if open_quote == "'" else f"{text}'")[:-2]


def literal_size(text: str, style: str | None = None) -> int:
    """Return about how many characters `write_literal` would write, without writing them all at once."""
    parts = (text[at : at + _STEP] for at in range(0, len(text), _STEP))
    return 2 + sum(len(write_literal(part, style=style)) - 2 for part in parts)
