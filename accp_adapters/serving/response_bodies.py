"""Reads the body of a server's response: decompresses it in small pieces and refuses more than a limit."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator
from typing import Final

import httpx2

from accp_adapters.serving.bodies import ByteLease
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["read_body_of", "too_long", "unpacked"]

_PIECE: Final = 64 * 1024
_ANY_HEADER: Final = 32 + zlib.MAX_WBITS
_PACKED: Final = frozenset({"gzip", "x-gzip", "deflate"})


async def read_body_of(response: httpx2.Response, lease: ByteLease, limit: int) -> bytes:
    """Return the body of a response, whose bytes `lease` holds.

    Raises:
        ProtocolError: E2003, it has more than `limit` bytes, or there is no memory for it; as `unpacked`.
        httpx2.HTTPError: It breaks off.
    """
    body = bytearray()
    async for piece in unpacked(response):
        if len(body) + len(piece) > limit or not lease.add(len(piece)):
            raise too_long(limit)
        body += piece
    return bytes(body)


async def unpacked(response: httpx2.Response) -> AsyncIterator[bytes]:
    """Yield the body of a response in pieces; of one that is compressed, none is larger than 64 KiB.

    Raises:
        ProtocolError: E1001, it is compressed in a way that nobody asked for, or not as its header says.
        httpx2.HTTPError: It breaks off.
    """
    packing = response.headers.get("content-encoding", "").strip().lower()
    if packing in ("", "identity"):
        async for piece in response.aiter_raw():
            yield piece
        return
    if packing not in _PACKED:
        raise ProtocolError(f"expected no compression, found {packing!r:.40}", code=ErrorCode.PARSE_ERROR)
    stream = zlib.decompressobj(_ANY_HEADER)
    async for data in response.aiter_raw():
        while data and not stream.eof:
            try:
                piece, data = stream.decompress(data, _PIECE), stream.unconsumed_tail
            except zlib.error as error:
                raise ProtocolError(f"expected {packing}, found: {error}", code=ErrorCode.PARSE_ERROR) from error
            if piece:
                yield piece


def too_long(limit: int) -> ProtocolError:
    """Return the exception for a response or event that is too long for memory."""
    reason = f"expected a response of at most {limit} bytes, or fewer at once, found more"
    return ProtocolError(reason, code=ErrorCode.BUDGET_EXCEEDED)
