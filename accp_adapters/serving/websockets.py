"""WebSockets of an HTTP server: uvicorn with the client's certificate, and a bound for peers that do not read.

It writes no paths of requests into its log.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from accp_adapters.serving.listening import TimedWrites, with_certificate

__all__ = ["WebSocketConnection"]

# Below this level uvicorn and its library write the request, whose path holds a token in ACP A.
_LOG: Final = logging.getLogger(__name__)
_LOG.setLevel(logging.CRITICAL)


class WebSocketConnection(TimedWrites, WebSocketsSansIOProtocol):
    """A connection that has become a WebSocket; for `http_server`."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Start as the class of uvicorn does."""
        super().__init__(*arguments, **options)
        self.logger = self.conn.logger = _LOG

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection, and tell the application of its certificate."""
        super().connection_made(transport)
        self.app = with_certificate(self.app, transport)

    def on_task_complete(self, task: asyncio.Task[None]) -> None:
        """Cut the connection that the application has left, unless it closes in time."""
        super().on_task_complete(task)
        self.cut_later()

    def handle_ping(self) -> None:
        """Answer a ping, unless the peer leaves unread what it was sent: pings of a flood get no pong."""
        pong = b"".join(self.conn.data_to_send())
        if self.writable.is_set():
            self.transport.write(pong)
