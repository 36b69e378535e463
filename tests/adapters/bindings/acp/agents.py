"""Agents, servers and a proxy that aborts connections, for the tests of all bindings of ACP."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import uvicorn

from accp_adapters.bindings.acp.host import AcpHost
from accp_adapters.bindings.acp.relay import serve_relay
from accp_adapters.bindings.acp.session import AcpSession
from accp_core.acp import AcpMessage, AgentCard, Part, TextPart
from tests.limits import async_wait_until

__all__ = ["Echo", "Proxy", "hosting", "serving", "text_of"]


def text_of(parts: AcpMessage | tuple[Part, ...]) -> str:
    """Return the texts of a message or of parts, one after the other."""
    found = parts.parts if isinstance(parts, AcpMessage) else parts
    return "".join(part.content for part in found if isinstance(part, TextPart))


class Echo:
    """Replies with what it was told, and remembers it."""

    def __init__(self, name: str = "Echo") -> None:
        self.card = AgentCard(name=name)
        self.heard: list[str] = []
        self.works = asyncio.Event()
        self.works.set()

    async def handle(self, message: AcpMessage, peer: AcpSession) -> str | None:
        text = text_of(message)
        await self.works.wait()
        self.heard.append(text)
        if text == "fail":
            raise ValueError("as told")
        return None if text.startswith("quiet") else f"echo {text}"


@asynccontextmanager
async def serving(app: Any, **options: Any) -> AsyncIterator[int]:
    """Yield the port of a real server of an ASGI application on the loopback interface."""
    config = uvicorn.Config(
        app, host="127.0.0.1", port=0, log_level="critical", lifespan="off", timeout_graceful_shutdown=1, **options
    )
    server = uvicorn.Server(config)
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]  # left to pytest
    task = asyncio.create_task(server._serve())
    try:
        await async_wait_until(lambda: server.started or task.done())
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = server.force_exit = True
        await task
        for connection in list(server.server_state.connections):  # a server that is forced to end leaves them open
            connection.transport.abort()  # type: ignore[union-attr]  # it has one once it is connected
        await async_wait_until(lambda: not server.server_state.connections)


@asynccontextmanager
async def hosting(host: AcpHost, link: str) -> AsyncIterator[None]:
    """Serve a host in its room of a relay while the context lasts."""
    task = asyncio.create_task(serve_relay(host, link))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class Proxy:
    """Passes bytes on to a port, and cuts all connections when told: by a reset, which loses what is under way."""

    def __init__(self) -> None:
        self.target = 0
        self.port = 0
        self.cuts = 0
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def connections(self) -> int:
        return len(self._writers) // 2

    def cut(self) -> None:
        """Abort every connection on both sides."""
        self.cuts += 1
        for writer in list(self._writers):
            raw = writer.get_extra_info("socket")
            with contextlib.suppress(OSError):
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()

    @asynccontextmanager
    async def to(self, port: int) -> AsyncIterator[int]:
        """Yield the port that leads to `port`."""
        self.target = port
        server = await asyncio.start_server(self._connected, "127.0.0.1", self.port)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self.port
        finally:
            server.close()
            self.cut()
            self.cuts -= 1
            await async_wait_until(lambda: not self._writers)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, back}
        await asyncio.gather(_pass(reader, back), _pass(there, writer))
        self._writers -= {writer, back}


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    with contextlib.suppress(OSError):
        writer.close()


async def cut_while(proxy: Proxy, count: Callable[[], int], *, total: int, cuts: int) -> None:
    """Cut `cuts` times, spread evenly over the progress of `count` to `total`."""
    for number in range(1, cuts + 1):
        mark = number * total // (cuts + 1)
        await async_wait_until(lambda mark=mark: count() >= mark)  # type: ignore[misc]  # a default of a lambda
        await async_wait_until(lambda: proxy.connections)
        proxy.cut()
