"""JSON documents that a tool cut off, read up to the cut.

The beginning of a document is closed where its last whole value ends (or inside a long string), so that it can be read;
what was written behind that place stays text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from json.decoder import scanstring  # type: ignore[attr-defined]  # the stubs miss it
from typing import Final

from accp_core.documents.json_forms import read_json_text

__all__ = ["MIN_CUT_CHARS", "CutJson", "end_of_json", "read_cut_json", "read_cut_string"]


MIN_CUT_CHARS: Final = 200
"""Characters of a document up to its cut; a shorter one saves less than the line that tells about the cut."""
_MIN_STRING_CHARS: Final = 40
"""Characters of a string that was cut off; a shorter one is left to the text behind the cut."""
_WINDOW: Final = 256
"""Characters that are read first; an error costs as much as all characters before it."""
_MAX_TOKEN: Final = 16
"""Characters at the end of a window in which an error may come from the end of the window."""

_DECODER: Final = json.JSONDecoder()
_TOKEN: Final = re.compile(r'"(?:[^"\\]++|\\.)*+("?)|[\[\]{},:]', re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+')
_CHARACTER: Final = re.compile(
    r"[^\\]|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.", re.DOTALL
)
_CLOSING: Final = {"[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class CutJson:
    """The beginning of a document."""

    value: object
    """Its value, as if it ended at the cut."""
    written: str
    """Its text up to the cut, closed there."""
    chars: int
    """The characters up to the cut."""


@dataclass(slots=True)
class _OpenContainer:
    """An array or an object that is open at the cut."""

    bracket: str
    start: int
    """The position of the bracket."""
    comma: int = -1
    """The position of the last comma between its members; -1: there is none."""
    name: str = ""
    """The name before the last colon as it is written; empty: no colon stands behind the last comma."""


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


def read_cut_json(text: str, start: int, end: int, *, is_exact: bool = False) -> CutJson | None:
    """Return the document at `start` up to its cut; None if hardly anything could be read or no style writes it.

    Args:
        text: A text.
        start: The position of the first bracket.
        end: The position up to which the document can be read (`end_of_json`).
        is_exact: Whether the text ends at such a cut, so that a number at its end is whole.
    """
    if end - start < MIN_CUT_CHARS and not text.startswith('"', end):
        return None
    containers, string = _open_containers(text, start, end)
    for cut, closing in _cuts(text, start, containers, string, end, is_exact=is_exact):
        if cut - start >= MIN_CUT_CHARS:
            found = _closed_at(text[start:cut], closing)
            if found is not None:
                return found
    return None


def read_cut_string(text: str) -> CutJson | None:
    """Return the string that `text` is up to the cut in the JSON that it holds; None where it is no such string."""
    part = _STRING.match(text)
    if part is None or text.startswith('"', part.end()):
        return None
    chars = _chars_before_inner_cut(part[0], is_exact=False)
    return _closed_at(text[:chars], '"') if chars >= MIN_CUT_CHARS else None


def _closed_at(beginning: str, closing: str) -> CutJson | None:
    written = beginning + closing
    try:
        value = read_json_text(written)
    except ValueError:
        return None
    return CutJson(value, written, len(beginning))


def _open_containers(text: str, start: int, end: int) -> tuple[list[_OpenContainer], int]:
    """Return the containers that are open at `end`, outer ones first, and the start of an open string, or -1."""
    containers: list[_OpenContainer] = []
    before = ""
    for token in _TOKEN.finditer(text, start, end):
        sign = token[0]
        if sign == ",":
            containers[-1].comma = token.start()
            containers[-1].name = ""
        elif sign == ":":
            containers[-1].name = before
        elif sign in _CLOSING:
            containers.append(_OpenContainer(sign, token.start()))
        elif sign in "]}":
            containers.pop()
        elif token[1] == "":
            return containers, token.start()
        before = sign
    is_string = text.startswith('"', end) and _is_value_next(text[start:end].rstrip()[-1:], containers[-1:])
    return containers, end if is_string else -1


def _is_value_next(before: str, innermost: list[_OpenContainer]) -> bool:
    return bool(innermost) and before in (":" if innermost[0].bracket == "{" else "[,") and before != ""


def _cuts(
    text: str, start: int, containers: list[_OpenContainer], string: int, end: int, *, is_exact: bool
) -> Iterator[tuple[int, str]]:
    """Yield the positions at which the document may be closed, each with what closes it, the last one first."""
    closing = "".join(_CLOSING[container.bracket] for container in reversed(containers))
    innermost = containers[-1]
    if string >= 0 and (innermost.bracket == "[" or innermost.name):
        part = _STRING.match(text, string)
        if part is not None and (chars := _chars_before_inner_cut(part[0], is_exact=is_exact)):
            yield string + chars, '"' + closing
        if part is not None and len(part[0]) > _MIN_STRING_CHARS:
            yield part.end(), '"' + closing
    elif string < 0 and _is_behind_value(text[start:end], innermost, is_exact=is_exact):
        yield start + len(text[start:end].rstrip()), closing
    for level in range(len(containers) - 1, -1, -1):
        if (comma := containers[level].comma) >= 0:
            yield start + len(text[start:comma].rstrip()), closing[len(containers) - 1 - level :]
            return


def _chars_before_inner_cut(string: str, *, is_exact: bool) -> int:
    """Return up to which character of a string that was cut off the document in it can be read; 0: it holds none."""
    inner = scanstring(f'{string}"', 1)[0]
    if not inner.startswith(("[", "{")):
        return 0
    end, is_whole = end_of_json(inner, 0)
    found = None if is_whole else read_cut_json(inner, 0, end, is_exact=is_exact)
    if found is None:
        return 0
    at = 1
    for _ in range(found.chars):
        at = _CHARACTER.match(string, at).end()  # type: ignore[union-attr]  # the string was read
    return at


def _is_behind_value(body: str, innermost: _OpenContainer, *, is_exact: bool) -> bool:
    """Return whether the document is whole up to the end of `body` but for what closes it; a number may be cut."""
    last = body.rstrip()[-1:]
    is_number = not is_exact and last.isdigit() and body[-1:] == last
    return last not in "[{,:" and not is_number and (innermost.bracket == "[" or innermost.name != "")
