"""An HTTP server that responds as a test says and records its requests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

__all__ = ["Answering", "Saying", "Upstream"]


class Saying:
    """The response of a server to one request."""

    def __init__(self, receive: Any, send: Any) -> None:
        self._receive, self._send = receive, send
        self._started = False

    async def __call__(self, data: bytes, status: int = 200, *, more: bool = False, **fields: str) -> None:
        if not self._started:
            self._started = True
            headers = [(name.replace("_", "-").encode(), value.encode()) for name, value in fields.items()]
            await self._send({"type": "http.response.start", "status": status, "headers": headers})
        await self._send({"type": "http.response.body", "body": data, "more_body": more})

    async def run_until_disconnect(self) -> None:
        assert (await self._receive())["type"] == "http.disconnect"


Answering: TypeAlias = Callable[[dict[str, Any], bytes, Saying], Awaitable[None]]


class Upstream:
    """A server that records each request and responds as `answering` says."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, dict[str, str], bytes]] = []
        self.answering: Answering = hello

    def says(self, data: bytes, status: int = 200, **fields: Any) -> None:
        """Respond so to every request."""

        async def answering(scope: dict[str, Any], body: bytes, say: Saying) -> None:
            await say(data, status, **fields)

        self.answering = answering

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        self.loop = asyncio.get_running_loop()
        body = b""
        more = True
        while more:
            part = await receive()
            body += part.get("body", b"")
            more = part.get("more_body", False)
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        path = scope["path"] + (f"?{scope['query_string'].decode()}" if scope["query_string"] else "")
        self.requests.append((scope["method"], path, headers, body))
        await self.answering(scope, body, Saying(receive, send))


async def hello(scope: dict[str, Any], body: bytes, say: Saying) -> None:
    await say(b'{ "id": 1 }', content_type="application/json; charset=utf-8", x_mine="1")
