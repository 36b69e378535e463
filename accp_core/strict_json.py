"""The one strict JSON reader and the one compact writer.

Python's `json` reads more than JSON (NaN, a name twice in one object, numbers beyond all floats) and writes text that
UTF-8 cannot carry (halves of a surrogate pair). Code that reads the text of another process uses `read_json` or a
function made by `strict_decoder`; code that writes JSON without blanks uses `compact_json`, which is also the baseline
of all token counts.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from json.scanner import py_make_scanner  # type: ignore[attr-defined]
from typing import Any, Final, NoReturn, TypeAlias

from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError

__all__ = [
    "NumberReader", "compact_json", "escape_halves", "finite_float", "has_surrogate_pair", "is_utf8",
    "read_json", "refuse_constant", "strict_decoder", "unique_members",
]  # fmt: skip

NumberReader: TypeAlias = Callable[[str], Any]
"""Returns the value of a number from its digits, or raises ValueError."""

_HALF: Final = re.compile("[\ud800-\udfff]")
_SURROGATE_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_MAX_SHOWN: Final = 40
"""Characters of a refused name or number that an error message shows."""


def unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members of an object; an `object_pairs_hook`.

    Raises:
        ValueError: a name occurs twice.
    """
    members = dict(pairs)
    if len(members) != len(pairs):
        counts = Counter(name for name, _ in pairs)
        name = next(name for name, count in counts.items() if count > 1)
        raise ValueError(f"expected each name once in an object, found {name[:_MAX_SHOWN]!r} again")
    return members


def refuse_constant(word: str) -> NoReturn:
    """Refuse NaN, Infinity and -Infinity, which are not JSON.

    Raises:
        ValueError: always.
    """
    raise ValueError(f"expected a JSON number, found {word!r}")


def finite_float(digits: str) -> float:
    """Return the float nearest to the number `digits`.

    Raises:
        ValueError: the number is beyond all floats.
    """
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"expected a number that a float can hold, found {digits[:_MAX_SHOWN]!r}")
    return number


def strict_decoder(
    *,
    read_float: NumberReader = finite_float,
    read_int: NumberReader | None = None,
    read_constant: Callable[[str], Any] = refuse_constant,
    lets_others_run: bool = False,
) -> Callable[[str], Any]:
    """Return a function from the text of one JSON document to its value.

    The function raises ValueError (`json.JSONDecodeError` where the text is malformed) for anything that is not JSON, a
    name that occurs twice in an object, a number that is refused, and arrays and objects nested deeper than the
    interpreter can read.

    Args:
        read_float: Reads numbers with a fraction or an exponent.
        read_int: Reads whole numbers; None: `int`, which refuses more than 4,300 digits.
        read_constant: Reads NaN, Infinity and -Infinity, which are not JSON.
        lets_others_run: Read value by value, which takes four to eighteen times as long, so that other threads run
            meanwhile.
    """
    decoder = json.JSONDecoder(
        object_pairs_hook=unique_members, parse_float=read_float, parse_int=read_int, parse_constant=read_constant
    )
    if lets_others_run:
        decoder.scan_once = py_make_scanner(decoder)  # type: ignore[attr-defined]

    def decode(text: str) -> Any:
        try:
            return decoder.decode(text)
        except RecursionError:
            raise ValueError("expected JSON of fewer levels, found more than the interpreter can read") from None

    return decode


_DECODE: Final = strict_decoder()
_DECODE_BESIDE_OTHERS: Final = strict_decoder(lets_others_run=True)
_MANY: Final = 10_000
"""Values that are read at once, in some milliseconds."""


def read_json(text: str, *, lets_others_run: bool = False) -> Any:
    """Return the value of the text of one JSON document.

    Args:
        text: The text.
        lets_others_run: Whether other threads run meanwhile, however many values it has.

    Raises:
        ValueError: `text` is not JSON, has a name twice in an object, a number beyond all floats, or too many levels.
    """
    return (_DECODE_BESIDE_OTHERS if lets_others_run and text.count(",") > _MANY else _DECODE)(text)


def is_json(text: str) -> bool:
    """Return whether `read_json` reads a text that begins with an array or an object."""
    try:
        return text[:1] in ("[", "{") and read_json(text) is not None
    except ValueError:
        return False


_MAX_PIECE: Final = 1_000
"""Members of an array that are written without a break."""
_MAX_PIECED_LEVELS: Final = 2
"""Levels of maps around such an array."""
_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def compact_json(value: object, *, sort_keys: bool = False, default: Callable[[Any], Any] | None = None) -> str:
    """Return `value` as JSON without blanks, in raw Unicode.

    Half a surrogate pair, which UTF-8 cannot carry, is written as an escape. As in `json`, a tuple becomes an array,
    and a number, a boolean or None as a name becomes its text.

    Args:
        value: A JSON value.
        sort_keys: Write the members of each object in the order of their names.
        default: Returns the JSON value to write for an object of another type; None: such an object is refused.

    Raises:
        EncodeError: E1004, the value is not JSON, is nested too deep, or holds the two halves of a surrogate pair side
            by side in a text, which JSON would read as one character.
    """
    encoder = _COMPACT
    if sort_keys or default is not None:
        encoder = json.JSONEncoder(
            ensure_ascii=False, separators=(",", ":"), allow_nan=False, sort_keys=sort_keys, default=default
        )
    try:
        text = _in_pieces(value, _MAX_PIECED_LEVELS) if encoder is _COMPACT else encoder.encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise EncodeError(f"expected a JSON value: {error}", code=ErrorCode.INVALID_TYPE) from error
    if is_utf8(text):
        return text
    if pair := _SURROGATE_PAIR.search(text):
        reason = f"expected no surrogate pair as two characters, found {pair[0]!r}, which JSON reads as one"
        raise EncodeError(reason, code=ErrorCode.INVALID_TYPE)
    return escape_halves(text)


def escape_halves(text: str) -> str:
    """Return `text` with an escape such as `\\ud83d` for each half of a surrogate pair, which UTF-8 cannot carry."""
    return _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def _in_pieces(value: object, levels: int) -> str:
    """Return a value as JSON, a long array in its outer levels piece by piece: between two pieces other threads run."""
    if type(value) is list and len(value) > _MAX_PIECE:
        pieces = [value[at : at + _MAX_PIECE] for at in range(0, len(value), _MAX_PIECE)]
        return f"[{','.join([_COMPACT.encode(piece)[1:-1] for piece in pieces])}]"
    if levels and type(value) is dict and any(map(_is_long, value.values())) and set(map(type, value)) == {str}:
        members = [f"{_COMPACT.encode(name)}:{_in_pieces(member, levels - 1)}" for name, member in value.items()]
        return f"{{{','.join(members)}}}"
    return _COMPACT.encode(value)


def _is_long(value: object) -> bool:
    return type(value) is list and len(value) > _MAX_PIECE


def has_surrogate_pair(text: str) -> bool:
    """Return whether `text` holds the two halves of a surrogate pair as two characters, which JSON reads as one."""
    return not is_utf8(text) and _SURROGATE_PAIR.search(text) is not None


def is_utf8(text: str) -> bool:
    """Return whether UTF-8 can carry `text`, that is, it holds no half of a surrogate pair."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
