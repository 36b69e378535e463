"""One client for all bindings: connect to a peer, and again whenever the connection is lost (section 3.3)."""

from __future__ import annotations

import asyncio
import random
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from accp_adapters.backoff import Backoff
from accp_adapters.bindings.acp.channels import open_process, open_tcp, open_web_socket
from accp_adapters.bindings.acp.host import CARD_SECONDS, AcpAgent
from accp_adapters.bindings.acp.http import open_http
from accp_adapters.bindings.acp.relay import Position, open_relay
from accp_adapters.bindings.acp.session import DUPLICATE, HOPELESS, AcpSession, Channel, ChannelClosed
from accp_adapters.serving.limits import ServerLimits
from accp_adapters.serving.principals import check_token
from accp_core.acp import AcpError, AgentCard, Binding, Link, next_link, parse_link
from accp_core.errors import EncodeError, ProtocolError, RemoteProtocolError

__all__ = ["acp_connect"]

_AT_ONCE_SECONDS: Final = 0.1
"""At most, before the first attempt after a connection that worked."""
_BACKOFF: Final = Backoff(first=2.0, longest=60.0)


@dataclass(slots=True, kw_only=True)
class _Target:
    """The peer of a client, how to reach it, and how far that has come."""

    address: str | Sequence[str]
    card: AgentCard
    token: str
    tls: ssl.SSLContext | None
    relay: Link | None
    position: Position = field(default_factory=Position)
    failed: object = "none"
    """Why the last attempt failed."""

    async def open(self, session: AcpSession, failures: int) -> Channel:
        """Return a new connection, after `failures` attempts in a row have failed.

        Raises:
            OSError, ChannelClosed: There is none.
        """
        address, limit = self.address, session.limits.frame_bytes
        if not isinstance(address, str):
            return await open_process(address, limit=limit)
        if address.startswith(("acp:", "acp+")):
            link = next_link(parse_link(address), failures, self.relay)
            if link.binding is Binding.HTTP_RELAY:
                return await open_relay(link, name=self.card.name, position=self.position, tls=self.tls, limit=limit)
            address = link.url
        url = urlsplit(address)
        if url.scheme in ("http", "https"):
            return await open_http(address, session, token=self.token, tls=self.tls)
        if url.scheme in ("ws", "wss"):
            return await open_web_socket(address, token=self.token, agent=self.card.name, tls=self.tls, limit=limit)
        if url.scheme in ("tcp", "tls") and url.hostname and url.port:
            tls = (self.tls or ssl.create_default_context()) if url.scheme == "tls" else None
            return await open_tcp(url.hostname, url.port, tls=tls, token=self.token, limit=limit)
        reason = f"expected acp, acp+ws, acp+wss, ws, wss, http, https, tcp or tls, found {url.scheme!r}"
        raise EncodeError(reason, code=AcpError.INVALID_REQUEST)


@asynccontextmanager
async def acp_connect(
    address: str | Sequence[str],
    *,
    card: AgentCard | None = None,
    agent: AcpAgent | None = None,
    token: str = "",
    tls: ssl.SSLContext | None = None,
    relay: str = "",
    allow_plain_text: bool = False,
    limits: ServerLimits | None = None,
    wait_seconds: float | None = 30.0,
) -> AsyncIterator[AcpSession]:
    """Connect to a peer and stay connected while the context lasts; what is sent meanwhile arrives once, in order.

    Args:
        address: "acp://host:port/token", "ws://…" or "wss://…" (A), the words of a command (B), "acp+wss://…" (C),
            "http://…" or "https://…" (D), "tcp://host:port" or "tls://host:port" (E).
        card: Our card; None: that of `agent`, or one that says "client".
        agent: Handles the messages of the peer; None: `AcpSession.messages` yields them.
        token: Who we are, said as the binding says it: never in a URL.
        tls: How to verify the peer; None: as the system does.
        relay: "acp+wss://host/acp/token" to use after three failures of "acp://…", with the token of the latter.
        allow_plain_text: Whether a token may be sent to another machine without TLS, as where something else encrypts.
        limits: What the peer may use; None: the defaults.
        wait_seconds: Until the first connection; None: do not wait, messages are kept for it.

    Raises:
        EncodeError, DecodeError: ERR_INVALID_REQUEST: the address is none.
        ValueError: As `check_token`.
        RemoteProtocolError: The code of the peer, such as "invalid_token"; ERR_NOT_CONNECTED: no connection in time.
    """
    for each in (address, relay):
        if isinstance(each, str):
            secret = parse_link(each).token if each.startswith(("acp:", "acp+")) else token
            check_token(secret if each else "", each, allow_plain_text=allow_plain_text)
    handler = agent.handle if agent is not None else None
    own = card or (agent.card if agent is not None else AgentCard(name="client"))
    target = _Target(address=address, card=own, token=token, tls=tls, relay=parse_link(relay) if relay else None)
    session = AcpSession(own, name="peer", handler=handler, limits=limits)
    staying = asyncio.create_task(_stay_connected(session, target))
    try:
        if wait_seconds is not None:
            await _connected(session, staying, wait_seconds, target)
        yield session
    finally:
        staying.cancel()
        with suppress(asyncio.CancelledError, ProtocolError):
            await staying
        session.end()


async def _stay_connected(session: AcpSession, target: _Target) -> None:
    """Connect again and again.

    Raises:
        RemoteProtocolError: The peer refuses us for good.
        EncodeError, DecodeError: There is no such address.
    """
    failures = 0
    while True:
        try:
            closed = await session.run(await target.open(session, failures))
            failures = 0 if session.peer is not None and closed.code != DUPLICATE else failures + 1
        except OSError as error:
            closed, failures = ChannelClosed(f"no connection: {error}"), failures + 1
        except ChannelClosed as error:
            closed, failures = error, failures + 1
        target.failed = closed
        if closed.code in HOPELESS:
            reason = f"the peer refuses the connection: {closed}"
            session.end(reason)
            raise RemoteProtocolError(reason, code=closed.code, reply=None)
        await asyncio.sleep(_BACKOFF.delay(failures) if failures else random.random() * _AT_ONCE_SECONDS)


async def _connected(session: AcpSession, staying: asyncio.Task[None], seconds: float, target: _Target) -> None:
    """Wait until the peer has sent its card, or has been connected for some time without one."""
    try:
        async with asyncio.timeout(seconds):
            while session.peer is None and not staying.done():
                channel = session.channel
                patience = CARD_SECONDS if channel is not None else _AT_ONCE_SECONDS
                # A connection that was opened during this wait has been there for less than `CARD_SECONDS`.
                if not await session.changed.wait(patience) and channel is not None and session.channel is channel:
                    break
    except TimeoutError:
        reason = f"expected a connection within {seconds:g} seconds, found {target.failed}"
        raise RemoteProtocolError(reason, code=AcpError.NOT_CONNECTED, reply=None) from None
    if staying.done():
        staying.result()
