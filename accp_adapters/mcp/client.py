"""A client's transport with a `Decoder` between: `wrap_transport(stdio_client(…))`, for sessions of mcp 1.x and 2.x."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any, Final

from accp_adapters.mcp.shim.decoder import Decoder
from accp_adapters.mcp.streams import Receiving, Sending, rewritten

__all__ = ["wrap_transport"]


def wrap_transport(
    transport: AbstractAsyncContextManager[Any], decoder: Decoder | None = None, **settings: Any
) -> AbstractAsyncContextManager[Any]:
    """Return a transport through which the server's results reach a client session as `settings` say.

    `transport` is what a client of the SDK connects by: a context manager that gives a read stream, a write stream
    and, in some versions, more, which stays. `settings` are those of `Decoder`, such as `view="view"`.
    """
    return _Transport(transport, decoder or Decoder(**settings))


class _Transport(AbstractAsyncContextManager[Any]):
    def __init__(self, transport: AbstractAsyncContextManager[Any], decoder: Decoder) -> None:
        self._transport: Final = transport
        self._decoder: Final = decoder

    async def __aenter__(self) -> tuple[Any, ...]:
        read, write, *more = await self._transport.__aenter__()

        async def received(item: Any) -> Any:
            return await rewritten(self._decoder.s2c, item)

        async def sent(item: Any) -> Any:
            return await rewritten(self._decoder.c2s, item)

        return Receiving(read, received), Sending(write, sent), *more

    async def __aexit__(self, *raised: Any) -> bool | None:
        return await self._transport.__aexit__(*raised)
