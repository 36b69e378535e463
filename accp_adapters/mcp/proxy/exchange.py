"""One HTTP exchange at the proxy: read the client's request, send the server's response, event by event."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, MutableMapping
from http import HTTPStatus
from typing import Any, Final, TypeAlias

from accp_adapters.mcp.proxy.headers import Headers, client_headers, header
from accp_adapters.mcp.proxy.relay import MAX_MESSAGE_BYTES, Relay, read_message, write_message
from accp_adapters.mcp.proxy.sse import EventSplitter, rewrite_event

__all__ = [
    "ClientResponse",
    "Receive",
    "Scope",
    "Send",
    "error_response",
    "forward_response",
    "read_body",
    "rewrite_bytes",
    "rewritten_events",
    "run_until_disconnect",
]

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
"""The three arguments of an ASGI application."""

_JSON: Final = "application/json"
_EVENT_STREAM: Final = "text/event-stream"
_INTERNAL_ERROR: Final = -32603
_INVALID_REQUEST: Final = -32600
_MAX_ON_LOOP: Final = 64 * 1024
"""Bytes; a longer message is rewritten in a thread."""


def error_response(reason: str, request: bytes = b"", *, code: int = _INTERNAL_ERROR) -> bytes:
    """Return a JSON-RPC error that answers the request with the bytes `request`."""
    request_id = (read_message(request) or {}).get("id")
    return write_message({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": reason}})


class ClientResponse:
    """The HTTP response to the client of one exchange."""

    def __init__(self, send: Send) -> None:
        """Send by the ASGI callable `send`."""
        self._send = send
        self.started = False
        """Whether status and headers were sent."""

    async def start(self, status: int, headers: Headers) -> None:
        """Send status and headers."""
        self.started = True
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def write(self, data: bytes, *, more: bool = True) -> None:
        """Send a part of the body."""
        await self._send({"type": "http.response.body", "body": data, "more_body": more})

    async def send_all(self, status: int, headers: Headers, body: bytes) -> None:
        """Send a complete response."""
        await self.start(status, [*headers, (b"content-length", str(len(body)).encode())])
        await self.write(body, more=False)

    async def send_message(self, body: bytes, status: int = HTTPStatus.OK) -> None:
        """Send a JSON-RPC message of the proxy itself."""
        await self.send_all(status, [(b"content-type", _JSON.encode())], body)

    async def refuse(self, status: HTTPStatus, reason: str) -> None:
        """Refuse the request."""
        await self.send_message(error_response(reason, code=_INVALID_REQUEST), status)


async def read_body(receive: Receive, limit: int) -> bytes | None:
    """Return the body of a request; None if it is longer than `limit` bytes or the client has disconnected."""
    body = bytearray()
    more = True
    while more:
        part = await receive()
        body += part.get("body", b"")
        more = part.get("more_body", False)
        if len(body) > limit or part["type"] == "http.disconnect":
            return None
    return bytes(body)


async def run_until_disconnect(receive: Receive, exchange: Coroutine[Any, Any, None]) -> None:
    """Await `exchange`; cancel it when the client disconnects, which is how a client cancels a call."""
    serving = asyncio.ensure_future(exchange)
    watching = asyncio.ensure_future(_disconnected(receive))
    try:
        await asyncio.wait([serving, watching], return_when=asyncio.FIRST_COMPLETED)
    finally:
        watching.cancel()
        serving.cancel()
        await asyncio.wait([serving, watching])
    if not serving.cancelled():
        serving.result()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def rewrite_bytes(rewrite: Callable[[bytes], bytes], data: bytes) -> bytes:
    """Return `rewrite(data)`, computed in a thread where `data` is long."""
    return rewrite(data) if len(data) <= _MAX_ON_LOOP else await asyncio.to_thread(rewrite, data)


async def rewritten_events(
    relay: Relay, chunks: AsyncIterator[bytes], limit: int = MAX_MESSAGE_BYTES
) -> AsyncIterator[bytes]:
    """Yield the events of a stream as the client gets them, each as soon as it is complete."""
    splitter = EventSplitter(limit)
    async for chunk in chunks:
        for event, is_complete in splitter.feed(chunk):
            if is_complete:
                yield await rewrite_bytes(lambda data: rewrite_event(data, relay.from_server), event)
            else:
                yield event
    if rest := splitter.close():
        yield rest


async def forward_response(
    status: int,
    headers: Headers,
    chunks: AsyncIterator[bytes],
    relay: Relay | None,
    response: ClientResponse,
    limit: int = MAX_MESSAGE_BYTES,
) -> None:
    """Send the client the server's response, with messages rewritten by the relay.

    A compressed body, which the proxy did not ask for, and a document longer than `limit` bytes pass unchanged.

    Args:
        status: The status of the server's response.
        headers: Its fields.
        chunks: Its body.
        relay: Rewrites messages; None: everything passes unchanged.
        response: The response to the client.
        limit: Bytes of a document or event that the relay rewrites.
    """
    kind = header(headers, b"content-type").partition(";")[0].strip().lower()
    if relay is None or header(headers, b"content-encoding") not in ("", "identity"):
        await _stream(status, headers, chunks, response)
    elif kind == _EVENT_STREAM:
        events = rewritten_events(relay, chunks, limit)
        await _stream(status, client_headers(headers, keep_length=False), events, response)
    elif kind == _JSON:
        await _forward_document(status, headers, chunks, relay, response, limit)
    else:
        await _stream(status, headers, chunks, response)


async def _forward_document(
    status: int, headers: Headers, chunks: AsyncIterator[bytes], relay: Relay, response: ClientResponse, limit: int
) -> None:
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) > limit:
            await _stream(status, headers, _prepend(bytes(body), chunks), response)
            return
    written = await rewrite_bytes(relay.from_server, bytes(body))
    await response.send_all(status, client_headers(headers, keep_length=False), written)


async def _prepend(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for chunk in rest:
        yield chunk


async def _stream(status: int, headers: Headers, chunks: AsyncIterator[bytes], response: ClientResponse) -> None:
    await response.start(status, client_headers(headers))
    async for chunk in chunks:
        await response.write(chunk)
    await response.write(b"", more=False)
