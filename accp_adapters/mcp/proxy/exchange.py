"""One HTTP exchange at the proxy: the server's response to a client's request, event by event."""

from __future__ import annotations

from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Final

import httpx2

from accp_adapters.mcp.proxy.endpoint_client import client_headers
from accp_adapters.mcp.proxy.message import Message, error_message
from accp_adapters.mcp.proxy.relay import MAX_MESSAGE_BYTES, Relay, Relayed
from accp_adapters.serving.bodies import ByteLease, weight_of
from accp_adapters.serving.hosts import Headers, header
from accp_adapters.serving.response_bodies import too_long
from accp_adapters.serving.responses import ResponseWriter
from accp_adapters.serving.sse import EventSplitter, event_data, event_field, with_data
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["ClientResponse", "ServerResponses", "forward_unchanged"]

_JSON: Final = "application/json"
_JSON_FIELD: Final = (b"content-type", _JSON.encode())
_EVENT_STREAM: Final = "text/event-stream"
_INVALID_REQUEST: Final = -32600


class ClientResponse(ResponseWriter):
    """The HTTP response to the client of one exchange."""

    async def send_message(self, message: Message, status: int = HTTPStatus.OK) -> None:
        """Send a JSON-RPC message of the proxy itself."""
        await self.send_all(status, [_JSON_FIELD], message.data)

    async def refuse(self, status: HTTPStatus, reason: str) -> None:
        """Refuse the request, and close the connection: its body may not have been read."""
        body = error_message(reason, code=_INVALID_REQUEST).data
        await self.send_all(status, [_JSON_FIELD, (b"connection", b"close")], body)


async def forward_unchanged(
    status: int, headers: Headers, chunks: AsyncIterator[bytes], response: ClientResponse
) -> None:
    """Send the client the server's response as it is."""
    await response.start(status, client_headers(headers))
    async for chunk in chunks:
        await response.write(chunk)
    await response.write(b"", more=False)


class ServerResponses:
    """What the client gets of the server's responses to one request of the client and to those that follow from it.

    It is a JSON document, or from the first event stream of the server on, a stream of events.
    """

    def __init__(
        self, relay: Relay, response: ClientResponse, lease: ByteLease, limit: int = MAX_MESSAGE_BYTES
    ) -> None:
        """Write to `response`.

        Args:
            relay: Rewrites messages.
            response: The response to the client.
            lease: Holds the bytes of messages that are not complete; where it cannot, they pass unchanged.
            limit: Bytes of a document or event; a longer one passes unchanged.
        """
        self._relay: Final = relay
        self._response: Final = response
        self._lease: Final = lease
        self._limit: Final = limit
        self._fields: Headers = [_JSON_FIELD]
        self._is_first = True

    async def forward(
        self, status: int, headers: Headers, chunks: AsyncIterator[bytes], sent: Relayed
    ) -> Relayed | None:
        """Send the client a response of the server, with messages rewritten.

        A compressed body, which the proxy did not ask for, passes unchanged.

        Args:
            status: The status of the response.
            headers: Its fields.
            chunks: Its body.
            sent: The request.

        Returns:
            The request of ours that follows from the response; None where the client has all of it.

        Raises:
            ProtocolError: `sent` is a request of ours, and there is no response to it that can be read.
            httpx2.HTTPError: The response breaks off.
        """
        is_first, self._is_first = self._is_first, False
        kind = _content_type(headers)
        fields = client_headers(headers, keep_length=False)
        if sent.is_own and not httpx2.codes.is_success(status):
            if not is_first:
                raise _no_response(f"HTTP {status} {httpx2.codes.get_reason_phrase(status)}")
            await forward_unchanged(status, headers, chunks, self._response)
        elif header(headers, b"content-encoding") not in ("", "identity") and not sent.is_own:
            await forward_unchanged(status, headers, chunks, self._response)
        elif kind == _EVENT_STREAM:
            if not self._response.started:
                await self._response.start(status, fields)
            return await self._forward_events(chunks, sent)
        elif kind == _JSON or sent.is_own:
            self._fields = fields if kind == _JSON else self._fields
            return await self._forward_document(status, headers, chunks, sent)
        else:
            await forward_unchanged(status, headers, chunks, self._response)
        return None

    async def fail(self, reason: str, request: Message) -> None:
        """Send the client what becomes of a request of ours to which there is no response."""
        failed = await self._relay.relay_server(error_message(reason, request))
        await self._end(HTTPStatus.OK, failed.message)

    async def _forward_events(self, chunks: AsyncIterator[bytes], sent: Relayed) -> Relayed | None:
        splitter, response = EventSplitter(self._limit), self._response
        async for chunk in chunks:
            for event, is_complete in splitter.feed(chunk):
                is_held = is_complete and self._lease.resize(await weight_of(event) + splitter.waiting)
                if not is_held and sent.is_own:
                    raise too_long(self._limit)
                message = Message(event_data(event) if is_held else b"")
                following = await self._forward_event(event, message)
                if sent.is_own and (following is not None or _answers(message, sent.message)):
                    await response.write(b"", more=following is not None)
                    return following
            if not self._lease.resize(splitter.waiting):
                if sent.is_own:
                    raise too_long(self._limit)
                await response.write(splitter.give_up())
                self._lease.resize(0)
        if sent.is_own:
            raise _no_response("the server ended its stream without a response")
        await response.write(splitter.close())
        await response.write(b"", more=False)
        return None

    async def _forward_event(self, event: bytes, message: Message) -> Relayed | None:
        """Send the client an event with `message`; return the request of ours that follows from it instead, if any."""
        if not message.data:
            await self._response.write(event)
            return None
        relayed = await self._relay.relay_server(message)
        if relayed.to_client:
            changed = event if relayed.message is message else with_data(event, relayed.message.data)
            await self._response.write(changed)
            return None
        # The client may resume the stream from this event, whose message it does not get.
        if event_field(event, b"id") is not None:
            await self._response.write(with_data(event, b""))
        return relayed

    async def _forward_document(
        self, status: int, headers: Headers, chunks: AsyncIterator[bytes], sent: Relayed
    ) -> Relayed | None:
        body, is_held = bytearray(), True
        async for chunk in chunks:
            is_held = self._lease.add(len(chunk))
            body += chunk
            if not is_held or len(body) > self._limit:
                break
        else:
            is_held = self._lease.resize(await weight_of(body))
        if not is_held or len(body) > self._limit:
            if sent.is_own:
                raise too_long(self._limit)
            begun = bytes(body)
            body.clear()
            await forward_unchanged(status, headers, _prepend(begun, chunks), self._response)
            return None
        message = Message(bytes(body))
        body.clear()
        if sent.is_own:
            message = _identified(await message.read(), sent.message)
        relayed = await self._relay.relay_server(message)
        if not relayed.to_client:
            self._lease.resize(0)
            return relayed
        self._lease.resize(len(relayed.message.data))
        await self._end(status, relayed.message)
        return None

    async def _end(self, status: int, answer: Message) -> None:
        if self._response.started:
            await self._response.write(b"event: message\ndata: " + answer.line + b"\n\n")
            await self._response.write(b"", more=False)
        else:
            await self._response.send_all(status, self._fields, answer.data)


async def _prepend(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for chunk in rest:
        yield chunk


def _answers(message: Message, request: Message) -> bool:
    return "method" not in message.members and message.members.get("id") == request.members.get("id")


def _identified(message: Message, request: Message) -> Message:
    """Return the response in a document; an error from before the server read the request has no id, and gets its id.

    Raises:
        ProtocolError: E1001, it is no response.
    """
    if "jsonrpc" not in message.members:
        raise _no_response("expected a JSON-RPC response")
    if message.members.get("id") is not None:
        return message
    return message.changed({**message.members, "id": request.members.get("id")})


def _no_response(reason: str) -> ProtocolError:
    return ProtocolError(reason, code=ErrorCode.PARSE_ERROR)


def _content_type(headers: Headers) -> str:
    return header(headers, b"content-type").partition(";")[0].strip().lower()
