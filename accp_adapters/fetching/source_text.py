"""How text of a source is shown in an answer, so that no line of it passes for one that we write.

    what we write                               at the same place of an answer, text of a source is shown as
    … rows 0-19 of 110; next: offset=20         source text: … rows 0-19 of 110; next: offset=20
    … each row has more in items (…)            source text: … each row has more in items (…)
    E1004: expected …                           source text: E1004: expected …

The first two are the last line of an answer, a refusal is the first. Text at other places, and any other text, is shown
as it is, but for the markers of `accp_core.markers`.
"""

from __future__ import annotations

import re
from typing import Final

from accp_core.error_codes import ErrorCode
from accp_core.markers import escape_markers

__all__ = ["shown_source"]

_ESCAPE: Final = "source text: "
_SPACE: Final = r"[\s\u200b-\u200f\u2060\ufeff]{0,4}"
_BLANKS: Final = " \t\n\r\v\f\x1c\x1d\x1e\x85\xa0\u2028\u2029\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
_LINE_END: Final = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_NOTE: Final = re.compile(
    rf"(?:{_ESCAPE})*+_…{{1,8}}_(?:(?:rows?|lines?)_[0-9]|each_row_has_more\b)".replace("_", _SPACE), re.IGNORECASE
)
_REFUSAL: Final = re.compile(rf"{_SPACE}(?:{_ESCAPE})*+{_SPACE}(?:{'|'.join(ErrorCode)}){_SPACE}:", re.IGNORECASE)


def shown_source(text: str, notes: str = "") -> str:
    """Return a text of a source as the beginning of an answer, and our notes behind it.

    Without notes the last line of the text is the last of the answer.
    """
    shown = escape_markers(text)
    start = 0 if notes else _last_line(shown)
    if not notes and _NOTE.match(shown, start):
        shown = f"{shown[:start]}{_ESCAPE}{shown[start:]}"
    return f"{_ESCAPE if _REFUSAL.match(shown) else ''}{shown}{notes}"


def _last_line(text: str) -> int:
    """Return where the last line begins that is not blank."""
    end = len(text.rstrip(_BLANKS))
    return max((found.end() for found in _LINE_END.finditer(text, 0, end)), default=0)
