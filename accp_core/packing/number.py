"""Numbers that keep the spelling of their source, so that `12.50`, `1E5` and `-0` are written again as they were."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from accp_core.strict_json import NumberReader, finite_float, refuse_constant, strict_decoder

__all__ = ["SpelledFloat", "read_float", "read_int", "spelling_decoder"]

_NEGATIVE_ZERO: Final = re.compile(r"-0(?:[\s,\]}]|\Z)")


class SpelledFloat(float):
    """A float that the source spells in another way than Python; `repr` returns the spelling of the source."""

    __slots__ = ("spelling",)
    spelling: str

    def __new__(cls, spelling: str) -> SpelledFloat:
        """Return the float of `spelling`, the text of a finite number."""
        number = super().__new__(cls, spelling)
        number.spelling = spelling
        return number

    def __repr__(self) -> str:
        return self.spelling


def read_float(digits: str) -> float:
    """Return the float of a number as JSON writes it, as a SpelledFloat if Python would write it in another way.

    Raises:
        ValueError: the number is beyond all floats.
    """
    value = float(digits)
    # The `repr` of infinity has no digits, so a number that is spelled like its `repr` is finite.
    if repr(value) == digits:
        return value
    finite_float(digits)
    return SpelledFloat(digits)


def read_int(digits: str) -> int | float:
    """Return the value of a whole number as JSON writes it; `-0`, which no integer is, as a SpelledFloat.

    Raises:
        ValueError: the number has more digits than Python reads.
    """
    return SpelledFloat(digits) if digits == "-0" else int(digits)


def spelling_decoder(
    *, read_float: NumberReader = read_float, read_constant: Callable[[str], Any] = refuse_constant
) -> Callable[[str], Any]:
    """Return a `strict_decoder` whose numbers keep their spelling."""
    usual = strict_decoder(read_float=read_float, read_constant=read_constant)
    # A function that reads each integer takes up to five times as long.
    exact = strict_decoder(read_float=read_float, read_constant=read_constant, read_int=read_int)

    def decode(text: str) -> Any:
        return exact(text) if "-0" in text and _NEGATIVE_ZERO.search(text) else usual(text)

    return decode
