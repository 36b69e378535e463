"""WebSockets of an HTTP server: uvicorn with the client's certificate, and without the paths of requests in its log."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from accp_adapters.serving.listening import with_certificate

__all__ = ["WebSocketConnection"]

# Below this level uvicorn and its library write the request, whose path holds a token in ACP A.
_LOG: Final = logging.getLogger(__name__)
_LOG.setLevel(logging.CRITICAL)


class WebSocketConnection(WebSocketsSansIOProtocol):
    """A connection that has become a WebSocket; for `http_server`."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Start as the class of uvicorn does."""
        super().__init__(*arguments, **options)
        self.logger = self.conn.logger = _LOG

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection, and tell the application of its certificate."""
        super().connection_made(transport)
        self.app = with_certificate(self.app, transport)
