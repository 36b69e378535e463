"""Long addresses over a socket: queries up to the documented bound are answered, longer ones refused, never silence."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import quote

import pytest

from accp_adapters.cli.commands.inspect import _HEADER_BYTES
from accp_adapters.inspector.live import inspector_app
from accp_adapters.inspector.live.threads import Observed
from accp_adapters.serving.listening import http_server, listen_at
from tests.adapters.inspector.live.clients import TOKEN, FixedSource
from tests.limits import PATIENCE


@asynccontextmanager
async def serving(header_seconds: float = PATIENCE) -> AsyncIterator[socket.socket]:
    with listen_at("127.0.0.1", 0) as listening:
        app = inspector_app(FixedSource(Observed()), token=TOKEN)
        server = http_server(app, header_seconds=header_seconds, header_bytes=_HEADER_BYTES)
        running = asyncio.ensure_future(server.serve(sockets=[listening]))
        try:
            yield listening
        finally:
            server.should_exit = True
            await running


async def answer(listening: socket.socket, target: str, cookie: str = "", end: str = "\r\n") -> str:
    """Return what is answered to a request that comes in small pieces."""
    host, port = listening.getsockname()
    reader, writer = await asyncio.open_connection(host, port)
    request = f"GET {target} HTTP/1.1\r\nhost: {host}:{port}\r\nconnection: close\r\ncookie: {cookie}\r\n{end}".encode()
    for start in range(0, len(request), 8_000):
        writer.write(request[start : start + 8_000])
        await writer.drain()
        await asyncio.sleep(0)
    try:
        return (await asyncio.wait_for(reader.read(), PATIENCE)).decode()
    finally:
        writer.close()
        # A refused request may end with a reset.
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)


async def opened(listening: socket.socket) -> str:
    first = await answer(listening, f"/?token={TOKEN}")
    return first.partition("set-cookie: ")[2].partition(";")[0]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("a" * 9_000, 200),
        ("a" * 17_000, 200),
        (quote("語" * 10_000), 200),
        ("a" * 100_000, 414),
        ("a" * 1_000_000, 414),
    ],
)
async def test_a_long_address_is_answered(query: str, status: int) -> None:
    async with serving() as listening:
        found = await answer(listening, f"/?query={query}", await opened(listening))
    assert found.startswith(f"HTTP/1.1 {status} ")


async def test_long_fields_are_refused() -> None:
    async with serving() as listening:
        assert (await answer(listening, "/", "a" * 400_000)).startswith("HTTP/1.1 431 ")


async def test_a_request_that_does_not_end_is_told_so() -> None:
    """As curl 7.88 sends it, which writes `Cookie: ` and no more where a cookie is beyond its own limit."""
    async with serving(header_seconds=0.1) as listening:
        assert (await answer(listening, f"/?a={'a' * 9_000}", end="")).startswith("HTTP/1.1 408 ")
