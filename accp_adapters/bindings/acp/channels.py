"""Bindings A, B and E: WebSocket, standard streams and TCP (ACP transport 0.3, sections 3, 4 and 7)."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import anyio
from anyio.abc import ByteStream, Process, SocketAttribute
from anyio.streams.buffered import BufferedByteReceiveStream
from anyio.streams.stapled import StapledByteStream
from anyio.streams.tls import TLSStream
from starlette.websockets import WebSocket, WebSocketDisconnect
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from accp_adapters.bindings.acp import session
from accp_adapters.bindings.acp.host import AcpAgent, AcpHost, host_of
from accp_adapters.serving.limits import ServerLimits
from accp_adapters.serving.principals import ANONYMOUS, AccessDenied, Authenticate, Principal, loopback_only, network_of
from accp_adapters.serving.threads import OWNER, off_loop
from accp_adapters.wire_log import WEBSOCKET_LOG
from accp_core.acp import AcpError, Binding, CardMessage, ErrorMessage, parse_envelope, serialize_envelope
from accp_core.acp.card import ACP_VERSION
from accp_core.acp.connection import CLOSE_INVALID_TOKEN, TOKEN_HEADER
from accp_core.acp.envelope import read_object, write_object
from accp_core.errors import DecodeError, LocalProtocolError

__all__ = ["LineChannel", "open_process", "open_tcp", "open_web_socket", "serve_stdio", "serve_tcp", "serve_web_socket"]


_LOGGER: Final = logging.getLogger("accp.acp")
TOKEN: Final = "token"
"""Our field of the first line, the message with a card: who writes it, where TLS does not say it."""
CARD_BYTES: Final = 64 << 10
"""Bytes of the first line of a connection that has not said who it is."""
_CHUNK: Final = 65_536
_CLOSING_SECONDS: Final = 1.0
"""For the last words and the end of a stream whose peer may be gone."""
_GRACE_SECONDS: Final = 2.0
"""For a process to end by itself once its input has ended, and again once it was told to."""
_UNANSWERED_MILLISECONDS: Final = 30_000
"""Until a peer that does not acknowledge what TCP sends counts as gone."""
_BROKEN: Final = (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)


class LineChannel(session.Channel):
    """One JSON object per line, over any byte stream. Empty lines keep a connection alive."""

    def __init__(self, stream: ByteStream, *, binding: Binding, limit: int, token: str = "") -> None:
        """Read lines of at most `limit` bytes from `stream`, and write lines to it.

        Args:
            stream: The stream, which is closed with the channel.
            binding: STDIO or TCP.
            limit: Bytes of a line.
            token: What is said with our card, the first line, for a server that asks who we are; empty: nothing.
        """
        self.binding = binding
        self.limit = limit
        """Bytes of a line."""
        self._token = token
        self._stream = stream
        self._received = BufferedByteReceiveStream(stream)
        self._writing = asyncio.Lock()

    async def send(self, text: str) -> None:
        """Write a text and a line end."""
        if self._token:
            text, self._token = write_object({**read_object(text), TOKEN: self._token}), ""
        await self._write(f"{text}\n")

    async def receive(self) -> str:
        """Return the next line that is not blank."""
        line = b""
        while not line.strip():
            try:
                line = await self._received.receive_until(b"\n", self.limit)
            except anyio.DelimiterNotFound:
                reason = f"expected a line of at most {self.limit} bytes, found more"
                raise DecodeError(reason, code=AcpError.TOO_LARGE, text="", position=0) from None
            except anyio.IncompleteRead:
                raise session.EndOfInput("the stream has ended") from None
            except _BROKEN as error:
                raise session.ChannelClosed(f"the stream is closed: {type(error).__name__}") from None
        return line.decode(errors="surrogateescape")  # which no envelope has

    async def keep_alive(self) -> None:
        """Write an empty line, which readers skip."""
        await self._write("\n")

    async def aclose(self, code: str = "") -> None:
        """Close the stream, after a line with the error, if there is one."""
        with anyio.move_on_after(_CLOSING_SECONDS, shield=True):
            try:
                if code and code != session.REPLACED:
                    await self._write(f"{serialize_envelope(ErrorMessage(code=code))}\n")
                await self._stream.aclose()
            except (*_BROKEN, session.ChannelClosed):
                return

    async def _write(self, text: str) -> None:
        try:
            async with self._writing:  # answers and refusals come from two tasks
                await self._stream.send(text.encode())
        except _BROKEN as error:
            raise session.ChannelClosed(f"the stream is closed: {type(error).__name__}") from None


# --- B: standard streams ---------------------------------------------------------------------------------------------


async def serve_stdio(agent: AcpAgent | AcpHost, *, limits: ServerLimits | None = None) -> session.ChannelClosed:
    """Serve an agent to the process that started this one, until the input ends; return why it ended.

    What the peer has said is answered before. Nothing else may write to standard output meanwhile: `print` and the like
    go to standard error from now on.
    """
    streams = _StandardStreams()
    host = host_of(agent, loopback_only, limits)
    channel = LineChannel(streams, binding=Binding.STDIO, limit=host.limits.frame_bytes)
    host.announce(Binding.STDIO)
    return await host.serve(channel, ANONYMOUS)


async def open_process(command: Sequence[str], *, limit: int) -> LineChannel:
    """Return a connection to a new process that runs `command`; its standard error is ours.

    Args:
        command: The program and its arguments; no shell reads them.
        limit: Bytes of a line.

    Raises:
        OSError: It cannot be started.
    """
    process = await anyio.open_process(list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=None)
    assert process.stdin is not None
    assert process.stdout is not None
    return LineChannel(_ProcessStream(process.stdin, process.stdout, process), binding=Binding.STDIO, limit=limit)


class _StandardStreams(ByteStream):
    """Standard input and output of this process, as bytes."""

    def __init__(self) -> None:
        self._input = sys.stdin.fileno()
        self._output = os.dup(sys.stdout.fileno())
        sys.stdout.flush()
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    async def receive(self, max_bytes: int = _CHUNK) -> bytes:
        data = await anyio.to_thread.run_sync(os.read, self._input, max_bytes, abandon_on_cancel=True)
        if not data:
            raise anyio.EndOfStream
        return data

    async def send(self, item: bytes) -> None:
        await anyio.to_thread.run_sync(self._write, item, abandon_on_cancel=True)

    async def send_eof(self) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the output; the input belongs to the process."""
        output, self._output = self._output, -1
        if output >= 0:
            sys.stdout.flush()  # what was printed
            os.dup2(output, sys.stdout.fileno())
            os.close(output)

    def _write(self, item: bytes) -> None:
        while item:
            item = item[os.write(self._output, item) :]


@dataclass(eq=False)
class _ProcessStream(StapledByteStream):
    """The standard streams of a process of ours, which ends with them."""

    process: Process

    async def aclose(self) -> None:
        """Close the input of the process, and end it if it does not end by itself."""
        with anyio.CancelScope(shield=True):
            await self.send_eof()
            for stop in (self.process.terminate, self.process.kill):
                with anyio.move_on_after(_GRACE_SECONDS):
                    await self.process.wait()
                    break
                with suppress(ProcessLookupError):
                    stop()
            await self.process.aclose()


# --- E: TCP ----------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def serve_tcp(
    agent: AcpAgent | AcpHost,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    ssl: ssl.SSLContext | None = None,
    authenticate: Authenticate = loopback_only,
    limits: ServerLimits | None = None,
) -> AsyncIterator[int]:
    """Serve an agent over TCP while the context lasts; yields the port.

    Args:
        agent: The agent, or a host that other bindings share, which then brings `authenticate` and `limits`.
        host: The address to listen on.
        port: The port; 0: any that is free.
        ssl: The server's TLS; None: without.
        authenticate: Who is let in, by the token beside the card in the first line.
        limits: What each peer may use; None: the defaults.
    """
    server = host_of(agent, authenticate, limits)
    server.announce(Binding.TCP)
    listener = await anyio.create_tcp_listener(local_host=host, local_port=port)
    bound = listener.extra(SocketAttribute.local_port)

    async with listener:
        serving = asyncio.create_task(listener.serve(partial(_serve_one, server, ssl)))
        try:
            yield bound
        finally:  # a task group would wrap an exception of the caller in an ExceptionGroup
            serving.cancel()
            with suppress(asyncio.CancelledError):
                await serving


async def open_tcp(
    host: str, port: int, *, tls: ssl.SSLContext | None = None, token: str = "", limit: int
) -> LineChannel:
    """Return a connection to a server.

    Args:
        host: Its name or address, which its certificate must have.
        port: Its port.
        tls: How to verify it; None: without TLS.
        token: Who we are, said in the first line; empty: nothing.
        limit: Bytes of a line.

    Raises:
        OSError: There is none.
        ChannelClosed: TLS failed.
    """
    stream: ByteStream = await anyio.connect_tcp(host, port)
    try:
        _watch(stream)
        if tls is not None:
            stream = await TLSStream.wrap(
                stream, server_side=False, hostname=host, ssl_context=tls, standard_compatible=False
            )
    except (OSError, anyio.BrokenResourceError) as error:
        await anyio.aclose_forcefully(stream)
        code = session.UNTRUSTED if isinstance(error, ssl.SSLCertVerificationError) else ""
        raise session.ChannelClosed(f"TLS failed: {error}", code=code) from None
    return LineChannel(stream, binding=Binding.TCP, limit=limit, token=token)


async def _serve_one(server: AcpHost, tls: ssl.SSLContext | None, stream: ByteStream) -> None:
    channel: LineChannel | None = None
    code = ""
    try:
        _watch(stream)
        with server.stranger():
            if tls is not None:
                stream = await TLSStream.wrap(stream, ssl_context=tls, standard_compatible=False)
            channel = LineChannel(stream, binding=Binding.TCP, limit=CARD_BYTES)
            # What `Authenticate` asks of a connection, as ASGI servers say it.
            client = stream.extra(SocketAttribute.remote_address, None)
            principal, first = await _admit(server, channel, {"type": "acp.tcp", "headers": [], "client": client})
        channel.limit = server.limits.frame_bytes
        with server.connection(principal):
            await server.serve(channel, principal, first)
    except AccessDenied:
        code = session.TOKEN_REFUSED
    except TimeoutError:
        code = AcpError.TIMEOUT
    except (LocalProtocolError, DecodeError, session.ChannelClosed) as error:
        code = error.code
    except (*_BROKEN, anyio.EndOfStream):  # TLS failed
        pass
    except Exception:
        _LOGGER.exception("a connection over TCP failed")
    finally:  # the end of the server cancels again and again, whatever else was to close the stream
        with anyio.CancelScope(shield=True):
            if channel is not None:
                await channel.aclose(code)
            await anyio.aclose_forcefully(stream)


async def _admit(server: AcpHost, channel: LineChannel, scope: dict[str, Any]) -> tuple[Principal, str | None]:
    """Return whom a connection is of, and its first line where that had to be read.

    Raises:
        AccessDenied: The first line does not say who it is.
    """
    try:
        return await server.admit(scope), None
    except AccessDenied:
        first = await channel.receive()
    OWNER.set(network_of(scope))
    envelope = await off_loop(len(first), partial(parse_envelope, limit=server.limits.frame_bytes), first)
    token = envelope.extra.get(TOKEN) if isinstance(envelope, CardMessage) else None
    if not isinstance(token, str):
        raise AccessDenied("expected a card with a token as the first line, found none")
    return await server.admit(scope, token), first


def _watch(stream: ByteStream) -> None:
    """Have the system notice a peer that is gone without a word, and read only what is asked for."""
    # anyio reads on without a bound until the first `receive` that has to wait.
    if transport := getattr(stream, "_transport", None):
        transport.pause_reading()
    raw = stream.extra(SocketAttribute.raw_socket, None)
    if raw is not None and raw.family in (socket.AF_INET, socket.AF_INET6):
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNANSWERED_MILLISECONDS)


# Binding A, WebSocket: one text frame is one message (ACP transport 0.3, section 3).

CLOSE_CODES: Final[Mapping[str, int]] = {
    **dict.fromkeys(("", session.REPLACED, session.DUPLICATE), 1000),
    session.TOKEN_REFUSED: CLOSE_INVALID_TOKEN,
    AcpError.TOO_LARGE: 1009,
    AcpError.NOT_CONNECTED: 1013,
}
"""Error code to the code that a WebSocket is closed with; any other: 1008, a violation of the policy."""
PING_SECONDS: Final = 20.0
PING_TIMEOUT_SECONDS: Final = 10.0
_CLOSE_SECONDS: Final = 2.0


async def serve_web_socket(server: AcpHost, socket: WebSocket) -> None:
    """Admit the guest of a WebSocket and serve it until the connection ends.

    A wrong token is answered by an error frame and close code 4401; what cannot be served now, by 1013.
    """
    try:
        # "X-ACP-Token  Guest → Host  Alternative to token-in-URL" (section 3.6)
        token = socket.headers.get(TOKEN_HEADER) or socket.path_params.get("token", "")
        principal = await server.admit(socket.scope, token)
        with server.connection(principal):
            await socket.accept(headers=[(b"x-acp-version", ACP_VERSION.encode())])
            await server.serve(_ServerChannel(socket), principal)
    except (AccessDenied, LocalProtocolError) as error:
        await socket.accept()
        await _ServerChannel(socket).aclose(session.TOKEN_REFUSED if isinstance(error, AccessDenied) else error.code)


async def open_web_socket(
    url: str, *, token: str = "", agent: str = "", tls: ssl.SSLContext | None = None, limit: int
) -> _ClientChannel:
    """Return a connection to a host.

    Args:
        url: "ws://…" or "wss://…"; its path may end with the token.
        token: The token for the header instead; empty: none.
        agent: Our name, for the header; empty: none.
        tls: How to verify the host; None: as the system does.
        limit: Bytes of a message.

    Raises:
        OSError: There is no connection.
        ChannelClosed: The host refuses it.
    """
    given = {TOKEN_HEADER: token, "x-acp-agent": agent, "x-acp-version": ACP_VERSION}
    headers = {name: value for name, value in given.items() if value and value.isascii() and value.isprintable()}
    try:
        socket = await _Connect(
            url,
            additional_headers=headers,
            max_size=limit,
            ping_interval=PING_SECONDS,
            ping_timeout=PING_TIMEOUT_SECONDS,
            close_timeout=_CLOSE_SECONDS,
            compression=None,
            proxy=None,
            logger=WEBSOCKET_LOG,
            ssl=tls or url.startswith("wss:") or None,
        )
    except ssl.SSLCertVerificationError as error:
        raise session.ChannelClosed(f"TLS failed: {error}", code=session.UNTRUSTED) from None
    except InvalidHandshake as error:
        raise session.ChannelClosed(f"the host refuses the WebSocket: {error}") from None
    return _ClientChannel(socket)


class _Connect(connect):
    """Follows no redirect: our token goes only where the caller sends it."""

    def process_redirect(self, exc: Exception) -> Exception:
        return exc


class _ServerChannel(session.Channel):
    """A WebSocket of an ASGI server, which sends pings by itself."""

    binding = Binding.WS_P2P

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket

    async def send(self, text: str) -> None:
        try:
            await self._socket.send_text(text)
        except (WebSocketDisconnect, RuntimeError, OSError) as error:
            raise session.ChannelClosed(f"the WebSocket is closed: {type(error).__name__}") from None

    async def receive(self) -> str:
        try:
            message = await self._socket.receive()
        except RuntimeError:
            raise session.ChannelClosed("the WebSocket is closed") from None
        if message["type"] == "websocket.disconnect":
            raise session.ChannelClosed(f"the WebSocket was closed with {message.get('code')}")
        return text_of(message.get("text"))

    async def aclose(self, code: str = "") -> None:
        with suppress(WebSocketDisconnect, RuntimeError, OSError, TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                if code and code != session.REPLACED:
                    await self._socket.send_text(serialize_envelope(ErrorMessage(code=code)))
                await self._socket.close(CLOSE_CODES.get(code, 1008))


class _ClientChannel(session.Channel):
    """A WebSocket of ours."""

    binding = Binding.WS_P2P

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def send(self, text: str) -> None:
        try:
            await self._socket.send(text)
        except ConnectionClosed as closed:
            raise session.ChannelClosed(f"the WebSocket is closed: {closed}") from None

    async def receive(self) -> str:
        try:
            message = await self._socket.recv()
        except ConnectionClosed as closed:
            is_denied = closed.rcvd is not None and closed.rcvd.code == CLOSE_INVALID_TOKEN
            code = session.TOKEN_REFUSED if is_denied else ""
            raise session.ChannelClosed(f"the WebSocket is closed: {closed}", code=code) from None
        return text_of(message)

    async def aclose(self, code: str = "") -> None:
        await self._socket.close(CLOSE_CODES.get(code, 1008))


def text_of(message: object) -> str:
    """Return the text of a frame.

    Raises:
        DecodeError: ERR_INVALID_REQUEST, it is a binary frame.
    """
    if not isinstance(message, str):
        reason = "expected a text frame, found a binary one"
        raise DecodeError(reason, code=AcpError.INVALID_REQUEST, text="", position=0)
    return message
