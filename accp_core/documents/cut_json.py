"""JSON documents that a tool cut off, read up to the cut.

The beginning of a document is closed where its last whole value ends (or inside a long string), so that it can be read;
what was written behind that place stays text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from accp_core.documents.document import Value
from accp_core.documents.json_forms import JSON, read_json_text

__all__ = ["MIN_CUT_CHARS", "end_of_json", "read_cut_json"]


MIN_CUT_CHARS: Final = 200
"""Characters of a document up to its cut; a shorter one saves less than the line that tells about the cut."""
_MIN_STRING_CHARS: Final = 40
"""Characters of a string that was cut off; a shorter one is left to the text behind the cut."""
_WINDOW: Final = 256
"""Characters that are read first; an error costs as much as all characters before it."""
_MAX_TOKEN: Final = 16
"""Characters at the end of a window in which an error may come from the end of the window."""

_DECODER: Final = json.JSONDecoder()
_TOKEN: Final = re.compile(r'"(?:[^"\\]++|\\.)*+("?)|[\[\]{},:]|[^\s"\[\]{},:]++', re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+')
_CLOSING: Final = {"[": "]", "{": "}"}


def end_of_json(text: str, start: int) -> tuple[int, bool]:
    """Return the position up to which the JSON document at `start` can be read, and whether it ends there.

    Raises:
        RecursionError: it is nested too deep.
    """
    size = _WINDOW
    while True:
        window = text[start : start + size]
        try:
            return start + _DECODER.raw_decode(window)[1], True
        except json.JSONDecodeError as error:
            is_cut = error.pos > size - _MAX_TOKEN or error.msg.startswith("Unterminated")
            if not is_cut or start + size >= len(text):
                return start + error.pos, False
        except ValueError:  # a number of too many digits
            return start, False
        size *= 4


def read_cut_json(text: str, start: int, end: int) -> Value | None:
    """Return the document at `start` up to its cut; None if hardly anything could be read.

    Args:
        text: A text.
        start: The position of the first bracket.
        end: The position up to which the document can be read (`end_of_json`).
    """
    if end - start < MIN_CUT_CHARS and not text.startswith('"', end):
        return None
    for cut, closing in _cuts(text, start, end):
        written = text[start:cut] + closing
        if cut - start >= MIN_CUT_CHARS:
            with suppress(ValueError):
                return Value(start, cut, read_json_text(written), JSON, written, cut - start)
    return None


def _cuts(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """Yield the positions at which the document may be closed, each with what closes it, the last one first."""
    closing, before, string = "", "", end
    whole: tuple[int, str] | None = None
    for token in _TOKEN.finditer(text, start, end):
        sign = token[0]
        if token[1] == "":
            string = token.start()
            break
        is_name = closing[:1] == "}" and before in ("{", ",")
        if sign in _CLOSING:
            closing = _CLOSING[sign] + closing
        elif sign in ("]", "}"):
            closing = closing[1:]
            whole = token.end(), closing
        # A number at the end may go on behind the cut.
        elif sign not in (",", ":") and not is_name and not (token.end() == end and sign[-1].isdigit()):
            whole = token.end(), closing
        before = sign
    part = _STRING.match(text, string)
    is_value = before == ":" or (closing[:1] == "]" and before in ("[", ","))
    if part is not None and is_value and len(part[0]) > _MIN_STRING_CHARS:
        yield part.end(), '"' + closing
    if whole is not None:
        yield whole
