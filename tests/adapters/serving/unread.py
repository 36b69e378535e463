"""A real server, and clients that send a request and never read."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn

from accp_adapters.serving.listening import http_server, listen_at
from accp_adapters.serving.websockets import WebSocketConnection
from tests.limits import PATIENCE, async_wait_until

__all__ = ["Serving", "request_of", "serving_unread"]

_SOCKET_BYTES = 4096
"""Bytes that the sockets of both ends take, so that small answers fill them."""


class Serving:
    """A server on a port of the loopback."""

    def __init__(self, server: uvicorn.Server, port: int) -> None:
        self._server, self.port = server, port
        self._silent = list[socket.socket]()

    @property
    def connections(self) -> list[Any]:
        """The connections that are open."""
        return list(self._server.server_state.connections)

    @property
    def buffered(self) -> int:
        """Bytes that the connections hold for clients which have not read them."""
        return sum(each.transport.get_write_buffer_size() for each in self.connections)

    async def send_unread(self, *requests: bytes) -> None:
        """Send each request on a connection of its own, from which nothing is read."""
        for request in requests:
            client = socket.socket()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SOCKET_BYTES)
            client.setblocking(False)
            self._silent.append(client)
            loop = asyncio.get_running_loop()
            await loop.sock_connect(client, ("127.0.0.1", self.port))
            await loop.sock_sendall(client, request)

    async def send_more(self, data: bytes) -> None:
        """Send more on the last of those connections."""
        await asyncio.get_running_loop().sock_sendall(self._silent[-1], data)

    async def until_idle(self) -> None:
        """Return when no connection is open any more, though the clients have closed none."""
        await async_wait_until(lambda: not self.connections)

    def close(self) -> None:
        """Close the clients."""
        for client in self._silent:
            client.close()


@asynccontextmanager
async def serving_unread(app: Any, *, write_seconds: float = PATIENCE) -> AsyncIterator[Serving]:
    """Serve an application, whose clients have `write_seconds` for what they are sent."""
    with listen_at("127.0.0.1", 0) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SOCKET_BYTES)
        server = http_server(app, header_seconds=PATIENCE, write_seconds=write_seconds, websocket=WebSocketConnection)
        running = asyncio.ensure_future(server.serve(sockets=[listening]))
        serving = Serving(server, listening.getsockname()[1])
        try:
            yield serving
        finally:
            serving.close()
            server.should_exit = True
            await running


def request_of(method: str, path: str, body: bytes = b"", **fields: str) -> bytes:
    """Return the bytes of a request."""
    given = {"host": "localhost", "content-length": str(len(body)), **fields}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name.replace('_', '-')}: {value}" for name, value in given.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body
