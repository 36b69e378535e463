"""Python literals (`repr`, `pprint`) that a tool cut off, read up to the cut."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from accp_core.documents import python_literal
from accp_core.documents.cut.cut_json import MIN_CUT_CHARS, CutJson, OpenContainer

__all__ = ["open_python", "read_cut_python"]

_MIN_STRING_CHARS: Final = 40
"""Characters of a string that was cut off; a shorter one is left to the text behind the cut."""
_OPEN: Final = rf"{python_literal.SINGLE}|{python_literal.DOUBLE}"
_TOKEN: Final = re.compile(rf"{python_literal.STRING}|(?P<open>{_OPEN})|[\[({{\])}},:]")
_CLOSING: Final = {"[": "]", "{": "}", "(": ")"}


def open_python(text: str, start: int, end: int) -> tuple[list[OpenContainer], tuple[int, int]]:
    """Return the containers that are open at `end`, outer ones first, and where an open string stands, or (-1, -1)."""
    containers: list[OpenContainer] = []
    before = ""
    for token in _TOKEN.finditer(text, start, end):
        sign = token[0]
        if sign in _CLOSING:
            containers.append(OpenContainer(sign, token.start()))
        elif sign in "])}":
            containers.pop()
        elif sign == ",":
            containers[-1].comma, containers[-1].name = token.start(), ""
        elif sign == ":":
            containers[-1].name = before
        elif token["open"]:
            return containers, token.span()
        before = sign
    return containers, (-1, -1)


def read_cut_python(text: str, start: int, end: int) -> CutJson | None:
    """Return the literal at `start`, which does not close before `end`, up to its cut; None: hardly any can be read."""
    if end - start < MIN_CUT_CHARS:
        return None
    containers, string = open_python(text, start, end)
    for cut, closing in _cuts(text, containers, string):
        written = text[start:cut] + closing
        if cut - start >= MIN_CUT_CHARS and python_literal.recognise(written):
            try:
                return CutJson(python_literal.read(written), written, cut - start)
            except ValueError:
                continue
    return None


def _cuts(text: str, containers: Sequence[OpenContainer], string: tuple[int, int]) -> Iterator[tuple[int, str]]:
    """Yield where the literal may be closed, each with what closes it: the last place first, of tuples whole rows."""
    closing = "".join(_CLOSING[container.bracket] for container in reversed(containers))
    is_rows = [container.bracket for container in containers[:2]] == ["[", "("]
    if string[1] - string[0] > _MIN_STRING_CHARS and not is_rows:
        yield string[1], text[string[0]] + closing
    levels = range(len(containers))
    for level in levels if is_rows else reversed(levels):
        if (comma := containers[level].comma) >= 0:
            yield comma, closing[len(containers) - 1 - level :]
