"""Floats that keep the spelling of their source, so that `12.50` and `1E5` are written again as they were."""

from __future__ import annotations

from accp_core.strict_json import finite_float

__all__ = ["SpelledFloat", "read_float"]


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
