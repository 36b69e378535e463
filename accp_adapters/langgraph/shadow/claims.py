"""The numbers, identifiers, dates and quotations that a text states."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from accp_adapters.langgraph.shadow.moments import BEFORE_TIME, DATE, TIME
from accp_adapters.replay.visibility import IDENTIFIER, VALUES

__all__ = ["ClaimKind", "StatedValue", "claims_in"]


class ClaimKind(StrEnum):
    """What a claim is."""

    NUMBER = "number"
    """A number of two digits or more."""
    ID = "id"
    """An identifier, an address, a path, a version: a word that is no plain word."""
    DATE = "date"
    """A date, with or without a time."""
    TIME = "time"
    """A time of day."""
    QUOTATION = "quotation"
    """What stands in quotes or backticks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedValue:
    """A value that a text states."""

    kind: ClaimKind
    """What it is."""
    text: str
    """Its characters; of a quotation those within the quotes."""
    start: int
    """The position of its first character."""
    unit: str = ""
    """What stands directly behind a number: "%", "ms", "k"."""


_MIN_DIGITS: Final = 2
_QUOTES: Final = (("`", "`"), ('"', '"'), ("“", "”"), ("„", "“"), ("«", "»"))
_CLAIMS: Final = re.compile(
    "|".join(
        (
            *(
                # What stands before a colon is a label of JSON, not a quotation.
                rf"{opens}(?P<quotation{number}>[^{opens}{closes}\n]{{3,500}}){closes}(?!\s*:)"
                for number, (opens, closes) in enumerate(_QUOTES)
            ),
            rf"(?P<moment>{DATE}(?:{BEFORE_TIME}{TIME})?)",
            rf"(?P<clock>{TIME})",
            # A code of several parts is one: one of its parts alone stands in many others.
            r"(?P<code>\b[A-Z][A-Z\d]{0,9}(?=[\w/-]{0,60}\d)(?:[-/]\w+)+)",
            r"(?P<version>(?<![\w.])v?\d+(?:\.\d+){2,}(?![\w-]))",
            r"(?P<amount>(?<![\w.])\d[\d,]{0,40}(?:\.\d{1,40})?)(?P<unit> ?%|[A-Za-z]{1,3}(?![\w-]))",
            VALUES.pattern,
        )
    )
)
_KINDS: Final = {"moment": ClaimKind.DATE, "date": ClaimKind.DATE, "clock": ClaimKind.TIME, "time": ClaimKind.TIME}
_WORDS: Final = frozenset(("url", "path", "email", "version", "code"))
_CODE: Final = re.compile(r"0\d")


def claims_in(text: str) -> Iterator[StatedValue]:
    """Yield what `text` states, from left to right; what stands in a quotation is a part of it."""
    for match in _CLAIMS.finditer(text):
        name, start = match.lastgroup or "", match.start()
        words = match[0]
        if name.startswith("quotation"):
            yield _quoted(match[name], match.start(name))
        elif name in ("unit", "number"):
            number = match[0] if name == "number" else match["amount"]
            yield from _number(number.rstrip(","), start, words[len(number) :].strip())
        elif kind := _KINDS.get(name):
            yield StatedValue(kind=kind, text=words, start=start)
        elif name in _WORDS or (name == "name" and IDENTIFIER.match(words)):
            yield StatedValue(kind=ClaimKind.ID, text=words.rstrip(".,;:!?*"), start=start)


def _quoted(words: str, start: int) -> StatedValue:
    """Return what a quotation states: one value alone may be spelled otherwise than it was shown."""
    found = list(itertools.islice(claims_in(words), 2))
    if len(found) == 1 and found[0].text == words.strip(" .,:;!?"):
        return replace(found[0], start=start + found[0].start)
    return StatedValue(kind=ClaimKind.QUOTATION, text=words, start=start)


def _number(text: str, start: int, unit: str) -> Iterator[StatedValue]:
    if sum(map(str.isdigit, text)) >= _MIN_DIGITS:
        # 007 is no number: its zeros count.
        kind = ClaimKind.ID if _CODE.match(text) else ClaimKind.NUMBER
        yield StatedValue(kind=kind, text=text, start=start, unit=unit)
