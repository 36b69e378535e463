"""The one strict JSON reader and the one compact writer.

Python's `json` reads more than JSON (NaN, a name twice in one object, numbers beyond all floats) and writes what cannot
be sent (halves of a surrogate pair). Whatever reads the text of another process uses `read_json` or a decoder made by
`strict_decoder`; whatever writes JSON without blanks uses `compact_json`, the baseline of all token counts.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final, NoReturn, TypeAlias

from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError

__all__ = [
    "NumberReader", "compact_json", "exact_float", "finite_float", "is_utf8", "read_json", "refuse_constant",
    "strict_decoder", "unique_members",
]  # fmt: skip

NumberReader: TypeAlias = Callable[[str], Any]
"""Returns the value of a number from its digits, or raises ValueError."""

_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_SURROGATE_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_SHOWN: Final = 40
"""Characters of a refused number that an error shows."""


def unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members of an object.

    Raises:
        ValueError: a name stands twice.
    """
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("expected each name once in an object")
    return members


def refuse_constant(word: str) -> NoReturn:
    """Refuse NaN and the infinities, which are not JSON.

    Raises:
        ValueError: always.
    """
    raise ValueError(f"expected a JSON number, found {word!r}")


def finite_float(digits: str) -> float:
    """Return the float nearest to `digits`.

    Raises:
        ValueError: it is beyond all floats.
    """
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"expected a number that a float can hold, found {digits[:_SHOWN]!r}")
    return number


def exact_float(digits: str) -> float:
    """Return the float that `digits` stand for exactly, in any spelling.

    Raises:
        ValueError: a float holds another number.
    """
    number = finite_float(digits)
    if repr(number) != digits and Decimal(repr(number)) != Decimal(digits):
        raise ValueError(f"expected a number that a float holds exactly, found {digits[:_SHOWN]!r}")
    return number


def strict_decoder(
    *,
    read_float: NumberReader = finite_float,
    read_int: NumberReader | None = None,
    read_constant: Callable[[str], Any] = refuse_constant,
) -> Callable[[str], Any]:
    """Return a function from the text of one JSON document to its value.

    It raises ValueError for a malformed text, a name that stands twice in an object and a number that a reader refuses,
    RecursionError for one that nests deeper than the interpreter reads.

    Args:
        read_float: Reads numbers with a fraction or an exponent.
        read_int: Reads whole numbers; None: as `int`.
        read_constant: Reads NaN, Infinity and -Infinity, which are not JSON.
    """
    decoder = json.JSONDecoder(
        object_pairs_hook=unique_members, parse_float=read_float, parse_int=read_int, parse_constant=read_constant
    )
    return decoder.decode


read_json: Final = strict_decoder()
"""Return the value of a JSON text; raises as said in `strict_decoder`."""

_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def compact_json(value: object, *, sort_keys: bool = False, default: Callable[[Any], Any] | None = None) -> str:
    """Return `value` as JSON without blanks, in raw Unicode where UTF-8 can carry it, else in ASCII.

    Args:
        value: A JSON value.
        sort_keys: Write the members of each object in the order of their names.
        default: Returns the JSON value of an object that is none; None: such an object is refused.

    Raises:
        EncodeError: E1004, it is not JSON, nests too deep, or holds two halves of a surrogate pair side by side, which
            would be read as one character.
    """
    encoder = _COMPACT
    if sort_keys or default is not None:
        encoder = json.JSONEncoder(
            ensure_ascii=False, separators=(",", ":"), allow_nan=False, sort_keys=sort_keys, default=default
        )
    try:
        text = encoder.encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise EncodeError(f"expected a JSON value: {error}", code=ErrorCode.INVALID_TYPE) from error
    if is_utf8(text):
        return text
    if pair := _SURROGATE_PAIR.search(text):
        reason = f"expected text, found {pair[0]!r}, which JSON reads as one character"
        raise EncodeError(reason, code=ErrorCode.INVALID_TYPE)
    return _LONE_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def is_utf8(text: str) -> bool:
    """Return whether UTF-8 can carry `text`: it holds no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
