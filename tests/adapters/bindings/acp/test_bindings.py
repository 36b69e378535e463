"""What each binding carries beside messages: frames, what waits for a peer, a fallback, tasks, the rooms of a relay."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
import pytest

from accp_adapters.bindings.acp import (
    AcpHost,
    AcpLimits,
    RelayLimits,
    acp_app,
    acp_connect,
    relay_app,
    serve_tcp,
)
from accp_adapters.bindings.acp.relay.rooms import RoomRefused, Rooms
from accp_adapters.bindings.identity import BearerTokens, Principal
from accp_core.acp import AcpMessage, Part
from accp_core.bridges.accp_in_acp import CarriedKind, read_parts, text_to_part
from accp_core.errors import DecodeError, EncodeError, RemoteProtocolError
from tests.adapters.bindings.acp.agents import Echo, Proxy, hosting, serving, text_of
from tests.limits import PATIENCE, async_wait_until
from tests.servers import free_port

TOKEN = "tok_ba366fcab78d4d61"
CARRIED = {
    CarriedKind.FRAME: "ann>bob:req:add{a=1;b=2}[mid=1]",
    CarriedKind.PACKET: "PAY|v1.1|send",
    CarriedKind.CONTEXT: '{"taskId":"é\\u0000"}',
}


class Carrier(Echo):
    """Sends back every part that it gets."""

    async def handle(self, message: AcpMessage, peer: Any) -> tuple[Part, ...]:
        return message.parts


def host_of(agent: Any, **limits: Any) -> AcpHost:
    return AcpHost(agent, authenticate=BearerTokens({TOKEN: Principal("ann")}), limits=AcpLimits(**limits))


@pytest.mark.requirement("acp:10-1")
async def test_texts_of_other_protocols_travel_unchanged_over_every_network() -> None:
    host = host_of(Carrier())
    async with serving(acp_app(host)) as port, serve_tcp(host) as tcp, serving(relay_app()) as relay:
        link = f"acp+ws://127.0.0.1:{relay}/acp/{TOKEN}"
        direct = f"acp://127.0.0.1:{port}/{TOKEN}", f"http://127.0.0.1:{port}", f"tcp://127.0.0.1:{tcp}"
        async with hosting(host, link):
            for address in (*direct, link):
                async with acp_connect(address, token=TOKEN) as session:
                    parts = await session.request(tuple(text_to_part(kind, text) for kind, text in CARRIED.items()))
                for kind, text in CARRIED.items():
                    assert read_parts(AcpMessage(parts=parts), kind) == [text]


async def test_messages_for_a_peer_that_is_away_wait_for_it() -> None:
    host = host_of(Echo(), window=3)
    async with serving(acp_app(host)) as port:
        address = f"acp://127.0.0.1:{port}/{TOKEN}"
        async with acp_connect(address):
            (session,) = host.sessions()
        await async_wait_until(lambda: session.channel is None)
        for number in range(3):
            await host.send("ann", f"{number}")
        waiting = asyncio.create_task(host.send("ann", "3"))
        async with acp_connect(address) as guest:
            heard = [text_of(message) async for message in first(guest, 4)]
            await waiting
    assert heard == ["0", "1", "2", "3"]


async def first(session: Any, count: int) -> Any:
    async for message in session.messages():
        yield message
        count -= 1
        if not count:
            return


@pytest.mark.requirement("acp:3.3-2", "acp:3.6-2")
async def test_a_guest_falls_back_to_the_relay_and_keeps_its_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accp_adapters.bindings.acp.connect._Target.wait", lambda self, failures: 0.01)
    agent, proxy = Echo(), Proxy()
    host = host_of(agent)
    async with serving(relay_app()) as relay, serving(acp_app(host)) as port, proxy.to(port) as shown:
        place = f"acp+ws://127.0.0.1:{relay}/acp/tok_of_nobody"
        async with (
            hosting(host, place.replace("tok_of_nobody", TOKEN)),
            acp_connect(f"acp://127.0.0.1:{shown}/{TOKEN}", relay=place) as session,
        ):
            assert text_of(await session.request("direct")) == "echo direct"
            proxy.target = free_port()
            proxy.cut()
            assert text_of(await session.request("by relay")) == "echo by relay"
            assert session.channel is not None
            assert session.channel.binding == "http-relay"
    assert len(host.sessions()) == 1


async def test_what_a_guest_says_on_a_relay_waits_for_the_host_to_come() -> None:
    limits = AcpLimits(card_seconds=0.01, keepalive_seconds=0.01)
    async with serving(relay_app()) as relay:
        link = f"acp+ws://127.0.0.1:{relay}/acp/{TOKEN}"
        async with acp_connect(link, limits=limits) as session:
            room = httpx2.AsyncClient(base_url=f"http://127.0.0.1:{relay}/acp/{TOKEN}", trust_env=False)
            async with room as client, asyncio.timeout(PATIENCE):
                while (await client.get("/status")).json()["server_seq"] < 3:  # greetings, as a relay forgets them
                    await asyncio.sleep(0.01)
            asking = asyncio.create_task(session.request("early"))
            async with hosting(host_of(Echo()), link):
                assert text_of(await asking) == "echo early"


async def test_the_agent_asks_its_peer_over_every_binding_of_a_server() -> None:
    host = host_of(Echo("Host"))
    async with serving(acp_app(host)) as port, serve_tcp(host) as tcp:
        for address in (f"acp://127.0.0.1:{port}/{TOKEN}", f"http://127.0.0.1:{port}", f"tcp://127.0.0.1:{tcp}"):
            async with acp_connect(address, token=TOKEN, agent=Echo("Guest")):
                (session,) = host.sessions()
                assert text_of(await session.request("you?")) == "echo you?"
                with pytest.raises(RemoteProtocolError, match="ERR_INTERNAL"):
                    await session.request("fail")
                with pytest.raises(RemoteProtocolError, match="ERR_TIMEOUT"):
                    await session.request("quiet", timeout=0.2)


async def test_a_session_without_handler_replies_by_itself() -> None:
    host = host_of(Echo())
    async with serve_tcp(host) as port, acp_connect(f"tcp://127.0.0.1:{port}", token=TOKEN) as guest:
        (session,) = host.sessions()
        asking = asyncio.create_task(session.request("?"))
        async for message in first(guest, 1):
            guest.reply(message, "!")
        assert text_of(await asking) == "!"


@pytest.mark.requirement("acp:6.2-1")
async def test_over_http_a_repeated_post_has_the_same_number_and_reply() -> None:
    agent = Echo()
    async with (
        serving(acp_app(host_of(agent), controllers=["ann"])) as port,
        httpx2.AsyncClient(
            base_url=f"http://127.0.0.1:{port}", headers={"x-acp-token": TOKEN}, trust_env=False
        ) as client,
    ):
        said = {"text": "once", "message_id": "m1", "sync": True}
        answers = [(await client.post("/message:send", json=said)).json() for _ in range(2)]
        assert answers[0] == answers[1]
        assert answers[0]["reply"]["parts"] == [{"type": "text", "content": "echo once"}]
        assert agent.heard == ["once"]
        quiet = {"text": "quiet", "sync": True, "timeout": 0.1}
        assert (await client.post("/message:send", json=quiet)).json()["reply"]["parts"] == []
        await client.post("/message:send", json={"text": "later"})
        await async_wait_until(lambda: "later" in agent.heard)
        received = (await client.get("/recv")).json()
        assert [each["parts"][0]["content"] for each in received["messages"]] == ["echo later"]
        assert (received["count"], received["remaining"]) == (1, 0)
        assert (await client.get("/recv?limit=5")).json()["count"] == 0
        assert (await client.get("/link")).json() == {"link": None}
        (peer,) = (await client.get("/peers")).json()
        assert (await client.get("/peer/ann")).json() == peer
        away = await client.post("/peer/ann/send", json={"text": "x"})
        assert (away.status_code, away.json()["error_code"]) == (503, "ERR_NOT_CONNECTED")
        for path in ("/reply", "/ack"):
            unknown = await client.post(path, json={"type": "acp.ack", "correlation_id": "no", "text": "x"})
            assert (unknown.status_code, unknown.json()["error_code"]) == (404, "ERR_NOT_FOUND")


async def test_a_task_ends_with_what_the_agent_returned() -> None:
    async with (
        serving(acp_app(host_of(Echo()))) as port,
        httpx2.AsyncClient(
            base_url=f"http://127.0.0.1:{port}", headers={"x-acp-token": TOKEN}, trust_env=False
        ) as client,
    ):
        bodies: list[dict[str, Any]] = [
            {"title": "t", "input": {"type": "text", "content": "do"}},
            {"title": "t", "description": "d"},
            {"text": "fail"},
        ]
        made = [(await client.post("/tasks", json=body)).json() for body in bodies]
        assert {task["status"] for task in made} == {"working"}

        async def ended() -> list[dict[str, Any]]:
            tasks: list[dict[str, Any]] = (await client.get("/tasks")).json()
            return tasks if all(task["status"] != "working" for task in tasks) else []

        while not (tasks := await ended()):
            await asyncio.sleep(0.01)
        assert [task["status"] for task in tasks] == ["completed", "completed", "failed"]
        assert tasks[1]["artifacts"] == [{"parts": [{"type": "text", "content": "echo t\nd"}]}]
        canceled = await client.post(f"/tasks/{made[0]['id']}/cancel")
        assert canceled.json() == tasks[0]
        assert (await client.get(f"/tasks/{made[2]['id']}")).json()["reason"]
        assert (await client.post("/tasks", json={})).status_code == 400


@pytest.mark.requirement("acp:5.3-1", "acp:5.3-2")
async def test_a_relay_answers_as_its_specification_says() -> None:
    limits = RelayLimits(rooms=1, messages=2, message_bytes=1_000)
    async with (
        serving(relay_app(limits=limits)) as port,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}/acp", trust_env=False) as client,
    ):
        made = (await client.post("/new", params={"token": TOKEN})).json()
        assert made == {"token": TOKEN, "link": f"acp+ws://127.0.0.1:{port}/acp/{TOKEN}", "existed": False}
        assert (await client.post("/new", params={"token": TOKEN})).json()["existed"]
        joined = (await client.post(f"/{TOKEN}/join", json={"name": "n" * 99, "card": {"name": "G"}})).json()
        assert (await client.post("/new")).status_code == 503
        assert (joined["seq"], joined["agent_name"]) == (1, "n" * 64)
        sent = [(await client.post(f"/{TOKEN}/send", json={"id": "a", "ts": 1})).json() for _ in range(2)]
        assert sent == [{"ok": True, "id": "a", "seq": 2}, {"ok": True, "deduped": True, "id": "a"}]
        await client.post(f"/{TOKEN}/send", json={"x": 1})
        polled = (await client.get(f"/{TOKEN}/poll", params={"after_id": "a"})).json()
        assert (polled["count"], polled["server_seq"], polled["messages"][0]["seq"]) == (1, 3, 3)
        everything = (await client.get(f"/{TOKEN}/poll", params={"since": 0, "limit": 1})).json()
        assert [entry["id"] for entry in everything["messages"]] == ["a"]
        by_decimal = (await client.get(f"/{TOKEN}/poll", params={"since": "0.0"})).json()  # as the reference asks
        assert by_decimal["count"] == 2
        seen = by_decimal["messages"][-1]["ts"]
        assert (await client.get(f"/{TOKEN}/poll", params={"since": f"{seen}.0"})).json()["count"] == 0
        assert (await client.get(f"/{TOKEN}/status")).json()["agents"] == ["n" * 64]
        assert (await client.get("/rooms")).json() == {"rooms": 1}
        assert (await client.get("/myip")).json() == {"ip": "127.0.0.1"}
        for method, path, body, status, error in (
            ("GET", "/tok_unknown/poll", "", 403, "invalid_token"),
            ("GET", f"/{TOKEN}/dance", "", 400, "unknown_action"),
            ("POST", f"/{TOKEN}/send", "no json", 400, "invalid_request"),
            ("POST", f"/{TOKEN}/send", json.dumps({"x": "y" * 2_000}), 413, "message_too_large"),
            ("GET", f"/{TOKEN}/poll?limit=x", "", 400, "invalid_request"),
            ("GET", f"/{TOKEN}/poll?since=nan", "", 400, "invalid_request"),
            ("GET", f"/{TOKEN}/poll?wait=-inf", "", 400, "invalid_request"),
        ):
            answer = await client.request(method, path, content=body)
            assert (answer.status_code, answer.json()["error"]) == (status, error)
        assert (await client.get("/rooms", headers={"origin": "https://evil.example"})).status_code == 403
        assert (await client.delete(f"/{TOKEN}")).json() == {"ok": True, "deleted": True}
        assert (await client.delete(f"/{TOKEN}")).status_code == 403


@pytest.mark.requirement("acp:5.5-1")
def test_the_rooms_of_a_relay_are_bounded_and_forgotten() -> None:
    now = 1.0
    rooms = Rooms(RelayLimits(rooms=2, messages=9, room_bytes=1_300, total_bytes=1_000, rate=1), clock=lambda: now)
    token, _ = rooms.create("bad token!", "a", 0, lambda: "tok_made_here")
    assert token == "tok_made_here"
    room = rooms.get(token, 1)
    for number in range(2):
        rooms.add(room, {"x": "y" * 60}, 1, f"id{number}")
    for now, error in ((1.0, "rate_limited"), (99.0, "out_of_memory")):
        with pytest.raises(RoomRefused, match=error):
            for number in range(9):
                rooms.add(room, {"x": "y" * 60}, now, f"{error}{number}")
    rooms.get(token, 60)
    assert len(rooms.get(token, 110)) <= 2
    with pytest.raises(RoomRefused, match="invalid_token"):
        rooms.get(token, 999)
    assert len(rooms) == 0


async def test_an_exception_of_the_caller_leaves_a_server_of_tcp_as_it_is_and_its_connections_are_closed() -> None:
    limits = AcpLimits(handshake_seconds=600, card_seconds=600)
    host = AcpHost(Echo(), authenticate=BearerTokens({TOKEN: Principal("ann")}), limits=limits)
    opened = []
    with pytest.raises(KeyError, match="of the caller"):
        async with serve_tcp(host) as port:
            opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
            opened[0][1].write(json.dumps({"type": "acp.agent_card", "card": {"name": "G"}, "token": TOKEN}).encode())
            opened[0][1].write(b"\n")
            await async_wait_until(lambda: host.sessions() and host.connections == 2)
            raise KeyError("of the caller")
    assert host.connections == 0
    for reader, writer in opened:
        await reader.read()
        assert reader.at_eof()
        writer.close()


@pytest.mark.parametrize("address", ["ftp://127.0.0.1", "tcp://nowhere", "acp://nowhere", "acp+xyz://h/acp/tok_123456"])
async def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises((EncodeError, DecodeError), match="ERR_INVALID_REQUEST"):
        async with acp_connect(address):
            raise AssertionError("connected")


@pytest.mark.requirement("acp:8-5")
async def test_only_a_controller_sees_and_uses_the_peers_of_others() -> None:
    other = "tok_of_bob_000000"
    tokens = BearerTokens({TOKEN: Principal("ann"), other: Principal("bob")})
    async with (
        serving(acp_app(AcpHost(Echo(), authenticate=tokens), controllers=["ann"])) as port,
        acp_connect(f"acp://127.0.0.1:{port}/{other}") as bob,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client,
    ):
        for token, status in ((other, 404), (TOKEN, 200)):
            said = {"text": "to bob", "to_peer": "nobody"}
            peer = "bob" if token == TOKEN else "ann"
            path = f"/peer/{peer}/send"
            answer = await client.post(path, json=said, headers={"x-acp-token": token})
            assert answer.status_code == status
        assert answer.json()["ok"] is True
        assert [text_of(message) async for message in first(bob, 1)] == ["to bob"]
