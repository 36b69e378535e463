"""Texts of others as a page shows them: no character that a browser, an editor or a reader could be misled by."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Final

__all__ = ["printable", "shorten", "shorten_apart", "shorten_middle"]

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_INVISIBLE: Final = re.compile(
    "[\x80-\x9f\u200b\u200e\u200f\u202a-\u202e\u2028\u2029\u2060-\u206f\ud800-\udfff\ufdd0-\ufdef\ufeff\ufffe\uffff]"
)
"""Other controls, marks that turn the direction of text around, and what UTF-8 or HTML cannot carry."""
_PICTURES: Final = 0x2400
"""The first of Unicode's control pictures."""


def printable(text: str) -> str:
    """Return `text` with a picture for each control character and U+FFFD for others that nobody could see."""
    return _INVISIBLE.sub("\ufffd", _CONTROL.sub(_picture, text))


def shorten(text: str, limit: int) -> str:
    """Return a name on one line, with at most `limit` characters and "…" where it was longer."""
    line = " ".join(printable(text[: 4 * limit]).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def shorten_middle(text: str, limit: int) -> str:
    """Return a name on one line, with at most `limit` characters: names of one kind often differ at their ends."""
    line = " ".join(printable(text).split())
    end = (limit - 1) * 2 // 3
    return line if len(line) <= limit else f"{line[: limit - 1 - end]}…{line[-end:]}"


def shorten_apart(names: Sequence[str], limit: int) -> tuple[str, ...]:
    """Return names on one line, with at most `limit` characters, each another one where the names are.

    A long name is cut in its middle. Names that would then be the same are shown from where they begin to differ, and
    those that are the same even so, with their numbers.
    """
    found = _where_same([shorten_middle(name, limit) for name in names], names, limit, _from_difference)
    return tuple(_where_same(found, names, limit, _numbered))


def _where_same(
    shown: Sequence[str], names: Sequence[str], limit: int, cut: Callable[[Sequence[str], int, int], str]
) -> list[str]:
    """Return what is shown; of several names that are shown alike, each as `cut` cuts it."""
    alike: defaultdict[str, list[int]] = defaultdict(list)
    for number, text in enumerate(shown):
        alike[text].append(number)
    found = [*shown]
    for numbers in alike.values():
        for number in numbers if len(numbers) > 1 else ():
            found[number] = cut([names[number], *(names[other] for other in numbers)], number, limit)
    return found


def _from_difference(names: Sequence[str], _number: int, limit: int) -> str:
    """Return the first of `names`, from a little before it begins to differ from the others."""
    same = next((place for place, found in enumerate(zip(*names, strict=False)) if len(set(found)) > 1), 0)
    begin = max(same - limit // 3, 0)
    line = " ".join(printable(names[0][begin:]).split())
    return f"…{line}" if len(line) < limit else f"…{line[: limit - 2]}…"


def _numbered(names: Sequence[str], number: int, limit: int) -> str:
    return shorten(f"{number + 1} {names[0]}", limit)


def _picture(match: re.Match[str]) -> str:
    return "\u2421" if match[0] == "\x7f" else chr(_PICTURES + ord(match[0]))
