"""HTTP servers: a socket, and uvicorn with what it lacks: time limits for headers and for clients that do not read, and
the client's certificate.

`uvicorn.Config(http=…, ws=…)` takes a protocol class. Those of uvicorn are documented nowhere, but the limits cannot be
made of anything public: an ASGI application is called when the header is complete, and hears nothing of bytes that stay
unread. What is used of them: `conn`, `config`, `app`, `transport`, `loop`, and the overridden methods; the tests of
`serving` and of the bindings fail where one of them changes.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, ClassVar, Final, cast

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from accp_adapters.serving.hosts import network_of
from accp_adapters.serving.responses import BUFFERED, WRITE_SECONDS, ResponseWriter
from accp_adapters.serving.shares import Arrivals, Unread

__all__ = ["TimedWrites", "TlsFiles", "http_server", "listen_at", "with_certificate"]

_BACKLOG: Final = 2048
_DESCRIPTORS: Final = 4096
"""Of a process that serves: each request may hold one for its client and one for a server behind it."""

_SWITCH_SECONDS: Final = 0.0005
"""After which a thread leaves the interpreter to the event loop, which asks for it after each system call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsFiles:
    """The files of a server that speaks TLS, in PEM."""

    certificate: Path
    """Its certificate, and those between it and a root."""
    key: Path
    """The private key of the certificate."""
    client_authority: Path | None = None
    """The authority that signs the clients' certificates, which are then required; None: clients have none."""

    def context(self) -> ssl.SSLContext:
        """Return the server's side of TLS; raises OSError where a file cannot be read."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=self.client_authority)
        context.load_cert_chain(self.certificate, self.key)
        if self.client_authority is not None:
            context.verify_mode = ssl.CERT_REQUIRED
        return context


def _allow_descriptors() -> None:
    """Have room for all connections that the limits allow; systems begin with 1,024 and let processes ask for more."""
    with suppress(ImportError, OSError, ValueError):  # Windows has no such limit; others may refuse
        import resource  # noqa: PLC0415  not on Windows

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if 0 <= soft < _DESCRIPTORS:
            most = _DESCRIPTORS if hard < 0 else min(hard, _DESCRIPTORS)
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _descriptors() -> int:
    """Return how many descriptors the process may have."""
    with suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415  not on Windows

        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        return soft if 0 < soft < _DESCRIPTORS else _DESCRIPTORS
    return _DESCRIPTORS


def listen_at(host: str, port: int) -> socket.socket:
    """Return a socket that listens at `host` and `port`, at a free port for 0; the process may have 4,096 descriptors.

    Its threads leave the interpreter to its event loop after half a millisecond.

    Raises:
        OSError: The address is not available.
    """
    _allow_descriptors()
    sys.setswitchinterval(_SWITCH_SECONDS)
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


def http_server(
    app: Any,
    *,
    header_seconds: float,
    write_seconds: float = WRITE_SECONDS,
    websocket: type[TimedWrites] | None = None,
    message_bytes: int = 1 << 20,
    header_bytes: int = 1 << 14,
    tls: TlsFiles | None = None,
    drain_seconds: int = 1,
) -> uvicorn.Server:
    """Return the server of an ASGI application.

    Args:
        app: The application.
        header_seconds: Seconds for TLS, and as many after which a connection without a complete header is closed, one
            with a part of it after an answer (408).
        write_seconds: Seconds for which a peer may leave unread what was written; then its connection is cut.
        websocket: Takes the connections that become WebSockets; None: there are none.
        message_bytes: Bytes of a WebSocket message; a longer one closes the connection (1009).
        header_bytes: Bytes of a request's line and fields; longer ones are refused (414, 431).
        tls: The files for TLS; None: plain text.
        drain_seconds: Seconds for which open responses delay the end.
    """
    times = {"header_seconds": header_seconds, "write_seconds": write_seconds}
    # One parser everywhere: httptools, where it is installed, hides the host of a request target.
    few = _descriptors() // 4  # what is accepted in one turn of the loop, and what says nothing, leave most to others
    arrivals = Arrivals(min(512, few), min(128, few // 4))
    protocol = type("_Protocol", (_TimedProtocol,), times | {"arrivals": arrivals})
    secured = None if tls is None else tls.context()
    # Streams stay open as long as clients want; after a second they no longer delay the end.
    return uvicorn.Server(
        uvicorn.Config(
            app,
            lifespan="off",
            backlog=min(_BACKLOG, few),
            http=protocol if secured is None else cast("Any", partial(_Handshake, protocol, secured)),
            ws=type("_WebSocket", (websocket,), times | {"unread": Unread()}) if websocket else "none",
            ws_max_size=message_bytes,
            h11_max_incomplete_event_size=header_bytes,
            # A few bytes of a compressed message can stand for its greatest length.
            ws_per_message_deflate=False,
            log_level="critical",
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=drain_seconds,
        )
    )


def with_certificate(app: Any, transport: asyncio.BaseTransport) -> Any:
    """Return `app`, told of the client's certificate by the ASGI extension `tls`; `app` itself where there is none."""
    secured: ssl.SSLObject | None = transport.get_extra_info("ssl_object")
    certificate = secured.getpeercert(binary_form=True) if secured else None
    if not certificate:
        return app
    extension = {"client_cert_chain": (ssl.DER_cert_to_PEM_cert(certificate),), "client_cert_error": None}

    async def told(scope: Any, receive: Any, send: Any) -> None:
        await app({**scope, "extensions": {**scope.get("extensions", {}), "tls": extension}}, receive, send)

    return told


class TimedWrites(asyncio.Protocol):
    """A connection that is cut when its peer leaves unread, for too long, more than the transport buffers."""

    write_seconds: ClassVar[float] = WRITE_SECONDS
    _writing: asyncio.Transport | None = None
    _cut: asyncio.TimerHandle | None = None
    _is_lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection, and have the transport say early that it buffers."""
        assert isinstance(transport, asyncio.Transport)
        super().connection_made(transport)
        self._writing = transport
        transport.set_write_buffer_limits(high=BUFFERED)

    def pause_writing(self) -> None:
        """Begin to wait for the peer."""
        super().pause_writing()
        self.cut_later()

    def resume_writing(self) -> None:
        """Go on: the peer has read."""
        super().resume_writing()
        self._spare()

    def connection_lost(self, exc: Exception | None) -> None:
        """End with the connection."""
        super().connection_lost(exc)
        self._is_lost = True
        self._spare()

    def cut_later(self) -> None:
        """Cut the connection unless the peer reads in time."""
        if self._cut is None and self._writing is not None and not self._is_lost:
            self._cut = asyncio.get_running_loop().call_later(self.write_seconds, self._writing.abort)

    def _spare(self) -> None:
        if self._cut is not None:
            self._cut.cancel()
            self._cut = None


class _TimedProtocol(TimedWrites, H11Protocol):
    """A connection that is closed unless the header of its next request is complete in time.

    While it is not, and while the body is not, it is one of the arrivals.
    """

    header_seconds: ClassVar[float]
    arrivals: ClassVar[Arrivals]
    _deadline: asyncio.TimerHandle | None = None
    _refused = False
    _waits_for: Any = None
    _address = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._address = network_of({"client": self.client})
        self.app = self._written(with_certificate(self.app, transport))
        # A path may hold a token, as in ACP A and C: no handler of an application gets an access log.
        self.access_log = False
        self._watch()

    def data_received(self, data: bytes) -> None:
        # Closing a socket with unread bytes would take the refusal back: what comes after one is dropped.
        if not self._refused:
            super().data_received(data)
            self._watch()

    def send_400_response(self, msg: str) -> None:
        begun = self.conn.trailing_data[0]
        if len(begun) <= (self.config.h11_max_incomplete_event_size or 0):
            super().send_400_response(msg)
        elif b"\n" in begun:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        else:
            self._refuse(HTTPStatus.REQUEST_URI_TOO_LONG)

    def _refuse(self, status: HTTPStatus) -> None:
        """Answer a request that is not complete, and wait for the peer to close the connection, but not for long."""
        self._refused = True
        self.transport.write(
            f"HTTP/1.1 {status.value} {status.phrase}\r\nconnection: close\r\ncontent-type: text/plain\r\n"
            f"content-length: {len(status.phrase)}\r\n\r\n{status.phrase}".encode()
        )
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._stop()
        self._deadline = self.loop.call_later(self.header_seconds, self.transport.abort)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.is_closing():
            self.cut_later()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._wait_for(None)

    def _watch(self) -> None:
        """Wait for what is missing of a request, without an end only for a body that the application reads."""
        theirs = self.conn.their_state
        is_open = not self.transport.is_closing() and self.transport.get_protocol() is self
        self._wait_for(theirs if is_open and theirs in (h11.IDLE, h11.SEND_BODY) else None)
        is_read = theirs is h11.SEND_BODY and self.conn.our_state is not h11.DONE
        if self._waits_for is not None and not is_read and self._deadline is None:
            self._deadline = self.loop.call_later(self.header_seconds, self._end)

    def _wait_for(self, state: Any) -> None:
        """Have this connection among the arrivals as long as the peer is in `state`; None: no longer."""
        if state is self._waits_for:
            return
        self._stop()
        self.arrivals.leave(self._address, self)
        self._waits_for = state
        if state is not None:
            self.arrivals.enter(self._address, self, self.transport.abort)

    def _written(self, app: Any) -> Any:
        """Return `app`, whose responses are written in pieces; where one breaks off, what is left of it is cut off."""

        async def written(scope: Any, receive: Any, send: Any) -> None:
            try:
                await app(scope, receive, ResponseWriter(send, self.write_seconds).send)
            except BaseException:
                self.cut_later()
                raise

        return written

    def _end(self) -> None:
        """Close the connection; a peer that does not read what it was sent before is cut off later."""
        if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT)
        self.transport.close()
        self._deadline = self.loop.call_later(self.header_seconds, self.transport.abort)

    def _stop(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class _Handshake(asyncio.Protocol):
    """A connection before TLS, one of the arrivals; `uvicorn` would not know from where it comes."""

    def __init__(self, following: type[_TimedProtocol], tls: ssl.SSLContext, **options: Any) -> None:
        """Secure a connection by `tls`, and make it one of `following`, which takes the options."""
        self._following, self._tls, self._options = following, tls, options
        self._early = bytearray()
        self._is_lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection."""
        assert isinstance(transport, asyncio.Transport)
        transport.pause_reading()  # what comes is for TLS
        self._securing = asyncio.ensure_future(self._secure(transport))

    def data_received(self, data: bytes) -> None:
        """Keep what comes together with the end of the handshake."""
        self._early += data

    def connection_lost(self, exc: Exception | None) -> None:
        """End with the connection."""
        self._is_lost = True

    async def _secure(self, transport: asyncio.Transport) -> None:
        address = network_of({"client": transport.get_extra_info("peername")})
        seconds, arrivals = self._following.header_seconds, self._following.arrivals
        arrivals.enter(address, self, transport.abort)
        try:
            secured = await asyncio.get_running_loop().start_tls(
                transport, self, self._tls, server_side=True, ssl_handshake_timeout=seconds
            )
        except OSError:  # of TLS or of the network; the transport is closed
            return
        finally:
            arrivals.leave(address, self)
        if secured is not None and not self._is_lost:
            following = self._following(**self._options)
            secured.set_protocol(following)
            following.connection_made(secured)
            if self._early:
                following.data_received(bytes(self._early))
