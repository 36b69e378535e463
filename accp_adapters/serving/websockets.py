"""WebSockets of an HTTP server: uvicorn with the client's certificate."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from accp_adapters.serving.listening import with_certificate

__all__ = ["WebSocketConnection"]


class WebSocketConnection(WebSocketsSansIOProtocol):
    """A connection that has become a WebSocket; for `http_server`."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection, and tell the application of its certificate."""
        super().connection_made(transport)
        self.app = with_certificate(self.app, transport)
