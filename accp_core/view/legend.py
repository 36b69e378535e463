"""The explanation of the notation for a reader who meets it for the first time (see `notation`)."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from accp_core.documents.json_styles import STYLE_CODE

__all__ = ["LEGEND", "explanations", "legend_for"]

LEGEND: Final = (
    "Notation: [n] columns, n rows, comma ends a cell; - absent; (k=v) all rows; k? where k=v; "
    "&1 marks, *1 repeats a value."
)
"""The whole explanation in one line, for a place that does not know the view."""

_HEADER: Final = re.compile(r"(?:^|(?<= ))[\[{][0-9]+[\]}] (\S.*)|[\[{]:(\S[^\n]{0,200}?): ", re.MULTILINE)
"""The rest of a line behind a count, or the text between `[:` or `{:` and the next colon and blank."""
_IN_HEADERS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("{n} key: columns, each row begins with its key", re.compile("^key: ", re.MULTILINE)),
    ("a comma ends a cell", re.compile(r"\S,(?:[ }\]]|$)", re.MULTILINE)),
    ("k{a b}, k[a b] nested", re.compile(r"[^\s\[{:(=$][\[{](?![/?+])|(?:^|[ {\[])[^ (]+=\{", re.MULTILINE)),
    ("(k=v) in every row", re.compile(r"(?:^|[ {\[])\(\S", re.MULTILINE)),
    ("k==key as the key of the row", re.compile(r"\S==key")),
    ("k? only in rows with k=", re.compile(r"\S\?,?(?:[ }\];]|$)", re.MULTILINE)),
)
"""What is said of each construct of a header, and what a header with it contains."""
_IN_VIEW: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("[:columns: row;row] a table", re.compile(r"[\[{]:\S")),
    (
        "in k=${a}/b, ${a} is the value of a",
        re.compile(r"^[^ =\n]+=[^ $\n]*\$\{[^ \n]*$|\([^()\n]*=[^ $\"()\n]*\$\{", re.MULTILINE),
    ),
    ("- absent", re.compile(r"(?:^|[ \[{;,])-(?:$|[ ;,\]}])", re.MULTILINE)),
    ("&1 marks a value, *1 repeats it", re.compile(r"(?:^|[ \[(=;,])&[0-9]{1,10}:? ", re.MULTILINE)),
    ("!json a string that holds this as JSON", re.compile(rf"!json{STYLE_CODE} ")),
    ("!view a text whose tables are written so", re.compile("!view ")),
)
"""The same of the constructs outside headers; a text that looks like one may be explained, too."""


def legend_for(view: str, *, known: Collection[str] = ()) -> str:
    """Return the explanation, in one line, of what a view has that JSON has not; "" if a reader needs none.

    The same view gives the same line, so that it may stand above the view in a prompt that a provider caches.

    Args:
        view: The text of a view.
        known: The `explanations` that the reader has read already.
    """
    parts = [part for part in explanations(view) if part not in known]
    return f"Notation: {'; '.join(parts)}." if parts else ""


def explanations(view: str) -> list[str]:
    """Return the explanation of each construct that a view has and JSON has not, always in the same order."""
    headers = "\n".join([header[1] or header[2] for header in _HEADER.finditer(view)])
    places = (headers, _IN_HEADERS), (view, _IN_VIEW)
    return [text for place, constructs in places for text, pattern in constructs if pattern.search(place)]
