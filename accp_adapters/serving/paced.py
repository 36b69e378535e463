"""Protocols of uvicorn that read little at a time, and rest after what was expensive to read.

A piece of a body, a frame or a field of a few bytes takes uvicorn, websockets and httptools as long as one of some
kilobytes, before anything of ours sees it. So neither bytes nor any one kind of item is counted here, but the time that
reading took: all connections that rest together get a fifth of the event loop, whoever they are of.
"""

from __future__ import annotations

import asyncio
import resource
import time
from typing import Any, ClassVar, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from accp_adapters.serving.limits import Quota, Shares, TooMany
from accp_adapters.serving.principals import network_of

__all__ = ["PacedHttp", "PacedWebSocket"]

_PIECE: Final = 8_192
"""Bytes that are read in a turn of the event loop; of frames without content these take four milliseconds."""
_CHEAP: Final = 0.001
"""Seconds that reading may take without a rest, beyond a connection's part of the fifth."""
_FREE: Final = 1 / 3
"""The part of the loop that reading may take until some connections rest."""
_CHEAP_FOR_ALL: Final = 0.01
"""Seconds that reading may take beyond that part."""
_REST: Final = 4
"""The rest of a connection, in multiples of what its reading took and of the connections that rest."""
_HEAD_SECONDS: Final = 10.0
"""Until the fields of the first request of a connection are complete."""
_HEAD_BYTES: Final = 65_536
"""Bytes of fields, or of what else is no body, until a request is refused."""
_FIELDS: Final = 256
"""Fields of a request; with more, it is refused."""
_WAITING: Final = 16
"""Requests of a connection that wait for the answer to the one before; with more, it is cut."""
# A turn of the event loop accepts more than that before it closes any.
_TOTAL: Final = min(2_048, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)
_CONNECTIONS: Final = Shares(_TOTAL, _TOTAL // 4)
_OPEN: Final[dict[str, PacedHttp]] = {}
"""The connections by their names in `_CONNECTIONS`."""
_UNFINISHED: Final = Quota(256 << 20, 128 << 20, "bytes of messages that are not complete")


class _Paced(asyncio.Protocol):
    """Hands on what arrives in pieces; nothing more is read from the system meanwhile."""

    transport: asyncio.Transport
    _body = 0
    """Bytes that are left of a body whose length was announced; they are read at once, however many there are."""
    resting: ClassVar[int] = 0
    """Connections that rest now."""
    total: ClassVar[float] = 0.0
    """Seconds that reading took, of all connections, beyond its free part of the loop."""
    last: ClassVar[float] = 0.0
    """When that was counted last."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._arrived = bytearray()
        self._rests = False
        self._fed = self._spent = 0.0

    def data_received(self, data: bytes) -> None:
        """Take what has arrived."""
        self._arrived += data
        if self._rests:
            self.transport.pause_reading()
        else:
            self._read()

    def connection_lost(self, exc: Exception | None) -> None:
        """End a connection."""
        self._arrived.clear()
        super().connection_lost(exc)

    def _read(self) -> None:
        size = max(_PIECE, self._body)
        piece = bytes(self._arrived[:size])
        del self._arrived[:size]
        begun = time.thread_time()
        self._feed(piece)
        took, now = time.thread_time() - begun, time.monotonic()
        earned, self._fed = (now - self._fed) / _REST / (len(_OPEN) + 1), now
        self._spent = max(0.0, self._spent - earned) + took
        _Paced.total, _Paced.last = max(0.0, _Paced.total - (now - _Paced.last) * _FREE) + took, now
        reader: Any = self.transport.get_protocol()
        if reader is not self:  # a WebSocket: "the client MUST wait for a response" (RFC 6455, section 4.1)
            if self._arrived:
                self.transport.abort()
            self._arrived.clear()
        elif self._arrived or self._is_dear():
            self._rest()

    def _feed(self, piece: bytes) -> None:
        super().data_received(piece)

    def _is_dear(self) -> bool:
        return self._spent > _CHEAP and _Paced.total > _CHEAP_FOR_ALL

    def _rest(self) -> None:
        spent = self._spent if self._is_dear() else 0.0
        self._rests, self._spent = True, self._spent - spent
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
    """HTTP/1.1; a connection says what it wants within some seconds, and an address has a quarter of all connections.

    Where there are too many, the oldest that has said nothing yet is cut, of the address that has most.
    """

    _owner = ""
    _head = 0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin a connection, cut it where there are too many."""
        super().connection_made(transport)
        self._owner, name = network_of({"client": transport.get_extra_info("peername")}), str(id(self))
        try:
            given_up = _CONNECTIONS.admit(self._owner, name, lambda each: not _OPEN[each]._is_silent())
        except TooMany:
            transport.abort()
            return
        _OPEN[name] = self
        for each in given_up:
            _OPEN.pop(each).transport.abort()
        self._timer = asyncio.get_running_loop().call_later(_HEAD_SECONDS, self._cut_silent)

    def connection_lost(self, exc: Exception | None) -> None:
        """End a connection."""
        self._leave()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        """Give the connection to a WebSocket."""
        super().handle_websocket_upgrade()
        self._leave()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a field."""
        if len(self.headers) >= _FIELDS:
            raise ValueError(f"expected at most {_FIELDS} fields, found more")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Go on with the body."""
        self._head = 0
        self._body = next((int(value) for name, value in self.headers if name == b"content-length"), 0)
        if len(self.pipeline) >= _WAITING:
            self.transport.abort()
            raise ValueError(f"expected at most {_WAITING} requests that wait, found more")
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        self._head = 0
        self._body -= len(body)
        super().on_body(body)

    def _feed(self, piece: bytes) -> None:
        self._head += len(piece)
        super()._feed(piece)
        if self._head > _HEAD_BYTES:
            self.transport.abort()

    def _leave(self) -> None:
        if self._timer is not None:  # it would keep what the connection holds
            self._timer.cancel()
        _CONNECTIONS.remove(self._owner, str(id(self)))
        _OPEN.pop(str(id(self)), None)

    def _is_silent(self) -> bool:
        cycle: object = self.cycle  # None before the first one
        return cycle is None

    def _cut_silent(self) -> None:
        if self._is_silent() and self.transport.get_protocol() is self:
            self.transport.abort()

    def _is_full(self) -> bool:
        return self.flow.read_paused


class PacedWebSocket(_Paced, WebSocketsSansIOProtocol):
    """A WebSocket; its messages that are not complete count for its address."""

    _held = 0

    def connection_lost(self, exc: Exception | None) -> None:
        """End a connection."""
        self._release()
        super().connection_lost(exc)

    def send_receive_event_to_app(self) -> None:
        """Hand on a complete message."""
        self._release()
        super().send_receive_event_to_app()

    def _feed(self, piece: bytes) -> None:
        try:
            _UNFINISHED.take(network_of({"client": self.client}), len(piece))
        except TooMany:
            self.transport.abort()
            return
        self._held += len(piece)
        super()._feed(piece)

    def _release(self) -> None:
        held, self._held = self._held, 0
        if held:
            _UNFINISHED.take(network_of({"client": self.client}), -held)

    def _is_full(self) -> bool:
        return self.read_paused
