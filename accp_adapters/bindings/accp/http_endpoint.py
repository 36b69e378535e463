"""ACCP over HTTP, the server's end (ACCP section 11.1).

A request brings one frame. Its response is the frames that answer it, each with a line feed after it, and each sent as
soon as it exists ("one ST-schema frame per chunk"). A client that sends the field `accp-resume` counts from 1, and its
frames may overtake each other; the same frame again, as after a lost response, gets the same answer. Nothing is done
twice for anybody: without the field a repeated frame is refused with E3002.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from http import HTTPStatus
from typing import Final, cast

from accp_adapters.bindings.accp.addresses import RESUME_FIELD
from accp_adapters.bindings.hosts import SessionHost
from accp_adapters.serving.admission import Gate, refusal_of
from accp_adapters.serving.bodies import BodyRefused, Receive, Scope, Send, run_until_disconnect
from accp_adapters.serving.hosts import Headers
from accp_adapters.serving.off_loop import off_loop
from accp_adapters.serving.principals import Principal
from accp_adapters.serving.responses import ResponseWriter
from accp_adapters.wire_log import log_frame
from accp_core.accp.debug import Direction
from accp_core.accp.head import frame_head
from accp_core.accp.vocabulary import MEDIA_TYPE, Intent
from accp_core.errors import DecodeError

__all__ = ["HttpEndpoint"]

_FIELDS: Final = (
    (b"content-type", b"application/accp; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (RESUME_FIELD.encode(), b"1"),
)


class HttpEndpoint:
    """The ASGI application of the path `/accp/v1/frames`."""

    def __init__(self, gate: Gate, host: SessionHost) -> None:
        """Serve the sessions of `host` to whom `gate` lets in."""
        self._gate, self._host = gate, host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; when its client disconnects, the handler goes on, and its answer is kept."""
        response = _Response(send, self._gate)
        try:
            async with self._gate.admitted(scope) as (principal, lease):
                self._gate.rate.check(principal.name)
                # "Content-Type: application/accp", "Body: One ACCP frame string per request (UTF-8)" (section 11.1)
                body = await self._gate.body(scope, receive, lease, MEDIA_TYPE)
                await run_until_disconnect(receive, self._answer(principal, _decode(body), response, _resumes(scope)))
        except Exception as error:  # every failure has an answer; none ends the server
            # A response that has started lacks its end: the connection is cut, and the client asks again.
            if response.started:
                raise
            refusal = refusal_of(error)
            frame = self._host.refusal(refusal.error)
            await response.refuse(refusal.status, [*refusal.headers, (b"connection", b"close")], frame)

    async def _answer(self, principal: Principal, text: str, response: _Response, resumes: bool) -> None:
        log_frame(Direction.RECEIVED, "http", text)
        try:
            answer = cast("AsyncGenerator[str, None]", self._host.stream(principal, text, resumes=resumes))
            async with aclosing(answer) as frames:
                await _send_frames(frames, response)
        except Exception as error:
            if response.started:
                raise
            refusal = refusal_of(error)
            await response.refuse(refusal.status, refusal.headers, self._host.refusal(refusal.error, text))


def _resumes(scope: Scope) -> bool:
    return any(name == RESUME_FIELD.encode() for name, _ in scope["headers"])


def _decode(body: bytes) -> str:
    """Return the frame of a body; a line end after it is not part of it."""
    try:
        return body.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise BodyRefused(HTTPStatus.BAD_REQUEST, f"expected UTF-8, found another byte at {error.start}") from None


async def _send_frames(frames: AsyncIterator[str], response: _Response) -> None:
    """Send the frames of an answer; one that is nothing but a refusal has status 400."""
    first = await anext(frames, None)
    is_failure = first is not None and await off_loop(len(first), _is_failure, first)
    second = await anext(frames, None) if is_failure else None
    if first is not None and is_failure and second is None:
        await response.refuse(HTTPStatus.BAD_REQUEST, (), first)
        return
    await response.open()
    for frame in filter(None, (first, second)):
        await response.write_frame(frame)
    async for frame in frames:
        await response.write_frame(frame)
    await response.write(b"", more=False)


def _is_failure(text: str) -> bool:
    try:
        return frame_head(text).intent is Intent.FAILURE
    except DecodeError:
        return False


class _Response(ResponseWriter):
    """The response to one request: frames, each counted while it is written."""

    def __init__(self, send: Send, gate: Gate) -> None:
        super().__init__(send, gate.limits.write_time)
        self._budget = gate.budget

    async def open(self) -> None:
        await self.start(HTTPStatus.OK, _FIELDS)

    async def write_frame(self, frame: str) -> None:
        log_frame(Direction.SENT, "http", frame)
        data = f"{frame}\n".encode()
        with self._budget.lease() as lease:
            lease.hold(len(data))
            await self.write(data)

    async def refuse(self, status: HTTPStatus, headers: Headers, frame: str) -> None:
        log_frame(Direction.SENT, "http", frame)
        await self.send_all(status, [*_FIELDS, *headers], f"{frame}\n".encode())
