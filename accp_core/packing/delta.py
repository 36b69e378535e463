"""Only what changed of a value that the receiver already has: the law of ACCP section 5.4, without versions.

    apply(old, diff(old, new)) == new
    apply(apply(old, first), second) == apply(old, compose(first, second))

A delta is a map of top-level keys. A nested value that changed stands in it whole; a key that went stands in it as
REMOVED, which is not the null that a key may hold.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Final

from accp_core.packing.defaults import same

__all__ = ["REMOVED", "Removed", "apply", "compose", "diff"]


class Removed(Enum):
    """The type of REMOVED, its only member."""

    REMOVED = "~"


REMOVED: Final = Removed.REMOVED
"""A member of a delta that removes its key (`~`); None there sets the key to null (`=null`)."""


def diff(old: Mapping[str, object], new: Mapping[str, object]) -> dict[str, object]:
    """Return the delta that makes `new` of `old`; values of different types differ, even `1` and `true`."""
    changed = {key: value for key, value in new.items() if key not in old or not same(old[key], value)}
    return changed | {key: REMOVED for key in old if key not in new}


def apply(old: Mapping[str, object], delta: Mapping[str, object]) -> dict[str, object]:
    """Return `old` with the changes of `delta`; a key that is to go and is not there is no error."""
    return {key: value for key, value in {**old, **delta}.items() if value is not REMOVED}


def compose(first: Mapping[str, object], second: Mapping[str, object]) -> dict[str, object]:
    """Return the one delta that does what `first` and then `second` do."""
    return {**first, **second}
