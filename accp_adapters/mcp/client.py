"""A client's transport with a `Decoder`: `wrap_transport(stdio_client(…))`, for sessions of mcp 1.x and 2.x."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any, Final

from accp_adapters.mcp.shim.decoder import Decoder
from accp_adapters.mcp.streams import RewritingReadStream, RewritingWriteStream, rewrite_item

__all__ = ["wrap_transport"]


def wrap_transport(
    transport: AbstractAsyncContextManager[Any], decoder: Decoder | None = None, **settings: Any
) -> AbstractAsyncContextManager[Any]:
    """Return a transport that decodes the server's results before the client session receives them.

    Args:
        transport: What a client of the SDK connects by: a context manager that yields a read stream, a write stream
            and, in some versions, more, which is passed on.
        decoder: The decoder of this connection; None: a new one.
        settings: The arguments of a new `Decoder`, such as `view="view"`.
    """
    return _DecodingTransport(transport, decoder or Decoder(**settings))


class _DecodingTransport(AbstractAsyncContextManager[Any]):
    def __init__(self, transport: AbstractAsyncContextManager[Any], decoder: Decoder) -> None:
        self._transport: Final = transport
        self._decoder: Final = decoder

    async def __aenter__(self) -> tuple[Any, ...]:
        read, write, *more = await self._transport.__aenter__()

        async def receive(item: Any) -> Any:
            return await rewrite_item(self._decoder.from_server, item)

        async def send(item: Any) -> Any:
            return await rewrite_item(self._decoder.from_client, item)

        return RewritingReadStream(read, receive), RewritingWriteStream(write, send), *more

    async def __aexit__(self, *raised: Any) -> bool | None:
        return await self._transport.__aexit__(*raised)
