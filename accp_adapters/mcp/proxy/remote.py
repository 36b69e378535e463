"""A proxy that talks over standard streams to its client and streamable HTTP to a server elsewhere.

What the configuration files of clients need that start each server as a command. It keeps the session, the version
and the headers that the client would have kept, reads the server's own stream, and takes up a stream that broke off.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import httpx

from accp_adapters.mcp.proxy.exchange import changed, failure
from accp_adapters.mcp.proxy.headers import Headers
from accp_adapters.mcp.proxy.http import SESSION, connect
from accp_adapters.mcp.proxy.relay import LIMIT, Message, Relay, read_lines, read_message, write_message
from accp_adapters.mcp.proxy.routing import marked_arguments, routing_headers
from accp_adapters.mcp.proxy.sse import Events, event_data, event_field
from accp_adapters.mcp.proxy.stdio import LinePipe
from accp_adapters.mcp.shim.protocol import is_modern

__all__ = ["Remote", "run_remote"]

_ACCEPT: Final = "application/json, text/event-stream"
_CHUNK: Final = 256 * 1024
_GRACE: Final = 10.0
"""Seconds that calls under way are waited for when the client has closed."""
_RETRIES: Final = 5
_DELAY: Final = 1.0
_LONGEST_DELAY: Final = 60.0
_DIGITS: Final = 10
_WAITING: Final = 16


@dataclass(slots=True)
class _Place:
    """How far a stream has been read."""

    event: str = ""
    delay: float = _DELAY

    def note(self, event: bytes) -> None:
        """Note the id of `event`, and how long the server wants to be left alone when the stream breaks off."""
        self.event = (event_field(event, b"id") or b"").decode("utf-8", "replace") or self.event
        retry = event_field(event, b"retry") or b""
        if retry.isdigit() and len(retry) < _DIGITS:
            self.delay = min(int(retry) / 1000, _LONGEST_DELAY)


class Remote:
    """The server at `url`, for one client that sends and reads lines.

    Args:
        url: the server's endpoint.
        relay: the shim of this one session.
        http: asks the server.
        client: where the client reads.
        extra: fields for every request, such as `authorization`.
    """

    def __init__(
        self, url: str, relay: Relay, http: httpx.AsyncClient, client: LinePipe, *, extra: Headers = ()
    ) -> None:
        self._url = url
        self._relay = relay
        self._http = http
        self._client = client
        self._extra = [(name.decode(), value.decode()) for name, value in extra]
        self._session = ""
        self._version = ""
        self._marked: dict[str, dict[tuple[str, ...], str]] = {}
        self._calls: dict[object, tuple[asyncio.Task[None], bool]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def receive(self, line: bytes, *, whole: bool = True) -> None:
        """Take a line from the client: a request is under way when this returns, anything else has been sent."""
        if not line.strip():
            return
        if not whole:
            self._say(failure(f"expected a line of at most {LIMIT} bytes"))
            return
        passage = self._relay.from_client(line)
        if passage.answered:
            self._say(passage.data)
            return
        message = read_message(passage.data) or {}
        if self._cancels(message):
            return
        sending = self._send(passage.data.strip(), message)
        if "method" in message and "id" in message:
            self._call(message, sending)
        else:
            await sending
            if message.get("method") == "notifications/initialized":
                self._start(self._listen())

    async def close(self) -> None:
        """Wait a while for the calls that are under way, then end the session."""
        if calls := [task for task, _ in self._calls.values()]:
            await asyncio.wait(calls, timeout=_GRACE)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._session:
            with suppress(httpx.HTTPError):
                await self._http.delete(self._url, headers=self._headers({}), timeout=2.0)

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _call(self, message: Message, sending: Coroutine[Any, Any, None]) -> None:
        key = repr(message["id"])
        task = self._start(sending)
        self._calls[key] = task, is_modern(message.get("params"))
        task.add_done_callback(lambda _: self._calls.pop(key, None))

    def _cancels(self, message: Message) -> bool:
        """End the call that `message` cancels where the end of its exchange is what tells the server."""
        if message.get("method") != "notifications/cancelled" or not isinstance(message.get("params"), dict):
            return False
        task, modern = self._calls.get(repr(message["params"].get("requestId")), (None, False))
        if task is None or not modern:
            return False
        return task.cancel()

    def _say(self, data: bytes) -> None:
        # A raw line end is never inside a JSON string.
        self._client.write(data.strip().replace(b"\r", b" ").replace(b"\n", b" ") + b"\n")

    def _headers(self, message: Message) -> dict[str, str]:
        headers = {"accept": _ACCEPT}
        if self._session:
            headers[SESSION] = self._session
        if self._version:
            headers["mcp-protocol-version"] = self._version
        return headers | routing_headers(message, self._marked) | dict(self._extra)

    async def _send(self, data: bytes, message: Message) -> None:
        headers = self._headers(message) | {"content-type": "application/json"}
        place = _Place()
        try:
            async with self._http.stream("POST", self._url, content=data, headers=headers) as response:
                self._session = response.headers.get(SESSION, self._session)
                reason = await self._answer(response, place, message)
            if place.event and reason and await self._follow(place, message):
                reason = ""
        except httpx.HTTPError as error:
            reason = f"the server at {self._url} cannot be reached: {error!r}"
        if reason and "id" in message and "method" in message:
            self._say(failure(reason, data))

    async def _answer(self, response: httpx.Response, place: _Place, message: Message) -> str:
        """Give the client what the server answers; return why that is no answer, nothing if it is one."""
        kind = _kind(response)
        if kind == "text/event-stream":
            answered = await self._events(response, place, message)
            return "" if answered else "the server ended its stream without an answer"
        body = await response.aread()
        answer = read_message(body) if kind == "application/json" else None
        if answer is None or "jsonrpc" not in answer:
            return f"expected an answer, got HTTP {response.status_code} {response.reason_phrase}"
        if answer.get("id") is None:
            # An error that came before the request was read: it is this one's.
            body = write_message(answer | {"id": message.get("id")})
        await self._hear(body, message)
        return ""

    async def _events(self, response: httpx.Response, place: _Place, message: Message) -> bool:
        """Give the client the events of a stream; return whether the answer to `message` was among them."""
        events = Events()
        async for chunk in response.aiter_bytes():
            for event, _ in events.feed(chunk):
                place.note(event)
                data = event_data(event)
                if data and await self._hear(data, message):
                    return True
        return False

    async def _hear(self, data: bytes, message: Message) -> bool:
        """Give the client one message of the server; return whether it is the answer to `message`."""
        heard = read_message(data) or {}
        answers = "method" not in heard and "id" in message and heard.get("id") == message["id"]
        if answers:
            self._learn(message.get("method"), heard.get("result"))
        self._say(await changed(self._relay.from_server, data))
        return answers

    def _learn(self, method: object, result: object) -> None:
        if method == "initialize" and isinstance(result, dict):
            self._version = str(result.get("protocolVersion", ""))
        elif method == "tools/list":
            self._marked |= marked_arguments(result)

    async def _listen(self) -> None:
        """Read the stream on which the server speaks by itself, if it has one."""
        await self._follow(_Place(), {})

    async def _follow(self, place: _Place, message: Message) -> bool:
        """Read a stream from `place` on, anew when it breaks off, until it brings the answer to `message`."""
        failures = 0
        while failures < _RETRIES:
            await asyncio.sleep(place.delay if place.event or failures else 0)
            headers = self._headers({}) | ({"last-event-id": place.event} if place.event else {})
            failures += 1
            with suppress(httpx.HTTPError):
                async with self._http.stream("GET", self._url, headers=headers) as response:
                    if _kind(response) != "text/event-stream" or not response.is_success:
                        return False
                    failures = 0
                    if await self._events(response, place, message):
                        return True
        return False


def _kind(response: httpx.Response) -> str:
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()


async def run_remote(url: str, relay: Relay, *, source: int = 0, target: int = 1, extra: Headers = ()) -> None:
    """Stand between the client on our standard streams and the server at `url`, until the client closes.

    Args:
        url: the server's endpoint.
        relay: the shim of this one session.
        source: the descriptor on which the client sends.
        target: the descriptor on which the client listens; it is closed at the end.
        extra: fields for every request, such as `authorization`.
    """
    client = LinePipe(target)
    async with connect() as http:
        remote = Remote(url, relay, http, client, extra=extra)
        with suppress(BrokenPipeError):
            async for line, whole in _lines_of(source):
                await remote.receive(line, whole=whole)
        await remote.close()
    client.close()


async def _lines_of(source: int) -> AsyncIterator[tuple[bytes, bool]]:
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[tuple[bytes, bool]] = asyncio.Queue(_WAITING)

    def read() -> None:
        for line in read_lines(partial(os.read, source, _CHUNK)):
            asyncio.run_coroutine_threadsafe(queue.put(line), loop).result()
        asyncio.run_coroutine_threadsafe(queue.put((b"", False)), loop).result()

    # It may wait for the client for ever, and must not keep the process from ending.
    threading.Thread(target=read, daemon=True).start()
    while (line := await queue.get())[0]:
        yield line
