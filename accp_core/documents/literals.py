"""String literals as Python writes them, whole or cut off: the texts in the `repr` of an object."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from accp_core.documents.python_literal import DOUBLE, SINGLE, STRING
from accp_core.strict_json import is_utf8

__all__ = ["literal_size", "literals_of_repr", "read_literal", "write_literal"]

_MIN_CHARS: Final = 16
"""Characters of a literal; a shorter one saves nothing."""
# The `repr` of an object, or of a list of them: `meta=None content=[TextContent(type='text', text='…')]`.
_REPR: Final = re.compile(r"\[?[A-Za-z_][A-Za-z0-9_.]*[=(<]")
# A literal that was cut off, perhaps within an escape, ends the line.
_LITERAL: Final = re.compile(rf"(?<==)(?:{STRING}|(?P<open>{SINGLE}|{DOUBLE})(?:\\[xuU]?[0-9a-f]*)?\Z)")

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


def write_literal(text: str, open_quote: str = "") -> str:
    """Return a text as a literal; with `open_quote` one that begins with that quote and was cut off before its end."""
    if not open_quote:
        return repr(text)
    # Python takes single quotes, unless only they would need an escape.
    return repr(f'{text}"' if open_quote == "'" else f"{text}'")[:-2]


def literal_size(text: str) -> int:
    """Return about how many characters `write_literal` would write, without writing them all at once."""
    return 2 + sum(len(repr(text[at : at + _STEP])) - 2 for at in range(0, len(text), _STEP))
