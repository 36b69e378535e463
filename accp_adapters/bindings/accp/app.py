"""ACCP over HTTP and WebSocket as an ASGI application (ACCP sections 11.1 and 11.2).

Over HTTP a request brings one frame; its response is the frames that answer it, each sent as soon as it exists ("one
ST-schema frame per chunk"). A client that sends the field `accp-resume` counts from 1, and its frames may overtake each
other; the same frame again, as after a lost response, gets the same answer, and a line feed follows each frame. Without
the field a repeated frame is refused with E3002.

A WebSocket carries one session, which its first frame names: the initiator's registry, or the `ping:resume` of a
session that goes on. A session outlives its connections.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import aclosing
from http import HTTPStatus
from typing import Final, cast

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from accp_adapters.bindings.accp.client_session import FRAMES_PATH, RESUME_FIELD, WEBSOCKET_PATH
from accp_adapters.bindings.hosts import Connection, SessionHost
from accp_adapters.serving import requests
from accp_adapters.serving.limits import ServerLimits
from accp_adapters.serving.principals import AccessDenied, Authenticate, Principal, Scope, loopback_only, network_of
from accp_adapters.serving.threads import off_loop
from accp_adapters.wire_log import log_frame
from accp_core.accp.debug import Direction
from accp_core.accp.frame import ACKNOWLEDGED, MEDIA_TYPE, RESUME_OPERATION, Frame, Intent
from accp_core.accp.parser import frame_head
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["accp_app"]

_LOG: Final = logging.getLogger(__name__)
_FIELDS: Final = {"content-type": f"{MEDIA_TYPE}; charset=utf-8", "cache-control": "no-store", RESUME_FIELD: "1"}
_REPLACED: Final = 4409
"""The session has another connection, as HTTP's 409."""
_SERVICE_RESTART: Final = 1012
"""Another worker has the session: another connection resumes it."""
_CLOSE_SECONDS: Final = 5
_FAILURE: Final = re.compile(r"@[^>]*>fail:")


def accp_app(
    host: SessionHost,
    *,
    authenticate: Authenticate = loopback_only,
    limits: ServerLimits | None = None,
    hosts: Iterable[str] = (),
) -> Starlette:
    """Return the application that serves the sessions of `host`, by itself or mounted in another one.

    It has POST /accp/v1/frames, the WebSocket /accp/v1/ws, and for monitoring /health (it runs) and
    /ready (it reaches its store). The host stays the caller's: close it when the application ends.

    Args:
        host: Serves the sessions.
        authenticate: Returns the principal of a request; without it, only clients on this machine are served.
        limits: The limits of memory and time; None: the defaults.
        hosts: The names by which clients reach the server, beside the loopback names; requests for other hosts and
            from web pages of other hosts are refused.
    """
    gate = requests.Gate(authenticate, limits or ServerLimits(), requests.AllowedHosts.of(hosts))

    async def web_socket(socket: WebSocket) -> None:
        try:
            async with gate.admitted(socket.scope) as principal:
                await socket.accept()
                await _WebSocketConnection(gate, host, principal, socket).run()
        except WebSocketDisconnect:
            return
        except Exception as error:  # every failure has an answer; none ends the server
            refusal = requests.refusal_of(error)
            if refusal.error.code == ErrorCode.POLICY_DENIED:
                _LOG.warning("a WebSocket of %s was refused: %s", network_of(socket.scope), refusal.error)
            await _refuse(socket, refusal, host.refusal(refusal.error))

    async def ready(_: Request) -> PlainTextResponse:
        try:
            await host.check()
        except ProtocolError as error:
            _LOG.warning("not ready: %s", error)
            return PlainTextResponse(f"{requests.OUT_OF_REACH}\n", 503)
        return PlainTextResponse("ready\n")

    return Starlette(
        routes=[
            Route(FRAMES_PATH, _HttpEndpoint(gate, host), methods=["POST"]),
            WebSocketRoute(WEBSOCKET_PATH, web_socket),
            Route("/health", lambda _: PlainTextResponse("ok\n")),
            Route("/ready", ready),
        ]
    )


class _HttpEndpoint:
    """The path `/accp/v1/frames`."""

    def __init__(self, gate: requests.Gate, host: SessionHost) -> None:
        self._gate, self._host = gate, host

    async def __call__(self, scope: Scope, receive: requests.Receive, send: requests.Send) -> None:
        """Serve one request; when a client that resumes disconnects, the handler goes on, and its answer is kept."""
        request = Request(scope, receive)
        response = _FramesResponse(send, self._gate.limits.write_time, resumes=RESUME_FIELD in request.headers)
        text = ""
        try:
            async with self._gate.admitted(scope) as principal:
                self._gate.rate.check(principal.name)
                # "Content-Type: application/accp", "Body: One ACCP frame string per request (UTF-8)" (section 11.1)
                text = _decode(await self._gate.body(request, principal, MEDIA_TYPE))
                await requests.run_until_disconnect(receive, self._answer(principal, text, response))
        except Exception as error:  # every failure has an answer; none ends the server
            # A response that has started lacks its end: the connection is cut, and the client asks again.
            if response.is_started:
                raise
            refusal = requests.refusal_of(error)
            fields = dict(refusal.headers) if text else {**dict(refusal.headers), "connection": "close"}
            await response.send_alone(self._host.refusal(refusal.error, text), refusal.status, fields)

    async def _answer(self, principal: Principal, text: str, response: _FramesResponse) -> None:
        log_frame(Direction.RECEIVED, "http", text)
        answer = cast("AsyncGenerator[str, None]", self._host.stream(principal, text, resumes=response.resumes))
        async with aclosing(answer) as frames:
            await response.send_frames(frames)


def _decode(body: bytes) -> str:
    """Return the frame of a body; a line end after it is not part of it."""
    try:
        return body.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        reason = f"expected UTF-8, found another byte at {error.start}"
        raise requests.RequestRefused(HTTPStatus.BAD_REQUEST, reason) from None


class _FramesResponse:
    """The response to one request; a peer that does not read it in time loses its connection (TimeoutError)."""

    def __init__(self, send: requests.Send, seconds: float, *, resumes: bool) -> None:
        self._to_peer, self._seconds, self.resumes = send, seconds, resumes
        # The draft has one frame in a body and in a chunk, and nothing beside it.
        self._end: Final = "\n" if resumes else ""
        self.is_started = False

    async def send_frames(self, frames: AsyncIterator[str]) -> None:
        """Send the frames of an answer; one that is nothing but a refusal has status 400."""
        first, second = await anext(frames, None), None
        if first and _FAILURE.match(first):
            second = await anext(frames, None)
            if second is None:
                await self.send_alone(first, HTTPStatus.BAD_REQUEST, {})
                return
        await self._start(HTTPStatus.OK, {})
        for frame in filter(None, (first, second)):
            await self._send_frame(frame)
        async for frame in frames:
            await self._send_frame(frame)
        await self._send("", more=False)

    async def send_alone(self, frame: str, status: HTTPStatus, fields: dict[str, str]) -> None:
        """Send one frame that refuses the request."""
        log_frame(Direction.SENT, "http", frame)
        await self._start(status, {**fields, "content-length": str(len(f"{frame}{self._end}".encode()))})
        await self._send(f"{frame}{self._end}", more=False)

    async def _send_frame(self, frame: str) -> None:
        log_frame(Direction.SENT, "http", frame)
        await self._send(f"{frame}{self._end}", more=True)

    async def _start(self, status: HTTPStatus, fields: dict[str, str]) -> None:
        self.is_started = True
        headers = [(name.encode(), value.encode()) for name, value in {**_FIELDS, **fields}.items()]
        async with asyncio.timeout(self._seconds):
            await self._to_peer({"type": "http.response.start", "status": int(status), "headers": headers})

    async def _send(self, text: str, *, more: bool) -> None:
        async with asyncio.timeout(self._seconds):
            await self._to_peer({"type": "http.response.body", "body": text.encode(), "more_body": more})


class _WebSocketConnection:
    """One connection that was let in."""

    def __init__(self, gate: requests.Gate, host: SessionHost, principal: Principal, socket: WebSocket) -> None:
        self._gate, self._host, self._principal, self._socket = gate, host, principal, socket
        self._limits: Final = gate.limits

    async def run(self) -> None:
        """Serve until either end closes.

        Raises:
            Exception: The reason to close it, of any kind.
        """
        first = await self._read(self._limits.body_time)
        self._host.head(self._principal, first)
        head = await off_loop(len(first), frame_head, first)
        check_first(head)
        # Without a session id, the session is this connection's, and ends with it.
        session_id, number = head.envelope.session_id, head.envelope.sequence or 0
        resumes = ACKNOWLEDGED in head.envelope.extra
        async with self._host.attached(self._principal, session_id, number=number, resumes=resumes) as connection:
            await requests.run_until_first(self._receive(connection, first), self._send(connection))

    async def _receive(self, connection: Connection, text: str) -> None:
        """Take frames, one at a time: what a peer sends faster waits in its own buffers."""
        while True:
            await self._gate.rate.wait(self._principal.name)
            await connection.receive(text)
            text = await self._read(self._limits.idle_time)

    async def _send(self, connection: Connection) -> None:
        async for frame in connection:
            await self._write(frame)
        await _close(self._socket, _REPLACED if connection.is_replaced else _SERVICE_RESTART)

    # "Frame type: text; One ACCP frame string per WebSocket message" (section 11.2)
    async def _read(self, seconds: float) -> str:
        ends = self._principal.expires_at
        left = seconds if ends is None else min(seconds, ends - time.time())
        try:
            async with asyncio.timeout(max(0.0, left)):
                event = await self._socket.receive()
        except TimeoutError:
            if left < seconds:
                raise AccessDenied("expected a token that is still valid, found one that has ended") from None
            raise ProtocolError(f"expected a frame within {seconds} seconds", code=ErrorCode.TIMEOUT) from None
        if event["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(event.get("code", 1005))
        text = event.get("text")
        if text is None:
            raise ProtocolError("expected a frame as text, found bytes", code=ErrorCode.INVALID_TYPE)
        if len(text.encode("utf-8", "surrogatepass")) > self._limits.frame_bytes:
            reason = f"expected a frame of at most {self._limits.frame_bytes:,} bytes, found a longer one"
            raise requests.RequestRefused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason)
        log_frame(Direction.RECEIVED, "ws", text)
        return str(text)

    async def _write(self, frame: str) -> None:
        log_frame(Direction.SENT, "ws", frame)
        async with asyncio.timeout(self._limits.write_time):
            await self._socket.send_text(frame)


# "Session established by the first sync:registry frame from the initiator" (section 11.2)
def check_first(head: Frame) -> None:
    """Refuse a connection that begins with neither the registry nor `ping:resume`.

    Raises:
        ProtocolError: E5001.
    """
    if (head.intent, head.operation) in ((Intent.SYNCHRONIZE, "registry"), (Intent.PING, RESUME_OPERATION)):
        return
    reason = f"expected sync:registry as first frame, found {head.intent.value}:{head.operation}"
    raise ProtocolError(reason, code=ErrorCode.POLICY_DENIED)


async def _refuse(socket: WebSocket, refusal: requests.Refusal, frame: str) -> None:
    """Tell the peer by a frame why it is refused, in an HTTP response where the connection is not a WebSocket yet."""
    is_open = {socket.client_state, socket.application_state} == {WebSocketState.CONNECTED}
    if is_open or "websocket.http.response" not in socket.scope.get("extensions", {}):
        await _close(socket, refusal.close_code, frame if is_open else None)
    else:
        await socket.send_denial_response(Response(frame, refusal.status, dict(refusal.headers), MEDIA_TYPE))


async def _close(socket: WebSocket, code: int, frame: str | None = None) -> None:
    try:
        async with asyncio.timeout(_CLOSE_SECONDS):
            if frame is not None:
                log_frame(Direction.SENT, "ws", frame)
                await socket.send_text(frame)
            await socket.close(code)
    except (TimeoutError, RuntimeError, WebSocketDisconnect, OSError):
        pass  # it is closed already
