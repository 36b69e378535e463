"""How everything begins that we write into a text of others, and how their texts are shown so that none looks like it.

    ours                                            in a text of others it is shown as
    [as above: 14 lines from "…"]                   [source text: as above: 14 lines from "…"]
    [preview of 412 lines; the whole is intact: …]  [source text: preview of 412 lines; …]
    [earlier results folded: 12; …]                 [source text: earlier results folded: 12; …]
    […57 lines]                                     [source text: …57 lines]
    [cut off here in the source]                    [source text: cut off here in the source]
    [the source was cut off; …]                     [source text: the source was cut off; …]

Each kind of marker is listed here; a test finds those that are not.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from accp_core.lazy_patterns import lazy_pattern

__all__ = ["UNSEEN", "MarkerStart", "escape_markers", "printable", "unescape_markers"]


class MarkerStart(StrEnum):
    """How a marker begins."""

    REPEAT = "[as above: "
    """A repeat marker."""
    PREVIEW = "[preview"
    """The first line of a preview."""
    GAP = "[…"
    """What a preview leaves out."""
    CUT = "[cut off here"
    """The line of a view behind JSON that its source cut off."""
    CUT_SOURCE = "[the source was cut off"
    """The first line of an answer that knows only a part of what there is."""


def _spell(words: str) -> str:
    """Return the pattern of `words`: each letter plain or as a JSON escape, and perhaps `_` between all of them."""
    letters = words.replace(" ", "")
    return "_".join([rf"(?:{each}|\\{{1,8}}u00(?:{ord(each):x}|{ord(each.upper()):x}))" for each in letters])


_LOOKS_ALIKE: Final = {
    MarkerStart.REPEAT: rf"{_spell('as above')}\b",
    # "[preview]" is a usual name of a link.
    MarkerStart.PREVIEW: rf"{_spell('preview')}_(?:{_spell('of')}\b|[;,:])",
    # "[…]" is a usual sign for omitted words, and "[...lines]" is JavaScript.
    MarkerStart.GAP: r"(?:(?:…|\\{1,8}u2026)++_(?:[0-9]|lines?\b|base64\b|hex\b|(?:array|map)_of\b)"
    r"|\.{3}_(?:[0-9][0-9,]{0,12}_[a-z]|(?:lines?|base64,|hex,|array_of|map_of)_[0-9]))",
    MarkerStart.CUT: rf"{_spell('cut off here')}\b",
    MarkerStart.CUT_SOURCE: rf"{_spell('the source was cut off')}\b",
}
"""What a reader may take for a marker, behind the bracket; `_` is what a reader does not see, or nothing."""
UNSEEN: Final = (
    r"\s\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""White space, control characters, and what Unicode calls Default_Ignorable_Code_Point (UAX #44); in a pattern."""
_UNSEEN_ESCAPE: Final = (
    r"\\{1,8}+(?:[nrtbf]|u000e0[0-9a-f]{3}|(?:u00|x)(?:[01][0-9a-f]|20|7f|[89][0-9a-f]|a[0d])"
    r"|u(?:034f|061c|115f|1160|1680|17b[45]|180[b-f]|20[06][0-9a-f]|202[89a-f]|205f|3000|3164|fe0[0-9a-f]|feff|ffa0"
    r"|fff[0-9ab]|db40\\{1,8}udc[0-9a-f]{2}))"
)
"""The same as an escape of JSON or Python, in a text that was left as it was written."""
_SPACE: Final = rf"(?:[{UNSEEN}]|{_UNSEEN_ESCAPE})*+"
_ESCAPE: Final = "source text: "
_ALIKE: Final = rf"(?:{_ESCAPE})*+_(?:{'|'.join(_LOOKS_ALIKE.values())})".replace("_", _SPACE)
_TO_ESCAPE: Final = lazy_pattern(rf"[\[\uff3b](?={_ALIKE})", re.IGNORECASE)
_ESCAPED: Final = lazy_pattern(rf"([\[\uff3b]){_ESCAPE}(?={_ALIKE})", re.IGNORECASE)


def escape_markers(text: str) -> str:
    """Return a text of others as a model is shown it: what looks like a marker of ours says that it is source text.

    Any other text comes back as it is. `unescape_markers` is the inverse.
    """
    return _TO_ESCAPE.sub(rf"\g<0>{_ESCAPE}", text)


def unescape_markers(text: str) -> str:
    """Return the text that `escape_markers` was given."""
    return _ESCAPED.sub(r"\1", text)


def printable(text: str) -> str:
    """Return `text` as people may be shown it: each other character than a line feed or tab that cannot be seen, such
    as one that moves a cursor or turns the direction of writing, becomes an escape of Python.
    """
    return "".join(each if each.isprintable() or each in "\n\t" else repr(each)[1:-1] for each in text)
