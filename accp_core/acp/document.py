"""JSON texts of ACP: one object each, of a bounded size, and the error codes (ACP transport 0.3, section 3.4)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, TypeAlias

from accp_core.errors import DecodeError, EncodeError
from accp_core.strict_json import compact_json, read_json

__all__ = ["MAX_ACP_BYTES", "AcpError", "Json", "read_object", "refusal", "write_object"]

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

MAX_ACP_BYTES: Final = 1 << 20
"""Bytes of a message in UTF-8."""


class AcpError(StrEnum):
    """A code; the value is what `error_code` holds."""

    INVALID_REQUEST = "ERR_INVALID_REQUEST"
    AMBIGUOUS_PEER = "ERR_AMBIGUOUS_PEER"
    NOT_FOUND = "ERR_NOT_FOUND"
    TIMEOUT = "ERR_TIMEOUT"
    TOO_LARGE = "ERR_MSG_TOO_LARGE"
    INTERNAL = "ERR_INTERNAL"
    NOT_CONNECTED = "ERR_NOT_CONNECTED"

    @property
    def status(self) -> int:
        """The HTTP status of an answer with this code."""
        return _STATUS[self]


_STATUS: Final = {
    AcpError.INVALID_REQUEST: 400,
    AcpError.AMBIGUOUS_PEER: 400,
    AcpError.NOT_FOUND: 404,
    AcpError.TIMEOUT: 408,
    AcpError.TOO_LARGE: 413,
    AcpError.INTERNAL: 500,
    AcpError.NOT_CONNECTED: 503,
}


def read_object(text: str, *, limit: int = MAX_ACP_BYTES) -> dict[str, Any]:
    """Return the value of a text that is one JSON object, read by the rules of `accp_core.strict_json`.

    Args:
        text: The text of a peer.
        limit: Bytes of the text in UTF-8.

    Raises:
        DecodeError: ERR_MSG_TOO_LARGE, the text has more than `limit` bytes; ERR_INVALID_REQUEST, it is no JSON object.
    """
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise refusal("expected UTF-8 text, found half of a surrogate pair", text, error.start) from None
    if size > limit:
        reason = f"expected at most {limit} bytes, found {size}"
        raise DecodeError(reason, code=AcpError.TOO_LARGE, text=text, position=0)
    try:
        data = read_json(text)
    except json.JSONDecodeError as error:
        raise refusal(f"expected JSON: {error.msg}", text, error.pos) from None
    except (ValueError, RecursionError) as error:
        raise refusal(f"expected JSON: {error}", text) from None
    if not isinstance(data, dict):
        raise refusal(f"expected a JSON object, found {type(data).__name__}", text)
    return data


def write_object(data: Mapping[str, Any], *, limit: int = MAX_ACP_BYTES) -> str:
    """Return the JSON text of an object, on one line, in UTF-8; half of a surrogate pair is escaped.

    Args:
        data: The object.
        limit: Bytes of the text in UTF-8.

    Raises:
        EncodeError: ERR_INVALID_REQUEST, the value is not JSON; ERR_MSG_TOO_LARGE, its text has more than `limit`
            bytes.
    """
    try:
        text = compact_json(data)
    except EncodeError as error:
        raise EncodeError(error.reason, code=AcpError.INVALID_REQUEST) from None
    size = len(text.encode())
    if size > limit:
        raise EncodeError(f"expected at most {limit} bytes, found {size}", code=AcpError.TOO_LARGE)
    return text


def refusal(reason: str, text: str, position: int = 0) -> DecodeError:
    """Return the exception for a text that is no message: ERR_INVALID_REQUEST."""
    return DecodeError(reason, code=AcpError.INVALID_REQUEST, text=text, position=position)
