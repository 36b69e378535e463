"""YAML that a tool cut off, read up to the cut.

The end of a line may be anywhere in a value, so only what no whole line is says that there was more: the beginning of a
key, a string without its last quote, or a mark of the tool.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from accp_core.documents.cut.cut_json import MIN_CUT_CHARS, CutJson
from accp_core.documents.cut.omissions import find_omissions
from accp_core.documents.document import WholeForm

__all__ = ["read_cut_yaml"]

_LAST_MARK: Final = 200
"""Characters at the end of a text in which a mark may stand."""
_KEY_BEGINS: Final = re.compile(r"\n(?: ++|(?=-))(?:- ++)*+(?:[A-Za-z_][\w./-]*+|-)?\Z")
_OPENS: Final = re.compile(r"""( *+)(?:[^"'\s][^"']*)?[:-] ++(?:(")(?:[^"\\]++|\\.?)*+|(')(?:[^']++|'')*+)\Z""")
"""A line in which a string begins and does not end."""
_ESCAPE_LEFT: Final = re.compile(r"(?:\\?\n *+)?\\(?:x[0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7})?\Z")
_MAX_ESCAPE: Final = 200
"""Characters of what is left of an escape, which may begin a line."""


def read_cut_yaml(text: str, form: WholeForm) -> CutJson | None:
    """Return the YAML that `text`, which cannot be read as a whole, is up to its cut; None: it is none."""
    if len(text) < MIN_CUT_CHARS or not form.recognise(text):
        return None
    for cut, closing in _cuts(text):
        written = text[:cut] + closing
        try:
            return CutJson(form.read(written), written, cut)
        except ValueError:
            continue
    return None


def _cuts(text: str) -> Iterator[tuple[int, str]]:
    """Yield where the text may end, each with what closes it there."""
    for mark in find_omissions(text, max(len(text) - _LAST_MARK, 0)):
        if mark.end == len(text):
            text = text[: mark.start].rstrip()
            yield len(text), ""
    if begun := _KEY_BEGINS.search(text, max(text.rfind("\n"), 0)):
        yield len(text[: begun.start()].rstrip()), ""
    if quote := _open_quote(text):
        left = _ESCAPE_LEFT.search(text, max(len(text) - _MAX_ESCAPE, 0)) if quote == '"' else None
        if left:
            yield left.start(), quote
        yield len(text), quote


def _open_quote(text: str) -> str:
    """Return the quote of the string in which a text ends, "" where it ends in none.

    All lines behind the one in which it begins stand farther to the right.
    """
    margin = len(text)
    for line in reversed(text.split("\n")):
        begins = _OPENS.match(line)
        if begins is not None and len(begins[1]) < margin:
            return '"' if begins[2] else "'"
        if line.strip():
            margin = min(margin, len(line) - len(line.lstrip(" ")))
    return ""
