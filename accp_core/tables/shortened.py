"""A JSON text of megabytes shortened to some members of its long arrays and maps, which is JSON again.

The text is read in windows. A member that ends in its window is read and dropped; one that does not is an array or a
map that is shortened in its turn, so that neither many members nor few long ones take more memory than the window. The
value of a whole text takes up to 26 times its size.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from json.scanner import make_scanner
from typing import Any, Final

from accp_core.tables.shape import MAX_DEPTH

__all__ = ["BEYOND_BMP", "CLOSE", "SAMPLE", "SPACE", "Place", "Shortened", "Shortening", "scan", "string_end"]

SAMPLE: Final = 500_000
"""Characters of the members that are kept, about; long strings are kept beside them."""
_MIN_KEPT: Final = 8
"""Members of an array or a map of which others are left out."""
_LONG: Final = SAMPLE // _MIN_KEPT
"""Characters of a member that is shortened before it is kept."""
_WINDOW: Final = SAMPLE // 2
"""Characters that are read at once."""
_CUT: Final = 8
"""Characters at the end of a window: a number that ends there may be a part of one."""
_MIN_SHARE: Final = 16
"""Of a long member at least this part is kept."""
_FIRST: Final = 200
_LAST: Final = 20
"""Members at the beginning and at the end that are kept."""
_EVEN: Final = 4
"""The part of what is kept that comes from everywhere."""

SPACE: Final = re.compile(r"[ \t\r\n]*")
_COMMA: Final = re.compile(r"[ \t\r\n]*,[ \t\r\n]*")
_COLON: Final = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
_STRING: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
BEYOND_BMP: Final = re.compile(r"\\u[dD][89abAB]")
"""An escape after which Python keeps the whole string in four times the memory of one in ASCII."""
CLOSE: Final = {"[": "]", "{": "}"}
scan: Final[Callable[[str, int], tuple[Any, int]]] = make_scanner(json.JSONDecoder())  # type: ignore[arg-type]
"""Returns the value at a position and its end; ValueError or StopIteration: there is none."""


def string_end(text: str, at: int) -> int:
    """Return the end of the string that begins at a position, which is not read; ValueError: there is none."""
    return _end(_STRING, text, at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortened:
    """An array or a map of which members were left out."""

    path: tuple[str, ...]
    """The keys that lead to it."""
    is_in_row: bool
    """Whether it is inside a member of an array."""
    total: int
    """Its members in the text."""
    kept: int
    """Those that were kept."""


@dataclass(frozen=True, slots=True)
class Place:
    """The position of an array or a map in the document."""

    path: tuple[str, ...] | None = ()
    """The keys that lead to it; None: it is an array in an array, whose members are the rows of no table."""
    is_in_row: bool = False
    level: int = 0
    bracket: str = "["
    """How it begins; lines are an array, too."""

    def inner(self, key: object, bracket: str) -> Place:
        """Return the place of a member that begins so: of a map by its key, of an array where that is None."""
        path = self.path
        if key is None:
            path = None if bracket == "[" else path
        elif path is not None:
            path = (*path, str(key))
        return Place(path, self.is_in_row or key is None, self.level + 1)


_Shorten = Callable[[int, Place, int | None], tuple[int, str]]


class Shortening:
    """One walk through a text."""

    def __init__(self, text: str, places: Iterable[int]) -> None:
        """Keep the members of `text` that hold one of `places`, beside others."""
        self._text = text
        self._named = sorted(places)
        self._left = SAMPLE
        self.found: list[Shortened] = []
        """The arrays and maps of which members were left out."""

    def shorten(self, at: int, place: Place, size: int | None = None) -> tuple[int, str]:
        """Return the end of the array, map or string at a position, and its text with a part of the members.

        Args:
            at: The position.
            place: Where the value stands.
            size: Its characters where they are known.

        Raises:
            ValueError: it is no JSON, has too many levels, or members that are no rows or too long for a sample.
        """
        text = self._text
        bracket = text[at : at + 1]
        if bracket == '"':
            end = string_end(text, at)
            # Before it is read: what is read of such a string is what takes the memory.
            if BEYOND_BMP.search(text, at, end):
                raise ValueError(f"expected a string of two bytes a character at {at}, found an escape of four")
            scan(text, at)
            return end, text[at:end]
        if bracket not in CLOSE or place.level > MAX_DEPTH:
            raise ValueError(f"expected an array or a map at {at}, found {text[at : at + 9]!r}")
        end, kept = self.shorten_members(at + 1, _COMMA, replace(place, bracket=bracket), size)
        if text[end : end + 1] != CLOSE[bracket]:
            raise ValueError(f"expected {CLOSE[bracket]!r} at {end}, found {text[end : end + 9]!r}")
        return end + 1, f"{bracket}{','.join(kept)}{CLOSE[bracket]}"

    def shorten_members(
        self, at: int, between: re.Pattern[str], place: Place, size: int | None = None
    ) -> tuple[int, list[str]]:
        """Return the end of the members that begin at a position, and the texts of those that are kept.

        Raises:
            ValueError: as `shorten`.
        """
        members = _Members(self._text, at, between, place, self.shorten)
        kept = self._choose(members, self._room(place, size))
        self._left -= min(self._left, sum(map(len, kept)))
        if len(kept) < members.count:
            if len(kept) < _MIN_KEPT or place.path is None:
                raise ValueError(f"expected rows at {at}, of which a part can be kept")
            self.found.append(
                Shortened(path=place.path, is_in_row=place.is_in_row, total=members.count, kept=len(kept))
            )
        return members.position, kept

    def _room(self, place: Place, size: int | None) -> int:
        """Return how many characters of the members may be kept."""
        if size is None and place.level == 0:
            return SAMPLE
        share = max((size or _WINDOW) * SAMPLE // len(self._text), (size or _WINDOW) // _MIN_SHARE)
        return share if size else max(share, self._left // 2)

    def _choose(self, members: _Members, room: int) -> list[str]:
        """Return the texts of the members that are kept, in order."""
        text = self._text
        share = SAMPLE / _EVEN / len(text)
        kept: list[tuple[int, str]] = []
        last: deque[tuple[int, int]] = deque(maxlen=_LAST)
        ahead = iter(self._named[bisect_left(self._named, members.position) :])
        place = next(ahead, -1)
        left, next_at = room, 0.0
        for number, (start, end, shortened) in enumerate(members):
            while 0 <= place < start:
                place = next(ahead, -1)
            if shortened is not None or end - start > _LONG:
                part = members.shorten(start, end - start)[1] if shortened is None else shortened
                cost = len(_STRING.sub("", part))
                if shortened is not None or cost <= left:
                    kept.append((start, part))
                    left -= cost
                continue
            is_named = start <= place < end
            if (number < _FIRST or start >= next_at or is_named) and end - start <= left:
                kept.append((start, text[start:end]))
                left -= end - start
                next_at = next_at if is_named else end + (end - start) / share
            elif members.place.path is None:
                raise ValueError(f"expected rows at {start}, of which a part can be kept")
            else:
                last.append((start, end))
        kept += [(start, text[start:end]) for start, end in last if end - start <= room // _LAST]
        return [part for _, part in sorted(kept)]


class _Members:
    """The members of an array, of a map or of lines, found one after the other; none is kept."""

    def __init__(self, text: str, at: int, between: re.Pattern[str], place: Place, shorten: _Shorten) -> None:
        self._text = text
        self._between = between
        self.place = place
        self._shorten = shorten
        self.position = _end(SPACE, text, at)
        """Where the next member begins; in the end: the first character behind the members."""
        self.count = 0

    def __iter__(self) -> Iterator[tuple[int, int, str | None]]:
        """Yield the first and the last position of each member, and its shortened text where no window holds it."""
        text, between, at, is_map = self._text, self._between, self.position, self.place.bracket == "{"
        start, window, safe = self._window(at)
        while at < len(text) and text[at] not in "]}":
            end = _end_in(window, at - start, is_map=is_map)
            shortened = None
            if 0 <= end <= safe:
                end += start
            elif at > start:
                start, window, safe = self._window(at)
                continue
            else:
                end, shortened = self.shorten(at)
            self.count += 1
            yield at, end, shortened
            after = between.match(text, end)
            if after is None:
                at = _end(SPACE, text, end)
                break
            at = after.end()
        self.position = at

    def _window(self, at: int) -> tuple[int, str, int]:
        """Return a position, the text from there on, and the end of a member in it from which on that may be cut."""
        window = self._text[at : at + _WINDOW]
        return at, window, len(window) - (_CUT if at + _WINDOW < len(self._text) else 0)

    def shorten(self, at: int, size: int | None = None) -> tuple[int, str]:
        """Return the end of the member at a position, of so many characters, and its shortened text."""
        text, place, value, key = self._text, self.place, at, None
        if place.bracket == "{":
            if text[at] != '"':
                raise ValueError(f"expected a key at {at}, found {text[at : at + 9]!r}")
            key, end = scan(text, at)
            value = _end(_COLON, text, end)
        inner = place.inner(key, text[value : value + 1])
        end, shortened = self._shorten(value, inner, size and size - (value - at))
        return end, text[at:value] + shortened


def _end_in(window: str, at: int, *, is_map: bool) -> int:
    """Return where the member at a position of a window ends; -1: not in the window, or it is no JSON."""
    try:
        if is_map:
            at = _end(_COLON, window, scan(window, at)[1])
        return scan(window, at)[1]
    except (ValueError, StopIteration):
        return -1


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Return where a match of `pattern` at a position ends; ValueError: there is none."""
    found = pattern.match(text, at)
    if found is None:
        raise ValueError(f"expected {pattern.pattern!r} at {at}, found {text[at : at + 9]!r}")
    return found.end()
