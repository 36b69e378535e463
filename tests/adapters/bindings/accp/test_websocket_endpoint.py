"""ACCP over WebSocket, the server's end: one session a connection, what is refused, and how (ACCP 11.2)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import websockets
from websockets.asyncio.client import ClientConnection

from accp_adapters.serving.principals import BearerTokens, Principal
from accp_core.accp import parse_frame
from accp_core.accp.frame import Intent
from tests.adapters.bindings.accp.serving import serving
from tests.adapters.bindings.hosts.agents import Client
from tests.limits import PATIENCE

TOKENS = BearerTokens({"token-of-ann": Principal("ann", frozenset({"ann"})), "token-of-bob": Principal("bob")})


@asynccontextmanager
async def opened(address: str, token: str = "", **options: Any) -> AsyncIterator[ClientConnection]:
    """Open a WebSocket."""
    fields = {"authorization": f"Bearer {token}"} if token else {}
    url = f"ws://{address}/accp/v1/ws"
    async with websockets.connect(url, additional_headers=fields | options.pop("fields", {}), **options) as socket:
        yield socket


async def receive(socket: ClientConnection) -> str:
    return str(await asyncio.wait_for(socket.recv(), PATIENCE))


async def closing(socket: ClientConnection) -> tuple[list[str], int]:
    """Return what is received until the server closes, and with which code."""
    frames = []
    with pytest.raises(websockets.ConnectionClosed) as closed:
        while True:
            frames.append(await receive(socket))
    assert closed.value.rcvd is not None
    return frames, closed.value.rcvd.code


@pytest.mark.requirement("11.2-2")
async def test_a_session_begins_with_the_registry_and_answers_in_order() -> None:
    client = Client(registry_first=True)
    async with serving() as address, opened(address) as socket:
        for frame in client.session.connected(1_000):
            await socket.send(frame)
        registry = await receive(socket)
        for number in range(20):
            await socket.send(client.ask("add", n=number))
        messages = client.messages([registry, *[await receive(socket) for _ in range(20)]])
    assert parse_frame(registry).operation == "registry"
    assert [message.payload["n"] for message in messages] == list(range(20))


@pytest.mark.requirement("11.2-4")
async def test_a_ping_is_answered_by_a_pong() -> None:
    client = Client(registry_first=True, heartbeat=30)
    async with serving() as address, opened(address) as socket:
        for frame in client.session.connected(1_000):
            await socket.send(frame)
        client.session.handle_timer(1_030)
        (ping,) = client.session.frames_to_send()
        await socket.send(ping)
        await receive(socket)
        assert parse_frame(await receive(socket)).intent is Intent.PONG


@pytest.mark.requirement("11.2-1", "11.2-3")
@pytest.mark.parametrize(
    ("first", "code"),
    [
        ("no frame", "E1001"),
        ("@ann>req:add{n:1}[mid:a,seq:1]", "E5001"),
        (b"@ann>sync:registry{v:1|hash:abc}[mid:a,seq:1]", "E1004"),
        ("x" * 3_000, "E2003"),
    ],
)
async def test_a_connection_begins_with_the_registry(first: Any, code: str) -> None:
    async with serving(limits={"frame_bytes": 2_000}) as address, opened(address) as socket:
        await socket.send(first)
        frames, closed = await closing(socket)
    assert [parse_frame(frame).params["code"] for frame in frames] == [code]
    assert closed == (1009 if code == "E2003" else 1008)


async def test_what_is_no_frame_is_refused_without_the_end_of_the_connection() -> None:
    client = Client(registry_first=True)
    async with serving() as address, opened(address) as socket:
        for frame in [*client.session.connected(1_000), "no frame", client.ask("add", n=1)]:
            await socket.send(frame)
        frames = [parse_frame(await receive(socket)) for _ in range(3)]
    assert [frame.params.get("code") for frame in frames] == [None, "E1001", None]


@pytest.mark.parametrize(
    ("token", "fields", "status"),
    [("", {}, 401), ("token-of-eve", {}, 401), ("token-of-ann", {"origin": "https://evil.example"}, 403)],
)
async def test_nobody_else_is_let_in(token: str, fields: dict[str, str], status: int) -> None:
    async with serving(authenticate=TOKENS) as address:
        with pytest.raises(websockets.InvalidStatus) as refused:
            async with opened(address, token, fields=fields):
                raise AssertionError
    assert refused.value.response.status_code == status
    assert b"code:E5001" in (refused.value.response.body or b"")


async def test_a_connection_whose_frames_name_no_session_is_answered_without_one() -> None:
    """ACCP Table 4: `sid` is optional; a connection is a session by itself."""
    async with serving() as address, opened(address) as socket:
        await socket.send("@ann>sync:registry{v:1|hash:abc}[mid:a,seq:1,ts:1000]")
        await socket.send("@ann>req:add{n:1}[mid:b,seq:2,ts:1000]")
        await socket.send("@ann>req:add{n:1}[mid:c,seq:3,ts:1000,sid:other]")
        frames = [parse_frame(await receive(socket)) for _ in range(2)]
        _, closed = await closing(socket)
    assert [frame.envelope.session_id for frame in frames] == [None, None]
    assert closed == 1008


async def test_a_session_has_one_connection() -> None:
    client = Client(registry_first=True)
    async with serving() as address, opened(address) as first, opened(address) as second:
        await first.send(client.session.connected(1_000)[0])
        await receive(first)
        client.session.disconnected(1_000)
        await second.send(client.session.connected(1_000)[0])
        assert (await closing(first))[1] == 4409


@pytest.mark.parametrize("limit", ["body_time", "idle_time"])
async def test_a_silent_peer_is_closed(limit: str) -> None:
    client = Client(registry_first=True)
    async with serving(limits={limit: 0.05}) as address, opened(address) as socket:
        if limit == "idle_time":
            await socket.send(client.session.connected(1_000)[0])
            await receive(socket)
        frames, closed = await closing(socket)
    assert ([parse_frame(frame).params["code"] for frame in frames], closed) == (["E3001"], 1013)


async def test_a_connection_ends_with_its_token() -> None:
    async def brief(_: Any) -> Principal:
        return Principal("ann", None, time.time() + 0.05)

    client = Client(registry_first=True)
    async with serving(authenticate=brief) as address, opened(address) as socket:
        await socket.send(client.session.connected(1_000)[0])
        frames, closed = await closing(socket)
    assert (parse_frame(frames[-1]).params["code"], closed) == ("E5001", 1008)


async def test_connections_are_counted() -> None:
    async with serving(limits={"places": 1}) as address, opened(address):
        with pytest.raises(websockets.InvalidStatus) as refused:
            async with opened(address):
                raise AssertionError
    assert refused.value.response.status_code == 503
