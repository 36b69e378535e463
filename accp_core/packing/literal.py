"""String literals as Python writes them, whole or cut off: the texts in the `repr` of an object."""

from __future__ import annotations

import ast
from typing import Final

from accp_core.strict_json import is_utf8

__all__ = ["literal_size", "read_literal", "write_literal"]

_STEP: Final = 4096
"""Characters of a literal that are measured at once."""


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
