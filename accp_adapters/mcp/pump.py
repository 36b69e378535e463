"""`accp mcp`: messages pass between the SDK's transports of a client and of a server, with a shim between them.

Everything passes as messages: progress, elicitation, sampling, cancellation, logging, tasks. Each session has a
connection of its own to the server. Over HTTP a client speaks the era of `initialize`; one that begins with that of
2026-07-28 is refused as servers of the earlier era do, and falls back.
"""

from __future__ import annotations

import contextlib
import json
import logging
import secrets
import select
import signal
import sys
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from io import TextIOWrapper
from typing import Any, Final, TypeAlias

import anyio
from anyio.abc import TaskStatus
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http import EventMessage, EventStore, StreamableHTTPServerTransport
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.message import ClientMessageMetadata, ServerMessageMetadata

from accp_adapters.mcp.decoder import Decoder
from accp_adapters.mcp.encoder import Encoder
from accp_adapters.mcp.messages import JsonObject, MessageId, is_modern, message_id
from accp_adapters.mcp.sdk import Leaving, answer_own, message_of
from accp_adapters.mcp.upstream import CLOSED, IS_SDK_1, Streams, Upstream, item_of
from accp_adapters.serving.bounded import WEIGHT, BoundedRequests
from accp_adapters.serving.limits import Quota, Shares, TooMany
from accp_adapters.serving.principals import network_of
from accp_adapters.serving.threads import LONG, OWNER, SESSION, off_loop, size_of

if not IS_SDK_1:
    from mcp.shared.inbound import encode_header_value, mcp_param_headers, x_mcp_header_map

__all__ = ["HttpProxy", "Pump", "serve_stdio"]

Shim: TypeAlias = Encoder | Decoder

_LOG: Final = logging.getLogger(__name__)
_VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
_ENDS: Final = (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream)
_NOTHING: Final = item_of({"jsonrpc": "2.0", "id": "", "error": {"code": CLOSED, "message": ""}})
"""An answer to no request. The SDK keeps the last message of each session; this one takes the place of a large one."""
_LAST_SECONDS: Final = 60
"""Seconds that a client is waited for which has closed its end before all its requests were answered."""
_MAX_SESSIONS: Final = 300
"""Sessions that are open at once, fewer with large messages; for another one, the address that has most loses one."""
_SESSION_BYTES: Final = 700_000
"""About the memory of a session; its last message from the client takes more."""
_REQUESTS_EACH: Final = 32 << 20
"""Bytes of memory that the open requests of one address may take, those of all twice as many."""
_MAX_EVENTS: Final = 64
"""Messages of a session that are kept for a client whose stream has broken off."""
_KEPT_EACH: Final = 8 << 20
"""Bytes of such messages of one address, and of the longest message."""
_KEPT: Final = Quota(4 * _KEPT_EACH, _KEPT_EACH, "bytes of such messages")
_UNREAD_EACH: Final = 16 << 20
"""Bytes of answers that one address may leave unread. All together may leave twice as many; then the address that has
most loses a session."""
_UNREAD: Final = Shares(2 * _UNREAD_EACH, _UNREAD_EACH)
_READERS: Final = dict[str, tuple[Any, anyio.CancelScope]]()
"""By the names of the messages: their sessions' transports, and what ends the sending."""
_PIECE: Final = 1 << 16
"""Bytes of an answer that are sent at once: what is handed to a server is held until it is read, or its client gone."""
_MAX_BODY: Final = 4 * 1024 * 1024
"""Bytes of a request over HTTP, as servers of the SDK take them."""


class Pump:
    """Passes the messages of one client and one server on; what the shim answers itself never reaches the server."""

    def __init__(self, shim: Shim, client: Streams, server: Streams) -> None:
        """Pass messages between `client` and `server`, each as `shim` rewrites it."""
        self._shim: Final = shim
        self._client: Final = client
        self._server: Final = server
        self._open: Final[dict[MessageId, Any]] = {}
        """The requests of the client that have no response yet, with their progress tokens."""
        self._answered = anyio.Event()
        self._ends: Final[dict[MessageId | None, anyio.Event]] = {}
        """By the ids of our own queries, what ends them."""
        self._version = ""
        """The version of the protocol that the server has agreed to; empty: none yet, or one without `initialize`."""
        self.taken = 0
        """Messages that the server has taken."""

    async def run(self) -> None:
        """Pass messages on until one side closes; what the client then waits for is answered by an error."""
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._until_closed, self._from_client, group.cancel_scope)
                group.start_soon(self._until_closed, self._from_server, group.cancel_scope)
        finally:
            with anyio.move_on_after(1, shield=True), contextlib.suppress(*_ENDS):
                for _, identity in self._open:
                    error = {"code": CLOSED, "message": "the server closed the connection"}
                    await self._client[1].send(item_of({"jsonrpc": "2.0", "id": identity, "error": error}))
            for stream in (self._client[1], self._server[1]):
                with anyio.CancelScope(shield=True):
                    await stream.aclose()

    async def _until_closed(self, work: Callable[[], Awaitable[None]], scope: anyio.CancelScope) -> None:
        with contextlib.suppress(*_ENDS):
            await work()
        scope.cancel()

    async def _from_client(self) -> None:
        async with anyio.create_task_group() as queries:
            with contextlib.suppress(*_ENDS):
                async for item in self._client[0]:
                    if (message := message_of(item)) is None:
                        continue
                    if isinstance(self._shim, Encoder) and self._shim.may_take_long(message):
                        # A query of a large text must not hold up what the client sends after it.
                        queries.start_soon(self._answer_long, message)
                    else:
                        await self._answer_or_send(message)
        # A client that has said all it has to say may still wait for answers.
        with anyio.move_on_after(_LAST_SECONDS):
            while self._open:
                await self._answered.wait()

    async def _answer_long(self, message: JsonObject) -> None:
        self._ends[message_id(message)] = end = anyio.Event()
        try:
            await self._answer_or_send(message, end.wait)
        finally:  # a client may use an id twice
            self._ends.pop(message_id(message), None)

    async def _answer_or_send(self, message: JsonObject, leaving: Leaving | None = None) -> None:
        if isinstance(self._shim, Encoder) and (answer := await answer_own(self._shim, message, leaving)) is not None:
            with contextlib.suppress(*_ENDS):
                await self._client[1].send(item_of(answer))
            return
        sent = await off_loop(size_of(message), self._shim.from_client, message)
        params = sent.get("params") if isinstance(sent.get("params"), dict) else {}
        assert isinstance(params, dict)
        key = message_id(sent)
        if "method" in sent and key is not None:
            meta = params.get("_meta")
            self._open[key] = meta.get("progressToken") if isinstance(meta, dict) else None
        elif sent.get("method") == "notifications/cancelled":
            cancelled = message_id({"id": params.get("requestId")})
            self._open.pop(cancelled or (str, ""), None)
            if end := self._ends.get(cancelled):
                end.set()
        await self._server[1].send(item_of(sent, _header_fields(sent, params, self._version, self._shim)))
        self.taken += 1

    async def _from_server(self) -> None:
        async with contextlib.aclosing(self._server[0]) as items:
            async for item in items:
                if (message := message_of(item)) is not None:
                    await self._pass_on(message)
                del item, message  # they may be large

    async def _pass_on(self, message: JsonObject) -> None:
        result, size = message.get("result"), size_of(message)
        if isinstance(result, dict) and isinstance(result.get("protocolVersion"), str):
            self._version = result["protocolVersion"]
        sent = await off_loop(size, self._shim.from_server, message)
        with anyio.fail_after(_LAST_SECONDS if OWNER.get() else None):
            await self._client[1].send(item_of(sent, self._response_of(message)))
            if OWNER.get() and size > LONG:
                await self._client[1].send(_NOTHING)
        if "method" not in message and (key := message_id(message)) is not None:
            self._open.pop(key, None)
            self._answered.set()
            self._answered = anyio.Event()

    def _response_of(self, message: JsonObject) -> Any:
        """Return on which response over HTTP a message of the server's own goes: that of its call, else the last one's.

        None: on the stream of no request.
        """
        if "method" not in message or not self._open:
            return None
        params = message.get("params")
        token = params.get("progressToken") if isinstance(params, dict) else None
        calls = [key for key, own in self._open.items() if token is not None and own == token] or list(self._open)
        return ServerMessageMetadata(related_request_id=calls[-1][1])  # type: ignore[arg-type]


def _header_fields(message: JsonObject, params: JsonObject, version: str, shim: Shim) -> Any:
    """Return the fields that a server over HTTP compares with a message, as metadata of a client's transport of 2.x.

    Basic Protocol, Streamable HTTP of 2026-07-28: the version, the method, what it names, and arguments that the schema
    of a tool marks by `x-mcp-header`.
    """
    if IS_SDK_1:
        return None
    if not is_modern(params):
        return ClientMessageMetadata(headers={"mcp-protocol-version": version}) if version else None
    fields = {"mcp-protocol-version": str(params["_meta"].get(_VERSION_KEY)), "mcp-method": str(message.get("method"))}
    named = params.get("name", params.get("uri"))
    if isinstance(named, str):
        fields["mcp-name"] = encode_header_value(named)
    tools = shim.session.catalog.tools if isinstance(shim, Encoder) else {}
    if message.get("method") == "tools/call" and (tool := tools.get(str(named))):
        fields |= mcp_param_headers(x_mcp_header_map(tool.get("inputSchema")), params.get("arguments") or {})
    return ClientMessageMetadata(headers=fields)


async def serve_stdio(upstream: Upstream, shim: Shim) -> None:
    """Serve one client on standard streams, until it or the server closes, or SIGTERM comes.

    Raises:
        OSError: The server's command cannot be started.
    """
    lines = _Lines()
    async with anyio.create_task_group() as group:
        group.start_soon(_cancel_at_sigterm, group.cancel_scope)
        async with stdio_server(stdin=lines) as client, upstream.connect() as server:  # type: ignore[arg-type]
            pump = Pump(shim, client, server)
            group.start_soon(_cancel_without_client, pump, group.cancel_scope)
            await pump.run()
            lines.end()
        group.cancel_scope.cancel()


class _Lines:
    """The lines of standard input, until `end`; the SDK's own reader would wait for a client for ever."""

    def __init__(self) -> None:
        self._stdin: Final = TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace")
        self._scope = anyio.CancelScope()

    def __aiter__(self) -> _Lines:
        return self

    async def __anext__(self) -> str:
        with self._scope:
            if line := await anyio.to_thread.run_sync(self._stdin.readline, abandon_on_cancel=True):
                self._scope = anyio.CancelScope()
                return line
        raise StopAsyncIteration

    def end(self) -> None:
        self._scope.cancel()


async def _cancel_at_sigterm(scope: anyio.CancelScope) -> None:
    # Event loops of Windows receive no signals.
    with contextlib.suppress(NotImplementedError), anyio.open_signal_receiver(signal.SIGTERM) as signals:
        async for _ in signals:
            scope.cancel()


async def _cancel_without_client(pump: Pump, scope: anyio.CancelScope) -> None:
    """End a session whose client is gone, and whose server has taken nothing for some time."""
    with contextlib.suppress(AttributeError, OSError):  # Windows has no poll
        hangup, taken = select.poll(), -1
        hangup.register(sys.stdin.fileno(), 0)
        while not hangup.poll(0) or taken != pump.taken:
            taken = pump.taken
            await anyio.sleep(_LAST_SECONDS)
        scope.cancel()


class _Events(EventStore):
    """The last messages of a session, for a client whose stream broke off (Streamable HTTP, Resumability)."""

    def __init__(self, owner: str) -> None:
        self._owner: Final = owner
        self._kept: Final[deque[tuple[int, str, str, int]]] = deque()
        self._last = 0
        self._changed = anyio.Event()
        self._has_ended = False

    def end(self) -> None:
        """End the streams that were resumed."""
        self._has_ended = True
        self._changed.set()
        while self._kept:
            self._drop()

    async def store_event(self, stream_id: str, message: Any) -> str:
        self._last += 1
        # As text: its values take many times as much.
        text = "" if message is None else message.model_dump_json(by_alias=True, exclude_unset=True)
        if (size := sys.getsizeof(text)) > _KEPT_EACH:
            text, size = _in_place_of(message), 0
        while self._kept and (len(self._kept) == _MAX_EVENTS or not _KEPT.has_room(self._owner, size)):
            self._drop()
        if not self._has_ended and _KEPT.has_room(self._owner, size):
            _KEPT.take(self._owner, size)
            self._kept.append((self._last, stream_id, text, size))
        self._changed.set()
        self._changed = anyio.Event()
        return str(self._last)

    def _drop(self) -> None:
        _KEPT.take(self._owner, -self._kept.popleft()[3])

    async def replay_events_after(self, last_event_id: str, send_callback: Any) -> str | None:
        """Send what came after an event of a stream, and what comes, up to the answer that ends the stream.

        The SDK would send what comes, but loses what comes between our return and its first look at the stream.
        """
        found = next((event for event in self._kept if str(event[0]) == last_event_id), None)
        last, stream, *_ = found or (0, "")
        while found and not self._has_ended:
            changed = self._changed
            for number, stream_id, text, _ in list(self._kept):
                if number > last and stream_id == stream and text:
                    message = item_of(json.loads(text)).message
                    await send_callback(EventMessage(message, str(number)))
                    last = number
                    if not hasattr(getattr(message, "root", message), "method"):
                        return None
            await changed.wait()
        return None


def _in_place_of(message: Any) -> str:
    """Return what is kept in place of a message that is too large: of an answer an error, of another one nothing."""
    answer = getattr(message, "root", message)
    error = {"code": CLOSED, "message": "the answer is too large to be sent again on a new connection: ask for less"}
    return "" if hasattr(answer, "method") else json.dumps({"jsonrpc": "2.0", "id": answer.id, "error": error})


class HttpProxy:
    """The ASGI application: a session, with a connection of its own to the server, for each client."""

    def __init__(self, upstream: Upstream, new_shim: Callable[[], Shim]) -> None:
        """Serve clients of `upstream` on this machine; each session has a shim of its own."""
        self._upstream: Final = upstream
        self._new_shim: Final = new_shim
        self._sessions: Final[dict[str, tuple[str, Any]]] = {}
        """The address that began a session, and its transport."""
        self._shares: Final = Shares(_MAX_SESSIONS * _SESSION_BYTES, _MAX_SESSIONS * _SESSION_BYTES)
        self._requests = Counter[str]()
        """How many requests of a session are being answered."""
        self._group: Any = None
        bounds = {"max_bytes": _MAX_BODY, "max_values": 50_000, "memory": _REQUESTS_EACH}
        self._bounded: Final = BoundedRequests(self._handle, **bounds)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one HTTP request."""
        if scope["type"] == "lifespan":
            async with anyio.create_task_group() as self._group:
                for name in ("startup", "shutdown"):
                    await receive()
                    await send({"type": f"lifespan.{name}.complete"})
                self._group.cancel_scope.cancel()  # which ends all sessions
            return
        await self._bounded(scope, receive, send)

    async def _handle(self, scope: Any, receive: Any, send: Any) -> None:
        name = dict(scope["headers"]).get(b"mcp-session-id", b"").decode("latin-1")
        if not name and scope["method"] != "POST":
            await _refuse(send, 400, b"Expected a session, or a POST that opens one")
        elif not name:
            await self._begin(scope, receive, send)
        elif (found := self._sessions.get(name)) and not found[1].is_terminated:
            owner, transport = found
            await self._admit(owner, name, scope)
            self._requests[name] += 1
            try:
                await transport.handle_request(scope, receive, _counting_unread(owner, send, transport))
            finally:
                self._requests -= Counter([name])  # which keeps no zeros
            if transport.is_terminated:
                # The client is gone: the pump need not wait for the open answers.
                transport.idle_scope.cancel()
        else:
            await _refuse(send, 404, b"Session not found")

    async def _begin(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer the request that opens a session; one that does not leaves none behind."""
        hosts = [each for host in ("127.0.0.1", "localhost", "[::1]") for each in (host, f"{host}:*")]
        security = TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts])
        name, status, events = secrets.token_hex(16), 500, _Events(network_of(scope))
        transport = StreamableHTTPServerTransport(
            name,
            event_store=events,
            retry_interval=500,  # milliseconds, after which such a client is to come back
            security_settings=security,
            idle_timeout=1_800,  # seconds, after which a session without a request ends
        )

        async def watched(message: Any) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        await self._admit(owner := network_of(scope), name, scope)
        self._sessions[name] = owner, transport
        try:
            if await self._group.start(self._serve, owner, name, transport, events):
                await transport.handle_request(scope, receive, watched)
            else:
                await _refuse(watched, 502, b"The server cannot be reached")
        finally:
            if status >= 400:
                with anyio.CancelScope(shield=True):
                    await transport.terminate()

    async def _admit(self, owner: str, name: str, scope: Any) -> None:
        """Count the memory of a session, whose last message the SDK keeps; the address with most may lose sessions."""
        size = max(_SESSION_BYTES, 2 * scope[WEIGHT])
        given = self._shares.admit(owner, name, lambda each: self._requests[each] > 0, size=size)
        for _, other in [self._sessions[each] for each in given]:
            await other.terminate()
            other.idle_scope.cancel()

    async def _serve(
        self, owner: str, name: str, transport: Any, events: _Events, *, task_status: TaskStatus[bool]
    ) -> None:
        """Serve a session until it ends; tell whether it has begun. A session that fails ends no other one."""
        shim, has_begun = self._new_shim(), False
        OWNER.set(owner)
        SESSION.set(name)
        try:
            async with transport.connect() as client, self._upstream.connect() as server:
                has_begun = True
                task_status.started(True)
                with transport.idle_scope:
                    await Pump(shim, client, server).run()
        except Exception as error:
            _LOG.warning("a session failed: %s", error)
            _LOG.debug("the session failed with", exc_info=error)
            if not has_begun:
                task_status.started(False)
        finally:
            del self._sessions[name]
            self._shares.remove(owner, name)
            events.end()
            if isinstance(shim, Encoder):
                shim.close()


def _counting_unread(owner: str, send: Any, transport: Any) -> Any:
    """Return a function that sends a response. If too much is unread, the address that has most loses a session."""
    is_cut = False

    async def counted(message: Any) -> None:
        nonlocal is_cut
        if is_cut:
            return
        body, name = message.get("body", b""), secrets.token_hex(8)
        # The rest of what is cut is dropped, and nothing raised: a traceback would hold what the callers of this have.
        with anyio.CancelScope() as sending:
            _READERS[name] = transport, sending
            try:
                _count_unread(owner, name, len(body))
                for end in range(_PIECE, len(body), _PIECE):
                    await send({**message, "body": body[end - _PIECE : end], "more_body": True})
                last = body[-(len(body) % _PIECE or _PIECE) :]
                await send({**message, "body": last} if len(body) > _PIECE else message)
            finally:
                _UNREAD.remove(owner, name)
                del _READERS[name]
        is_cut |= sending.cancel_called

    return counted


def _count_unread(owner: str, name: str, size: int) -> None:
    """Count a message that is being sent; cancel the sending of all messages of each session that gives way."""
    try:
        given = _UNREAD.admit(owner, name, size=min(size, _UNREAD_EACH))
    except TooMany:
        given = [name]
    for ended in [_READERS[each][0] for each in given]:
        _LOG.warning("a session is ended whose client leaves too much unread")
        ended.idle_scope.cancel()
        for transport, sending in _READERS.values():  # a ping waits behind an answer
            if transport is ended:
                sending.cancel()


async def _refuse(send: Any, status: int, reason: bytes) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": reason})
