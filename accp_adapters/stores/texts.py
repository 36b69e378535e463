"""How a text stands in a store that holds bytes: any text, compressed."""

from __future__ import annotations

import zlib
from typing import Final

from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["TEXT_ENCODING", "pack_text", "unpack_text"]

TEXT_ENCODING: Final = ("utf-8", "surrogatepass")
"""A tool may return lone surrogates, which UTF-8 does not have: nothing may be lost, so they pass as they are."""


def pack_text(text: str) -> bytes:
    """Return `text` as the bytes to keep."""
    return zlib.compress(text.encode(*TEXT_ENCODING))


def unpack_text(packed: bytes) -> str:
    """Return the text that `pack_text` was given.

    Raises:
        ProtocolError: E2001, these bytes are not ours, or not all of them.
    """
    try:
        return zlib.decompress(packed).decode(*TEXT_ENCODING)
    except (zlib.error, UnicodeDecodeError) as problem:
        reason = f"expected a text that was put into the store, found other bytes: {packed[:20]!r}"
        raise ProtocolError(reason, code=ErrorCode.REF_NOT_FOUND) from problem
