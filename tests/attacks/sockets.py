"""Raw clients: they send bytes, keep connections open, and read only what they want."""

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

__all__ = ["UPGRADE", "hold", "request_of", "silent"]

UPGRADE: dict[str, Any] = {
    "connection": "upgrade",
    "upgrade": "websocket",
    "sec_websocket_version": "13",
    "sec_websocket_key": "dGhlIHNhbXBsZSBub25jZQ==",
}
"""The fields by which a request opens a WebSocket."""


def request_of(method: str, path: str, body: bytes = b"", **fields: str) -> bytes:
    """Return the bytes of a request."""
    given = {"host": "localhost", "content-length": str(len(body)), **fields}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name.replace('_', '-')}: {value}" for name, value in given.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body


@asynccontextmanager
async def silent(port: int, requests: Sequence[bytes], *, source: str = "127.0.0.1") -> AsyncIterator[None]:
    """Send each of `requests` on a connection of its own, from which nothing is read, until the block ends."""
    loop = asyncio.get_running_loop()
    opened = list[socket.socket]()

    async def one(data: bytes) -> None:
        client = socket.socket()
        opened.append(client)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.setblocking(False)
        client.bind((source, 0))
        with suppress(OSError):  # a server may close the connection before it has read everything
            await loop.sock_connect(client, ("127.0.0.1", port))
            await loop.sock_sendall(client, data)

    sending = [asyncio.ensure_future(one(data)) for data in requests]
    try:
        await asyncio.wait(sending, timeout=5)
        yield
    finally:
        for each in sending:
            each.cancel()
        await asyncio.gather(*sending, return_exceptions=True)
        for client in opened:
            client.close()


async def hold(seconds: float) -> None:
    """Let the attack go on for so long."""
    await asyncio.sleep(seconds)
