"""Dates and times of day in any of the usual spellings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, TypeAlias

from accp_adapters.replay.visibility import MONTH_NAMES

__all__ = ["BEFORE_TIME", "DATE", "TIME", "Moment", "moments_in", "times_in"]

Moment: TypeAlias = tuple[int | None, int, int, str]
"""Year, month, day of the month and time of day; None and "": the text names none."""

_MONTH: Final = rf"(?:{MONTH_NAMES})[a-z]*\.?"
_TH: Final = r"(?:st|nd|rd|th)?"
_YEAR: Final = r"(?:1[89]|20|21)\d\d"
DATE: Final = (
    rf"(?<![\d.])(?:{_YEAR}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.]{_YEAR}"
    rf"|\d\d?{_TH}(?:[ /-]| of ){_MONTH}(?:,?[ /-]{_YEAR})?|\b{_MONTH} \d\d?{_TH}(?:,? {_YEAR})?)(?!\d)"
)
"""A date, as a pattern without groups."""
TIME: Final = r"(?<!\d)\d\d?:\d\d(?::\d\d)?(?: ?[AaPp]\.?[Mm]\b)?"
"""A time of day, as a pattern."""
_TIME: Final = re.compile(TIME)
BEFORE_TIME: Final = r"(?:T|,? at |[ :,]{1,2})"
"""What stands between a date and its time, as a pattern."""
_MOMENT: Final = re.compile(rf"(?P<date>{DATE})(?:{BEFORE_TIME}(?P<time>{TIME}))?")
_NAMES: Final = MONTH_NAMES.split("|")
_PARTS: Final = re.compile(r"\d+|[A-Z][a-z]{2}")
_NOON: Final = 12
_LAST_MONTH: Final = 12
_LAST_DAY: Final = 31


def times_in(text: str) -> set[str]:
    """Return the times of day in `text`: "14:05" or "14:05:09"."""
    return {_time(match[0]) for match in _TIME.finditer(text)}


def moments_in(text: str) -> set[Moment]:
    """Return the dates in `text`, each with the time that stands behind it; 03/04/2026 may mean two."""
    return {(*day, _time(moment["time"])) for moment in _MOMENT.finditer(text) for day in _days(moment["date"])}


def _days(date: str) -> Iterator[tuple[int | None, int, int]]:
    parts = _PARTS.findall(date)
    month = next((_NAMES.index(part) + 1 for part in parts if part in _NAMES), None)
    numbers = [int(part) for part in parts if part.isdigit()]
    year = next((number for number in numbers if number > _LAST_DAY), None)
    rest = [number for number in numbers if number != year]
    readings = [[month, *rest]] if month else [rest] if numbers[0] == year else [rest, rest[::-1]]
    for reading in readings:
        if len(reading) == 2 and 0 < reading[0] <= _LAST_MONTH and 0 < reading[1] <= _LAST_DAY:
            yield year, reading[0], reading[1]


def _time(time: str | None) -> str:
    if not time:
        return ""
    hour, *rest = re.findall(r"\d+", time)
    half = next((letter for letter in time.casefold() if letter in "ap"), "")
    hours = int(hour) % _NOON + _NOON * (half == "p") if half else int(hour)
    return ":".join((f"{hours:02}", *rest))
