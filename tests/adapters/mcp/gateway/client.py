"""A client of a gateway session in this process, and servers for it."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from accp_adapters.mcp.gateway.configuration import ServerSettings
from accp_adapters.mcp.gateway.session import GatewaySession
from accp_adapters.mcp.proxy.message import Message
from tests.limits import PATIENCE, async_wait_until

__all__ = ["ROOT", "Client", "asking", "conformance", "connected"]

ROOT: Final = Path(__file__).parents[4]


def asking(name: str) -> ServerSettings:
    """Return a server that asks its client."""
    return ServerSettings(name, [sys.executable, str(Path(__file__).with_name("asking_server.py")), name])


def conformance(name: str) -> ServerSettings:
    """Return the server of the conformance suite, made with the SDK."""
    command = [sys.executable, "-m", "tests.harness.mcp_suite.server"]
    return ServerSettings(name, command, folder=str(ROOT))


class Client:
    """Sends messages to a session and collects what comes back."""

    def __init__(self, servers: Sequence[ServerSettings], **options: Any) -> None:
        self.heard: list[Any] = []
        self.session = GatewaySession(servers, **{"patience": PATIENCE, **options})
        self._number = 0

    async def send(self, **message: Any) -> None:
        """Send a message."""
        await self.say(json.dumps({"jsonrpc": "2.0", **message}).encode())

    async def say(self, line: bytes) -> None:
        """Send a line."""
        await self.session.start(self.hear_message, lambda reason: None)
        await self.session.send(Message(line))

    async def hear_message(self, message: Message) -> None:
        """Collect a message."""
        self.heard.append(message.value)

    async def post(self, method: str, **params: Any) -> int:
        """Send a request; return its id."""
        self._number += 1
        await self.send(id=self._number, method=method, params=params)
        return self._number

    async def ask(self, method: str, **params: Any) -> Any:
        """Return the response to a request."""
        return await self.answer(await self.post(method, **params))

    async def answer(self, identity: Any) -> Any:
        """Return the response to the request `identity`."""
        return await self.hear(lambda each: each.get("id") == identity and "method" not in each)

    async def hear(self, condition: Any) -> Any:
        """Return the first message that fulfils `condition`, when it is there."""
        await async_wait_until(lambda: any(map(condition, self.heard)))
        return next(filter(condition, self.heard))

    async def call(self, name: str, **arguments: Any) -> Any:
        """Return the result of a tool."""
        return (await self.ask("tools/call", name=name, arguments=arguments))["result"]

    async def start(self, capabilities: Any = None, version: str = "2025-11-25") -> Any:
        """Shake hands; return the result."""
        info = {"name": "test", "version": "1"}
        given = {"protocolVersion": version, "capabilities": capabilities or {}, "clientInfo": info}
        answer = await self.ask("initialize", **given)
        await self.send(method="notifications/initialized")
        return answer["result"]


@asynccontextmanager
async def connected(*servers: ServerSettings, **options: Any) -> AsyncIterator[Client]:
    """Yield a client of these servers that has shaken hands; end them after that."""
    client = Client(servers, **options)
    try:
        await client.start({"sampling": {}, "roots": {"listChanged": True}, "elicitation": {}, "tasks": {}})
        yield client
    finally:
        await client.session.close()
