"""Times as programs and people write them: 2026-02-17T14:00Z, 17/Feb/2026:14:00:00 +0100, Aug 5, 2024, the 19th.

The key of a time is its ISO form, as precise as it is written: keys of one column are ordered like the times.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise, takewhile
from typing import Final

__all__ = ["TIME_START", "DatePart", "date_parts_of", "keys_of_times"]

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_FULL_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MONTH: Final = rf"(?:{'|'.join(f'{short}(?:{full[3:]})?' for short, full in zip(_MONTHS, _FULL_MONTHS, strict=True))})"
_DATES: Final = (
    r"(?P<y1>\d{4})(?P<sign1>[-/.])(?P<m1>\d\d)(?:(?P=sign1)(?P<d1>\d\d))?(?!\d)",
    r"(?P<y2>(?:19|20)\d\d)(?P<m2>[01]\d)(?P<d2>[0-3]\d)(?=T)",
    rf"(?P<d3>\d\d?)(?:st|nd|rd|th)?(?: of)?[-/. ]+(?P<m3>{_MONTH})(?!\w)(?:\.?,?[-/ ]+(?P<y3>\d{{4}}))?",
    rf"(?P<m4>{_MONTH})\.? +(?P<d4>\d\d?)(?:st|nd|rd|th)?(?![\d:])(?:,? +(?P<y4>\d{{4}}))?",
    r"(?P<a5>\d\d?)(?P<sign5>[/.-])(?P<b5>\d\d?)(?P=sign5)(?P<y5>\d{4})",
)
_DATE: Final = "|".join(_DATES)
_CLOCK: Final = r"(?P<h>\d\d?):(?P<min>\d\d)(?::(?P<s>\d\d)(?:[.,](?P<f>\d{1,9}))?)?"
_COMPACT_CLOCK: Final = r"T(?P<h2>\d\d)(?P<min2>\d\d)(?P<s2>\d\d)"
_ZONE: Final = r"(?P<zone>Z|UTC|GMT|[+-]\d\d:?\d\d)(?: \([A-Z]+\))?"
_TIME_TEXT: Final = (
    rf"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?,? +)?"
    rf"(?:(?:{_DATE})(?:(?:[T:,]| at)? *{_CLOCK}|{_COMPACT_CLOCK})?(?: (?P<y6>\d{{4}}))?(?: ?{_ZONE})?"
    rf"|(?P<only>{_CLOCK.replace('?P<', '?P<o')}))"
)
_TIME: Final = re.compile(_TIME_TEXT, re.IGNORECASE)
TIME_START: Final = re.compile(rf"\W{{0,2}}({_TIME_TEXT})(?!\w)", re.IGNORECASE)
"""A line that begins with a time, which is its first group."""
_REQUESTED: Final = re.compile(
    rf"(?<![\w./-])(?:(?:the )?(?:{_DATE})|(?P<m7>{_MONTH})(?: (?P<y7>\d{{4}}))?|the (?P<d8>\d\d?)(?:st|nd|rd|th)"
    rf"|(?P<y9>20\d\d))(?:(?:[T:,]| at)? *{_CLOCK})?(?![\w/-])",
    re.IGNORECASE,
)
_SIGN: Final = re.compile(r"(?:(?P<from>since|from|starting)|(?P<over>after|later than)|(?P<to>until|till|up to|by)|"
    r"(?P<under>before|earlier than))(?: the| on)?\s+$", re.IGNORECASE)  # fmt: skip
_SIGNS: Final = {"from": "≥", "over": ">", "to": "≤", "under": "<"}
_INTRODUCED: Final = re.compile(r"\b(?:in|since|from|of|during|before|after|until|till|by|late|early|mid)\s+$")
_NO_YEAR: Final = "0000"
_MAX_TIME: Final = 48
"""Characters of a time at most."""


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
    is_known = found["m7"] or found["d8"] or found["y9"] or _read_date(found, is_day_first=True)
    return bool(is_known and (not is_bare or _INTRODUCED.search(before.lower())))


def _date_part(found: re.Match[str], before: str) -> DatePart:
    sign = _SIGN.search(before)
    year, month, day = _read_date(found, is_day_first=True) or ("", "", "")
    clock = f"{found['h'].zfill(2)}:{found['min']}" if found["h"] else ""
    return DatePart(
        _SIGNS[sign.lastgroup] if sign and sign.lastgroup else "",
        (found["y7"] or found["y9"] or year).replace(_NO_YEAR, ""),
        _month(found["m7"] or "") or month,
        (found["d8"] or day).zfill(2) if found["d8"] or day else "",
        clock,
    )


def keys_of_times(texts: Sequence[str]) -> tuple[list[str], list[str]] | None:
    """Return the keys of times as they are written, and those by which they are ordered.

    Args:
        texts: All texts of a column that are not empty.

    Returns:
        None where one of them is no time, or where their order is not known: days and months may be exchanged, some
        have an offset from UTC and others have none, or the year is missing around its end.
    """
    matches = (_TIME.fullmatch(text) if len(text) <= _MAX_TIME else None for text in texts)
    times = [time for time in takewhile(bool, matches) if time]
    if len(times) < len(texts):
        return None
    days = [(int(time["a5"]), int(time["b5"])) for time in times if time["a5"]]
    has_dots = any(time["sign5"] == "." for time in times)
    is_day_first = has_dots or any(a > 12 for a, _ in days)
    if days and is_day_first == any(b > 12 for _, b in days):
        return None
    keys = [_key(time, is_day_first=is_day_first) for time in times]
    if None in keys or (kinds := {key[0] == "T" for key in keys if key}) == {True, False} or not kinds:
        return None
    return _ordered([key for key in keys if key], [time["zone"] for time in times])


def _ordered(keys: list[str], zones: Sequence[str | None]) -> tuple[list[str], list[str]] | None:
    years = {key[:4] for key in keys}
    if _NO_YEAR in years and (len(years) > 1 or {"01", "12"} <= {key[5:7] for key in keys}):
        return None
    if len(set(zones)) == 1:
        return keys, keys
    moments = [_in_utc(key, zone) for key, zone in zip(keys, zones, strict=True)]
    return None if None in moments else (keys, [moment for moment in moments if moment])


def _key(time: re.Match[str], *, is_day_first: bool) -> str | None:
    clock = ":".join(time[f"{o}{part}"].zfill(2) for o in ("", "o") for part in ("h", "min", "s") if time[f"{o}{part}"])
    clock = clock or (f"{time['h2']}:{time['min2']}:{time['s2']}" if time["h2"] else "")
    clock += f".{fraction}" if (fraction := time["f"] or time["of"]) else ""
    if time["only"]:
        return f"T{clock}"
    read = _read_date(time, is_day_first=is_day_first)
    if read is None:
        return None
    year = time["y6"] or read[0]
    date = "-".join(filter(None, (year, read[1], read[2])))
    return f"{date}T{clock}" if clock else date


def _read_date(found: re.Match[str], *, is_day_first: bool) -> tuple[str, str, str] | None:
    """Return the year, the month and the day of a date; None: there is no such date."""
    groups = found.groupdict()
    year, month, day = (next(filter(None, (groups.get(f"{part}{n}") for n in range(1, 5))), "") for part in "ymd")
    if groups.get("a5"):
        year, a, b = groups["y5"], groups["a5"], groups["b5"]
        day, month = (a, b) if is_day_first else (b, a)
    month = _month(month)
    if not month or not 1 <= int(month) <= 12 or (day and not 1 <= int(day) <= 31):
        return None
    return year or _NO_YEAR, month, day.zfill(2) if day else ""


def _month(text: str) -> str:
    """Return the two digits of a month, or nothing."""
    if not text or text.isdigit():
        return text and text.zfill(2)
    return f"{_MONTHS.index(text[:3].lower()) + 1:02}"


def _in_utc(key: str, zone: str | None) -> str | None:
    """Return a key in UTC; None: its offset or its clock is missing."""
    if zone is None or "T" not in key or key[0] == "T":
        return None
    offset = timedelta()
    if zone[0] in "+-":
        offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:])) * (-1 if zone[0] == "-" else 1)
    try:
        return (datetime.fromisoformat(key) - offset).isoformat(timespec="microseconds")
    except (ValueError, OverflowError):
        return None
