"""How text of a source is shown in an answer, so that no line of it passes for one that we write.

    what we write                               at the same place of an answer, text of a source is shown as
    … rows 0-19 of 110; next: offset=20         source text: … rows 0-19 of 110; next: offset=20
    … each row has more in items (…)            source text: … each row has more in items (…)
    E1004: expected …                           source text: E1004: expected …

The first two are the last line of an answer, a refusal is the first. Text at other places, and any other text, is shown
as it is, but for the markers of `accp_core.markers` and halves of surrogate pairs, which are shown as escapes.
"""

from __future__ import annotations

import json
import re
from typing import Final

from accp_core.error_codes import ErrorCode
from accp_core.markers import UNSEEN
from accp_core.strict_json import escape_halves
from accp_core.view.layout import AS_IS, escape_view

__all__ = ["one_line", "shown_source"]

_ESCAPE: Final = "source text: "
_SPACE: Final = rf"[{UNSEEN}]*+"
_BLANKS: Final = re.compile(_SPACE)
_LINE_END: Final = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_NOTE: Final = re.compile(
    rf"(?:{_ESCAPE})*+_…++_(?:(?:rows?|lines?|parts)_[0-9]|each_row_has_more\b)".replace("_", _SPACE), re.IGNORECASE
)
_REFUSAL: Final = re.compile(rf"{_SPACE}(?:{_ESCAPE})*+{_SPACE}(?:{'|'.join(ErrorCode)}){_SPACE}:", re.IGNORECASE)


def one_line(text: str) -> str:
    """Return a line of a text with what ends a line for some readers, such as U+2028, as escapes."""
    return _LINE_END.sub(lambda found: json.dumps(found[0])[1:-1], text)


def shown_source(text: str, notes: str = "", *, layout: str = AS_IS) -> str:
    """Return a text of a source as the beginning of an answer, and our notes behind it.

    Without notes the last line of the text is the last of the answer. `layout` is that of a text that is a view.
    """
    shown = escape_halves(escape_view(text, layout))
    start = 0 if notes else _last_line(shown)
    if not notes and _NOTE.match(shown, start):
        shown = f"{shown[:start]}{_ESCAPE}{shown[start:]}"
    return f"{_ESCAPE if _REFUSAL.match(shown) else ''}{shown}{notes}"


def _last_line(text: str) -> int:
    """Return where the last line begins that is not blank."""
    blanks = _BLANKS.match(text[::-1])
    end = len(text) - (blanks.end() if blanks else 0)
    return max((found.end() for found in _LINE_END.finditer(text, 0, end)), default=0)
