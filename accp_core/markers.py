"""How everything begins that we write into a text of others, and how their texts are shown so that none looks like it.

    ours                                            in a text of others it is shown as
    [as above: 14 lines from "…"]                   [source text: as above: 14 lines from "…"]
    [preview of 412 lines; the whole is intact: …]  [source text: preview of 412 lines; …]
    [earlier results folded: 12; …]                 [source text: earlier results folded: 12; …]
    […57 lines]                                     [source text: …57 lines]

Each kind of marker is listed here; a test finds those that are not.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from accp_core.lazy_patterns import lazy_pattern

__all__ = ["MarkerStart", "escape_markers", "unescape_markers"]


class MarkerStart(StrEnum):
    """How a marker begins."""

    REPEAT = "[as above: "
    """A repeat marker."""
    PREVIEW = "[preview"
    """The first line of a preview."""
    FOLD = "[earlier results folded: "
    """The first line of a fold."""
    GAP = "[…"
    """What a preview leaves out."""


_LOOKS_ALIKE: Final = {
    MarkerStart.REPEAT: r"as_above\b",
    # "[preview]" is a usual name of a link.
    MarkerStart.PREVIEW: r"preview_(?:of\b|[;,:])",
    MarkerStart.FOLD: r"earlier_results_folded\b",
    # "[…]" is a usual sign for omitted words.
    MarkerStart.GAP: r"…{1,8}_(?:[0-9]|lines?\b|base64\b|hex\b|(?:array|map)_of\b)",
}
"""What a reader may take for a marker, behind the bracket; `_` is white space of any kind, or none."""
_SPACE: Final = r"(?:[\s\u200b-\u200f\u2060\ufeff]|\\(?:[nrt]|u00a0)){0,4}"
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
