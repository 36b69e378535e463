"""The link to a server over streamable HTTP.

It does what a client over HTTP does: keep the session, the version and the headers, read the server's own stream, and
resume a stream that broke off.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from typing import Any, Final

import httpx2

from accp_adapters.mcp.links.link import Deliver, Ended
from accp_adapters.mcp.proxy.callers import SESSION_HEADER
from accp_adapters.mcp.proxy.endpoint_client import EndpointClient, connect
from accp_adapters.mcp.proxy.message import Message, error_message
from accp_adapters.mcp.proxy.relay import MAX_MESSAGE_BYTES
from accp_adapters.mcp.proxy.routing import header_arguments, routing_headers
from accp_adapters.mcp.shim.protocol import JsonObject, is_modern
from accp_adapters.serving.bodies import ByteBudget, Leases, weight_of
from accp_adapters.serving.hosts import Headers
from accp_adapters.serving.response_bodies import read_body_of, too_long, unpacked
from accp_adapters.serving.sse import EventSplitter, event_data, event_field
from accp_core.errors import ProtocolError

__all__ = ["UrlLink"]

_JSON: Final = "application/json"
_ACCEPT: Final = f"{_JSON}, text/event-stream"
_CLOSE_SECONDS: Final = 10.0
"""Seconds for which pending calls are awaited after the client has closed."""
_DELETE_SECONDS: Final = 2.0
"""How long the end of the session may take."""
_MAX_FAILURES: Final = 5
"""Failed attempts in a row to resume a stream."""
_RETRY_SECONDS: Final = 1.0
_MAX_RETRY_SECONDS: Final = 60.0
_MAX_RETRY_DIGITS: Final = 10
_AT_ONCE: Final = 4
"""Responses of the greatest length that are in memory at once."""


@dataclass(slots=True)
class _StreamPosition:
    """How far a response was read, and when its stream may be resumed."""

    last_event_id: str = ""
    retry_seconds: float = _RETRY_SECONDS

    def advance(self, event: bytes) -> None:
        """Take over the id of `event`, and the server's waiting time for resuming the stream."""
        self.last_event_id = (event_field(event, b"id") or b"").decode("utf-8", "replace") or self.last_event_id
        retry = event_field(event, b"retry") or b""
        if retry.isdigit() and len(retry) < _MAX_RETRY_DIGITS:
            self.retry_seconds = min(int(retry) / 1000, _MAX_RETRY_SECONDS)


class UrlLink:
    """A URL; a request that fails is answered by an error, and the next one is tried again."""

    def __init__(
        self, url: str, *, extra: Headers = (), limit: int = MAX_MESSAGE_BYTES, leases: Leases | None = None
    ) -> None:
        """Prepare to reach a server.

        Args:
            url: The server's endpoint.
            extra: Fields for every request, such as `authorization`.
            limit: Bytes of a response or event, as it is without compression.
            leases: The bytes that may be held at once; None: four times the limit.
        """
        self._url = url
        self._extra = extra
        self._limit = limit
        self._leases = leases or ByteBudget(_AT_ONCE * limit).lease
        self._stack: Final = AsyncExitStack()
        self._session_id = ""
        self._version = ""
        self._marked: dict[str, dict[tuple[str, ...], str]] = {}
        self._calls: dict[object, tuple[asyncio.Task[None], bool]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self, deliver: Deliver, ended: Ended) -> None:
        """Open a client.

        Raises:
            ValueError: The URL is no http or https URL.
        """
        self._upstream = EndpointClient(self._url, await self._stack.enter_async_context(connect()), self._extra)
        self._deliver = deliver

    async def send(self, message: Message) -> None:
        """Send a message: when this returns, a request is pending and anything else has been sent."""
        value = message.meaning or {}
        if self._cancels(value):
            return
        sending = self._exchange(message, value)
        if "method" in value and "id" in value:
            self._call(value, sending)
            return
        await sending
        if value.get("method") == "notifications/initialized":
            self._start(self._listen())

    async def close(self, *, drain: bool = False) -> None:
        """End the session; with `drain`, wait for pending calls first."""
        if drain and (calls := [task for task, _ in self._calls.values()]):
            await asyncio.wait(calls, timeout=_CLOSE_SECONDS)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._session_id:
            with suppress(httpx2.HTTPError, TimeoutError):
                async with asyncio.timeout(_DELETE_SECONDS), self._upstream.send("DELETE", self._headers({})):
                    pass
        await self._stack.aclose()

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _call(self, message: JsonObject, sending: Coroutine[Any, Any, None]) -> None:
        key = repr(message["id"])
        task = self._start(sending)
        self._calls[key] = task, is_modern(message.get("params"))
        task.add_done_callback(lambda _: self._calls.pop(key, None))

    def _cancels(self, message: JsonObject) -> bool:
        """Cancel the call that `message` cancels, where the end of the exchange tells the server; return whether so."""
        if message.get("method") != "notifications/cancelled" or not isinstance(message.get("params"), dict):
            return False
        task, modern = self._calls.get(repr(message["params"].get("requestId")), (None, False))
        if task is None or not modern:
            return False
        return task.cancel()

    def _headers(self, message: JsonObject, **more: str) -> Headers:
        headers = {"accept": _ACCEPT, "user-agent": "accp-middleware"}
        if self._session_id:
            headers[SESSION_HEADER] = self._session_id
        if self._version:
            headers["mcp-protocol-version"] = self._version
        headers |= routing_headers(message, self._marked) | more
        return [(name.replace("_", "-").lower().encode(), value.encode()) for name, value in headers.items()]

    async def _exchange(self, sent: Message, message: JsonObject) -> None:
        """Send a message and deliver what the server responds."""
        headers = self._headers(message, content_type=_JSON)
        position = _StreamPosition()
        try:
            async with self._upstream.send("POST", headers, sent.data.strip()) as response:
                self._session_id = response.headers.get(SESSION_HEADER, self._session_id)
                reason = await self._forward_response(response, position, message)
            if position.last_event_id and reason and await self._follow(position, message):
                reason = ""
        except httpx2.HTTPError as error:
            reason = self._upstream.explain(error)
        except ProtocolError as error:
            reason = str(error)
        if reason and "id" in message and "method" in message:
            await self._deliver(error_message(reason, sent))

    async def _forward_response(self, response: httpx2.Response, position: _StreamPosition, message: JsonObject) -> str:
        """Send the client the server's response to `message`; return why there is none, empty if there is."""
        kind = _content_type(response)
        if kind == "text/event-stream":
            is_answered = await self._forward_events(response, position, message)
            return "" if is_answered else "the server ended its stream without a response"
        with self._leases() as lease:
            body = await read_body_of(response, lease, self._limit) if kind == _JSON else b""
            if not lease.resize(await weight_of(body)):
                raise too_long(self._limit)
            answer = await Message(body).read()
            if "jsonrpc" not in (answer.meaning or {}):
                return f"expected a JSON-RPC response, found {_describe(response)}"
            if answer.value is not None and answer.value.get("id") is None:
                # An error from before the server read the request; it answers this one.
                answer = answer.changed(answer.value | {"id": message.get("id")})
            await self._forward_message(answer, message)
        return ""

    async def _forward_events(self, response: httpx2.Response, position: _StreamPosition, message: JsonObject) -> bool:
        """Send the client the events of a stream; return whether the response to `message` was among them.

        Raises:
            ProtocolError: E2003, an event is too long, which may be that response; where none is awaited it is left
                out.
        """
        splitter = EventSplitter(self._limit)
        with self._leases() as lease:
            async for chunk in unpacked(response):
                for event, is_complete in splitter.feed(chunk):
                    if is_complete and lease.resize(await weight_of(event) + splitter.waiting):
                        position.advance(event)
                        data = event_data(event)
                        if data and await self._forward_message(await Message(data).read(), message):
                            return True
                    elif "id" in message:
                        raise too_long(self._limit)
                if not lease.resize(splitter.waiting):
                    splitter.give_up()
        return False

    async def _forward_message(self, received: Message, message: JsonObject) -> bool:
        """Deliver one message of the server; return whether it is the response to `message`."""
        value = received.meaning or {}
        is_answer = "method" not in value and "id" in message and value.get("id") == message["id"]
        if is_answer:
            self._learn(message.get("method"), value.get("result"))
        await self._deliver(received)
        return is_answer

    def _learn(self, method: object, result: object) -> None:
        """Remember what the headers of later requests repeat: the version, and which arguments are marked."""
        if method == "initialize" and isinstance(result, dict):
            self._version = str(result.get("protocolVersion", ""))
        elif method == "tools/list":
            self._marked |= header_arguments(result)

    async def _listen(self) -> None:
        """Read the stream on which the server sends messages of its own, if it has one."""
        await self._follow(_StreamPosition(), {})

    async def _follow(self, position: _StreamPosition, message: JsonObject) -> bool:
        """Read a stream from `position` on, resuming it when it breaks off, until the response to `message` arrives."""
        failures = 0
        while failures < _MAX_FAILURES:
            await asyncio.sleep(position.retry_seconds if position.last_event_id or failures else 0)
            headers = self._headers({}, **({"last_event_id": position.last_event_id} if position.last_event_id else {}))
            failures += 1
            with suppress(httpx2.HTTPError):
                async with self._upstream.send("GET", headers) as response:
                    if _content_type(response) != "text/event-stream" or not response.is_success:
                        return False
                    failures = 0
                    if await self._forward_events(response, position, message):
                        return True
        return False


def _describe(response: httpx2.Response) -> str:
    """Return the status of a response; of a redirect, the origin to which it leads and credentials must not follow."""
    described = f"HTTP {response.status_code} {response.reason_phrase}"
    if not response.has_redirect_location:
        return described
    with suppress(httpx2.InvalidURL):
        target = response.request.url.join(response.headers["location"])
        described += f" to {target.scheme}://{target.host}"
    return f"{described}, which is not followed: name the server there by --url"


def _content_type(response: httpx2.Response) -> str:
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()
