"""Numbers and words in any of the usual spellings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

__all__ = ["decimal_of", "numbers_in", "plain"]

# Not the digits of a version or behind a point; a comma may separate thousands or cells.
_NUMBERS: Final = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?|(?<=[A-Za-z_])\d+(?![\w.])")
_GROUPED: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_MARKUP: Final = re.compile(r"[*`\"“”„«»]|(?<!\w)['\u2018\u2019]|['\u2018\u2019](?!\w)")
_BLANKS: Final = re.compile(r"\s+")


def plain(text: str) -> str:
    """Return `text` in small letters without quotes and emphasis, with single blanks."""
    return _BLANKS.sub(" ", _MARKUP.sub("", text).replace("\u2019", "'")).strip().casefold()


def numbers_in(text: str) -> Iterator[Decimal]:
    """Yield the numbers in `text`: those between commas and, where it is written so, the one with thousands."""
    for number in _NUMBERS.findall(text):
        if "," in number and _GROUPED.fullmatch(number):
            yield decimal_of(number)
        yield from (decimal_of(part) for part in number.split(",") if part)


def decimal_of(number: str) -> Decimal:
    """Return the value of a number that may have commas between thousands."""
    return Decimal(number.replace(",", ""))
