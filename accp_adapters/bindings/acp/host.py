"""The sessions of one agent with all its peers, over any binding."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Final, Protocol

import anyio

from accp_adapters.bindings.acp.session import DUPLICATE, TOKEN_REFUSED, AcpSession, Channel, ChannelClosed, Content
from accp_adapters.serving.limits import Quota, ServerLimits, TooMany, weight_of
from accp_adapters.serving.principals import ANONYMOUS, Authenticate, Principal, Scope, loopback_only, with_bearer_token
from accp_adapters.serving.threads import OWNER, off_loop
from accp_adapters.serving.turns import Turns
from accp_core.acp import AcpError, AcpMessage, AgentCard, Binding, CardMessage, SendResult, parse_envelope
from accp_core.acp.connection import RESUME
from accp_core.acp.envelope import Json
from accp_core.errors import DecodeError, LocalProtocolError

__all__ = ["AcpAgent", "AcpHost", "host_of", "seconds_left"]

_CAPABILITIES: Final[Mapping[str, Json]] = {
    "multi_session": True,
    "context_id": True,
    "part_types": ["text", "file", "data"],
    RESUME: True,
}
CARD_SECONDS: Final = 2.0
"""Until the first text of a connection that may bring a card; after that it goes on without."""
SILENT_SECONDS: Final = 5.0
"""After which a connection that says nothing gives way to a newer one of the same token. "Reconnect (up to
MAX_RETRIES)" (section 3.3): a guest whose connection died unnoticed must come back within its own three attempts."""
_MAX_STRANGERS: Final = 100
"""Connections that have not said yet who they are; for another one, the oldest is refused."""


class AcpAgent(Protocol):
    """What answers the peers."""

    card: AgentCard
    """How the agent describes itself."""

    def handle(self, message: AcpMessage, peer: AcpSession) -> Awaitable[Content | None]:
        """Handle a message and return the reply, None for no reply; `peer` can be sent to as well.

        Messages of one peer come one after the other, in order and once in the life of this process.
        """


class AcpHost:
    """Finds the session of each connection and bounds how many there are.

    A principal has one session, over any binding. Who needs no authentication has one for each connection:
    nothing says that two of them are of the same peer, until a card names the session that it resumes.
    """

    def __init__(
        self, agent: AcpAgent, *, authenticate: Authenticate = loopback_only, limits: ServerLimits | None = None
    ) -> None:
        """Serve `agent` to whom `authenticate` lets in."""
        self.agent = agent
        self.card = agent.card
        """The agent's card, with the bindings that serve it."""
        self.authenticate = authenticate
        self.limits = limits = limits or ServerLimits()
        self.memory: Final = Quota(limits.buffered_bytes, limits.buffered_bytes // 4, "bytes of messages")
        self._sessions: dict[str, AcpSession] = {}
        self._connected: Final = Quota(limits.places, limits.places_each, "connections")
        self._strangers: dict[object, anyio.CancelScope] = {}
        self._turns: Final = Turns()

    # "An ACP implementation announces which bindings it supports in its AgentCard." (section 1)
    def announce(self, *bindings: Binding) -> None:
        """Add bindings to the card, and what follows from having a session for each peer."""
        known = (*self.card.bindings, *(each for each in bindings if each not in self.card.bindings))
        capabilities = {**_CAPABILITIES, **self.card.capabilities}
        self.card = replace(self.card, bindings=known, capabilities=capabilities)

    @property
    def connections(self) -> int:
        """How many connections and event streams there are."""
        return len(self._connected) + len(self._strangers)

    def sessions(self, principal: Principal | None = None) -> list[AcpSession]:
        """Return the sessions of a principal; None: of all."""
        return [each for each in self._sessions.values() if principal is None or each.principal.name == principal.name]

    async def send(self, peer: str, content: Content | AcpMessage, *, wait: bool = True) -> SendResult:
        """Send a message to the peer of this name, raises as `AcpSession.send`.

        Raises:
            LocalProtocolError: ERR_NOT_FOUND.
        """
        for session in self._sessions.values():
            if session.name == peer:
                return await session.send(content, wait=wait)
        raise LocalProtocolError(f"expected a known peer, found {peer!r}", code=AcpError.NOT_FOUND)

    def shared_session(self, principal: Principal) -> AcpSession:
        """Return the session of a principal over requests, such as those of HTTP, which share one."""
        known = [session for session in self.sessions(principal) if session.name == principal.name]
        return self._used(known[0]) if known else self._new(principal, principal.name)

    async def admit(self, scope: Scope, token: str = "") -> Principal:
        """Return whose a request or connection is, when it is the turn of that one; `token` replaces its own.

        Raises:
            AccessDenied: It has no known principal.
        """
        principal = await self.authenticate(with_bearer_token(scope, token) if token else scope)
        OWNER.set(principal.name)
        await self._turns.begin(self._turns.line(principal.name, scope.get("client")))
        return principal

    @contextmanager
    def connection(self, principal: Principal) -> Iterator[None]:
        """Count one more connection of a principal while the context lasts.

        Raises:
            LocalProtocolError: ERR_NOT_CONNECTED, there are too many.
        """
        try:
            with self._connected.taken(principal.name):
                yield
        except TooMany as error:
            raise LocalProtocolError(error.reason, code=AcpError.NOT_CONNECTED) from None

    @contextmanager
    def stranger(self) -> Iterator[None]:
        """Count a connection whose peer is not known yet, until the context ends, for a limited time.

        Raises:
            LocalProtocolError: ERR_NOT_CONNECTED, it was the oldest of too many.
            TimeoutError: It says nothing.
        """
        while len(self._strangers) >= _MAX_STRANGERS:
            self._strangers.pop(next(iter(self._strangers))).cancel()
        key = object()
        with anyio.fail_after(self.limits.body_time), anyio.CancelScope() as scope:
            self._strangers[key] = scope
            try:
                yield
            finally:
                self._strangers.pop(key, None)
        if scope.cancelled_caught:
            reason = "expected fewer connections that do not say who they are"
            raise LocalProtocolError(reason, code=AcpError.NOT_CONNECTED)

    async def serve(self, channel: Channel, principal: Principal, first: str | None = None) -> ChannelClosed:
        """Exchange messages with an authenticated peer over one connection until it ends; return why it ended.

        Args:
            channel: The connection.
            principal: Whom it is of.
            first: The first text of the peer, where it was read already.
        """
        try:
            if first is None:  # a peer that says nothing waits for our card
                with suppress(TimeoutError):
                    async with asyncio.timeout(CARD_SECONDS):
                        first = await channel.receive()
            resumed = await off_loop(len(first or ""), _resumed_log, first, self.limits.buffered_bytes // 4)
            session = self._session_of(principal, resumed, channel.binding)
        except (ChannelClosed, DecodeError, LocalProtocolError) as error:
            await channel.aclose(error.code)
            return error if isinstance(error, ChannelClosed) else ChannelClosed(error.reason, code=error.code)
        if session is None:
            await channel.aclose(DUPLICATE)
            return ChannelClosed("the token is in use on another connection", code=DUPLICATE)
        try:
            async with asyncio.timeout(seconds_left(principal)):
                return await session.run(channel, first)
        except TimeoutError:
            return ChannelClosed("the right of the peer has ended", code=TOKEN_REFUSED)

    # "When Binding A fails, the guest reuses the same token to join the relay session" (section 5.1), and comes back.
    def _session_of(self, principal: Principal, resumed: str | None, binding: Binding) -> AcpSession | None:
        """Return the session that a connection goes on with, or a new one; None: the token is in use elsewhere.

        A direct connection takes over from a relay, on which nothing says at once that a guest is gone.
        """
        known = self.sessions(principal)
        if (session := self._sessions.get(resumed or "")) is not None and session in known:
            return self._used(session)
        if principal == ANONYMOUS:
            names = {session.name for session in known}
            number = next(number for number in range(1, len(names) + 2) if f"{principal.name}-{number}" not in names)
            return self._new(principal, f"{principal.name}-{number}")
        if not known:
            return self._new(principal, principal.name)
        before, silence = known[0].channel, time.monotonic() - known[0].heard
        is_relayed = before is not None and before.binding is Binding.HTTP_RELAY
        gives_way = before is None or (is_relayed and binding is not Binding.HTTP_RELAY) or silence >= SILENT_SECONDS
        return self._used(known[0]) if gives_way else None

    def _new(self, principal: Principal, name: str) -> AcpSession:
        while len(self._sessions) >= self.limits.places:
            self._evict()
        session = AcpSession(
            self.card,
            name=name,
            principal=principal,
            handler=self.agent.handle,
            limits=self.limits,
            memory=self.memory,
            is_server=True,
        )
        self._sessions[session.connection.log_id] = session
        return session

    def _used(self, session: AcpSession) -> AcpSession:
        """Return the session, as the one that was used last."""
        key = session.connection.log_id
        self._sessions[key] = self._sessions.pop(key)
        return session

    def _evict(self) -> None:
        """Forget the session that was unused for longest and has no connection."""
        for key, session in self._sessions.items():
            if session.channel is None:
                session.end()
                del self._sessions[key]
                return
        reason = f"expected at most {self.limits.places} connected peers, found another one"
        raise LocalProtocolError(reason, code=AcpError.NOT_CONNECTED)


def host_of(agent: AcpAgent | AcpHost, authenticate: Authenticate, limits: ServerLimits | None) -> AcpHost:
    """Return the host of an agent; a host, which several bindings share, stays as it is."""
    return agent if isinstance(agent, AcpHost) else AcpHost(agent, authenticate=authenticate, limits=limits)


def seconds_left(principal: Principal) -> float | None:
    """Return the seconds until the right of a principal ends, None where it does not end by itself."""
    return None if principal.expires_at is None else max(0.0, principal.expires_at - time.time())


def _resumed_log(text: str | None, most: int) -> str | None:
    """Return the log that a peer's first text resumes, None where it resumes none, or would take over `most` bytes."""
    try:
        envelope = None if text is None or weight_of(text) > most else parse_envelope(text)
    except DecodeError:
        return None
    resume = envelope.extra.get(RESUME) if isinstance(envelope, CardMessage) else None
    log = resume.get("peer_log") if isinstance(resume, dict) else None
    return log if isinstance(log, str) else None
