"""How everything begins that we write into a text of others, and how their texts are shown so that none looks like it.

    ours                                            in a text of others it is shown as
    [as above: 14 lines from "…"]                   [source text: as above: 14 lines from "…"]
    [preview of 412 lines; the whole is intact: …]  [source text: preview of 412 lines; …]
    [earlier results folded: 12; …]                 [source text: earlier results folded: 12; …]
    […57 lines]                                     [source text: …57 lines]
    [cut off here in the source]                    [source text: cut off here in the source]
    [the source was cut off; …]                     [source text: the source was cut off; …]
    … rows 0-19 of 110; next: offset=20             source text: … rows 0-19 of 110; next: offset=20
    0 of 260 rows; status has: closed (65)          source text: 0 of 260 rows; status has: closed (65)

The last two begin a line. Each kind of marker is listed here; a test finds those that are not. Letters that look like
those of a marker are not listed: wide ones and those of other fonts are read as the plain ones, and any other letter
beyond ASCII may stand for any letter of a word, unless all of the word are such letters.
"""

from __future__ import annotations

import unicodedata
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from typing import Final

from accp_core.lazy_patterns import lazy_pattern

__all__ = ["UNSEEN", "MarkerStart", "escape_markers", "plain", "printable", "unescape_markers"]


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
    CUT_SOURCE = "[the source "
    """The first line of an answer that knows only a part of what there is."""


_OTHER: Final = r"(?![\x00-\x7f])[^\W\d\x5f]"
"""A letter beyond ASCII."""


def _spell(words: str) -> str:
    """Return the pattern of `words`: each letter plain, as a JSON escape, or another letter, unless all of them are.

    Perhaps `_` is between all of them.
    """
    letters = words.replace(" ", "")
    spelled = [rf"(?:{each}|\\{{1,8}}u00(?:{ord(each):x}|{ord(each.upper()):x})|{_OTHER})" for each in letters]
    return rf"(?!(?:{_OTHER}_){{{len(letters)}}}){'_'.join(spelled)}"


_LEFT_OUT: Final = "|".join(map(_spell, ("line", "base64", "hex", "array of", "map of")))
_LOOKS_ALIKE: Final = {
    MarkerStart.REPEAT: rf"{_spell('as above')}\b",
    # "[preview]" is a usual name of a link.
    MarkerStart.PREVIEW: rf"{_spell('preview')}_(?:{_spell('of')}\b|[;,:])",
    # "[…]" is a usual sign for omitted words, and "[...lines]" is JavaScript.
    MarkerStart.GAP: rf"(?:(?:…|\\{{1,8}}u2026)++_(?:[0-9]|(?:{_LEFT_OUT})s?\b)"
    r"|\.{3}_(?:[0-9][0-9,]{0,12}_[a-z]|(?:lines?|base64,|hex,|array_of|map_of)_[0-9]))",
    MarkerStart.CUT: rf"{_spell('cut off here')}\b",
    MarkerStart.CUT_SOURCE: rf"{_spell('the source')}_(?:{_spell('was cut off')}|{_spell('says')})\b",
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
_LINE_END: Final = r"\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029"
_ESCAPE: Final = "source text: "
_ALIKE: Final = rf"(?:{_ESCAPE})*+_(?:{'|'.join(_LOOKS_ALIKE.values())})".replace("_", _SPACE)
_NOTE: Final = rf"(?:[…\u2025\u22ef]|[.\u2024]{{3}}_(?:row|line|part|each))++_\S|0_{_spell('of')}_[0-9]"
"""How a line begins that a reader could take for ours: a note, or "0 of …" where nothing was found."""
_NOTED: Final = rf"_(?:{_ESCAPE}_)*+(?:{_NOTE})".replace("_", rf"(?:(?![{_LINE_END}])[{UNSEEN}])*+")
_STARTS: Final = [
    (lazy_pattern(f"{sign}(?i:(?={alike}))"), lazy_pattern(f"{sign}(?i:{_ESCAPE}(?={alike}))"))
    for sign, alike in ((r"\[", _ALIKE), (f"[{_LINE_END}]", _NOTED))
]
"""What looks like ours behind a sign, and what was escaped: markers behind a bracket, then lines."""


def escape_markers(text: str) -> str:
    """Return a text of others as a model is shown it: what looks like a marker of ours says that it is source text.

    Any other text comes back as it is. `unescape_markers` is the inverse.
    """
    for marked, _ in _STARTS:
        places = [found.start() for found in marked.finditer(f"\n{plain(text)}")]
        text = _ESCAPE.join([text[start:end] for start, end in pairwise([0, *places, len(text)])])
    return text


def unescape_markers(text: str) -> str:
    """Return the text that `escape_markers` was given."""
    for _, escaped in reversed(_STARTS):
        ends = [found.end() - 1 for found in escaped.finditer(f"\n{plain(text)}")]
        starts = [*(end - len(_ESCAPE) for end in ends), len(text)]
        text = "".join([text[start:end] for start, end in zip([0, *ends], starts, strict=True)])
    return text


def plain(text: str) -> str:
    """Return a text in which digits of any script, wide signs, those of other fonts and blanks are as ASCII has them.

    It has as many characters.
    """
    return text if text.isascii() else text.translate({ord(each): _plain_sign(each) for each in {*text}})


@lru_cache(maxsize=4096)
def _plain_sign(char: str) -> str:
    if char.isdecimal():
        return str(unicodedata.decimal(char))
    is_alike = char.isspace() or unicodedata.decomposition(char).startswith(("<wide>", "<font>"))
    alike = unicodedata.normalize("NFKC", char) if is_alike else char
    return alike if len(alike) == 1 else char


def printable(text: str) -> str:
    """Return `text` as people may be shown it: each other character than a line feed or tab that cannot be seen, such
    as one that moves a cursor or turns the direction of writing, becomes an escape of Python.
    """
    return "".join(each if each.isprintable() or each in "\n\t" else repr(each)[1:-1] for each in text)
