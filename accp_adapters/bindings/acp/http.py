"""Binding D and the ASGI application of an agent, which has binding A, too (ACP transport 0.3, sections 3 and 6).

POST /message:send          a message for the agent, a reply to one of its, or what was received of it
GET  /stream                what the agent says, as server-sent events
GET  /.well-known/acp.json  the card
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable
from http import HTTPStatus
from typing import Any, Final, TypeAlias

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from accp_adapters.bindings.acp.host import AcpAgent, AcpHost, host_of, seconds_left
from accp_adapters.bindings.acp.session import KEEPALIVE_SECONDS, AcpSession
from accp_adapters.bindings.acp.web_socket import serve_web_socket
from accp_adapters.serving.limits import ServerLimits
from accp_adapters.serving.principals import (
    Authenticate,
    Principal,
    Scope,
    loopback_only,
    with_bearer_token,
)
from accp_adapters.serving.requests import (
    AllowedHosts,
    Receive,
    RequestRefused,
    Send,
    read_body,
    refusal_of,
    run_until_disconnect,
)
from accp_adapters.serving.threads import OWNER, off_loop
from accp_core.acp import (
    Acknowledged,
    AcpError,
    AcpMessageReceived,
    Binding,
    DuplicateDropped,
    Refused,
    UnknownReceived,
    error_body,
)
from accp_core.acp.connection import TOKEN_HEADER
from accp_core.acp.envelope import KEEPALIVE, Json, read_object
from accp_core.errors import LocalProtocolError, ProtocolError
from accp_core.strict_json import compact_json

__all__ = ["STREAM_READY", "acp_app", "answer"]

STREAM_READY: Final = "acp.ready"
"""The first event of a stream: `log`, the log that is numbered; `server_seq`, the last number; `window`, its length."""
_BATCH: Final = 64
Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]


def acp_app(
    agent: AcpAgent | AcpHost,
    *,
    authenticate: Authenticate = loopback_only,
    limits: ServerLimits | None = None,
    hosts: Iterable[str] = (),
) -> Starlette:
    """Return the application of an agent, to be served alone or mounted in another one.

    Args:
        agent: The agent, or a host that other bindings share, which then brings `authenticate` and `limits`.
        authenticate: Who is let in; without it, only clients on this machine.
        limits: What each peer may use; None: the defaults.
        hosts: Names of this server besides those of the loopback interface, which `Host` and `Origin` may have.
    """
    host = host_of(agent, authenticate, limits)
    allowed = AllowedHosts.of(hosts)
    host.announce(Binding.WS_P2P, Binding.HTTP_SSE)

    async def web_socket(socket: WebSocket) -> None:
        try:
            allowed.check(socket.scope["headers"])
        except RequestRefused:
            await socket.close()  # before it is accepted: 403
        else:
            await serve_web_socket(host, socket)

    endpoints = _Endpoints(host, allowed)
    return Starlette(
        routes=[
            Route("/.well-known/acp.json", endpoints.guarded(endpoints.card)),
            Route("/stream", endpoints.guarded(endpoints.stream)),
            Route("/message:send", endpoints.guarded(endpoints.send), methods=["POST"]),
            WebSocketRoute("/", web_socket),
            WebSocketRoute("/{token}", web_socket),
        ],
        exception_handlers={HTTPException: _no_such_path},
    )


class _Endpoints:
    """The endpoints of one agent."""

    def __init__(self, host: AcpHost, allowed: AllowedHosts) -> None:
        self._host = host
        self._allowed = allowed

    def guarded(self, endpoint: Endpoint) -> Endpoint:
        """Return `endpoint`, for allowed hosts and origins only, and with every refusal as ACP writes it."""

        async def wrapped(request: Request) -> Response:
            try:
                self._allowed.check(request.scope["headers"])
                return await endpoint(request)
            except Exception as error:
                return _refusal_of(error)

        return wrapped

    async def card(self, _: Request) -> Response:
        card = self._host.card.to_json()
        return answer({**card, "self": card})

    async def stream(self, request: Request) -> Response:
        return _EventStream(self._host, await self._session(request), request)

    async def send(self, request: Request) -> Response:
        session = await self._session(request)
        data = await self._body(request, session)
        text, message_id = await off_loop(len(data), _message_of, data, self._host.limits.frame_bytes)
        event = await session.take(text, wait=False)
        done: dict[str, Json] = {"ok": True, **({"message_id": message_id} if isinstance(message_id, str) else {})}
        match event:
            case Refused():
                known = event.code in set(AcpError)
                code = AcpError(event.code) if known else AcpError.INVALID_REQUEST
                return refuse(code, event.reason, message_id=message_id if isinstance(message_id, str) else None)
            case UnknownReceived():
                return refuse(AcpError.NOT_FOUND, "expected a message, or a reply to one that awaits it; found neither")
            case AcpMessageReceived() | DuplicateDropped():
                return answer({**done, "server_seq": event.number})
            case Acknowledged():
                return answer({**done, "server_seq": event.server_seq})
        return answer(done)

    async def _session(self, request: Request) -> AcpSession:
        principal = await self._principal(request)
        OWNER.set(principal.name)
        return self._host.shared_session(principal)

    async def _principal(self, request: Request) -> Principal:
        """Return the principal of a request, by `Authorization` or `X-ACP-Token`."""
        token = request.headers.get(TOKEN_HEADER)
        scope: Any = with_bearer_token(request.scope, token) if token else request.scope
        return await self._host.authenticate(scope)

    async def _body(self, request: Request, session: AcpSession) -> bytes:
        """Return the body of a request.

        Raises:
            RequestRefused: It is too large or too slow.
            TooMany: There is no memory for it now.
            LocalProtocolError: ERR_NOT_CONNECTED, the caller sends too much.
        """
        limits = self._host.limits
        owner = session.principal.name
        data = await read_body(request, self._host.memory, owner, limit=limits.frame_bytes, seconds=limits.body_time)
        if session.rate.take() or session.is_full:
            raise LocalProtocolError("expected fewer messages at once", code=AcpError.NOT_CONNECTED)
        return data


def _message_of(body: bytes, limit: int) -> tuple[str, Json]:
    """Return the text of a request's message, which is an `acp.message` unless it says otherwise, and its id.

    Raises:
        UnicodeDecodeError, DecodeError: The body is no JSON object.
    """
    data: dict[str, Any] = {"type": "acp.message", **read_object(body.decode(), limit=limit)}
    if data["type"] == "acp.message":
        data["message_id"] = data.get("message_id") or f"msg_{secrets.token_hex(6)}"
    return compact_json(data), data.get("message_id")


class _EventStream(Response):
    """The open answer of one `GET /stream` (section 6.3).

    `?since=n` or `Last-Event-ID` begins after number n, otherwise it begins where the last stream ended; with `&log=`,
    n counts only for that log. `&ack=1` says that the reader will acknowledge, so that nothing is dropped before.
    """

    def __init__(self, host: AcpHost, session: AcpSession, request: Request) -> None:
        super().__init__(media_type="text/event-stream")
        self._host, self._session, self._log = host, session, session.connection.log
        query, log_id = request.query_params, session.connection.log_id
        since = query.get("since", request.headers.get("last-event-id"))
        if since is not None and not (since.isdecimal() and len(since) < 20):
            raise ValueError(f"since: expected a number, found {since!r:.40}")
        is_same = query.get("log", log_id) == log_id
        self._cursor = self._log.written if since is None else int(since) if is_same else 0
        if query.get("ack"):
            self._log.acknowledge(self._cursor if is_same and since is not None else 0)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until the client leaves or stops reading."""
        try:
            with self._host.connection(self._session.principal):
                async with asyncio.timeout(seconds_left(self._session.principal)):
                    await run_until_disconnect(receive, self._send_all(send))
        except TimeoutError:
            return  # the server closes a response that is not complete
        except LocalProtocolError as error:
            await refuse(AcpError(error.code), error.reason)(scope, receive, send)

    async def _send_all(self, send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        about = {"log": self._session.connection.log_id, "server_seq": self._cursor}
        ready = {"type": STREAM_READY, **about, "window": self._session.limits.window}
        await self._put(send, f"event: {STREAM_READY}\ndata: {compact_json(ready)}\n\n".encode())
        while True:
            batch = self._log.after(self._cursor, _BATCH)
            if batch:
                await self._put(send, b"".join(f"id: {number}\ndata: {text}\n\n".encode() for number, text in batch))
                self._cursor = batch[-1][0]
                self._log.mark_written(self._cursor)
                self._session.changed.notify()
            elif not await self._session.changed.wait(KEEPALIVE_SECONDS):
                await self._put(send, KEEPALIVE)

    async def _put(self, send: Send, data: bytes) -> None:
        """Write to the client; one that takes nothing for too long is left (TimeoutError)."""
        async with asyncio.timeout(self._session.limits.write_time):
            await send({"type": "http.response.body", "body": data, "more_body": True})


def answer(value: Json, status: int = 200) -> Response:
    """Return a response of JSON."""
    return Response(compact_json(value), status, media_type="application/json")


def refuse(code: AcpError, reason: str, *, status: int = 0, message_id: str | None = None, **fields: str) -> Response:
    """Return the response that refuses a request; `status` in place of the code's, if it is not 0."""
    if code is AcpError.NOT_CONNECTED:
        fields.setdefault("retry-after", "1")
    body = error_body(code, reason, now=time.time(), failed_message_id=message_id)
    return Response(body, status or code.status, fields, media_type="application/json")


_CODES: Final = {429: AcpError.NOT_CONNECTED, **{code.status: code for code in AcpError}}


def _refusal_of(error: Exception) -> Response:
    if isinstance(error, ProtocolError) and error.code in set(AcpError):
        return refuse(AcpError(error.code), error.reason)
    if isinstance(error, ValueError):
        return refuse(AcpError.INVALID_REQUEST, str(error)[:500])
    refused = refusal_of(error)
    code = _CODES.get(refused.status, AcpError.INVALID_REQUEST)
    reason = f"invalid_token: {refused.error.reason}" if refused.status == 401 else refused.error.reason
    return refuse(code, reason, status=refused.status, **dict(refused.headers))


async def _no_such_path(_: Request, error: Exception) -> Response:
    """Return the response for a path or a method that there is not."""
    status = error.status_code if isinstance(error, HTTPException) else HTTPStatus.INTERNAL_SERVER_ERROR
    return refuse(_CODES.get(status, AcpError.INVALID_REQUEST), HTTPStatus(status).phrase, status=status)
