"""JSON values: numbers that keep their spelling, what is equal, and how one value differs from another.

A number that keeps its spelling is written again as it was: `12.50`, `1E5`, `-0`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Final, TypeVar

from accp_core.packing.tree import ABSENT, EmbeddedJson, RepeatedValue, Repetition
from accp_core.strict_json import NumberReader, finite_float, refuse_constant, strict_decoder

__all__ = [
    "REMOVED", "Removed", "SpelledFloat", "apply", "common_value", "diff", "is_same_json", "read_float", "read_int",
    "spelling_decoder",
]  # fmt: skip


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


# Equality of JSON values in type and order of keys, too: `1`, `1.0` and `true` are three values.


def common_value(values: list[object]) -> object:
    """Return the value that all of `values` (at least one) have in common, or ABSENT if they differ."""
    first = values[0]
    if type(first) is RepeatedValue or first is ABSENT or first != values[-1]:
        return ABSENT
    if type(first) is str or type(first) is int:
        return first if values.count(first) == len(values) and set(map(type, values)) == {type(first)} else ABSENT
    return first if all(is_same_json(value, first) for value in values) else ABSENT


def is_same_json(one: object, other: object) -> bool:
    """Return whether two values have the same JSON text; `1`, `1.0` and `true` differ, and so do `0.0` and `-0.0`."""
    if type(one) is not type(other):
        return False
    if type(one) in (dict, list):
        # Of deep values, much sooner than member by member.
        return one == other and repr(one) == repr(other)
    if type(one) is EmbeddedJson and type(other) is EmbeddedJson:
        return one.style == other.style and is_same_json(one.value, other.value)
    if type(one) is Repetition and type(other) is Repetition:
        return one.number == other.number
    return one == other and (not isinstance(one, float) or repr(one) == repr(other))


# The changes to a value that the receiver already has (ACCP section 5.4, without versions).

T = TypeVar("T")


class Removed(Enum):
    """The type of REMOVED, its only member."""

    REMOVED = "~"


REMOVED: Final = Removed.REMOVED
"""The value of a key that a delta removes (`~`); None sets the key to null (`=null`)."""


def diff(old: Mapping[str, object], new: Mapping[str, T]) -> dict[str, T | Removed]:
    """Return the delta that changes `old` into `new`; values of different types differ, even `1` and `true`."""
    changed: dict[str, T | Removed] = {
        key: value for key, value in new.items() if key not in old or not is_same_json(old[key], value)
    }
    changed.update({key: REMOVED for key in old if key not in new})
    return changed


def apply(old: Mapping[str, T], delta: Mapping[str, T | Removed]) -> dict[str, T]:
    """Return `old` with the changes of `delta`; it may remove a key that `old` does not have."""
    return {key: value for key, value in {**old, **delta}.items() if value is not REMOVED}
