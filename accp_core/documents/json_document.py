"""A form: one JSON document."""

from __future__ import annotations

from typing import Any, Final

from accp_core.documents.document import BYTE_ORDER_MARK
from accp_core.documents.json_layout import describe_json, write_json
from accp_core.packing.expansion import Expansion
from accp_core.packing.number import read_float, spelling_decoder

__all__ = ["CODE", "IS_SEVERAL", "describe", "read", "recognise", "write"]

CODE: Final = "o"
IS_SEVERAL: Final = False

_FIRST: Final = frozenset('[{"-0123456789tfnNI')


def _number_or_digits(digits: str) -> float | str:
    try:
        return read_float(digits)
    except ValueError:
        return digits


_decode: Final = spelling_decoder(read_float=_number_or_digits, read_constant=str)


def recognise(text: str) -> bool:
    """Return whether `text` begins like JSON, perhaps after a byte order mark."""
    return text.removeprefix(BYTE_ORDER_MARK)[:1] in _FIRST


def read(text: str) -> Any:
    """Return the value of one document.

    Its numbers keep their spelling; one that no float holds, NaN among them, becomes text. A map that repeats a key is
    not read.
    """
    return _decode(text.removeprefix(BYTE_ORDER_MARK))


def describe(text: str, value: object) -> str | None:
    """Return the layout (see `json_layout`)."""
    return describe_json(text, [value])


def write(value: object, how: str, expansion: Expansion) -> str:
    """Return the document in a layout."""
    return write_json([value], how, expansion)
