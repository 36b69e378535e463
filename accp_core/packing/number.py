"""A number that keeps the spelling of its source: `12.50` and `1E5` are floats, and come back as they were."""

from __future__ import annotations

from accp_core.strict_json import finite_float

__all__ = ["SpelledFloat", "read_float"]


class SpelledFloat(float):
    """A float of which Python would write another text than the source did."""

    __slots__ = ("spelling",)
    spelling: str

    def __new__(cls, spelling: str) -> SpelledFloat:
        """Return the float that `spelling`, its text in the source, stands for."""
        number = super().__new__(cls, spelling)
        number.spelling = spelling
        return number

    def __repr__(self) -> str:
        return self.spelling


def read_float(text: str) -> float:
    """Return the float that `text` stands for, `SpelledFloat` where `repr` would write it differently.

    Raises:
        ValueError: no float can hold it.
    """
    value = finite_float(text)
    return value if repr(value) == text else SpelledFloat(text)
