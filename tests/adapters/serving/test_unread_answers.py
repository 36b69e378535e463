"""Clients that ask for large answers and read none: what is held for them is counted, bounded, and given back."""

from __future__ import annotations

import json
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from accp_adapters.mcp.proxy.admission import ProxyLimits
from accp_adapters.mcp.proxy.endpoint_client import connect
from accp_adapters.mcp.proxy.http import HttpProxy
from accp_adapters.serving.responses import BUFFERED
from tests.adapters.mcp.proxy.marking_relay import marking
from tests.adapters.mcp.proxy.upstream import Saying, Upstream
from tests.adapters.mcp.serving import serving
from tests.adapters.serving.unread import Serving, request_of, serving_unread
from tests.limits import PATIENCE, async_wait_until

LARGE = 300_000
"""Bytes of a large answer, far more than a connection holds."""
HELD = BUFFERED + 100_000
"""Bytes that a connection may hold at most."""
CLIENTS = 5
SOON = 0.2


async def speak(scope: dict[str, Any], body: bytes, say: Saying) -> None:
    asked = json.loads(body)
    result = "x" * LARGE if asked["method"] == "large" else "small"
    await say(json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode(), content_type="application/json")


def call(method: str) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method}).encode()


@asynccontextmanager
async def proxied(write_seconds: float) -> AsyncIterator[tuple[HttpProxy, Serving]]:
    """Yield a proxy for `CLIENTS` large answers at once, and its server."""
    upstream = Upstream()
    upstream.answering = speak
    limits = ProxyLimits(buffered_bytes=8 * CLIENTS * LARGE, write_seconds=write_seconds)
    with serving(upstream) as origin:
        async with connect() as client:
            proxy = HttpProxy(f"{origin}/mcp", marking, client, limits=limits)
            async with serving_unread(proxy, write_seconds=write_seconds) as served:
                await post(served, "/mcp", call("small"))  # now the server knows the caller
                yield proxy, served


async def post(served: Serving, path: str, body: bytes, **options: Any) -> httpx2.Response:
    async with httpx2.AsyncClient(trust_env=False, timeout=PATIENCE) as client:
        fields = {"content-type": "application/json"}
        return await client.post(f"http://127.0.0.1:{served.port}{path}", content=body, headers=fields, **options)


async def test_the_proxy_holds_an_answer_until_it_is_read() -> None:
    async with proxied(PATIENCE) as (proxy, served):
        free = proxy._memory.known.left
        asked = request_of("POST", "/mcp", call("large"), content_type="application/json")
        await served.send_unread(*[asked] * (CLIENTS + 2))
        await async_wait_until(lambda: proxy._memory.known.left < free - CLIENTS * LARGE)
        await async_wait_until(lambda: served.buffered > CLIENTS * BUFFERED)
        assert served.buffered < (CLIENTS + 2) * HELD
        assert (await post(served, "/mcp", call("small"))).json()["result"] == "small"
        assert len((await post(served, "/mcp", call("large"))).json()["result"]) == LARGE
        assert proxy._memory.known.left < free - CLIENTS * LARGE
        served.close()
        await async_wait_until(lambda: proxy._memory.known.left == free)


async def test_the_proxy_cuts_who_does_not_read() -> None:
    async with proxied(SOON) as (proxy, served):
        free = proxy._memory.known.left
        asked = request_of("POST", "/mcp", call("large"), content_type="application/json")
        await served.send_unread(*[asked] * CLIENTS)
        await async_wait_until(lambda: served.buffered)
        await served.until_idle()
        await async_wait_until(lambda: proxy._memory.known.left == free)
        assert (await post(served, "/mcp", call("small"))).status_code == 200


async def test_who_closes_the_connection_after_its_request_is_cut_as_well() -> None:
    async with proxied(SOON) as (_, served):
        await served.send_unread(request_of("POST", "/mcp", call("large"), connection="close"))
        await async_wait_until(lambda: served.connections)
        await served.until_idle()


async def test_answers_of_any_application_are_written_in_pieces() -> None:
    async def application(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x" * LARGE})

    async with serving_unread(application, write_seconds=SOON) as served:
        await served.send_unread(request_of("GET", "/"), request_of("GET", "/", connection="close"))
        await async_wait_until(lambda: served.buffered > BUFFERED)
        assert served.buffered < 2 * HELD
        assert len((await post(served, "/", b"")).content) == LARGE
        await served.until_idle()


@pytest.mark.parametrize("size", [0, 100, BUFFERED, BUFFERED + 1, 200_000])
async def test_a_body_of_any_size_arrives_whole(size: int) -> None:
    body = bytes(number % 251 for number in range(size))

    async def application(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-length", b"%d" % size)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async with serving_unread(application) as served:
        assert (await post(served, "/", b"")).content == body


UPGRADE = {
    "connection": "upgrade",
    "upgrade": "websocket",
    "sec_websocket_version": "13",
    "sec_websocket_key": "dGhlIHNhbXBsZSBub25jZQ==",
}
PING = struct.pack("!BB", 0x89, 0x80 | 125) + bytes(4) + b"x" * 125


async def accepting(scope: Any, receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "websocket.accept"})
    while (await receive())["type"] != "websocket.disconnect":
        pass


async def ping(served: Serving, times: int) -> None:
    """Open a WebSocket, and send pings without reading anything."""
    await served.send_unread(request_of("GET", "/", **UPGRADE))
    await async_wait_until(lambda: any(getattr(each, "handshake_complete", False) for each in served.connections))
    await served.send_more(PING * times)


async def test_pings_of_a_peer_that_reads_nothing_wait_nowhere() -> None:
    async with serving_unread(accepting) as served:
        await ping(served, 10_000)
        await async_wait_until(lambda: served.buffered > BUFFERED)
        assert served.buffered < HELD


async def test_a_peer_that_pings_and_reads_nothing_is_cut() -> None:
    async with serving_unread(accepting, write_seconds=SOON) as served:
        await ping(served, 1_000)
        await served.until_idle()
