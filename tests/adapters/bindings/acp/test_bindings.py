"""What each binding carries beside messages: frames, what waits for a peer, a fallback, the rooms of a relay."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from accp_adapters.backoff import Backoff
from accp_adapters.bindings import ServerLimits
from accp_adapters.bindings.acp import AcpHost, acp_app, acp_connect, relay_app, serve_tcp
from accp_adapters.serving.principals import BearerTokens, Principal
from accp_core.acp import AcpMessage, Part, TextPart
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
    return AcpHost(agent, authenticate=BearerTokens({TOKEN: Principal("ann")}), limits=ServerLimits(**limits))


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


@pytest.mark.requirement("acp:3.3-2", "acp:3.6-2", "acp:5.1-2")
async def test_a_guest_falls_back_to_the_relay_and_keeps_its_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accp_adapters.bindings.acp.connect._BACKOFF", Backoff(first=0.01, longest=0.01))
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


async def test_what_a_guest_says_on_a_relay_waits_for_the_host_to_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accp_adapters.bindings.acp.connect.CARD_SECONDS", 0.01)
    monkeypatch.setattr("accp_adapters.bindings.acp.session.KEEPALIVE_SECONDS", 0.01)
    async with serving(relay_app()) as relay:
        link = f"acp+ws://127.0.0.1:{relay}/acp/{TOKEN}"
        async with acp_connect(link) as session:
            room = httpx2.AsyncClient(base_url=f"http://127.0.0.1:{relay}/acp/{TOKEN}", trust_env=False)
            async with room as client, asyncio.timeout(PATIENCE):
                while (await client.get("/poll")).json()["server_seq"] < 3:  # greetings, as a relay forgets them
                    await asyncio.sleep(0.01)
            asking = asyncio.create_task(session.request("early"))
            async with hosting(host_of(Echo()), link):
                assert text_of(await asking) == "echo early"


async def test_the_agent_asks_its_peer_over_every_binding_of_a_server() -> None:
    host = host_of(Echo("Host"))
    async with serving(acp_app(host)) as port, serve_tcp(host) as tcp:
        for address in (f"acp://127.0.0.1:{port}/{TOKEN}", f"http://127.0.0.1:{port}", f"tcp://127.0.0.1:{tcp}"):
            async with acp_connect(address, token=TOKEN, agent=(guest := Echo("Guest"))):
                (session,) = host.sessions()
                await session.send("note")
                await async_wait_until(lambda: "echo note" in host.agent.heard)
                assert text_of(await session.request("you?")) == "echo you?"
                with pytest.raises(RemoteProtocolError, match="ERR_INTERNAL"):
                    await session.request("fail")
                with pytest.raises(RemoteProtocolError, match="ERR_TIMEOUT"):
                    await session.request("quiet", timeout=0.2)
            assert "note" in guest.heard and "echo echo note" not in guest.heard
            host.agent.heard.clear()


# "parts": what a receiver refuses (section 3.4) is refused where it is sent.
async def test_what_is_no_message_is_an_error_at_once_on_both_sides() -> None:
    class Talker(Echo):
        async def handle(self, message: AcpMessage, peer: Any) -> Any:
            return {"long": "x" * (1 << 20), "many": message.parts * 10_001, "none": ()}[text_of(message)]

    async with serve_tcp(host_of(Talker())) as port, acp_connect(f"tcp://127.0.0.1:{port}", token=TOKEN) as guest:
        for text, reason in (
            ("long", "ERR_MSG_TOO_LARGE: the agent's reply: expected at most 1048576"),
            ("many", "ERR_INVALID_REQUEST: the agent's reply: parts: expected 1 to 10000"),
            ("none", "ERR_INVALID_REQUEST: the agent's reply: parts: expected 1 to 10000"),
        ):
            with pytest.raises(RemoteProtocolError, match=reason):
                await guest.request(text, timeout=PATIENCE)
        with pytest.raises(EncodeError, match="ERR_INVALID_REQUEST: parts: expected 1 to 10000 parts, found list of 0"):
            await guest.send(())


async def test_a_refused_text_is_told_to_its_sender_and_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async with serve_tcp(host_of(Echo())) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for said in ({"type": "acp.agent_card", "card": {"name": "G"}, "token": TOKEN}, {"message_id": "m1"}):
            writer.write(f"{json.dumps({'type': 'acp.message', 'parts': [], **said})}\n".encode())
        while (told := json.loads(await reader.readline()))["type"] != "error":
            pass
        writer.close()
        await writer.wait_closed()
    assert (told["code"], told["correlation_id"]) == ("ERR_INVALID_REQUEST", "m1")
    assert "ann: refused a message: parts: expected 1 to 10000 parts, found list of 0" in caplog.text


async def test_a_reply_passes_an_inbox_that_nobody_reads() -> None:
    async with serve_tcp(host_of(Echo())) as port, acp_connect(f"tcp://127.0.0.1:{port}", token=TOKEN) as guest:
        for number in range(300):
            await guest.send(f"{number}")
        assert text_of(await guest.request("?", timeout=PATIENCE)) == "echo ?"
        heard = [text_of(message) async for message in first(guest, 300)]
    assert heard == [f"echo {number}" for number in range(300)]


@pytest.mark.parametrize("content", [[{"type": "data", "content": 1}], {"type": "data"}, 5, None])
async def test_what_is_no_content_is_refused_with_what_is_expected(content: Any) -> None:
    async with acp_connect("tcp://127.0.0.1:1", wait_seconds=None) as guest:
        with pytest.raises(TypeError, match="expected a text, or parts such as TextPart"):
            await guest.request(content)


async def test_a_session_without_handler_replies_by_itself() -> None:
    host = host_of(Echo())
    async with serve_tcp(host) as port, acp_connect(f"tcp://127.0.0.1:{port}", token=TOKEN) as guest:
        (session,) = host.sessions()
        asking = asyncio.create_task(session.request("?"))
        async for message in first(guest, 1):
            await guest.reply(message, "!")
        assert text_of(await asking) == "!"


@asynccontextmanager
async def http_client(port: int, path: str = "") -> AsyncIterator[httpx2.AsyncClient]:
    """Yield a plain HTTP client that says who it is."""
    base, headers = f"http://127.0.0.1:{port}{path}", {"x-acp-token": TOKEN}
    async with httpx2.AsyncClient(base_url=base, headers=headers, trust_env=False) as client:
        yield client


@pytest.mark.requirement("acp:6.2-1")
# Section 6.2 has three endpoints; all that a client says goes to the first one.
async def test_over_http_one_endpoint_takes_messages_replies_and_what_was_received() -> None:
    agent = Echo()
    host = host_of(agent)
    async with serving(acp_app(host)) as port, http_client(port) as client:
        said = {"text": "once", "message_id": "m1", "task_id": "t1"}
        answers = [(await client.post("/message:send", json=said)).json() for _ in range(2)]
        assert answers[0] == answers[1] == {"ok": True, "message_id": "m1", "server_seq": 1}
        assert (await client.post("/message:send", json={"text": "quiet"})).json()["message_id"].startswith("msg_")
        await async_wait_until(lambda: agent.heard == ["once", "quiet"])
        (session,) = host.sessions()
        asking = asyncio.create_task(session.request("you?"))
        await async_wait_until(lambda: session.connection.log.last == 2)
        texts = [json.loads(text) for _, text in session.connection.log.after(0)]
        assert (texts[0]["correlation_id"], texts[0]["task_id"]) == ("m1", "t1")
        answer = {"text": "me", "correlation_id": texts[1]["message_id"]}
        assert (await client.post("/message:send", json=answer)).json()["ok"] is True
        assert text_of(await asking) == "me"
        received = {"type": "acp.ack", "last_server_seq": 2, "log": session.connection.log_id}
        assert (await client.post("/message:send", json=received)).json() == {"ok": True, "server_seq": 2}
        for body in ({"type": "acp.ack"}, {"type": "acp.reply", "correlation_id": "no", "text": "x"}):
            unknown = await client.post("/message:send", json=body)
            assert (unknown.status_code, unknown.json()["error_code"]) == (404, "ERR_NOT_FOUND")
        card = (await client.get("/.well-known/acp.json")).json()
        assert card["endpoints"] == {
            "send": "/message:send",
            "stream": "/stream",
            "agent_card": "/.well-known/acp.json",
        }
        assert (card["name"], card["capabilities"]["bindings"]) == ("Echo", ["ws-p2p", "http-sse"])


# "to_peer: Directed send target (multi-session)" (section 8): a message for somebody else does not go to the agent.
@pytest.mark.requirement("acp:8-5")
async def test_a_message_for_another_peer_is_refused() -> None:
    agent = Echo()
    host = host_of(agent)
    async with serving(acp_app(host)) as port, serve_tcp(host) as tcp, http_client(port) as client:
        said = {"text": "to bob", "to_peer": "bob"}
        answer = await client.post("/message:send", json=said)
        assert (answer.status_code, answer.json()["error_code"]) == (404, "ERR_NOT_FOUND")
        async with acp_connect(f"tcp://127.0.0.1:{tcp}", token=TOKEN) as guest:
            message = AcpMessage(parts=(TextPart(content="to bob"),), to_peer="bob")
            with pytest.raises(RemoteProtocolError, match="ERR_NOT_FOUND: to_peer: expected 'Echo', found 'bob'"):
                await guest.request(message)
            assert text_of(await guest.request(replace(message, to_peer="Echo"))) == "echo to bob"
    assert agent.heard == ["to bob"]


@pytest.mark.requirement("acp:5.3-1", "acp:5.3-2")
async def test_a_relay_answers_as_its_specification_says() -> None:
    limits = ServerLimits(places=1, window=2)
    async with serving(relay_app(limits=limits)) as port, http_client(port, "/acp") as client:
        made = (await client.post("/new", params={"token": TOKEN})).json()
        assert made == {"token": TOKEN, "link": f"acp+ws://127.0.0.1:{port}/acp/{TOKEN}", "existed": False}
        assert (await client.post("/new", params={"token": TOKEN})).json()["existed"]
        joined = (await client.post(f"/{TOKEN}/join", json={"name": "n" * 99, "card": {"name": "G"}})).json()
        assert (joined["seq"], joined["agent_name"]) == (1, "n" * 64)
        sent = [(await client.post(f"/{TOKEN}/send", json={"id": "a", "ts": 1})).json() for _ in range(2)]
        assert sent == [{"ok": True, "id": "a", "seq": 2}, {"ok": True, "id": "a", "deduped": True}]
        await client.post(f"/{TOKEN}/send", json={"x": 1})
        polled = (await client.get(f"/{TOKEN}/poll", params={"after_id": "a"})).json()
        assert (polled["count"], polled["server_seq"], polled["messages"][0]["seq"]) == (1, 3, 3)
        everything = (await client.get(f"/{TOKEN}/poll", params={"since": 0, "limit": 1})).json()
        assert ([entry["id"] for entry in everything["messages"]], everything["last_id"]) == (["a"], "a")
        by_decimal = (await client.get(f"/{TOKEN}/poll", params={"since": "0.0"})).json()  # as the reference asks
        assert by_decimal["count"] == 2
        seen = by_decimal["messages"][-1]["ts"]
        assert (await client.get(f"/{TOKEN}/poll", params={"since": f"{seen}.0"})).json()["count"] == 0
        for method, path, body, status, error in (
            ("GET", "/tok_unknown/poll", "", 403, "invalid_token"),
            ("GET", f"/{TOKEN}/dance", "", 400, "unknown_action"),
            ("POST", f"/{TOKEN}/send", "no json", 400, "invalid_request"),
            ("POST", f"/{TOKEN}/send", json.dumps({"x": "y" * (2 << 20)}), 413, "invalid_request"),
            ("GET", f"/{TOKEN}/poll?limit=x", "", 400, "invalid_request"),
            ("GET", f"/{TOKEN}/poll?since=x", "", 400, "invalid_request"),
        ):
            answer = await client.request(method, path, content=body)
            assert (answer.status_code, answer.json()["error"]) == (status, error)
        assert (await client.post("/new", headers={"origin": "https://evil.example"})).status_code == 403


async def test_the_rooms_of_a_relay_are_bounded_and_forgotten() -> None:
    limits = ServerLimits(places=4, window=9, buffered_bytes=64_000, rate=1, burst=60)
    async with serving(relay_app(limits=limits, ttl_seconds=0.6)) as port, http_client(port, "/acp") as client:
        made = [(await client.post("/new", params={"token": "bad token!"})).json()["token"] for _ in range(2)]
        assert all(token.startswith("tok_") for token in made)
        await client.post(f"/{made[0]}/join", json={"name": "A"})
        third = (await client.post("/new")).json()["token"]  # the one that was used longest ago gives way
        statuses = {token: (await client.get(f"/{token}/poll")).status_code for token in (*made, third)}
        assert list(statuses.values()) == [200, 403, 200]
        for _ in range(3):
            await client.post(f"/{third}/send", json={"x": "y" * 3_000})
        polled = (await client.get(f"/{third}/poll")).json()
        assert (polled["count"], polled["server_seq"]) == (1, 3)  # a sixteenth of all memory
        codes = [(await client.post(f"/{third}/send", json={"n": n})).status_code for n in range(80)]
        assert codes[0] == 200 and 429 in codes
        tries = [(await client.get(f"/tok_guess{n}/poll")).status_code for n in range(20)]
        assert tries[0] == 403 and 429 in tries
        await asyncio.sleep(0.7)
        assert (await client.get(f"/{third}/poll")).status_code in (403, 429)


async def test_who_fills_many_rooms_of_a_relay_takes_nothing_of_others() -> None:
    async with serving(relay_app(limits=ServerLimits(places=20, buffered_bytes=10_000))) as port:

        def client(source: str) -> httpx2.AsyncClient:
            transport = httpx2.AsyncHTTPTransport(local_address=source)
            return httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}/acp", transport=transport)

        async with client("127.0.0.1") as ann, client("127.0.0.2") as hog, client("127.0.0.3") as other:
            token = (await ann.post("/new")).json()["token"]
            for each in (hog, other) * 12:
                made = await each.post("/new")
                await each.post(f"/{made.json()['token']}/send", json={"text": "x" * 900})
            assert (await ann.post(f"/{token}/send", json={"text": "x" * 900})).status_code == 200
            assert (await ann.get(f"/{token}/poll")).json()["count"] == 1


async def test_an_exception_of_the_caller_leaves_a_server_of_tcp_as_it_is_and_its_connections_are_closed() -> None:
    limits = ServerLimits(body_time=600)
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


AWAY = ["acp://away/tok_123456", "acp+ws://away/acp/tok_123456", "http://away", "tcp://away:1"]


@pytest.mark.parametrize("address", AWAY)
async def test_no_token_goes_to_another_machine_in_plain_text_or_with_a_blank(address: str) -> None:
    for token, expected in ((TOKEN, "expected TLS"), (f"{TOKEN}\n", "expected")):
        with pytest.raises(ValueError, match=expected) as refused:
            await acp_connect(address, token=token).__aenter__()
        assert "tok_" not in str(refused.value)
