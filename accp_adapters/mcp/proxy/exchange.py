"""One HTTP exchange at the proxy: read the client's request, send the server's response, event by event."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Final, TypeVar

from accp_adapters.mcp.proxy.headers import client_headers
from accp_adapters.mcp.proxy.relay import MAX_MESSAGE_BYTES, Relay, RelayedMessage, read_message, write_message
from accp_adapters.mcp.proxy.sse import EventSplitter, event_data, event_field, rewrite_event
from accp_adapters.serving.bodies import ByteLease
from accp_adapters.serving.hosts import Headers, header
from accp_adapters.serving.responses import ResponseWriter

__all__ = [
    "ClientResponse",
    "ListResponse",
    "Rewriting",
    "error_response",
    "follow_up",
    "forward_response",
    "from_server",
    "one_line",
    "relay_client",
    "rewrite_bytes",
    "rewritten_events",
]

T = TypeVar("T")

_JSON: Final = "application/json"
_JSON_FIELD: Final = (b"content-type", _JSON.encode())
_EVENT_STREAM: Final = "text/event-stream"
_INTERNAL_ERROR: Final = -32603
_INVALID_REQUEST: Final = -32600
_MAX_ON_LOOP: Final = 2 * 1024
"""Bytes; a longer message is rewritten in a thread, where it takes a millisecond or more."""
_MAX_SMALL: Final = 64 * 1024
"""Bytes; a longer message may take a second, and waits for others of its kind only."""
_SMALL: Final = ThreadPoolExecutor(4, "accp small")
_LARGE: Final = ThreadPoolExecutor(2, "accp large")


def error_response(reason: str, request: bytes = b"", *, code: int = _INTERNAL_ERROR) -> bytes:
    """Return a JSON-RPC error that answers the request with the bytes `request`."""
    request_id = (read_message(request) or {}).get("id")
    return write_message({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": reason}})


def one_line(document: bytes) -> bytes:
    """Return a JSON document as one line; a JSON string cannot hold a raw line end, those between values may go."""
    return document.strip().replace(b"\r", b" ").replace(b"\n", b" ")


class ClientResponse(ResponseWriter):
    """The HTTP response to the client of one exchange."""

    async def send_message(self, body: bytes, status: int = HTTPStatus.OK) -> None:
        """Send a JSON-RPC message of the proxy itself."""
        await self.send_all(status, [_JSON_FIELD], body)

    async def refuse(self, status: HTTPStatus, reason: str) -> None:
        """Refuse the request, and close the connection: its body may not have been read."""
        body = error_response(reason, code=_INVALID_REQUEST)
        await self.send_all(status, [_JSON_FIELD, (b"connection", b"close")], body)


async def _in_thread(work: Callable[[bytes], T], data: bytes, *, is_large: bool) -> T:
    """Return `work(data)`, computed in a thread; small messages do not wait for large ones."""
    return await asyncio.get_running_loop().run_in_executor(_LARGE if is_large else _SMALL, work, data)


async def rewrite_bytes(rewrite: Callable[[bytes], T], data: bytes, *, may_take_long: bool = False) -> T:
    """Return `rewrite(data)`, computed in a thread unless `data` is short, and it cannot take long all the same."""
    if len(data) <= _MAX_ON_LOOP and not may_take_long:
        return rewrite(data)
    return await _in_thread(rewrite, data, is_large=may_take_long or len(data) > _MAX_SMALL)


async def relay_client(relay: Relay, data: bytes) -> RelayedMessage:
    """Return `relay.from_client(data)`, computed in a thread where it can take seconds, as a fetch can."""
    if len(data) > _MAX_SMALL or relay.may_take_long(data):
        return await _in_thread(relay.from_client, data, is_large=True)
    return relay.from_client(data)


async def follow_up(relay: Relay, data: bytes) -> bytes | None:
    """Return `relay.follow_up(data)`, computed in a thread where a list of calls may query its results."""
    return await rewrite_bytes(relay.follow_up, data, may_take_long=relay.runs_lists)


async def from_server(relay: Relay, data: bytes) -> bytes:
    """Return `relay.from_server(data)`, computed in a thread as `follow_up` is."""
    return await rewrite_bytes(relay.from_server, data, may_take_long=relay.runs_lists)


@dataclass(frozen=True, slots=True)
class Rewriting:
    """How the messages of one response are rewritten."""

    relay: Relay
    """Rewrites messages."""
    lease: ByteLease
    """Holds the bytes of the messages that are waiting; where it cannot, they pass unchanged."""
    limit: int = MAX_MESSAGE_BYTES
    """Bytes of a document or event; a longer one passes unchanged."""


async def rewritten_events(rewriting: Rewriting, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the events of a stream as the client gets them, each as soon as it is complete."""
    splitter, lease = EventSplitter(rewriting.limit), rewriting.lease
    rewrite = partial(rewrite_event, rewrite=rewriting.relay.from_server)
    async for chunk in chunks:
        for event, is_complete in splitter.feed(chunk):
            is_held = is_complete and lease.resize(len(event) + splitter.waiting)
            yield await rewrite_bytes(rewrite, event) if is_held else event
        if not lease.resize(splitter.waiting):
            yield splitter.give_up()
            lease.resize(0)
    if rest := splitter.close():
        yield rest


async def forward_response(
    status: int, headers: Headers, chunks: AsyncIterator[bytes], rewriting: Rewriting | None, response: ClientResponse
) -> None:
    """Send the client the server's response, with messages rewritten.

    A compressed body, which the proxy did not ask for, passes unchanged.

    Args:
        status: The status of the server's response.
        headers: Its fields.
        chunks: Its body.
        rewriting: Rewrites messages; None: everything passes unchanged.
        response: The response to the client.
    """
    kind = _content_type(headers)
    if rewriting is None or header(headers, b"content-encoding") not in ("", "identity"):
        await _stream(status, headers, chunks, response)
    elif kind == _EVENT_STREAM:
        events = rewritten_events(rewriting, chunks)
        await _stream(status, client_headers(headers, keep_length=False), events, response)
    elif kind == _JSON:
        await _forward_document(status, headers, chunks, rewriting, response)
    else:
        await _stream(status, headers, chunks, response)


async def _forward_document(
    status: int, headers: Headers, chunks: AsyncIterator[bytes], rewriting: Rewriting, response: ClientResponse
) -> None:
    body = bytearray()
    async for chunk in chunks:
        is_held = rewriting.lease.add(len(chunk))
        body += chunk
        if not is_held or len(body) > rewriting.limit:
            begun = bytes(body)
            body.clear()
            await _stream(status, headers, _prepend(begun, chunks), response)
            return
    written = await rewrite_bytes(rewriting.relay.from_server, bytes(body))
    body.clear()
    rewriting.lease.resize(len(written))
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


def _content_type(headers: Headers) -> str:
    return header(headers, b"content-type").partition(";")[0].strip().lower()


class ListResponse:
    """The response to a list of calls: what comes before an answer passes, an answer may ask for a further call.

    It is a JSON document, or from the first event stream of the server on, a stream of events.
    """

    def __init__(self, rewriting: Rewriting, response: ClientResponse) -> None:
        """Send the client `response`, whose messages `rewriting` rewrites."""
        self.relay: Final = rewriting.relay
        """Rewrites messages."""
        self._lease: Final = rewriting.lease
        self._limit: Final = rewriting.limit
        self._response: Final = response
        self._headers: Headers = [_JSON_FIELD]

    async def receive(self, headers: Headers, chunks: AsyncIterator[bytes], request: bytes) -> bytes | None:
        """Take the server's response to one call of the list.

        Args:
            headers: The fields of the response.
            chunks: Its body.
            request: The call.

        Returns:
            The further call to make; None where the client has its response.

        Raises:
            httpx.HTTPError: The response breaks off.
        """
        fields = client_headers(headers, keep_length=False)
        if _content_type(headers) == _EVENT_STREAM:
            return await self._receive_events(fields, chunks, request)
        if not self._response.started:
            self._headers = fields
        return await self._receive_document(chunks, request)

    async def fail(self, reason: str, request: bytes) -> None:
        """Send the client what the list has, since there is no result of the call `request`."""
        await self._end(await from_server(self.relay, error_response(reason, request)))

    async def _receive_events(self, fields: Headers, chunks: AsyncIterator[bytes], request: bytes) -> bytes | None:
        if not self._response.started:
            await self._response.start(HTTPStatus.OK, fields)
        splitter, identity = EventSplitter(self._limit), (read_message(request) or {}).get("id")
        async for chunk in chunks:
            for event, is_complete in splitter.feed(chunk):
                if not is_complete or not self._lease.resize(len(event) + splitter.waiting):
                    await self._refuse(request)
                    return None
                message = read_message(event_data(event)) or {}
                if "method" in message or message.get("id") != identity:
                    await self._response.write(await self._rewritten(event))
                elif (further := await follow_up(self.relay, event_data(event))) is not None:
                    await self._skip(event)
                    return further
                else:
                    await self._response.write(await self._rewritten(event))
                    await self._response.write(b"", more=False)
                    return None
        await self.fail("the server ended its stream without a response", request)
        return None

    async def _receive_document(self, chunks: AsyncIterator[bytes], request: bytes) -> bytes | None:
        body = bytearray()
        async for chunk in chunks:
            body += chunk
            if len(body) > self._limit or not self._lease.resize(len(body)):
                await self._refuse(request)
                return None
        message = read_message(bytes(body))
        if message is None or "jsonrpc" not in message:
            await self.fail("expected a JSON-RPC response", request)
            return None
        # An error from before the server read the request has no id; it answers this one.
        is_bare = message.get("id") is None
        data = write_message(message | {"id": (read_message(request) or {}).get("id")}) if is_bare else bytes(body)
        further = await follow_up(self.relay, data)
        if further is None:
            await self._end(await from_server(self.relay, data))
        return further

    async def _rewritten(self, event: bytes) -> bytes:
        rewrite = partial(rewrite_event, rewrite=self.relay.from_server)
        return await rewrite_bytes(rewrite, event, may_take_long=self.relay.runs_lists)

    async def _skip(self, event: bytes) -> None:
        """Leave out the answer in an event, but not the event's id, from which the client may resume the stream."""
        if event_field(event, b"id") is not None:
            await self._response.write(rewrite_event(event, lambda _: b""))

    async def _refuse(self, request: bytes) -> None:
        await self.fail(f"expected a response of at most {self._limit} bytes, or fewer at once", request)

    async def _end(self, answer: bytes) -> None:
        if self._response.started:
            await self._response.write(b"event: message\ndata: " + one_line(answer) + b"\n\n")
            await self._response.write(b"", more=False)
        else:
            await self._response.send_all(HTTPStatus.OK, self._headers, answer)
