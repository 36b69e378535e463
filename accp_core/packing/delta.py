"""Only what changed of a value that the receiver already has: the law of ACCP section 5.4, without versions.

    apply(old, diff(old, new)) == new
    apply(apply(old, first), second) == apply(old, compose(first, second))

A delta is a map of top-level keys. A nested value that changed stands in it whole; a key that went stands in it as
REMOVED, which is not the null that a key may hold.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Final, TypeVar

from accp_core.packing.equality import is_same_json

__all__ = ["REMOVED", "Removed", "apply", "compose", "diff"]


T = TypeVar("T")


class Removed(Enum):
    """The type of REMOVED, its only member."""

    REMOVED = "~"


REMOVED: Final = Removed.REMOVED
"""A member of a delta that removes its key (`~`); None there sets the key to null (`=null`)."""


def diff(old: Mapping[str, object], new: Mapping[str, T]) -> dict[str, T | Removed]:
    """Return the delta that makes `new` of `old`; values of different types differ, even `1` and `true`."""
    changed: dict[str, T | Removed] = {
        key: value for key, value in new.items() if key not in old or not is_same_json(old[key], value)
    }
    changed.update({key: REMOVED for key in old if key not in new})
    return changed


def apply(old: Mapping[str, T], delta: Mapping[str, T | Removed]) -> dict[str, T]:
    """Return `old` with the changes of `delta`; a key that is to go and is not there is no error."""
    return {key: value for key, value in {**old, **delta}.items() if value is not REMOVED}


def compose(first: Mapping[str, T], second: Mapping[str, T]) -> dict[str, T]:
    """Return the one delta that does what `first` and then `second` do."""
    return {**first, **second}
