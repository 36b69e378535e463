"""A gateway on standard streams: for the configuration of a client that starts one command for all servers."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final

from accp_adapters.mcp.gateway.configuration import ServerSettings
from accp_adapters.mcp.gateway.session import GatewaySession
from accp_adapters.mcp.proxy.exchange import follow_up, from_server, relay_client
from accp_adapters.mcp.proxy.relay import JsonRpcMessage, Relay, write_message
from accp_adapters.mcp.proxy.remote import lines_of
from accp_adapters.mcp.proxy.stdio import LinePipe

__all__ = ["run_gateway"]

_DRAIN_SECONDS: Final = 2.0
"""How long pending calls are awaited after the client has closed."""


async def run_gateway(
    servers: Sequence[ServerSettings], relay: Relay, *, is_bare: bool = False, source: int = 0, target: int = 1
) -> None:
    """Connect the client on standard streams with all servers, until the client closes or a signal ends it.

    Args:
        servers: The servers.
        relay: Rewrites what the client and the gateway say.
        is_bare: Whether names stay as the one server gives them.
        source: The descriptor on which the client sends.
        target: The descriptor on which the client reads.
    """
    client = LinePipe(target)
    outgoing = Outgoing(relay, lambda data: client.write(data + b"\n"))
    session = GatewaySession(servers, outgoing.put, is_bare=is_bare)
    outgoing.call_again = session.receive
    reading = asyncio.create_task(_read(source, relay, session, outgoing))
    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError, ValueError, RuntimeError):
            asyncio.get_running_loop().add_signal_handler(number, reading.cancel)
    try:
        with suppress(asyncio.CancelledError, BrokenPipeError):
            await reading
        has_closed = reading.done() and not reading.cancelled()
        await session.close(drain_seconds=_DRAIN_SECONDS if has_closed else 0)
    finally:
        await outgoing.close()
        relay.close()


async def _read(source: int, relay: Relay, session: GatewaySession, outgoing: Outgoing) -> None:
    async for line, _ in lines_of(source):
        if not line.strip():
            continue
        relayed = await relay_client(relay, line)
        if relayed.is_answer:
            outgoing.put_bytes(relayed.data)
        else:
            await session.receive(relayed.data)


class Outgoing:
    """The messages for one client, rewritten and sent in their order."""

    def __init__(self, relay: Relay, send: Callable[[bytes], None]) -> None:
        """Send each message by `send`, after `relay` has rewritten it."""
        self._relay = relay
        self._send = send
        self.call_again: Callable[[bytes], Awaitable[None]] | None = None
        """Takes the further calls of a list of calls; None: they cannot be made."""
        self._queue: asyncio.Queue[tuple[bytes, bool] | None] = asyncio.Queue()
        self._task = asyncio.create_task(self._write())

    def put(self, message: JsonRpcMessage) -> None:
        """Send a message of a server."""
        self._queue.put_nowait((write_message(message), True))

    def put_bytes(self, data: bytes) -> None:
        """Send a message of the relay's own."""
        self._queue.put_nowait((data, False))

    async def close(self) -> None:
        """Send what is waiting."""
        self._queue.put_nowait(None)
        with suppress(OSError):
            await self._task

    async def _write(self) -> None:
        while (item := await self._queue.get()) is not None:
            data, is_servers = item
            if not is_servers:
                self._send(data)
            elif self.call_again is not None and (further := await follow_up(self._relay, data)) is not None:
                await self.call_again(further)
            else:
                self._send(await from_server(self._relay, data))
