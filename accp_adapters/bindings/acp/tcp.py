"""Binding E, TCP with or without TLS: one JSON object per line (ACP transport 0.3, section 7)."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import anyio
from anyio.abc import ByteStream, SocketAttribute
from anyio.streams.tls import TLSAttribute, TLSStream

from accp_adapters.bindings.acp.lines import TOKEN, LineChannel
from accp_adapters.bindings.acp.sessions.channel import TOKEN_REFUSED, UNTRUSTED, ChannelClosed
from accp_adapters.bindings.acp.sessions.host import AcpAgent, AcpHost, host_of
from accp_adapters.bindings.acp.sessions.limits import DEFAULT_ACP_LIMITS, AcpLimits
from accp_adapters.bindings.identity import AccessDenied, Authenticate, Principal, loopback_only, with_bearer_token
from accp_adapters.serving.hosts import network_of
from accp_core.acp import AcpError, Binding, CardMessage, parse_envelope
from accp_core.errors import DecodeError, LocalProtocolError

__all__ = ["open_tcp", "serve_tcp"]

_LOGGER: Final = logging.getLogger("accp.acp")
_UNANSWERED_MILLISECONDS: Final = 30_000
"""Until a peer that does not acknowledge what TCP sends counts as gone."""


@asynccontextmanager
async def serve_tcp(
    agent: AcpAgent | AcpHost,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    ssl: ssl.SSLContext | None = None,
    authenticate: Authenticate = loopback_only,
    limits: AcpLimits = DEFAULT_ACP_LIMITS,
) -> AsyncIterator[int]:
    """Serve an agent over TCP while the context lasts; yields the port.

    Args:
        agent: The agent, or a host that other bindings share, which then brings `authenticate` and `limits`.
        host: The address to listen on.
        port: The port; 0: any that is free.
        ssl: The server's TLS; None: without.
        authenticate: Who is let in: by a client certificate, or by the token beside the card in the first line.
        limits: What each peer may use.
    """
    server = host_of(agent, authenticate, limits)
    server.announce(Binding.TCP)
    listener = await anyio.create_tcp_listener(local_host=host, local_port=port)
    bound = listener.extra(SocketAttribute.local_port)

    async def connected(stream: ByteStream) -> None:
        try:
            if secured := await _secured(server, stream, ssl) if ssl else stream:
                await _serve_one(server, secured)
        except Exception:
            _LOGGER.exception("a connection over TCP failed")

    async with listener:
        serving = asyncio.create_task(listener.serve(connected))
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
        code = UNTRUSTED if isinstance(error, ssl.SSLCertVerificationError) else ""
        raise ChannelClosed(f"TLS failed: {error}", code=code) from None
    return LineChannel(stream, binding=Binding.TCP, limit=limit, token=token)


async def _secured(server: AcpHost, stream: ByteStream, tls: ssl.SSLContext) -> ByteStream | None:
    """Return a connection with TLS, None where it failed, which closes it."""
    try:
        with server.stranger(network_of(_scope(stream))), anyio.fail_after(server.limits.handshake_seconds):
            return await TLSStream.wrap(stream, ssl_context=tls, standard_compatible=False)
    except (OSError, LocalProtocolError, anyio.BrokenResourceError, anyio.EndOfStream):
        await anyio.aclose_forcefully(stream)
        return None


async def _serve_one(server: AcpHost, stream: ByteStream) -> None:
    scope, whole = _scope(stream), anyio.CancelScope()

    def count(size: int) -> None:
        server.unread.count(network_of(scope), stream, size, whole.cancel)

    channel = LineChannel(stream, binding=Binding.TCP, limit=server.limits.card_bytes, count=count)
    try:
        with whole:
            await _admit_and_serve(server, channel, stream, scope)
    finally:  # the end of the server cancels again and again, whatever else was to close the stream
        count(0)
        with anyio.CancelScope(shield=True):
            await anyio.aclose_forcefully(stream)


async def _admit_and_serve(server: AcpHost, channel: LineChannel, stream: ByteStream, scope: dict[str, Any]) -> None:
    try:
        _watch(stream)
        with server.stranger(network_of(scope)):
            principal, first = await _admit(server, channel, scope)
        channel.limit = server.limits.message_bytes
        with server.connection(principal):
            await server.serve(channel, principal, first)
    except AccessDenied:
        await channel.aclose(TOKEN_REFUSED)
    except TimeoutError:
        await channel.aclose(AcpError.TIMEOUT)
    except (LocalProtocolError, DecodeError, ChannelClosed) as error:
        await channel.aclose(error.code)


async def _admit(server: AcpHost, channel: LineChannel, scope: dict[str, Any]) -> tuple[Principal, str | None]:
    """Return whom a connection is of, and its first line where that had to be read.

    Raises:
        AccessDenied: Neither the certificate nor the first line says who it is.
        TimeoutError: The first line does not come in time.
    """
    try:
        return await server.authenticate(scope), None
    except AccessDenied:
        with anyio.fail_after(server.limits.handshake_seconds):
            first = await channel.receive()
    envelope = parse_envelope(first, limit=server.limits.message_bytes)
    token = envelope.extra.get(TOKEN) if isinstance(envelope, CardMessage) else None
    if not isinstance(token, str):
        raise AccessDenied("expected a card with a token as the first line, found none")
    return await server.authenticate(with_bearer_token(scope, token)), first


def _scope(stream: ByteStream) -> dict[str, Any]:
    """Return what `Authenticate` asks of a connection, as ASGI servers say it."""
    scope: dict[str, Any] = {
        "type": "acp.tcp",
        "headers": [],
        "client": stream.extra(SocketAttribute.remote_address, None),
    }
    tls = stream.extra(TLSAttribute.ssl_object, None)
    certificate = tls.getpeercert(binary_form=True) if tls is not None else None
    if certificate is not None:
        scope["extensions"] = {"tls": {"client_cert_chain": [ssl.DER_cert_to_PEM_cert(certificate)]}}
    return scope


def _watch(stream: ByteStream) -> None:
    """Have the system notice a peer that is gone without a word."""
    raw = stream.extra(SocketAttribute.raw_socket, None)
    if raw is not None and raw.family in (socket.AF_INET, socket.AF_INET6):
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNANSWERED_MILLISECONDS)
