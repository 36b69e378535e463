"""What a request asks of a table, read by a few general words: what is named, bounds, what is missing, an order.

Nothing here knows a table; `conditions` says which of its columns and rows are meant.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from accp_core.previews.words import find_words, requested_words

__all__ = ["Bound", "Request", "words_of_name"]

_MAX_CHARS: Final = 4_000
"""Characters of a request that are read: a call may have a file as its argument."""
_HUMP: Final = re.compile(r"(?<=[^\W_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PART: Final = re.compile(r"[^\W\d_]+|\d+")
_STEM: Final = 4
"""Letters that two spellings of a word begin with, and at most so many may follow one of them."""
_CODE: Final = 3
"""Letters of a code such as EUR, which a word in the request begins with."""
_CODE_ENDING: Final = 2
_OPPOSITES: Final = ("dis", "un", "in", "im", "non")
"""What turns a word into its opposite."""
_NUMBERS: Final = {
    "a": Decimal(1), "an": Decimal(1), "half": Decimal("0.5"), "one": Decimal(1), "two": Decimal(2),
    "three": Decimal(3), "four": Decimal(4), "five": Decimal(5), "six": Decimal(6), "seven": Decimal(7),
    "eight": Decimal(8), "nine": Decimal(9), "ten": Decimal(10), "hundred": Decimal(100),
}  # fmt: skip
_SCALES: Final = {
    "k": (1000,), "kb": (1000, 1024), "mb": (10**6, 2**20), "gb": (10**9, 2**30), "thousand": (1000,),
    "million": (10**6,), "second": (1000,), "seconds": (1000,), "minute": (60, 60_000), "minutes": (60, 60_000),
    "hour": (60, 3600, 3_600_000), "hours": (60, 3600, 3_600_000), "kg": (1000,), "km": (1000,),
}  # fmt: skip
"""By how much a bound may have to be multiplied to be compared with the numbers of a column."""
_SIGNS: Final = {
    "≥": "at least|since|from|no less than|or more|and more|or higher|or later",
    "≤": "at most|up to|until|no more than|or less|or fewer|or earlier",
    ">": "over|above|more than|greater than|larger than|longer than|later than|exceeds?|after",
    "<": "under|below|less than|fewer than|smaller than|shorter than|earlier than|before",
}
_SIGN: Final = "|".join(f"(?P<s{number}>{words})" for number, words in enumerate(_SIGNS.values()))
_VALUE: Final = (
    rf"[€$£~]?(?P<value>\d[\d.,:-]*|(?:{'|'.join(_NUMBERS)})(?!\w))"
    rf"(?:\s?(?:an?\s)?(?P<unit>{'|'.join(_SCALES)})(?!\w))?"
)
_BOUNDS: Final = (
    re.compile(rf"(?<!\w)(?:{_SIGN})\s+{_VALUE}", re.IGNORECASE),
    re.compile(rf"(?<!\w){_VALUE}\s(?:\w+\s)?(?:{_SIGN})(?!\w)", re.IGNORECASE),
)
"""A sign and a value, and a value with a sign behind it: "at least 3", "3 pieces or more"."""
_CLOCK: Final = re.compile(r"(\d\d?):(\d\d)")
_PLAIN: Final = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_HALF_DAY: Final = re.compile(r"\s*(?:(?P<afternoon>pm\b|in the (?:afternoon|evening))|am\b|in the morning|o.clock)")
_NOON: Final = 12
_ABSENT: Final = re.compile(
    r"\b(?:no|none|nobody|nothing|never|not|without|missing|lacks?|empty|null)\b|n['\u2019]t\b", re.IGNORECASE
)
_GREATEST: Final = re.compile(
    r"\b(?:most|largest|biggest|highest|greatest|longest|max\w*|top|worst|slowest|dearest|heaviest|latest|newest|last|"
    r"recent\w*|youngest)\b",
    re.IGNORECASE,
)
_LEAST: Final = re.compile(
    r"\b(?:least|smallest|lowest|shortest|fewest|min(?:imum)?|cheapest|fastest|lightest|earliest|oldest|first|next)\b",
    re.IGNORECASE,
)
_TIME: Final = re.compile(
    r"\b(?:latest|newest|last|recent\w*|youngest|earliest|oldest|first|next|longest)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Bound:
    """A number, a date or a time of day that what is asked for is over or under."""

    sign: str
    """One of < > ≤ ≥."""
    text: str
    """The bound as the request writes it."""
    values: tuple[Decimal, ...]
    """What the number may be in a smaller unit, then the number; empty: it is none."""
    clock: str = ""
    """The time of day, such as "06:00"; empty: it is none."""


class Request:
    """A request, to be asked whether it names something."""

    def __init__(self, text: str) -> None:
        """Read `text`: the user's words and the arguments of the call."""
        text = text[:_MAX_CHARS]
        self.words: Final = requested_words(text)
        """Its words without regard to case, at most 64."""
        codes = (word.casefold() for word in find_words(text) if len(word) == 2 and _is_code(word))
        parts = {part for word in find_words(text) for part in words_of_name(word) if len(part) >= _CODE}
        self._named: Final = self.words | frozenset(codes) | parts | {word.replace("-", "") for word in self.words}
        self._ordered: Final = sorted(self._named)
        self.match: Final = functools.cache(self._match)
        self.bounds: Final = tuple(_bounds(text))
        """What it bounds."""
        self.is_negative: Final = _ABSENT.search(text) is not None
        """Whether it asks for what is not there, or is not so."""
        self.is_greatest: Final = _GREATEST.search(text) is not None
        """Whether it asks for the greatest of something, or the latest."""
        self.is_least: Final = _LEAST.search(text) is not None
        """Whether it asks for the least of something, or the earliest."""
        self.is_timed: Final = _TIME.search(text) is not None
        """Whether that may be a time."""

    def has(self, word: str) -> bool:
        """Return whether a word stands in the request, perhaps with another ending."""
        return self.match(word) is not None

    def has_all(self, text: str) -> bool:
        """Return whether all words of a value stand in the request."""
        words = find_words(text)
        return bool(words) and all(self.has(word.casefold()) or self._has_parts(word) for word in words)

    def _has_parts(self, word: str) -> bool:
        parts = words_of_name(word)
        return len(parts) > 1 and all(map(self.has, parts))

    def names(self, name: str) -> frozenset[str]:
        """Return the words of the name of a column that stand in the request, without those that say nothing."""
        words = words_of_name(name)
        is_one = "".join(words) in self._named
        return frozenset(word for word in words if len(word) >= _CODE and (is_one or self.has(word)))

    def lacks(self, name: str) -> frozenset[str]:
        """Return the words of the name of a column that the request asks to be without, such as "unassigned"."""
        if self.is_negative:
            return self.names(name)
        return frozenset(word for word in words_of_name(name) if len(word) >= _CODE and self.has(f"un{word}"))

    def affirms(self, name: str) -> bool | None:
        """Return whether the request asks for what the last word of a name says, or its opposite; None: for neither."""
        word = words_of_name(name)[-1:]
        if not word or len(word[0]) < _CODE:
            return None
        if self.has(word[0]):
            return not self.is_negative
        stem = word[0].removeprefix("en")
        return self.is_negative if any(opposite + stem in self._named for opposite in _OPPOSITES) else None

    def _match(self, word: str) -> str | None:
        """Return the word of the request that `word` is, perhaps with another ending; None: it has none."""
        if word in self._named:
            return word
        return next((other for other in self._ordered if _are_alike(word, other)), None)


def _is_code(word: str) -> bool:
    return word.isupper() or any(map(str.isdigit, word))


def words_of_name(name: str) -> list[str]:
    """Return the words of a name, such as that of a column, without regard to case."""
    return [word.casefold() for word in _PART.findall(_HUMP.sub(" ", name))]


def _are_alike(word: str, other: str) -> bool:
    if word[:_CODE] != other[:_CODE] or not (word.isalpha() and other.isalpha()):
        return False
    if len(word) == _CODE:
        return len(other) <= _CODE + _CODE_ENDING
    same = next((at for at, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other)))
    return same >= _STEM and max(len(word), len(other)) - same <= min(_STEM, same // 2 + 1)


def _bounds(text: str) -> Iterator[Bound]:
    for found in (found for pattern in _BOUNDS for found in pattern.finditer(text)):
        value, unit = found["value"].rstrip(".,:-").casefold(), (found["unit"] or "").casefold()
        number = _NUMBERS.get(value) or (Decimal(value.replace(",", "")) if _PLAIN.fullmatch(value) else None)
        if value not in ("a", "an") or unit:
            sign = next(sign for at, sign in enumerate(_SIGNS) if found[f"s{at}"])
            scales = (*_SCALES.get(unit, ()), 1)
            values = () if number is None else tuple(number * scale for scale in scales)
            yield Bound(sign, value, values, _clock(value, number, text[found.end() :]))


def _clock(value: str, number: Decimal | None, behind: str) -> str:
    """Return the time of day that a value is, perhaps by the words behind it."""
    if found := _CLOCK.fullmatch(value):
        return f"{int(found[1]):02}:{found[2]}"
    half = _HALF_DAY.match(behind)
    if half is None or number is None or number > _NOON:
        return ""
    return f"{int(number) % _NOON + _NOON * bool(half['afternoon']):02}:00"
