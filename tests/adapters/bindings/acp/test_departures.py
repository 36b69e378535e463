"""One token, one guest after the other: each binding serves it, however the guest before it has left."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import permutations

import httpx2
import pytest
from websockets import Headers
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve

from accp_adapters.bindings.acp import AcpHost, acp_app, acp_connect, relay_app, serve_tcp
from accp_adapters.serving.principals import BearerTokens, Principal
from accp_core.acp import AgentCard
from accp_core.errors import RemoteProtocolError
from tests.adapters.bindings.acp.agents import Echo, Proxy, hosting, serving, text_of
from tests.limits import PATIENCE, async_wait_until
from tests.servers import free_port

TOKEN = "tok_ba366fcab78d4d61"


@asynccontextmanager
async def served(relay: int) -> AsyncIterator[tuple[AcpHost, dict[str, tuple[int, str]]]]:
    """Yield a host, and for each binding its port and the form of its address."""
    host = AcpHost(Echo(), authenticate=BearerTokens({TOKEN: Principal("ann")}))
    async with serving(acp_app(host)) as port, serve_tcp(host) as tcp:
        places = {
            "A": (port, f"acp://127.0.0.1:{{}}/{TOKEN}"),
            "C": (relay, f"acp+ws://127.0.0.1:{{}}/acp/{TOKEN}"),
            "E": (tcp, "tcp://127.0.0.1:{}"),
        }
        async with hosting(host, places["C"][1].format(relay)):
            yield host, places


async def visit(place: tuple[int, str], *, says_goodbye: bool) -> None:
    """Come as a guest, ask once, and leave; without a good-bye the network is gone before."""
    proxy, (port, form) = Proxy(), place
    async with proxy.to(port) as shown, acp_connect(form.format(shown), token=TOKEN, wait_seconds=PATIENCE) as session:
        assert text_of(await session.request("hello", timeout=PATIENCE)) == "echo hello"
        if not says_goodbye:
            proxy.target = free_port()
            proxy.cut()


@pytest.mark.requirement("acp:3.3-3", "acp:10-1")
@pytest.mark.parametrize("order", list(permutations("ACE")), ids="".join)
async def test_one_token_is_served_by_each_binding_in_any_order(order: tuple[str, ...]) -> None:
    async with serving(relay_app()) as relay:
        for says_goodbye in (True, False):
            async with served(relay) as (_, places):  # the second time after a restart of the agent
                for binding in (*order, order[-1], order[0]):
                    await visit(places[binding], says_goodbye=says_goodbye)


@pytest.mark.requirement("acp:5.3-3")
async def test_a_room_has_one_host_and_one_guest_and_the_log_tells_of_them(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "accp.acp")
    async with serving(relay_app()) as relay, httpx2.AsyncClient(base_url=f"http://127.0.0.1:{relay}") as client:
        link = f"acp+ws://127.0.0.1:{relay}/acp/{TOKEN}"
        async with hosting(AcpHost(Echo("First")), link):
            await async_wait_until(lambda: "a host has joined from 127.0.0.1" in caplog.text)
            async with hosting(AcpHost(Echo()), link), acp_connect(link, card=AgentCard(name="Guest")) as guest:
                await async_wait_until(lambda: "refused 127.0.0.1: 409 duplicate_connection" in caplog.text)
                with pytest.raises(RemoteProtocolError, match="409 duplicate_connection: the room has a guest"):
                    await acp_connect(link, wait_seconds=5).__aenter__()
                assert text_of(await guest.request("hello")) == "echo hello"
                assert guest.peer and guest.peer.name == "First"
                entries = (await client.get(f"/acp/{TOKEN}/poll")).json()["messages"]
                assert "Guest" in [entry["card"]["name"] for entry in entries if entry["type"] == "acp.agent_joined"]
        await client.post("/acp/new?token=tok_other")
        with pytest.raises(httpx2.ReadTimeout):
            await client.get("/acp/tok_other/poll?host=me&wait=5", timeout=0.5)
        await async_wait_until(lambda: "the host has left" in caplog.text)
        assert (await client.get("/acp/tok_unknown/poll")).status_code == 403
    assert "refused 127.0.0.1: 403 invalid_token" in caplog.text


# "Reconnect (up to MAX_RETRIES)" (section 3.3): at once, after 2 and after 4 seconds.
async def test_a_guest_whose_connection_died_unnoticed_comes_back_within_its_own_attempts() -> None:
    async with serving(relay_app()) as relay, served(relay) as (host, places):
        port, form = places["A"]
        async with connect(form.format(port).replace("acp://", "ws://"), proxy=None) as dead:
            await dead.send('{"type":"acp.agent_card","card":{"name":"G"}}')
            await async_wait_until(lambda: host.sessions() and host.sessions()[0].peer)
            codes = []
            for seconds in (0, 2, 4):
                await asyncio.sleep(seconds)
                async with connect(form.format(port).replace("acp://", "ws://"), proxy=None) as again:
                    await again.send('{"type":"acp.agent_card","card":{"name":"G"}}')
                    first = json.loads(await again.recv())
                    codes.append(first.get("code"))
                    if first["type"] == "acp.agent_card":
                        await again.send('{"type":"acp.message","message_id":"m","text":"back"}')
                        while "echo back" not in await again.recv():
                            pass
                        break
    assert codes == ["duplicate_connection", "duplicate_connection", None]


@pytest.mark.requirement("acp:3.6-1")
async def test_a_guest_says_its_name_in_a_header_of_its_websocket() -> None:
    headers: list[Headers] = []

    async def greet(socket: ServerConnection) -> None:
        assert socket.request is not None
        headers.append(socket.request.headers)
        await socket.send('{"type":"acp.agent_card","card":{"name":"Host"}}')
        await socket.wait_closed()

    async with serve(greet, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        for address in (f"acp://127.0.0.1:{port}/{TOKEN}", f"ws://127.0.0.1:{port}"):
            async with acp_connect(address, card=AgentCard(name="Guest"), wait_seconds=PATIENCE):
                pass
    assert [each["X-ACP-Agent"] for each in headers] == ["Guest", "Guest"]
