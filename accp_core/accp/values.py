"""Which JSON values a frame writes alike, and values as stored JSON (ACCP sections 3.1.1 and 3.3)."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Final, cast

from accp_core.accp.frame import Value
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.strict_json import compact_json, read_json

__all__ = ["MAX_INLINE_CHARS", "is_long", "json_to_value", "same", "value_to_json"]

MAX_INLINE_CHARS: Final = 50
"""Characters of a value that stays in its frame where both ends share a store (section 3.3, item 4)."""


def same(one: object, other: object) -> bool:
    """Return whether a frame writes both alike: 1, 1.0 and true differ, the order of a map's keys does not matter."""
    if isinstance(one, (list, tuple)):
        return isinstance(other, (list, tuple)) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, Mapping):
        return (
            isinstance(other, Mapping)
            and one.keys() == other.keys()
            and all(same(member, other[key]) for key, member in one.items())
        )
    if isinstance(one, (float, Decimal)):
        return isinstance(other, (float, Decimal)) and _same_decimal(one, other)
    return isinstance(one, bool) is isinstance(other, bool) and not isinstance(other, (float, Decimal)) and one == other


def _same_decimal(one: float | Decimal, other: float | Decimal) -> bool:
    """Return whether two decimals are written alike; 0.0 and -0.0 are not, and NaN cannot be written."""
    left, right = (number if isinstance(number, Decimal) else Decimal(repr(number)) for number in (one, other))
    return left.is_finite() and right.is_finite() and left == right and left.is_signed() == right.is_signed()


def is_long(value: Value) -> bool:
    """Return whether a value is too long for its frame where a store is shared; numbers never are."""
    if isinstance(value, str):
        return len(value) > MAX_INLINE_CHARS
    return isinstance(value, (list, tuple, Mapping)) and len(str(value)) > MAX_INLINE_CHARS


def value_to_json(value: Value) -> str | None:
    """Return the JSON of a value, None where reading it would give another value, such as a reference in it."""
    try:
        text = compact_json(value)
        return text if same(read_json(text), value) else None
    except (ValueError, RecursionError):
        return None


def json_to_value(text: str) -> Value:
    """Return the value whose JSON was stored as `text`.

    Raises:
        ProtocolError: E2001, it is not JSON, so that it was not stored by a codec.
    """
    try:
        return cast(Value, read_json(text))
    except (ValueError, RecursionError):
        raise ProtocolError("expected the stored text to be JSON", code=ErrorCode.REF_NOT_FOUND) from None
