"""A form: one JSON document."""

from __future__ import annotations

from typing import Any, Final

from accp_core.documents.json_styles import STYLES, find_style, write_styled_json, written_size
from accp_core.packing.expansion import Expansion
from accp_core.packing.number import read_float, spelling_decoder

__all__ = ["CODE", "IS_SEVERAL", "describe", "read", "recognise", "write"]

CODE: Final = "j"
IS_SEVERAL: Final = False

_FIRST: Final = frozenset('[{"-0123456789tfnNI')


def _number_or_digits(digits: str) -> float | str:
    try:
        return read_float(digits)
    except ValueError:
        return digits


_decode: Final = spelling_decoder(read_float=_number_or_digits, read_constant=str)


def recognise(text: str) -> bool:
    """Return whether `text` begins like JSON."""
    return text[:1] in _FIRST


def read(text: str) -> Any:
    """Return the value of one document.

    Its numbers keep their spelling; one that no float holds, NaN among them, becomes text. A map that repeats a key is
    not read.
    """
    try:
        return _decode(text)
    except RecursionError as error:
        raise ValueError("expected fewer levels of arrays and maps") from error


def describe(text: str, value: object, cut: int | None = None) -> str | None:
    """Return the code of the style."""
    return find_style(text, value, cut)


def write(value: object, how: str, expansion: Expansion) -> str:
    """Return the document in a style."""
    if how not in STYLES:
        raise ValueError(f"expected the code of a style of JSON, found {how!r}")
    expansion.add(written_size(value, how), "this part")
    return write_styled_json(value, how)
