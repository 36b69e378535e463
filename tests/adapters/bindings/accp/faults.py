"""Networks that fail: a proxy whose connections are cut, and an application whose answers are lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any

__all__ = ["Cutting", "LosingAnswers", "cutting"]


class Cutting:
    """A proxy of TCP whose connections are cut on demand, with whatever is on its way."""

    def __init__(self, target: str) -> None:
        self.address = ""
        self.cuts = 0
        self.connections = 0
        self.is_refusing = False
        self.arrivals = 0
        self.is_open = asyncio.Event()
        self.is_open.set()
        self._target = target.split(":")
        self._writers: set[asyncio.StreamWriter] = set()

    def cut(self) -> None:
        """Abort every connection."""
        self.cuts += bool(self._writers)
        for writer in self._writers:
            writer.transport.abort()

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forward one connection, both ways."""
        if self.is_refusing:
            writer.transport.abort()
            return
        self.arrivals += 1
        await self.is_open.wait()
        to_reader, to_writer = await asyncio.open_connection(*self._target)
        both = {writer, to_writer}
        self._writers |= both
        # Counted once `cut` reaches it: a test that waits for a connection then cuts that one.
        self.connections += 1
        try:
            await asyncio.gather(self._copy(reader, to_writer), self._copy(to_reader, writer))
        finally:
            self._writers -= both
            for each in both:
                each.transport.abort()

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(4_096):
                writer.write(data)
                await writer.drain()
        writer.transport.abort()


@asynccontextmanager
async def cutting(target: str) -> AsyncIterator[Cutting]:
    """Serve a proxy in front of `target`, a host and a port."""
    proxy = Cutting(target)
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(proxy.take(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()[:2]
    proxy.address = f"{host}:{port}"
    try:
        yield proxy
    finally:
        server.close()
        proxy.cut()
        await asyncio.gather(*tasks, return_exceptions=True)
        # The loop closes an aborted transport in one of its next rounds.
        await asyncio.sleep(0.05)


class LosingAnswers:
    """An ASGI application that does all its work, but of every so many answers loses one: whole, or from its middle."""

    def __init__(self, app: Any, every: int) -> None:
        self._app, self._every = app, every
        self._numbers = count(1)
        self.lost = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve a request."""
        if scope["type"] != "http" or next(self._numbers) % self._every:
            await self._app(scope, receive, send)
            return
        self.lost += 1
        events: list[Any] = []

        async def keep(event: Any) -> None:
            events.append(event)

        await self._app(scope, receive, keep)
        if self.lost % 2:
            await send(events[0])
            half = events[1]["body"][: len(events[1]["body"]) // 2]
            await send({"type": "http.response.body", "body": half, "more_body": True})
        raise ConnectionAbortedError("the answer is lost")
