"""The dates that a request names: since 2026-02-17, on Aug 5, 2024, the 19th; cells are read by `tables.values`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from accp_core.tables.values import CLOCK, DATE, MONTH, TIME_TEXT, month_number, read_date

__all__ = ["TIME_START", "DatePart", "date_parts_of"]

TIME_START: Final = re.compile(rf"\W{{0,2}}({TIME_TEXT})(?!\w)", re.IGNORECASE)
"""A line that begins with a time, which is its first group."""
_REQUESTED: Final = re.compile(
    rf"(?<![\w./-])(?:(?:the )?(?:{DATE})|(?P<m7>{MONTH})(?: (?P<y7>\d{{4}}))?|the (?P<d8>\d\d?)(?:st|nd|rd|th)"
    rf"|(?P<y9>20\d\d))(?:(?:[T:,]| at)? *{CLOCK})?(?![\w/-])",
    re.IGNORECASE,
)
_SIGN: Final = re.compile(r"(?:(?P<from>since|from|starting)|(?P<over>after|later than)|(?P<to>until|till|up to|by)|"
    r"(?P<under>before|earlier than))(?: the| on)?\s+$", re.IGNORECASE)  # fmt: skip
_SIGNS: Final = {"from": "≥", "over": ">", "to": "≤", "under": "<"}
_INTRODUCED: Final = re.compile(r"\b(?:in|since|from|of|during|before|after|until|till|by|late|early|mid)\s+$")
_NO_YEAR: Final = "0000"


@dataclass(frozen=True, slots=True)
class DatePart:
    """A date, a month, a year or a day of a month that a request names."""

    sign: str
    """One of < > ≤ ≥; empty: the time itself is asked for."""
    year: str
    """Four digits; empty: no year is named."""
    month: str
    """Two digits; empty: no month is named."""
    day: str
    """Two digits; empty: no day is named."""
    clock: str
    """The time of day; empty: none is named."""

    def prefix(self, keys: Sequence[str]) -> str | None:
        """Return how the keys of its times begin; None: what it does not name differs among `keys`."""
        year = self.year or _only({key[:4] for key in keys})
        month = self.month or (_only({key[5:7] for key in keys}) if self.day else "")
        date = "-".join(filter(None, (year, month, self.day)))
        return f"{date}T{self.clock}".rstrip("T") if year and (month or not self.day) else None

    @property
    def text(self) -> str:
        """What it names, with `?` for the rest."""
        return "-".join((self.year or "?", self.month or "?", self.day or "?"))

    def has(self, key: str) -> bool:
        """Return whether a time is in it."""
        parts = ((self.year, key[:4]), (self.month, key[5:7]), (self.day, key[8:10]), (self.clock, key[11:16]))
        return len(key) >= len("0000-00") and all(not asked or asked == own for asked, own in parts)


def _only(parts: set[str]) -> str:
    return parts.pop() if len(parts) == 1 else ""


def date_parts_of(request: str) -> tuple[tuple[DatePart, ...], str]:
    """Return the dates that a request names, and the request without them.

    A month alone or a year is a date where a word such as `in` stands before it.
    """
    found = [each for each in _REQUESTED.finditer(request) if _is_date(each, request[: each.start()])]
    rest = "".join(request[a.end() if a else 0 : b.start() if b else None] for a, b in pairwise([None, *found, None]))
    return tuple(_date_part(each, request[: each.start()]) for each in found), rest


def _is_date(found: re.Match[str], before: str) -> bool:
    is_bare = found["y9"] or (found["m7"] and not found["y7"])
    is_known = found["m7"] or found["d8"] or found["y9"] or read_date(found, is_day_first=True)
    return bool(is_known and (not is_bare or _INTRODUCED.search(before.lower())))


def _date_part(found: re.Match[str], before: str) -> DatePart:
    sign = _SIGN.search(before)
    year, month, day = read_date(found, is_day_first=True) or ("", "", "")
    clock = f"{found['h'].zfill(2)}:{found['min']}" if found["h"] else ""
    return DatePart(
        _SIGNS[sign.lastgroup] if sign and sign.lastgroup else "",
        (found["y7"] or found["y9"] or year).replace(_NO_YEAR, ""),
        month_number(found["m7"] or "") or month,
        (found["d8"] or day).zfill(2) if found["d8"] or day else "",
        clock,
    )
