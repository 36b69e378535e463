"""The HTTP server of the proxy: a socket, and uvicorn with the time limit for headers that it lacks."""

from __future__ import annotations

import asyncio
import socket
from typing import Any, ClassVar, Final

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["http_server", "listen_at"]

_BACKLOG: Final = 2048


def listen_at(host: str, port: int) -> socket.socket:
    """Return a socket that listens at `host` and `port`, at a free port for 0.

    Raises:
        OSError: The address is not available.
    """
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    family, kind, protocol, _, address = addresses[0]
    # asyncio switches Nagle's algorithm off only for a socket that names TCP; with it, every response takes 40 ms.
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(_BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening


def http_server(app: Any, *, header_seconds: float) -> uvicorn.Server:
    """Return the server of an ASGI application.

    Args:
        app: The application.
        header_seconds: Seconds after which a connection without a complete header is closed.
    """
    protocol = type("_Protocol", (_TimedProtocol,), {"header_seconds": header_seconds})
    # Streams stay open as long as clients want; after a second they no longer delay the end.
    return uvicorn.Server(
        uvicorn.Config(
            app,
            lifespan="off",
            # One parser everywhere: httptools, where it is installed, hides the host of a request target.
            http=protocol,
            ws="none",
            log_level="critical",
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=1,
        )
    )


class _TimedProtocol(H11Protocol):
    """A connection that is closed unless the header of its next request is complete in time."""

    header_seconds: ClassVar[float]
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]  # uvicorn narrows the type
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop()

    def _watch(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._stop()
        elif self._deadline is None and not self.transport.is_closing():
            self._deadline = self.loop.call_later(self.header_seconds, self.transport.close)

    def _stop(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
