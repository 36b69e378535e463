"""The changes to a value that the receiver already has (ACCP section 5.4, without versions).

    apply(old, diff(old, new)) == new
    apply(apply(old, first), second) == apply(old, {**first, **second})

A delta maps top-level keys to their new values. A nested value that changed is in it whole; a key that was removed has
the value REMOVED, which is not the same as null.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Final, TypeVar

from accp_core.packing.equality import is_same_json

__all__ = ["REMOVED", "Removed", "apply", "diff"]

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
