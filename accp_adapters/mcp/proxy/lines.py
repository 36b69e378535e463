"""The front for a client on standard streams whose server is behind a link: a URL, or many servers at once."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from accp_adapters.mcp.links.link import Link
from accp_adapters.mcp.proxy.message import Message, error_message
from accp_adapters.mcp.proxy.pipes import LinePipe
from accp_adapters.mcp.proxy.relay import MAX_MESSAGE_BYTES, Relay, Relayed, read_lines

__all__ = ["LinkedClient", "serve_lines"]

_CHUNK: Final = 256 * 1024
"""Bytes that are read at once."""
_MAX_QUEUED_LINES: Final = 16


class LinkedClient:
    """One client and the link to its server, with a relay between them."""

    def __init__(self, relay: Relay, link: Link, write: Callable[[Message], None]) -> None:
        """Connect the two.

        Args:
            relay: Rewrites messages.
            link: The server.
            write: Takes each message for the client.
        """
        self.relay: Final = relay
        self.link: Final = link
        self._write = write

    async def start(self) -> None:
        """Reach the server."""
        await self.link.start(self._from_server, lambda reason: None)

    async def from_client(self, message: Message) -> None:
        """Pass on a message of the client."""
        await self.route(await self.relay.relay_client(message))

    async def _from_server(self, message: Message) -> None:
        await self.route(await self.relay.relay_server(message))

    async def route(self, relayed: Relayed) -> None:
        """Send a message where it belongs."""
        if relayed.to_client:
            self._write(relayed.message)
        else:
            await self.link.send(relayed.message)

    async def close(self, *, drain: bool = False) -> None:
        """End the link, and free what is kept for the client."""
        await self.link.close(drain=drain)
        self.relay.close()


async def serve_lines(
    link: Link,
    relay: Relay,
    *,
    source: int = 0,
    target: int = 1,
    ended_by: Sequence[int] = (),
    limit: int = MAX_MESSAGE_BYTES,
) -> None:
    """Connect the client on standard streams with a server, until the client closes or a signal ends it.

    Args:
        link: The server.
        relay: Rewrites messages.
        source: The descriptor on which the client sends.
        target: The descriptor on which the client reads; it is closed at the end.
        ended_by: The signals at which the server is ended in order; others end this process as usual.
        limit: Bytes of a line; a longer one is refused.
    """
    client = LinePipe(target)

    def write(message: Message) -> None:
        try:
            client.write(message.line + b"\n")
        except BrokenPipeError:
            reading.cancel()  # The client reads no more.

    linked = LinkedClient(relay, link, write)
    await linked.start()
    reading = asyncio.create_task(_read(source, linked, limit))
    for number in ended_by:
        with suppress(NotImplementedError, ValueError, RuntimeError):
            asyncio.get_running_loop().add_signal_handler(number, reading.cancel)
    try:
        with suppress(asyncio.CancelledError):
            await reading
        await linked.close(drain=not reading.cancelled())
    finally:
        client.close()


async def _read(source: int, linked: LinkedClient, limit: int) -> None:
    async for line, is_complete in _lines_of(source, limit):
        if not is_complete and line.endswith(b"\n"):
            reason = f"expected a line of at most {limit} bytes, found a longer one"
            await linked.route(Relayed(error_message(reason), to_client=True))
        elif is_complete and line.strip():
            await linked.from_client(Message(line))


async def _lines_of(source: int, limit: int) -> AsyncIterator[tuple[bytes, bool]]:
    """Yield the lines on a descriptor with their ends, and whether each is complete, as they arrive."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[tuple[bytes, bool]] = asyncio.Queue(_MAX_QUEUED_LINES)

    def read() -> None:
        for line in read_lines(partial(os.read, source, _CHUNK), limit):
            asyncio.run_coroutine_threadsafe(queue.put(line), loop).result()
        asyncio.run_coroutine_threadsafe(queue.put((b"", False)), loop).result()

    # A daemon: it may wait for the client forever, which must not keep the process from ending.
    threading.Thread(target=read, daemon=True).start()
    while (line := await queue.get())[0]:
        yield line
