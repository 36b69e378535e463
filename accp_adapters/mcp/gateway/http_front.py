"""A gateway, or one server of standard streams, as a streamable HTTP endpoint (MCP 2025-11-25, transports).

Each client has a session of its own with servers of its own, since a server on standard streams serves one client. A
request is answered on its own response: as JSON, or as an event stream where something comes before the answer. What
belongs to no request goes to the stream that the client opens by GET. Streams are not resumed.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from http import HTTPStatus
from typing import Final

from accp_adapters.mcp.gateway.configuration import ServerSettings
from accp_adapters.mcp.gateway.session import GatewaySession
from accp_adapters.mcp.links.link import Link
from accp_adapters.mcp.proxy.admission import TOKEN_OWNER, ProxyLimits
from accp_adapters.mcp.proxy.callers import SESSION_HEADER
from accp_adapters.mcp.proxy.exchange import ClientResponse
from accp_adapters.mcp.proxy.lines import LinkedClient
from accp_adapters.mcp.proxy.message import Message, error_message
from accp_adapters.mcp.proxy.relay import Relay
from accp_adapters.mcp.shim.protocol import JsonObject, MessageId, message_id
from accp_adapters.serving.bodies import (
    BodyRefused,
    ByteLease,
    Leases,
    Memory,
    Receive,
    Scope,
    Send,
    read_body,
    run_until_disconnect,
    weight_of,
)
from accp_adapters.serving.hosts import AllowedHosts, header, network_of
from accp_adapters.serving.off_loop import OWNER
from accp_adapters.serving.response_bodies import too_long
from accp_adapters.serving.shares import Shares, TooMany

__all__ = ["PATH", "GatewayApp"]

_LOG: Final = logging.getLogger(__name__)

PATH: Final = "/mcp"
"""The path of the endpoint."""
_MAX_SESSIONS: Final = 100
"""Clients at once: each has processes of its own."""
_MAX_WAITING_BYTES: Final = 16 * 1024 * 1024
"""Bytes of the messages that wait for one response; beyond, what answers nothing is dropped."""


class _Stream:
    """The messages for one response, whose bytes count until they are written."""

    def __init__(self, leases: Leases, request: JsonObject | None = None) -> None:
        params = (request or {}).get("params")
        meta = params.get("_meta") if isinstance(params, dict) else None
        self.answers: Final = message_id(request) if request else None
        """The id of the request that the stream ends with; None for the stream of a GET."""
        self.token: Final = meta.get("progressToken") if isinstance(meta, dict) else None
        self._leases: Final = ExitStack()
        self._lease: Final = self._leases.enter_context(leases())
        self._lines: Final[asyncio.Queue[tuple[bytes, bool]]] = asyncio.Queue()
        self._last = 0

    def put(self, message: Message) -> None:
        """Add a message; an answer is the last one."""
        is_answer, line = "method" not in message.members, message.line
        if not is_answer and self._lease.size + len(line) > _MAX_WAITING_BYTES:
            _LOG.debug("a message is dropped: the client does not read those before it")
            return
        if not self._lease.add(len(line)):
            if not is_answer:
                return
            line = error_message(str(too_long(len(line))), message).line
            self._lease.add(len(line))
        self._lines.put_nowait((line, is_answer))

    def end(self) -> None:
        """End the response."""
        self._lines.put_nowait((b"", True))

    def close(self) -> None:
        """Give back the bytes of what was not written."""
        self._leases.close()

    async def get(self) -> tuple[bytes, bool]:
        """Return the next message, empty where there is none, and whether it is the last; the one before is written."""
        line, is_last = await self._lines.get()
        self._lease.add(-self._last)
        self._last = len(line)
        return line, is_last


class _Session:
    """One client: its link, and the responses that are open."""

    def __init__(self, link: Link, relay: Relay, owner: str, leases: Leases, count: Callable[[_Session], None]) -> None:
        self.identity: Final = secrets.token_urlsafe(24)
        self.owner: Final = owner
        """Whose it is: of a token, or where there are none, of an address."""
        self.leases: Final = leases
        """The bytes of the owner."""
        self.client: Final = LinkedClient(relay, link, self._route)
        self._count: Final = count
        """Counts the texts that are kept for the session."""
        self._calls: Final[dict[MessageId, _Stream]] = {}
        self._listening = _Stream(leases)
        self._is_heard = False
        """Whether the client reads the stream of what belongs to no request."""

    @property
    def is_idle(self) -> bool:
        """Whether the client has no response open."""
        return not self._calls and not self._is_heard

    def call(self, request: JsonObject) -> _Stream:
        """Return the stream on which `request` is answered."""
        stream = _Stream(self.leases, request)
        assert stream.answers is not None
        self._calls[stream.answers] = stream
        return stream

    def listen(self) -> _Stream:
        """Return the stream of what belongs to no request; an older one ends."""
        if self._is_heard:
            self._listening.end()
            self._listening = _Stream(self.leases)
        self._is_heard = True
        return self._listening

    def leave(self, stream: _Stream) -> None:
        """Forget a stream whose response is over."""
        stream.close()
        if stream is self._listening:
            self._listening, self._is_heard = _Stream(self.leases), False
        elif stream.answers is not None and self._calls.get(stream.answers) is stream:
            del self._calls[stream.answers]

    async def close(self) -> None:
        """End the servers and all streams."""
        await self.client.close()
        for stream in (*self._calls.values(), self._listening):
            stream.end()
        if not self._is_heard:
            self._listening.close()

    def _route(self, message: Message) -> None:
        """Put a message for the client on the stream to which it belongs."""
        self._count(self)
        members = message.members
        if "method" in members:
            self._stream_for(members).put(message)
        elif (key := message_id(members)) in self._calls:
            self._calls[key].put(message)

    def _stream_for(self, message: JsonObject) -> _Stream:
        """Return the stream of a notification or request: of its call, of any call for a request, or of the GET."""
        params = message.get("params")
        token = params.get("progressToken") if isinstance(params, dict) else None
        calls = list(self._calls.values())
        if message["method"] == "notifications/progress":
            return next((each for each in calls if each.token == token and token is not None), self._listening)
        # A standard stream does not say to which call a question belongs; one that is open is answered in time.
        return calls[-1] if calls and ("id" in message or not self._is_heard) else self._listening


class GatewayApp:
    """The ASGI application."""

    def __init__(
        self,
        servers: Sequence[ServerSettings],
        new_relay: Callable[[], Relay],
        *,
        is_bare: bool = False,
        hosts: AllowedHosts | None = None,
        limits: ProxyLimits | None = None,
        max_sessions: int = _MAX_SESSIONS,
    ) -> None:
        """Serve all servers.

        Args:
            servers: The servers, started anew for each client.
            new_relay: Returns the relay of a new session.
            is_bare: Whether names have no prefix, since there is one server.
            hosts: The names by which clients may reach the endpoint; None: the loopback names.
            limits: The limits of memory and time; None: the defaults.
            max_sessions: Clients at once, and half as many of one token or address; beyond, whoever has most loses the
                one that was silent for longest, or is refused (503) where all of them are busy.
        """
        self._servers = servers
        self._new_relay = new_relay
        self._is_bare = is_bare
        self._hosts = hosts or AllowedHosts()
        self._limits = limits or ProxyLimits()
        self._memory: Final = Memory(self._limits.buffered_bytes)
        self._shares: Final = Shares(max_sessions, (max_sessions + 1) // 2)
        self._texts: Final = Shares(self._limits.stored_bytes, (self._limits.stored_bytes + 1) // 2)
        self._sessions: Final[dict[str, _Session]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        response = ClientResponse(send, self._limits.write_seconds)
        if refusal := self._hosts.refusal(scope["headers"]):
            await response.refuse(*refusal)
        elif scope["path"] != PATH:
            await response.refuse(HTTPStatus.NOT_FOUND, f"expected the path {PATH!r}")
        elif scope["method"] == "POST":
            await self._post(scope, receive, response)
        elif (session := await self._session(scope, response)) is None:
            return
        elif scope["method"] == "GET":
            await self._stream(session, session.listen(), receive, response)
        elif scope["method"] == "DELETE":
            await self._end(session)
            await response.send_all(HTTPStatus.NO_CONTENT, [], b"")
        else:
            await response.refuse(HTTPStatus.METHOD_NOT_ALLOWED, "expected POST, GET or DELETE")

    async def close(self) -> None:
        """End all sessions."""
        for session in list(self._sessions.values()):
            await self._end(session)

    def _named(self, scope: Scope) -> _Session | None:
        """Return the session that a request names, if it is one of its token, where there are tokens."""
        session = self._sessions.get(header(scope["headers"], SESSION_HEADER.encode()))
        return session if session and scope.get(TOKEN_OWNER, session.owner) == session.owner else None

    async def _session(self, scope: Scope, response: ClientResponse) -> _Session | None:
        identity = header(scope["headers"], SESSION_HEADER.encode())
        session = self._named(scope)
        if session is None:
            status = HTTPStatus.NOT_FOUND if identity else HTTPStatus.BAD_REQUEST
            await response.refuse(status, f"expected the {SESSION_HEADER} of a session, found {identity[:40]!r}")
            return None
        # The session that was silent for longest gives way first.
        self._shares.admit(session.owner, identity)
        return session

    async def _post(self, scope: Scope, receive: Receive, response: ClientResponse) -> None:
        with self._lease(scope) as lease:
            try:
                lease.hold(self._memory.request)
                limit, seconds = self._limits.body_bytes, self._limits.request_seconds
                body = await read_body(scope, receive, lease, limit=limit, seconds=seconds)
                lease.hold(await weight_of(body) - len(body))
                await self._take(await Message(body).read(), scope, receive, response, lease)
            except BodyRefused as refused:
                await response.refuse(refused.status, str(refused))

    def _lease(self, scope: Scope) -> AbstractContextManager[ByteLease]:
        """Return a lease for a request: of the owner of its session or its token, else of strangers."""
        session = self._named(scope)
        is_known = session is not None or TOKEN_OWNER in scope
        owner = session.owner if session else scope.get(TOKEN_OWNER) or network_of(scope)
        OWNER.set(session.identity if session else owner)
        return (self._memory.known if is_known else self._memory.strangers).lease(owner)

    async def _take(
        self, received: Message, scope: Scope, receive: Receive, response: ClientResponse, lease: ByteLease
    ) -> None:
        """Answer the message of a request."""
        message = received.meaning
        if message is None:
            await response.refuse(HTTPStatus.BAD_REQUEST, "expected one JSON-RPC message")
            return
        starts = message.get("method") == "initialize"
        session = await self._begin(scope, response) if starts else await self._session(scope, response)
        if session is None:
            return
        relayed = await session.client.relay.relay_client(received)
        if relayed.to_client:
            lease.hold(len(relayed.message.data))
            await response.send_message(relayed.message)
        elif "method" in message and message_id(message) is not None:
            stream = session.call(message)
            await session.client.route(relayed)
            await self._stream(session, stream, receive, response)
        else:
            await session.client.route(relayed)
            await response.send_all(HTTPStatus.ACCEPTED, [], b"")

    async def _begin(self, scope: Scope, response: ClientResponse) -> _Session | None:
        owner = scope.get(TOKEN_OWNER) or network_of(scope)
        leases = partial(self._memory.known.lease, owner)
        servers = GatewaySession(self._servers, is_bare=self._is_bare, leases=leases)
        session = _Session(servers, self._new_relay(), owner, leases, self._count)
        try:
            given_up = self._shares.admit(owner, session.identity, lambda name: not self._sessions[name].is_idle)
        except TooMany as refused:
            await response.refuse(HTTPStatus.SERVICE_UNAVAILABLE, str(refused))
            return None
        for each in given_up:
            await self._end(self._sessions[each])
        await session.client.start()
        self._sessions[session.identity] = session
        return session

    async def _end(self, session: _Session) -> None:
        self._sessions.pop(session.identity, None)
        for shares in (self._shares, self._texts):
            shares.remove(session.owner, session.identity)
        await session.close()

    def _count(self, session: _Session) -> None:
        """Count the texts of a session; where all are too many, the owner that has most loses those of its oldest."""
        size = session.client.relay.stored_bytes if session.identity in self._sessions else 0
        try:
            given_up = self._texts.admit(session.owner, session.identity, size=size) if size else []
        except TooMany:  # Its own texts alone are too many.
            self._texts.remove(session.owner, session.identity)
            given_up = [session.identity]
        for each in given_up:
            asyncio.get_running_loop().run_in_executor(None, self._sessions[each].client.relay.close)

    async def _stream(self, session: _Session, stream: _Stream, receive: Receive, response: ClientResponse) -> None:
        """Write what is put on `stream`, until its answer is written or the client goes."""
        try:
            await run_until_disconnect(receive, _write(session.identity, stream, response))
        finally:
            session.leave(stream)


async def _write(identity: str, stream: _Stream, response: ClientResponse) -> None:
    own = (SESSION_HEADER.encode(), identity.encode())
    line, is_last = b"", False
    if stream.answers is not None:
        line, is_last = await stream.get()
    if line and is_last:
        await response.send_all(HTTPStatus.OK, [(b"content-type", b"application/json"), own], line)
        return
    events = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store"), own]
    await response.start(HTTPStatus.OK, events)
    # A comment: the client learns at once that the stream is open.
    await response.write(b"event: message\ndata: " + line + b"\n\n" if line else b": open\n\n")
    while not is_last:
        line, is_last = await stream.get()
        if line:
            await response.write(b"event: message\ndata: " + line + b"\n\n")
    await response.write(b"", more=False)
