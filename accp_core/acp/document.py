"""JSON texts of ACP: one object each, bounded, without Python's extensions to JSON (ACP transport 0.3, section 3.4)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final, NoReturn, TypeAlias

from accp_core.acp.error_codes import AcpError
from accp_core.errors import DecodeError, EncodeError

__all__ = ["LONGEST_MESSAGE", "Json", "read_object", "refuse", "write_object"]

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

LONGEST_MESSAGE: Final = 1 << 20
"""Bytes of a message in UTF-8."""


def read_object(text: str, *, limit: int = LONGEST_MESSAGE) -> dict[str, Any]:
    """Return the JSON object that `text` is.

    Raises: DecodeError: ERR_MSG_TOO_LARGE for more than `limit` bytes, ERR_INVALID_REQUEST for what is no JSON object,
        holds a name twice or a number beyond all floats, or nests deeper than the interpreter reads.
    """
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise refuse("half a surrogate pair is in no UTF-8 text", text, error.start) from None
    if size > limit:
        raise DecodeError(f"a message has at most {limit} bytes", code=AcpError.TOO_LARGE, text=text, position=0)
    try:
        data = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise refuse(f"no JSON: {error.msg}", text, error.pos) from None
    except (ValueError, RecursionError) as error:
        raise refuse(f"no JSON: {error}", text) from None
    if not isinstance(data, dict):
        raise refuse(f"expected a JSON object, found {type(data).__name__}", text)
    return data


def write_object(data: Mapping[str, Any], *, limit: int = LONGEST_MESSAGE) -> str:
    """Return the JSON text of an object, on one line; half a surrogate pair is escaped, all else is UTF-8.

    Raises: EncodeError: ERR_INVALID_REQUEST for what is not JSON, ERR_MSG_TOO_LARGE for more than `limit` bytes.
    """
    try:
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        size = len(text.encode())
    except UnicodeEncodeError:
        text = json.dumps(data, separators=(",", ":"), allow_nan=False)
        size = len(text)
        # Escaped side by side, two halves that were two characters are read as one.
        if json.loads(text) != data:
            raise EncodeError(
                "halves of a surrogate pair cannot stand together", code=AcpError.INVALID_REQUEST
            ) from None
    except (TypeError, ValueError, RecursionError) as error:
        raise EncodeError(f"not JSON: {error}", code=AcpError.INVALID_REQUEST) from None
    if size > limit:
        raise EncodeError(f"a message has at most {limit} bytes, found {size}", code=AcpError.TOO_LARGE)
    return text


def refuse(reason: str, text: str, position: int = 0) -> DecodeError:
    """Return the exception that refuses a text."""
    return DecodeError(reason, code=AcpError.INVALID_REQUEST, text=text, position=position)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a name stands twice in one object")
    return members


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[:40]} is beyond all floats")
    return number
