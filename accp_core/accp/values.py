"""Which JSON values are alike, and the text of one that stands in a store (ACCP sections 3.1.1 and 3.3)."""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Final, cast

from accp_core.accp.frame import Value
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["LONGEST_INLINE", "is_long", "read_cold", "same", "write_cold"]

LONGEST_INLINE: Final = 50
"""Characters of a value that stays in its frame where both ends share a store (section 3.3, item 4)."""


def same(one: object, other: object) -> bool:
    """Return whether a frame writes both alike: 1, 1.0 and true differ, the order of a map's keys does not."""
    if isinstance(one, (list, tuple)):
        return isinstance(other, (list, tuple)) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, Mapping):
        return (
            isinstance(other, Mapping)
            and one.keys() == other.keys()
            and all(same(member, other[key]) for key, member in one.items())
        )
    if isinstance(one, (float, Decimal)):
        return isinstance(other, (float, Decimal)) and same_decimal(one, other)
    return isinstance(one, bool) is isinstance(other, bool) and not isinstance(other, (float, Decimal)) and one == other


def same_decimal(one: float | Decimal, other: float | Decimal) -> bool:
    """Return whether two decimals have one text; 0.0 and -0.0 have two, NaN has none."""
    left, right = (number if isinstance(number, Decimal) else Decimal(repr(number)) for number in (one, other))
    return left.is_finite() and right.is_finite() and left == right and left.is_signed() == right.is_signed()


def is_long(value: Value) -> bool:
    """Return whether a value, one that a store can hold, is longer than a frame wants; numbers never are."""
    if isinstance(value, str):
        return len(value) > LONGEST_INLINE
    return isinstance(value, (list, tuple, Mapping)) and len(str(value)) > LONGEST_INLINE


def write_cold(value: Value) -> str | None:
    """Return the JSON of a value, None where JSON would change it, or has no place for a part of it."""
    try:
        text = json.dumps(value, separators=(",", ":"), allow_nan=False)
        return text if same(json.loads(text), value) else None
    except (TypeError, ValueError, RecursionError):
        return None


def read_cold(text: str) -> Value:
    """Return the value that was stored as `text`.

    Raises: ProtocolError E2001 when it is not JSON; then nothing of ours was stored there.
    """
    try:
        return cast(Value, json.loads(text))
    except (ValueError, RecursionError):
        raise ProtocolError("the stored text is no value", code=ErrorCode.REF_NOT_FOUND) from None
