"""A server of a gateway that is reached by streamable HTTP."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Final

from accp_adapters.mcp.gateway.configuration import ServerSettings
from accp_adapters.mcp.gateway.links import Deliver, Ended
from accp_adapters.mcp.proxy.relay import JsonRpcMessage, Relay, write_message
from accp_adapters.mcp.proxy.remote import RemoteServer
from accp_adapters.mcp.proxy.upstream import connect

__all__ = ["RemoteLink"]


class _Unchanged:
    """A shim that rewrites nothing: the gateway's own relay does."""

    def from_client(self, message: JsonRpcMessage) -> JsonRpcMessage:
        """Return the message."""
        return message

    def from_server(self, message: JsonRpcMessage) -> JsonRpcMessage:
        """Return the message."""
        return message


class _Lines:
    """Where the remote server's messages are written."""

    def __init__(self, deliver: Deliver) -> None:
        self._deliver: Final = deliver

    def write(self, data: bytes) -> None:
        """Deliver a message."""
        self._deliver(data)


class RemoteLink:
    """A URL; a request that fails is answered by an error, and the next one is tried again."""

    def __init__(self, settings: ServerSettings) -> None:
        """Prepare to reach the URL in `settings`."""
        self._settings = settings
        self._stack: Final = AsyncExitStack()
        self._server: RemoteServer | None = None

    async def start(self, deliver: Deliver, ended: Ended) -> None:
        """Open a client."""
        http = await self._stack.enter_async_context(connect())
        relay = Relay(_Unchanged())
        self._server = RemoteServer(self._settings.url, relay, http, _Lines(deliver), extra=self._settings.headers)

    async def send(self, message: JsonRpcMessage) -> None:
        """Send a message by a request of its own."""
        if self._server is not None:
            await self._server.receive(write_message(message))

    async def close(self) -> None:
        """End the session."""
        if self._server is not None:
            await self._server.close()
        await self._stack.aclose()
        await asyncio.sleep(0)
