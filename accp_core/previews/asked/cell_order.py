"""What the cells of a column are ordered by: numbers and times, however programs write them.

9.5   2,202.50   2.500,00   €84   5.3 km   8162 kB   1.2G   2h 5m   96 (48m ago)   4 / 10   17/Feb/2026:13:05:32 +0000
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from accp_core.previews.asked.times import keys_of_times

__all__ = ["CellOrder", "convert", "is_empty", "order_of"]

_EMPTY: Final = frozenset(("", "-", "null", "none", "nil", "n/a", "<none>", "\u2013", "\u2014"))
"""Texts that say that there is nothing, without regard to case."""
_PLAIN: Final = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?")
_ENGLISH: Final = r"[-+]?(?:[1-9]\d{0,2}(?:,\d{3})+|0|[1-9]\d*)(?:\.\d+)?"
_GERMAN: Final = r"[-+]?(?:[1-9]\d{0,2}(?:\.\d{3})+|0|[1-9]\d*)(?:,\d+)?"
_AROUND: Final = r"(?:[€$£~] ?)?({})(?: ?([^\W\d_]+(?:/[^\W\d_]+)?|%|€))?(?: ?/ ?([1-9]\d*)| \([^()]*\))?"
_NUMBERS: Final = {",": re.compile(_AROUND.format(_ENGLISH)), ".": re.compile(_AROUND.format(_GERMAN))}
"""The notations of numbers by their sign between thousands."""
_MAX_NUMBER: Final = 48
"""Characters of a number with its unit at most."""
_SECONDS: Final = {
    "ns": "1e-9", "us": "1e-6", "ms": "0.001", "s": "1", "sec": "1", "secs": "1", "second": "1",
    "seconds": "1", "m": "60", "min": "60", "mins": "60", "minute": "60", "minutes": "60", "h": "3600", "hr": "3600",
    "hour": "3600", "hours": "3600", "d": "86400", "day": "86400", "days": "86400", "w": "604800", "week": "604800",
    "weeks": "604800", "month": "2592000", "months": "2592000", "y": "31536000", "year": "31536000",
    "years": "31536000",
}  # fmt: skip
_PREFIXES: Final = "kmgt"
_BYTES: Final = {
    "": "1", "b": "1", "bytes": "1",
    **{letter: str(1024**power) for power, letter in enumerate(_PREFIXES, 1)},
    **{f"{letter}i{b}": str(1024**power) for power, letter in enumerate(_PREFIXES, 1) for b in ("", "b")},
    **{f"{letter}b": str(1000**power) for power, letter in enumerate(_PREFIXES, 1)},
}  # fmt: skip
_SCALES: Final[tuple[Mapping[str, str], ...]] = (_SECONDS, _BYTES, {"m": "0.001", "km": "1"}, {"g": "0.001", "kg": "1"})
_DURATION: Final = re.compile(r"(?:\d+(?:\.\d+)?[a-z]+ )+|(?:\d+(?:\.\d+)?[a-z]+)+ ")
_STEP: Final = re.compile(r"(\d+(?:\.\d+)?)([a-z]+)")


@dataclass(frozen=True, slots=True)
class CellOrder:
    """The order of a column of which every cell that is not empty is a number, or every one a time."""

    keys: Sequence[Any]
    """The number of each cell, or its time as it is written; None: the cell is empty."""
    ranks: Sequence[Any]
    """What the cells are ordered by, which is not `keys` where times have different offsets from UTC."""
    is_time: bool
    """Whether they are times."""
    is_plain: bool
    """Whether each cell is written as its key is, so that a query can compare them."""
    unit: str = ""
    """The unit of the numbers, without regard to case, such as "km"; empty: none, or several."""


def order_of(cells: Sequence[Any]) -> CellOrder | None:
    """Return the order of some cells; None: they have none, or are all alike."""
    are_empty = list(map(is_empty, cells))
    filled = [cell for cell, is_missing in zip(cells, are_empty, strict=True) if not is_missing]
    found = _times(filled) or _numbers(filled)
    if found is None or len(set(found.ranks)) < 2:
        return None
    keys, ranks = iter(found.keys), iter(found.ranks)
    return replace(
        found,
        keys=[None if is_missing else next(keys) for is_missing in are_empty],
        ranks=[None if is_missing else next(ranks) for is_missing in are_empty],
    )


def is_empty(cell: Any) -> bool:
    """Return whether a cell says that there is nothing."""
    if type(cell) is str:
        return cell.strip().casefold() in _EMPTY
    return cell is None or (isinstance(cell, (list, dict)) and not cell)


def _times(cells: Sequence[Any]) -> CellOrder | None:
    read = keys_of_times(cells) if all(type(cell) is str for cell in cells) else None
    if read is None:
        return None
    keys, ranks = read
    starts = (
        cell.replace(" ", "T", 1).startswith(key.removeprefix("T")) for key, cell in zip(keys, cells, strict=True)
    )
    return CellOrder(keys, ranks, is_time=True, is_plain=all(starts))


def _numbers(cells: Sequence[Any]) -> CellOrder | None:
    texts = [cell for cell in cells if type(cell) is str]
    others = [cell for cell in cells if type(cell) is not str]
    if any(type(cell) is bool or not isinstance(cell, (int, float)) for cell in others):
        return None
    if all(map(_PLAIN.fullmatch, texts)):
        keys = [Decimal(cell) if type(cell) is str else cell for cell in cells]
        return CellOrder(keys, keys, is_time=False, is_plain=True)
    return None if others or max(map(len, texts)) > _MAX_NUMBER else _measures(texts)


def _measures(texts: Sequence[str]) -> CellOrder | None:
    """Return the order of numbers with thousands separators or units, all in one notation."""
    for sign, pattern in _NUMBERS.items():
        found = [number for number in map(pattern.fullmatch, texts) if number]
        if len(found) == len(texts) and len({number[3] for number in found}) == 1:
            numbers = [Decimal(number[1].replace(sign, "").replace(",", ".")) for number in found]
            return _scaled(numbers, [(number[2] or "").casefold() for number in found])
    steps = [_STEP.findall(text) if _DURATION.fullmatch(f"{text} ") else [] for text in texts]
    if not all(each and all(unit in _SECONDS for _, unit in each) for each in steps):
        return None
    keys = [sum(Decimal(count) * Decimal(_SECONDS[unit]) for count, unit in each) for each in steps]
    return CellOrder(keys, keys, is_time=False, is_plain=False, unit="s")


def _scaled(numbers: Sequence[Decimal], units: Sequence[str]) -> CellOrder | None:
    known = {unit for number, unit in zip(numbers, units, strict=True) if number or unit}
    if len(known) == 1:
        return CellOrder(numbers, numbers, is_time=False, is_plain=False, unit=known.pop())
    scale = next((scale for scale in _SCALES if known <= scale.keys()), None)
    if scale is None:
        return None
    keys = [number * Decimal(scale.get(unit, "1")) for number, unit in zip(numbers, units, strict=True)]
    base = next(unit for unit, size in scale.items() if size == "1" and unit)
    return CellOrder(keys, keys, is_time=False, is_plain=False, unit=base)


def convert(number: Decimal, unit: str, other: str) -> Decimal | None:
    """Return a number in another unit; None: they measure different things, or one is no unit."""
    scale = next((scale for scale in _SCALES if unit in scale and other in scale), None)
    return None if scale is None else number * Decimal(scale[unit]) / Decimal(scale[other])
