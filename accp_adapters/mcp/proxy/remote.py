"""A proxy that talks to its client over standard streams and to a remote server over streamable HTTP.

For the configuration files of clients that start each server as a command. It does what a client over HTTP does: keep
the session, the version and the headers, read the server's own stream, and resume a stream that broke off.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

import httpx

from accp_adapters.mcp.proxy.exchange import error_response, follow_up, from_server, one_line, relay_client
from accp_adapters.mcp.proxy.relay import (
    MAX_MESSAGE_BYTES,
    JsonRpcMessage,
    Relay,
    read_lines,
    read_message,
    write_message,
)  # fmt: skip
from accp_adapters.mcp.proxy.routing import header_arguments, routing_headers
from accp_adapters.mcp.proxy.sessions import SESSION_HEADER
from accp_adapters.mcp.proxy.sse import EventSplitter, event_data, event_field
from accp_adapters.mcp.proxy.stdio import LinePipe
from accp_adapters.mcp.proxy.upstream import Upstream, connect
from accp_adapters.mcp.shim.protocol import is_modern
from accp_adapters.serving.bodies import ByteBudget
from accp_adapters.serving.hosts import Headers
from accp_adapters.serving.response_bodies import read_body_of, too_long, unpacked
from accp_core.errors import ProtocolError

__all__ = ["LineWriter", "RemoteServer", "lines_of", "run_remote"]

_JSON: Final = "application/json"
_ACCEPT: Final = f"{_JSON}, text/event-stream"
_CHUNK: Final = 256 * 1024
"""Bytes that are read at once."""
_CLOSE_SECONDS: Final = 10.0
"""How long pending calls are awaited after the client has closed."""
_DELETE_SECONDS: Final = 2.0
"""How long the end of the session may take."""
_MAX_FAILURES: Final = 5
"""Failed attempts in a row to resume a stream."""
_RETRY_SECONDS: Final = 1.0
_MAX_RETRY_SECONDS: Final = 60.0
_MAX_RETRY_DIGITS: Final = 10
_MAX_QUEUED_LINES: Final = 16
_AT_ONCE: Final = 4
"""Responses of the greatest length that are held at once."""


class LineWriter(Protocol):
    """Where a client reads."""

    def write(self, data: bytes, /) -> None:
        """Write a line."""
        ...


@dataclass(slots=True)
class _StreamPosition:
    """How far a response was read, and when its stream may be resumed."""

    further: bytes | None = None
    """The next call, where the response answers one of a list of calls."""
    last_event_id: str = ""
    retry_seconds: float = _RETRY_SECONDS

    def advance(self, event: bytes) -> None:
        """Take over the id of `event`, and the server's waiting time for resuming the stream."""
        self.last_event_id = (event_field(event, b"id") or b"").decode("utf-8", "replace") or self.last_event_id
        retry = event_field(event, b"retry") or b""
        if retry.isdigit() and len(retry) < _MAX_RETRY_DIGITS:
            self.retry_seconds = min(int(retry) / 1000, _MAX_RETRY_SECONDS)


class RemoteServer:
    """The server at a URL, for one client that sends and reads lines."""

    def __init__(
        self,
        url: str,
        relay: Relay,
        http: httpx.AsyncClient,
        client: LineWriter,
        *,
        extra: Headers = (),
        limit: int = MAX_MESSAGE_BYTES,
    ) -> None:
        """Connect one client with the server.

        Args:
            url: The server's endpoint.
            relay: The relay of this session.
            http: Sends the requests to the server.
            client: Where the client reads.
            extra: Fields for every request, such as `authorization`.
            limit: Bytes of a response or event, as it is without compression; four of them may be held at once.

        Raises:
            ValueError: `url` is no http or https URL.
        """
        self._limit = limit
        self._budget = ByteBudget(_AT_ONCE * limit)
        self._upstream = Upstream(url, http, extra)
        self._relay = relay
        self._client = client
        self._session_id = ""
        self._version = ""
        self._marked: dict[str, dict[tuple[str, ...], str]] = {}
        self._calls: dict[object, tuple[asyncio.Task[None], bool]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def receive(self, line: bytes, *, is_complete: bool = True) -> None:
        """Process a line from the client: when this returns, a request is pending and anything else has been sent."""
        if not line.strip():
            return
        if not is_complete:
            self._write(error_response(f"expected a line of at most {MAX_MESSAGE_BYTES} bytes, found a longer one"))
            return
        relayed = await relay_client(self._relay, line)
        if relayed.is_answer:
            self._write(relayed.data)
            return
        # The client names its own request; the relay may have put in the id of the call that runs for it.
        if self._cancels(read_message(line) or {}):
            return
        message = read_message(relayed.data) or {}
        sending = self._send(relayed.data.strip(), message)
        if "method" in message and "id" in message:
            self._call(message, sending)
        else:
            await sending
            if message.get("method") == "notifications/initialized":
                self._start(self._listen())

    async def close(self) -> None:
        """Wait for pending calls for a limited time, then end the session."""
        if calls := [task for task, _ in self._calls.values()]:
            await asyncio.wait(calls, timeout=_CLOSE_SECONDS)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._session_id:
            with suppress(httpx.HTTPError, TimeoutError):
                async with asyncio.timeout(_DELETE_SECONDS), self._upstream.send("DELETE", self._headers({})):
                    pass

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _call(self, message: JsonRpcMessage, sending: Coroutine[Any, Any, None]) -> None:
        key = repr(message["id"])
        task = self._start(sending)
        self._calls[key] = task, is_modern(message.get("params"))
        task.add_done_callback(lambda _: self._calls.pop(key, None))

    def _cancels(self, message: JsonRpcMessage) -> bool:
        """Cancel the call that `message` cancels, where the end of the exchange tells the server; return whether so."""
        if message.get("method") != "notifications/cancelled" or not isinstance(message.get("params"), dict):
            return False
        task, modern = self._calls.get(repr(message["params"].get("requestId")), (None, False))
        if task is None or not modern:
            return False
        return task.cancel()

    def _write(self, data: bytes) -> None:
        self._client.write(one_line(data) + b"\n")

    def _headers(self, message: JsonRpcMessage, **more: str) -> Headers:
        headers = {"accept": _ACCEPT, "user-agent": "accp-middleware"}
        if self._session_id:
            headers[SESSION_HEADER] = self._session_id
        if self._version:
            headers["mcp-protocol-version"] = self._version
        headers |= routing_headers(message, self._marked) | more
        return [(name.replace("_", "-").lower().encode(), value.encode()) for name, value in headers.items()]

    async def _send(self, data: bytes, message: JsonRpcMessage) -> None:
        """Send a message and what its responses ask for, which are the further calls of a list of calls."""
        further = await self._exchange(data, message)
        while further is not None:
            further = await self._exchange(further, read_message(further) or {})

    async def _exchange(self, data: bytes, message: JsonRpcMessage) -> bytes | None:
        """Send a message and what the server responds to the client; return the further call to make, if any."""
        headers = self._headers(message, content_type=_JSON)
        position = _StreamPosition()
        try:
            async with self._upstream.send("POST", headers, data) as response:
                self._session_id = response.headers.get(SESSION_HEADER, self._session_id)
                reason = await self._forward_response(response, position, message)
            if position.last_event_id and reason and await self._follow(position, message):
                reason = ""
        except httpx.HTTPError as error:
            reason = self._upstream.explain(error)
        except ProtocolError as error:
            reason = str(error)
        if reason and "id" in message and "method" in message:
            self._write(self._relay.from_server(error_response(reason, data)))
        return position.further

    async def _forward_response(
        self, response: httpx.Response, position: _StreamPosition, message: JsonRpcMessage
    ) -> str:
        """Send the client the server's response to `message`; return why there is none, empty if there is."""
        kind = _content_type(response)
        if kind == "text/event-stream":
            is_answered = await self._forward_events(response, position, message)
            return "" if is_answered else "the server ended its stream without a response"
        with self._budget.lease() as lease:
            body = await read_body_of(response, lease, self._limit) if kind == _JSON else b""
            answer = read_message(body)
            if answer is None or "jsonrpc" not in answer:
                return f"expected a JSON-RPC response, found {_describe(response)}"
            if answer.get("id") is None:
                # An error from before the server read the request; it answers this one.
                body = write_message(answer | {"id": message.get("id")})
            await self._forward_message(body, position, message)
        return ""

    async def _forward_events(
        self, response: httpx.Response, position: _StreamPosition, message: JsonRpcMessage
    ) -> bool:
        """Send the client the events of a stream; return whether the response to `message` was among them.

        Raises:
            ProtocolError: E2003, an event is too long, which may be that response; where none is awaited it is left
                out.
        """
        splitter = EventSplitter(self._limit)
        with self._budget.lease() as lease:
            async for chunk in unpacked(response):
                for event, is_complete in splitter.feed(chunk):
                    if is_complete and lease.resize(len(event) + splitter.waiting):
                        position.advance(event)
                        data = event_data(event)
                        if data and await self._forward_message(data, position, message):
                            return True
                    elif "id" in message:
                        raise too_long(self._limit)
                if not lease.resize(splitter.waiting):
                    splitter.give_up()
        return False

    async def _forward_message(self, data: bytes, position: _StreamPosition, message: JsonRpcMessage) -> bool:
        """Send the client one message of the server; return whether it is the response to `message`."""
        received = read_message(data) or {}
        is_answer = "method" not in received and "id" in message and received.get("id") == message["id"]
        if is_answer:
            self._learn(message.get("method"), received.get("result"))
            position.further = await follow_up(self._relay, data)
        if position.further is None:
            self._write(await from_server(self._relay, data))
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

    async def _follow(self, position: _StreamPosition, message: JsonRpcMessage) -> bool:
        """Read a stream from `position` on, resuming it when it breaks off, until the response to `message` arrives."""
        failures = 0
        while failures < _MAX_FAILURES:
            await asyncio.sleep(position.retry_seconds if position.last_event_id or failures else 0)
            headers = self._headers({}, **({"last_event_id": position.last_event_id} if position.last_event_id else {}))
            failures += 1
            with suppress(httpx.HTTPError):
                async with self._upstream.send("GET", headers) as response:
                    if _content_type(response) != "text/event-stream" or not response.is_success:
                        return False
                    failures = 0
                    if await self._forward_events(response, position, message):
                        return True
        return False


def _describe(response: httpx.Response) -> str:
    """Return the status of a response; of a redirect, the origin to which it leads and credentials must not follow."""
    described = f"HTTP {response.status_code} {response.reason_phrase}"
    if not response.has_redirect_location:
        return described
    with suppress(httpx.InvalidURL):
        target = response.request.url.join(response.headers["location"])
        described += f" to {target.scheme}://{target.host}"
    return f"{described}, which is not followed: name the server there by --url"


def _content_type(response: httpx.Response) -> str:
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()


async def run_remote(
    url: str,
    relay: Relay,
    *,
    source: int = 0,
    target: int = 1,
    extra: Headers = (),
    limit: int = MAX_MESSAGE_BYTES,
) -> None:
    """Connect the client on standard streams with the server at `url`, until the client closes.

    Args:
        url: The server's endpoint.
        relay: The relay of this session.
        source: The descriptor on which the client sends.
        target: The descriptor on which the client reads; it is closed at the end.
        extra: Fields for every request, such as `authorization`.
        limit: As in `RemoteServer`.
    """
    client = LinePipe(target)
    async with connect() as http:
        remote = RemoteServer(url, relay, http, client, extra=extra, limit=limit)
        with suppress(BrokenPipeError):
            async for line, is_complete in lines_of(source):
                await remote.receive(line, is_complete=is_complete)
        await remote.close()
    relay.close()
    client.close()


async def lines_of(source: int) -> AsyncIterator[tuple[bytes, bool]]:
    """Yield the lines on a descriptor with their ends, and whether each is complete, as they arrive."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[tuple[bytes, bool]] = asyncio.Queue(_MAX_QUEUED_LINES)

    def read() -> None:
        for line in read_lines(partial(os.read, source, _CHUNK)):
            asyncio.run_coroutine_threadsafe(queue.put(line), loop).result()
        asyncio.run_coroutine_threadsafe(queue.put((b"", False)), loop).result()

    # A daemon: it may wait for the client forever, which must not keep the process from ending.
    threading.Thread(target=read, daemon=True).start()
    while (line := await queue.get())[0]:
        yield line
