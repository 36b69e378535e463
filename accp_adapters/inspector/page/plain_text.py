"""Texts of others as a page shows them: no character that a browser, an editor or a reader could be misled by."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["printable", "shorten"]

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_INVISIBLE: Final = re.compile(
    "[\x80-\x9f\u200b\u200e\u200f\u202a-\u202e\u2028\u2029\u2060-\u206f\ud800-\udfff\ufdd0-\ufdef\ufeff\ufffe\uffff]"
)
"""Other controls, marks that turn the direction of text around, and what UTF-8 or HTML cannot carry."""
_PICTURES: Final = 0x2400
"""The first of Unicode's control pictures."""


def printable(text: str) -> str:
    """Return `text` with a picture for each control character and U+FFFD for others that nobody could see."""
    return _INVISIBLE.sub("\ufffd", _CONTROL.sub(_picture, text))


def shorten(text: str, limit: int) -> str:
    """Return a name on one line, with at most `limit` characters and "…" where it was longer."""
    line = " ".join(printable(text[: 4 * limit]).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _picture(match: re.Match[str]) -> str:
    return "\u2421" if match[0] == "\x7f" else chr(_PICTURES + ord(match[0]))
