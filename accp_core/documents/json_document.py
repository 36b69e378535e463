"""A form: one JSON document."""

from __future__ import annotations

import re
from typing import Any, Final

from accp_core.documents.document import BYTE_ORDER_MARK
from accp_core.documents.json_layout import describe_json, write_json
from accp_core.packing.expansion import Expansion
from accp_core.packing.values import read_float, read_int, spelling_decoder
from accp_core.strict_json import strict_decoder

__all__ = ["CODE", "IS_SEVERAL", "describe", "read", "recognise", "write"]

CODE: Final = "o"
IS_SEVERAL: Final = False

_FIRST: Final = frozenset('[{"-0123456789tfnNI')


def _number_or_digits(digits: str) -> float | str:
    try:
        return read_float(digits)
    except ValueError:
        return digits


def _integer_or_digits(digits: str) -> int | float | str:
    try:
        return read_int(digits)
    except ValueError:
        return digits


_decode: Final = spelling_decoder(read_float=_number_or_digits, read_constant=str)
_decode_long: Final = strict_decoder(read_float=_number_or_digits, read_constant=str, read_int=_integer_or_digits)
_MAX_DIGITS: Final = 4_000
"""Digits of an integer that Python reads: by default up to 4,300."""
_LONG: Final = re.compile(rf"(?<![0-9])[0-9]{{{_MAX_DIGITS}}}")


def recognise(text: str) -> bool:
    """Return whether `text` begins like JSON, perhaps after a byte order mark."""
    return text.removeprefix(BYTE_ORDER_MARK)[:1] in _FIRST


def read(text: str) -> Any:
    """Return the value of one document.

    Its numbers keep their spelling; one that no float holds, NaN among them, and an integer of
    more digits than Python reads become text. A map that repeats a key is
    not read.
    """
    text = text.removeprefix(BYTE_ORDER_MARK)
    return _decode_long(text) if len(text) > _MAX_DIGITS and _LONG.search(text) else _decode(text)


def describe(text: str, value: object) -> str | None:
    """Return the layout (see `json_layout`)."""
    return describe_json(text, [value])


def write(value: object, how: str, expansion: Expansion) -> str:
    """Return the document in a layout."""
    return write_json([value], how, expansion)
