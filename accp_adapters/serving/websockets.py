"""WebSockets of an HTTP server: uvicorn with the client's certificate, and a bound for peers that do not read.

It writes no paths of requests into its log.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any, ClassVar, Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from accp_adapters.serving.hosts import network_of
from accp_adapters.serving.listening import TimedWrites, with_certificate
from accp_adapters.serving.shares import Unread

__all__ = ["WebSocketConnection"]

# Below this level uvicorn and its library write the request, whose path holds a token in ACP A.
_LOG: Final = logging.getLogger(__name__)
_LOG.setLevel(logging.CRITICAL)


_PART_BYTES: Final = 500
"""About the memory of a message, or of a fragment of one, beside its bytes."""


class WebSocketConnection(TimedWrites, WebSocketsSansIOProtocol):
    """A connection that has become a WebSocket; for `http_server`."""

    unread: ClassVar[Unread] = Unread()
    _address = ""
    _held = 0
    """Bytes that have come since all that had come was taken."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Start as the class of uvicorn does."""
        super().__init__(*arguments, **options)
        self.logger = self.conn.logger = _LOG

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection, and tell the application of its certificate."""
        super().connection_made(transport)
        self.app = with_certificate(self.app, transport)
        self._address = network_of({"client": self.client})

    def data_received(self, data: bytes) -> None:
        """Take bytes, which count until the application has taken the messages that they end."""
        self._held += len(data)
        super().data_received(data)
        self._count()

    async def receive(self) -> Any:
        """Return the next event for the application."""
        event = await super().receive()
        self._count()
        return event

    def connection_lost(self, exc: Exception | None) -> None:
        """End with the connection."""
        super().connection_lost(exc)
        self.conn.reader.buffer.clear()  # the parts of a connection refer to each other, and are freed late
        self.frames.clear()
        self._count()

    def _count(self) -> None:
        """Count what is left of what has come."""
        parts = len(self.frames) + self.queue.qsize()
        if not parts:
            self._held = len(self.conn.reader.buffer)
        size = 0 if self._is_lost else self._held + _PART_BYTES * parts
        self.unread.count(self._address, self, size, self.transport.abort)

    def on_task_complete(self, task: asyncio.Task[None]) -> None:
        """Cut the connection that the application has left, unless it closes in time."""
        super().on_task_complete(task)
        self.cut_later()

    def handle_ping(self) -> None:
        """Answer a ping, unless the peer leaves unread what it was sent: pings of a flood get no pong."""
        pong = b"".join(self.conn.data_to_send())
        if self.writable.is_set():
            self.transport.write(pong)
