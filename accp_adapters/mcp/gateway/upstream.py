"""One server of a gateway, for one client: its handshake, its pending requests, its lists, and its end."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

from accp_adapters.mcp.gateway.names import Names
from accp_adapters.mcp.links.link import Link
from accp_adapters.mcp.proxy.message import Message
from accp_adapters.mcp.shim.protocol import JsonObject
from accp_adapters.serving.off_loop import size_of

__all__ = ["LIST_METHODS", "ServerEnded", "Upstream"]

_LOG: Final = logging.getLogger(__name__)
_MAX_PAGES: Final = 1_000
_MAX_LISTED: Final = 4 << 20
"""Characters of a list of a server; what comes beyond is left out."""

LIST_METHODS: Final = {
    "tools/list": ("tools", "tools", "notifications/tools/list_changed"),
    "prompts/list": ("prompts", "prompts", "notifications/prompts/list_changed"),
    "resources/list": ("resources", "resources", "notifications/resources/list_changed"),
    "resources/templates/list": ("resources", "resourceTemplates", "notifications/resources/list_changed"),
}
"""Each method that lists: the capability of its servers, the member of its results, and what announces a change."""


class ServerEnded(Exception):
    """The server cannot answer: it did not start, or has ended; the text says which and why."""


class Upstream:
    """One server."""

    def __init__(self, names: Names, link: Link, receive: Callable[[Upstream, JsonObject], Awaitable[None]]) -> None:
        """Prepare to talk to a server.

        Args:
            names: How its names look outside.
            link: The way to it.
            receive: Takes its requests and notifications.
        """
        self.names: Final = names
        self.handshake: JsonObject | None = None
        """The result of its `initialize`; None before that, and for a server that never answered."""
        self.progress_tokens: Final[set[str]] = set()
        """The tokens of the client's pending requests."""
        self._link = link
        self._receive = receive
        self._numbers = itertools.count(1)
        self._pending: Final[dict[int, asyncio.Future[JsonObject]]] = {}
        self._reason = ""
        self._lists: Final[dict[str, list[Any]]] = {}
        self._is_started: Final = asyncio.Event()

    def has(self, capability: str) -> bool:
        """Return whether the server declared a capability."""
        declared = (self.handshake or {}).get("capabilities")
        return isinstance(declared, dict) and isinstance(declared.get(capability), dict)

    async def start(self, params: JsonObject) -> None:
        """Start the server and shake hands.

        Raises:
            ServerEnded: It does not start, or refuses.
        """
        try:
            await self._shake_hands(params)
        finally:
            self._is_started.set()

    async def _shake_hands(self, params: JsonObject) -> None:
        try:
            await self._link.start(self._deliver, self._end)
        except (OSError, ValueError, ImportError) as error:
            self._end(f"it cannot be started: {error}")
        answer = await self._request("initialize", params)
        result = answer.get("result")
        if not isinstance(result, dict):
            refusal = answer.get("error")
            self._end(f"it refuses: {(refusal.get('message') if isinstance(refusal, dict) else refusal)!r:.500}")
            self._check()
            return
        self.handshake = result
        await self.notify("notifications/initialized")

    async def request(self, method: str, params: Any) -> JsonObject:
        """Return the response to a request, sent once the server has started; if cancelled, the server is told.

        Raises:
            ServerEnded: The server ends before it answers.
        """
        await self._is_started.wait()
        return await self._request(method, params)

    async def _request(self, method: str, params: Any) -> JsonObject:
        self._check()
        number = next(self._numbers)
        answer: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        self._pending[number] = answer
        message: JsonObject = {"jsonrpc": "2.0", "id": number, "method": method}
        try:
            await self._link.send(Message.of(message if params is None else {**message, "params": params}))
            return await answer
        except asyncio.CancelledError:
            if not self._reason:
                await self.notify("notifications/cancelled", {"requestId": number})
            raise
        finally:
            self._pending.pop(number, None)

    async def notify(self, method: str, params: Any = None) -> None:
        """Send a notification."""
        message: JsonObject = {"jsonrpc": "2.0", "method": method}
        await self._link.send(Message.of(message if params is None else {**message, "params": params}))

    async def respond(self, response: JsonObject) -> None:
        """Send the response to a request of the server."""
        await self._link.send(Message.of(response))

    async def read(self, method: str) -> None:
        """Ask the server for a list, unless it was read and no change was announced."""
        capability, member, _ = LIST_METHODS[method]
        if method in self._lists or not self.has(capability):
            return
        try:
            self._lists[method] = await self._pages(method, member)
        except ServerEnded:
            _LOG.warning("the server %r ended before it listed its %s", self.names.server, member)

    def listed(self, method: str) -> list[Any]:
        """Return what was read of a list, under the names outside; the same until the server announces a change.

        A server that has ended keeps what it listed: a definition never vanishes without a word.
        """
        capability, _, _ = LIST_METHODS[method]
        outside = self.names.located if capability == "resources" else self.names.named
        return [outside(item) for item in self._lists.get(method, [])]

    def forget_lists(self, notification: str) -> bool:
        """Forget the lists whose change `notification` announces; return whether it announces one."""
        changed = [method for method, (_, _, change) in LIST_METHODS.items() if change == notification]
        for method in changed:
            self._lists.pop(method, None)
        return bool(changed)

    async def close(self) -> None:
        """End the server."""
        await self._link.close()
        self._end("the session is over")
        self._is_started.set()

    async def _pages(self, method: str, member: str) -> list[Any]:
        items: list[Any] = []
        listed = 0
        params: JsonObject | None = None
        for _ in range(_MAX_PAGES):
            result = (await self.request(method, params)).get("result")
            if not isinstance(result, dict) or not isinstance(result.get(member), list):
                _LOG.warning("the server %r does not list its %s", self.names.server, member)
                break
            listed += size_of(result[member], _MAX_LISTED)
            if listed > _MAX_LISTED:
                _LOG.warning("the server %r lists too many %s: not all are shown", self.names.server, member)
                break
            items += result[member]
            if not isinstance(result.get("nextCursor"), str):
                break
            params = {"cursor": result["nextCursor"]}
        return items

    def _check(self) -> None:
        if self._reason:
            raise ServerEnded(f"the server {self.names.server!r} is not available: {self._reason}")

    def _end(self, reason: str) -> None:
        self._reason = self._reason or reason
        for answer in self._pending.values():
            if not answer.done():
                answer.set_exception(ServerEnded(f"the server {self.names.server!r} is not available: {self._reason}"))

    async def _deliver(self, received: Message) -> None:
        message = (await received.read()).meaning
        if message is None:
            if received.data.strip():
                _LOG.warning("the server %r wrote a line that is no message", self.names.server)
        elif "method" in message:
            await self._receive(self, message)
        else:
            answer = self._pending.get(message["id"]) if type(message.get("id")) is int else None
            if answer is not None and not answer.done():
                answer.set_result(message)
