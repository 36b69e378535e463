"""One exchange over HTTP, seen from the middle: the client's request in, the server's answer out, event by event."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, MutableMapping
from http import HTTPStatus
from typing import Any, Final, TypeAlias

from accp_adapters.mcp.proxy.headers import Headers, header, to_client
from accp_adapters.mcp.proxy.relay import LIMIT, Relay, read_message, write_message
from accp_adapters.mcp.proxy.sse import Events, rewrite_event

__all__ = [
    "Answer",
    "Receive",
    "Scope",
    "Send",
    "changed",
    "events_of",
    "failure",
    "pass_on",
    "read_body",
    "until_gone",
]

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
"""The three of ASGI."""

_JSON: Final = "application/json"
_EVENTS: Final = "text/event-stream"
_INTERNAL_ERROR: Final = -32603
_INVALID_REQUEST: Final = -32600
# Above this many bytes a message is worked on beside the event loop.
_LONG: Final = 64 * 1024


def failure(reason: str, request: bytes = b"", *, code: int = _INTERNAL_ERROR) -> bytes:
    """Return a JSON-RPC error for the request whose bytes these are."""
    identity = (read_message(request) or {}).get("id")
    return write_message({"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": reason}})


class Answer:
    """What the client is sent on one exchange."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.started = False

    async def start(self, status: int, headers: Headers) -> None:
        """Send status and headers."""
        self.started = True
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def write(self, data: bytes, *, more: bool = True) -> None:
        """Send a piece of the body."""
        await self._send({"type": "http.response.body", "body": data, "more_body": more})

    async def whole(self, status: int, headers: Headers, body: bytes) -> None:
        """Send an answer that is ready."""
        await self.start(status, [*headers, (b"content-length", str(len(body)).encode())])
        await self.write(body, more=False)

    async def message(self, body: bytes, status: int = HTTPStatus.OK) -> None:
        """Send a message that is our own."""
        await self.whole(status, [(b"content-type", _JSON.encode())], body)

    async def refuse(self, status: HTTPStatus, reason: str) -> None:
        """Send that the request is not let in."""
        await self.message(failure(reason, code=_INVALID_REQUEST), status)


async def read_body(receive: Receive, limit: int) -> bytes | None:
    """Return the body of a request, None if it is longer than `limit` bytes or its sender has gone."""
    body = bytearray()
    more = True
    while more:
        part = await receive()
        body += part.get("body", b"")
        more = part.get("more_body", False)
        if len(body) > limit or part["type"] == "http.disconnect":
            return None
    return bytes(body)


async def until_gone(receive: Receive, exchange: Coroutine[Any, Any, None]) -> None:
    """Await `exchange`, whose request is read; stop it if the client goes away, which is how it cancels a call."""
    serving = asyncio.ensure_future(exchange)
    watching = asyncio.ensure_future(_gone(receive))
    try:
        await asyncio.wait([serving, watching], return_when=asyncio.FIRST_COMPLETED)
    finally:
        watching.cancel()
        serving.cancel()
        await asyncio.wait([serving, watching])
    if not serving.cancelled():
        serving.result()


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def changed(change: Callable[[bytes], bytes], data: bytes) -> bytes:
    """Return `change(data)`, worked out beside the event loop where that may take long."""
    return change(data) if len(data) <= _LONG else await asyncio.to_thread(change, data)


async def events_of(relay: Relay, chunks: AsyncIterator[bytes], limit: int = LIMIT) -> AsyncIterator[bytes]:
    """Yield the events of a stream as the client is to have them, each as soon as it is there."""
    events = Events(limit)
    async for chunk in chunks:
        for event, whole in events.feed(chunk):
            yield await changed(lambda data: rewrite_event(data, relay.from_server), event) if whole else event
    if rest := events.close():
        yield rest


async def pass_on(
    status: int, headers: Headers, chunks: AsyncIterator[bytes], relay: Relay | None, answer: Answer, limit: int = LIMIT
) -> None:
    """Send the client the server's answer; only messages that the relay shrinks change.

    A compressed body, which we did not ask for, and a document longer than `limit` bytes pass as they come.
    """
    kind = header(headers, b"content-type").partition(";")[0].strip().lower()
    if relay is None or header(headers, b"content-encoding") not in ("", "identity"):
        await _stream(status, headers, chunks, answer)
    elif kind == _EVENTS:
        await _stream(status, to_client(headers, sized=False), events_of(relay, chunks, limit), answer)
    elif kind == _JSON:
        await _document(status, headers, chunks, relay, answer, limit)
    else:
        await _stream(status, headers, chunks, answer)


async def _document(
    status: int, headers: Headers, chunks: AsyncIterator[bytes], relay: Relay, answer: Answer, limit: int
) -> None:
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) > limit:
            await _stream(status, headers, _again(bytes(body), chunks), answer)
            return
    await answer.whole(status, to_client(headers, sized=False), await changed(relay.from_server, bytes(body)))


async def _again(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for chunk in rest:
        yield chunk


async def _stream(status: int, headers: Headers, chunks: AsyncIterator[bytes], answer: Answer) -> None:
    await answer.start(status, to_client(headers))
    async for chunk in chunks:
        await answer.write(chunk)
    await answer.write(b"", more=False)
