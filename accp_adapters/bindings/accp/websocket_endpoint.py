"""ACCP over WebSocket, the server's end (ACCP section 11.2).

A connection carries one session, which its first frame names: the initiator's registry, or the `ping:resume` of a
session that goes on. A session outlives its connections.
"""

from __future__ import annotations

import asyncio
import time
from http import HTTPStatus
from typing import Final

from starlette.responses import Response
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from accp_adapters.bindings.hosts import Attachment, SessionHost
from accp_adapters.serving.admission import Gate, Refusal, refusal_of
from accp_adapters.serving.bodies import BodyRefused, Receive, Scope, Send
from accp_adapters.serving.off_loop import off_loop
from accp_adapters.serving.principals import AccessDenied, Principal
from accp_adapters.wire_log import log_frame
from accp_core.accp.debug import Direction
from accp_core.accp.frame import Frame
from accp_core.accp.vocabulary import ACKNOWLEDGED, MEDIA_TYPE, RESUME_OPERATION, Intent
from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError, ProtocolError

__all__ = ["WebSocketEndpoint"]

_REPLACED: Final = 4409
"""The session has another connection, as HTTP's 409."""
_SERVICE_RESTART: Final = 1012
"""This worker has missed what was sent meanwhile: another connection resumes the session."""


class WebSocketEndpoint:
    """The ASGI application of the path `/accp/v1/ws`."""

    def __init__(self, gate: Gate, host: SessionHost) -> None:
        """Serve the sessions of `host` to whom `gate` lets in."""
        self._gate, self._host = gate, host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection until it ends."""
        socket = WebSocket(scope, receive, send)
        try:
            async with self._gate.admitted(scope) as (principal, _):
                await socket.accept()
                await _Connection(self._gate, self._host, principal, socket).run()
        except WebSocketDisconnect:
            return
        except Exception as error:  # every failure has an answer; none ends the server
            refusal = refusal_of(error)
            await _refuse(socket, refusal, self._host.refusal(refusal.error))


class _Connection:
    """One connection that was let in."""

    def __init__(self, gate: Gate, host: SessionHost, principal: Principal, socket: WebSocket) -> None:
        self._gate, self._host, self._principal, self._socket = gate, host, principal, socket
        self._limits: Final = gate.limits

    async def run(self) -> None:
        """Serve until either end closes.

        Raises:
            Exception: The reason to close it, of any kind.
        """
        first = await self._read(self._limits.body_time)
        head = await off_loop(len(first), self._host.head, self._principal, first)
        check_first(head)
        # Without a session id, the session is this connection's, and ends with it.
        session_id, number = head.envelope.session_id, head.envelope.sequence or 0
        resumes = ACKNOWLEDGED in head.envelope.extra
        async with self._host.attached(self._principal, session_id, number=number, resumes=resumes) as attachment:
            await self._serve(attachment, first)

    async def _serve(self, attachment: Attachment, first: str) -> None:
        reading = asyncio.ensure_future(self._receive(attachment, first))
        writing = asyncio.ensure_future(self._send(attachment))
        try:
            done, _ = await asyncio.wait([reading, writing], return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            await _stop(reading, writing)

    async def _receive(self, attachment: Attachment, text: str) -> None:
        """Take frames, one at a time: what a peer sends faster waits in its own buffers."""
        while True:
            await self._gate.rate.wait(self._principal.name)
            try:
                await attachment.receive(text)
            except DecodeError as error:  # no session has taken it, so the answer has no number
                await self._write(self._host.refusal(error, text))
            text = await self._read(self._limits.idle_time)

    async def _send(self, attachment: Attachment) -> None:
        async for frame in attachment:
            await self._write(frame)
        await _close(self._socket, _REPLACED if attachment.is_replaced else _SERVICE_RESTART)

    # "Frame type: text; One ACCP frame string per WebSocket message" (section 11.2)
    async def _read(self, seconds: float) -> str:
        ends = self._principal.expires_at
        left = seconds if ends is None else min(seconds, ends - time.time())
        try:
            async with asyncio.timeout(max(0.0, left)):
                event = await self._socket.receive()
        except TimeoutError:
            raise self._late(seconds, left) from None
        if event["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(event.get("code", 1005))
        text = event.get("text")
        if text is None:
            raise ProtocolError("expected a frame as text, found bytes", code=ErrorCode.INVALID_TYPE)
        if len(text.encode("utf-8", "surrogatepass")) > self._limits.frame_bytes:
            reason = f"expected a frame of at most {self._limits.frame_bytes} bytes, found a longer one"
            raise BodyRefused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason)
        log_frame(Direction.RECEIVED, "ws", text)
        return str(text)

    def _late(self, seconds: float, left: float) -> ProtocolError:
        if left < seconds:
            return AccessDenied("expected a token that is still valid, found one that has ended")
        return ProtocolError(f"expected a frame within {seconds} seconds", code=ErrorCode.TIMEOUT)

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


async def _refuse(socket: WebSocket, refusal: Refusal, frame: str) -> None:
    """Tell the peer by a frame why it is refused, in an HTTP response where the connection is not a WebSocket yet."""
    if socket.client_state is WebSocketState.CONNECTED and socket.application_state is WebSocketState.CONNECTED:
        await _close(socket, refusal.close_code, frame)
        return
    if "websocket.http.response" not in socket.scope.get("extensions", {}):
        await _close(socket, refusal.close_code)
        return
    headers = {name.decode(): value.decode() for name, value in refusal.headers}
    await socket.send_denial_response(Response(f"{frame}\n", refusal.status, headers, MEDIA_TYPE))


async def _close(socket: WebSocket, code: int, frame: str | None = None) -> None:
    try:
        async with asyncio.timeout(5):
            if frame is not None:
                log_frame(Direction.SENT, "ws", frame)
                await socket.send_text(frame)
            await socket.close(code)
    except (TimeoutError, RuntimeError, WebSocketDisconnect, OSError):
        pass  # it is closed already


async def _stop(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
