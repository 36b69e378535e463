"""`connect(url)`: one client for ACCP over HTTP and WebSocket (ACCP sections 11.1 and 11.2)."""

from __future__ import annotations

import asyncio
import secrets
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Final

from accp_adapters.backoff import Backoff
from accp_adapters.bindings.accp.answers import Address, ConnectionRefused, TokenSource, parse_address
from accp_adapters.bindings.accp.client_session import ClientSession
from accp_adapters.bindings.accp.http_carrier import HttpCarrier
from accp_adapters.bindings.accp.websocket_carrier import WebSocketCarrier
from accp_adapters.stores import embedded_store
from accp_adapters.tokens import o200k_base
from accp_core.accp.budget import PRACTICAL_LIMITS
from accp_core.accp.codec import Codec
from accp_core.accp.session.delivery import SequenceScope
from accp_core.accp.session.events import SessionOptions
from accp_core.accp.session.session import Session
from accp_core.error_codes import ErrorCode
from accp_core.ports import ColdStore

__all__ = ["ClientOptions", "connect"]

_HEARTBEAT: Final = 30
"""Seconds: "ping/pong intent frames every 30 seconds" (section 11.2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientOptions:
    """How a client behaves; times are in seconds."""

    timeout: int | None = 300
    """How long a request waits for an answer or a sign of work, then E3001; None: without end."""
    first_time: float = 30.0
    """How long the first connection may take, with all its attempts."""
    close_time: float = 10.0
    """How long the end waits for frames that are still to be sent."""
    backoff: Backoff = field(default_factory=Backoff)
    """The delays between two attempts."""
    parallel: int = 8
    """HTTP requests at once."""
    answer_time: float = 660.0
    """How long the next part of an HTTP response may take."""
    frame_bytes: int = 1 << 20
    """Bytes of a received frame."""
    sequence: SequenceScope | str = SequenceScope.RECOGNIZED
    """How a server counts that has not said that it resumes: "received", one count an end; "shared", one count a
    session, so that one request is sent after the other; "recognized", as its first number shows."""
    allow_plain_text: bool = False
    """Whether a token may be sent to another machine without TLS, as where something else encrypts."""


@asynccontextmanager
async def connect(
    url: str,
    *,
    agent_id: str = "client",
    token: TokenSource = None,
    tls: ssl.SSLContext | None = None,
    session_id: str | None = None,
    codec: Codec | None = None,
    store: ColdStore | None = None,
    options: ClientOptions | None = None,
) -> AsyncIterator[ClientSession]:
    """Connect to a server and yield a session; connect again, and resume it, whenever the connection is lost.

    ```python
    async with connect("wss://agents.example", token=token) as session:
        answer = await session.request(message)
    ```

    Args:
        url: An http(s) URL: each frame is a request; or a ws(s) URL: one connection.
        agent_id: The agent at this end, in whose name it may send.
        token: A bearer token, or what returns the one that is valid now; it is sent in a header field only.
        tls: Which certificates are trusted, and our own; None: the usual ones.
        session_id: The id of the session; None: a new one.
        codec: Encodes and decodes; None: one that counts with `o200k_base`.
        store: Where cold texts are; None: in this process.
        options: Limits and times.

    Raises:
        ValueError: `url` is no such URL, or a token would be sent in plain text to another machine.
        ConnectionRefused: The server does not let this client in, or cannot be reached in time (E3001).
    """
    chosen = options or ClientOptions()
    address = parse_address(url, has_token=token is not None, allow_plain_text=chosen.allow_plain_text)
    agreed = codec or Codec(counter=o200k_base())

    def new_session() -> Session:
        return Session(
            session_id or f"s-{secrets.token_hex(8)}",
            agent_id,
            # To a server that has not agreed to more, a message is one frame of the draft's grammar.
            codec=replace(agreed.literal(), limits=PRACTICAL_LIMITS),
            new_id=lambda: secrets.token_hex(6),
            options=_session_options(address, chosen),
        )

    session = ClientSession(new_session, store or embedded_store(), _resuming_options(address, chosen), agreed)
    carrier = _carrier(session, address, token, tls, chosen)
    ready = asyncio.Event()
    tasks = [asyncio.ensure_future(carrier.run(ready)), asyncio.ensure_future(_tick(session))]
    try:
        await _first_connection(session, carrier, ready, tasks[0], chosen.first_time)
        yield session
        await _finish(session, carrier, tasks[0], chosen.close_time)
    finally:
        session.lose(None)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _session_options(address: Address, chosen: ClientOptions) -> SessionOptions:
    """Return the options of a session with a server of which nothing is known."""
    return SessionOptions(
        scope=SequenceScope(chosen.sequence),
        name_session=True,
        timeout=chosen.timeout,
        heartbeat=_HEARTBEAT if address.is_websocket else None,
    )


def _resuming_options(address: Address, chosen: ClientOptions) -> SessionOptions:
    """Return the options with a server that resumes; over HTTP the answers of parallel requests overtake each other."""
    options = replace(_session_options(address, chosen), scope=SequenceScope.RECEIVED, first=1, registry_first=True)
    return options if address.is_websocket else replace(options, reorder=256, gap_delay=int(chosen.answer_time))


def _carrier(
    session: ClientSession, address: Address, token: TokenSource, tls: ssl.SSLContext | None, chosen: ClientOptions
) -> HttpCarrier | WebSocketCarrier:
    if address.is_websocket:
        return WebSocketCarrier(
            session, address, token=token, tls=tls, frame_bytes=chosen.frame_bytes, backoff=chosen.backoff
        )
    return HttpCarrier(
        session,
        address,
        token=token,
        tls=tls,
        parallel=chosen.parallel,
        answer_time=chosen.answer_time,
        frame_bytes=chosen.frame_bytes,
        backoff=chosen.backoff,
    )


async def _first_connection(
    session: ClientSession,
    carrier: HttpCarrier | WebSocketCarrier,
    ready: asyncio.Event,
    carrying: asyncio.Task[None],
    seconds: float,
) -> None:
    waiting = asyncio.ensure_future(ready.wait())
    await asyncio.wait([waiting, carrying], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if carrying.done():
        carrying.result()
        session.check()
    elif not ready.is_set():
        cause = carrier.last_failure or "no answer"
        reason = f"expected a connection to {carrier.url} within {seconds} seconds, found {cause}"
        raise ConnectionRefused(reason, code=ErrorCode.TIMEOUT)


async def _finish(
    session: ClientSession, carrier: HttpCarrier | WebSocketCarrier, carrying: asyncio.Task[None], seconds: float
) -> None:
    """Send what is still to be sent, and close the connection."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await carrier.drain()
            session.lose(None)
            await carrier.close()
            await asyncio.wait([carrying])


async def _tick(session: ClientSession) -> None:
    while True:
        await asyncio.sleep(1.0)
        await session.tick()
