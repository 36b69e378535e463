"""Protocols of uvicorn that read little at a time, and rest after what was dear to read.

A piece of a body, a frame or a field of a few bytes takes uvicorn, websockets and httptools as long as one of some
kilobytes, before anything of ours sees it. So neither bytes nor any one kind of item is counted here, but the time that
reading took: all connections that rest together get a fifth of the event loop, whoever they are of.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any, ClassVar, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from accp_adapters.serving.limits import Quota, TooMany
from accp_adapters.serving.requests import network_of

__all__ = ["PacedHttp", "PacedWebSocket"]

_PIECE: Final = 8_192
"""Bytes that are read in a turn of the event loop; of frames without content these take four milliseconds."""
_CHEAP: Final = 0.001
"""Seconds that reading a piece may take without a rest."""
_REST: Final = 4
_HEAD_SECONDS: Final = 10.0
"""Until the fields of the first request of a connection are complete."""
_HEAD_BYTES: Final = 65_536
"""Bytes of fields, or of what else is no body, until a request is refused."""
_CONNECTIONS: Final = Quota(2_048, 512, "connections")


class _Paced(asyncio.Protocol):
    """Hands on what arrives in pieces; nothing more is read from the system meanwhile."""

    transport: asyncio.Transport
    resting: ClassVar[int] = 0
    """Connections that rest now."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._arrived = bytearray()
        self._rests = False

    def data_received(self, data: bytes) -> None:
        """Take what has arrived."""
        self._arrived += data
        if self._rests:
            self.transport.pause_reading()
        else:
            self._read()

    def _read(self) -> None:
        piece = bytes(self._arrived[:_PIECE])
        del self._arrived[:_PIECE]
        begun = time.perf_counter()
        self._feed(piece)
        spent = time.perf_counter() - begun
        reader: Any = self.transport.get_protocol()
        if reader is not self:  # a WebSocket goes on with the connection
            self._arrived, rest = bytearray(), bytes(self._arrived)
            reader.data_received(rest)
        elif self._arrived or spent > _CHEAP:
            self._rest(spent if spent > _CHEAP else 0.0)

    def _feed(self, piece: bytes) -> None:
        super().data_received(piece)

    def _rest(self, spent: float) -> None:
        self._rests = True
        _Paced.resting += 1
        self.transport.pause_reading()
        asyncio.get_running_loop().call_later(spent * _REST * _Paced.resting, self._go_on)

    def _go_on(self) -> None:
        self._rests = False
        _Paced.resting -= 1
        if self.transport.is_closing():
            return
        if self._arrived:
            self._read()
        if not self._rests and not self._is_full():
            self.transport.resume_reading()

    def _is_full(self) -> bool:
        """Return whether the application has to take something before more is read."""
        raise NotImplementedError


class PacedHttp(_Paced, HttpToolsProtocol):
    """HTTP/1.1; a connection says what it wants within some seconds, and an address has some connections at most."""

    _owner: str | None = None
    _head = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin a connection, cut it where there are too many."""
        super().connection_made(transport)
        owner = network_of({"client": transport.get_extra_info("peername")})
        try:
            _CONNECTIONS.take(owner)
        except TooMany:
            transport.abort()
            return
        self._owner = owner
        asyncio.get_running_loop().call_later(_HEAD_SECONDS, self._cut_silent)

    def connection_lost(self, exc: Exception | None) -> None:
        """End a connection."""
        self._leave()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        """Give the connection to a WebSocket."""
        super().handle_websocket_upgrade()
        self._leave()

    def on_headers_complete(self) -> None:
        """Go on with the body."""
        self._head = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        self._head = 0
        super().on_body(body)

    def _feed(self, piece: bytes) -> None:
        self._head += len(piece)
        super()._feed(piece)
        if self._head > _HEAD_BYTES:
            self.transport.abort()

    def _leave(self) -> None:
        if self._owner is not None:
            _CONNECTIONS.take(self._owner, -1)
            self._owner = None

    def _cut_silent(self) -> None:
        cycle: object = self.cycle  # None before the first one
        if cycle is None and self.transport.get_protocol() is self:
            self.transport.abort()

    def _is_full(self) -> bool:
        return self.flow.read_paused


class PacedWebSocket(_Paced, WebSocketsSansIOProtocol):
    """A WebSocket."""

    def _is_full(self) -> bool:
        return self.read_paused
