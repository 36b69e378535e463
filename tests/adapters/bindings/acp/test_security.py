"""Who is let in and what is refused: tokens, certificates, origins, sizes, counts, times; each with its code."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import ssl
import time
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import httpx2
import pytest
import trustme
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosedError, InvalidStatus

from accp_adapters.bindings import ServerLimits
from accp_adapters.bindings.acp import AcpHost, AcpSession, acp_app, acp_connect, serve_tcp
from accp_adapters.bindings.acp.relay import relay_app
from accp_adapters.serving.principals import BearerTokens, Principal
from accp_core.acp import parse_envelope
from accp_core.errors import LocalProtocolError, RemoteProtocolError
from tests.adapters.bindings.acp.agents import Echo, Proxy, serving, text_of
from tests.adapters.bindings.acp.test_aborts import TOKEN, address_of, host_for
from tests.adapters.bindings.test_off_loop import core_calls_with_long_texts
from tests.limits import PATIENCE, async_wait_until

ANN, BOB = "tok_aaaaaaaaaaaaaaaa", "tok_bbbbbbbbbbbbbbbb"
TOKENS = BearerTokens({ANN: Principal("ann"), BOB: Principal("bob")})
SMALL = ServerLimits(frame_bytes=2_000, places=2, places_each=2, body_time=0.2, window=2)


PATIENT = ServerLimits(body_time=PATIENCE)
HELD = ServerLimits(buffered_bytes=4 << 20)
LONG = json.dumps({"type": "acp.agent_card", "card": {"name": "G"}, "token": ANN, "x": [[]] * 2_000})
DENSE = LONG[:-2] + ",[]" * 10_000
"""More values than a quarter of `HELD` holds. Who reads it finds that it is no JSON."""


def host_of(limits: ServerLimits = SMALL, authenticate: Any = TOKENS) -> AcpHost:
    return AcpHost(Echo(), authenticate=authenticate, limits=limits)


@pytest.fixture
async def port() -> AsyncIterator[int]:
    async with serving(acp_app(host_of())) as port:
        yield port


def api(port: int, token: str = ANN, **headers: str) -> httpx2.AsyncClient:
    given = {"authorization": f"Bearer {token}", **headers}
    return httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=given, trust_env=False)


async def errors(socket: Any) -> tuple[list[str], int]:
    """Return the codes of the error frames until a WebSocket is closed, and the close code."""
    codes = []
    with contextlib.suppress(ConnectionClosedError):
        async for text in socket:
            codes += [code] if (code := json.loads(text).get("code")) else []
    return codes, socket.close_code


@pytest.mark.requirement("acp:3.3-1")
@pytest.mark.parametrize(("path", "token"), [("tok_wrong", ""), ("", ""), ("", "tok_wrong")])
async def test_a_wrong_token_gets_an_error_frame_and_4401(port: int, path: str, token: str) -> None:
    headers = {"x-acp-token": token} if token else {}
    async with connect(f"ws://127.0.0.1:{port}/{path}", additional_headers=headers, proxy=None) as guest:
        assert await errors(guest) == (["invalid_token"], 4401)


async def test_a_client_with_a_wrong_token_does_not_try_again(port: int) -> None:
    for address in (f"acp://127.0.0.1:{port}/tok_wrong", f"http://127.0.0.1:{port}"):
        with pytest.raises(RemoteProtocolError, match="invalid_token"):
            async with acp_connect(address, limits=PATIENT, wait_seconds=PATIENCE):
                raise AssertionError("let in")


async def test_a_token_in_use_elsewhere_is_refused(port: int) -> None:
    async with acp_connect(f"acp://127.0.0.1:{port}/{ANN}") as session:
        async with connect(f"ws://127.0.0.1:{port}/{ANN}", proxy=None) as replayed:
            await replayed.send('{"type":"acp.agent_card","card":{"name":"Eve"},"resume":{"peer_log":"guessed"}}')
            assert await errors(replayed) == (["duplicate_connection"], 1000)
        assert text_of(await session.request("still mine")) == "echo still mine"


async def test_a_page_of_another_origin_or_host_is_refused(port: int) -> None:
    with pytest.raises(InvalidStatus, match="403"):
        await connect(f"ws://127.0.0.1:{port}/{ANN}", origin="https://evil.example", proxy=None)  # type: ignore[arg-type]
    async with api(port) as client:
        for headers, status in (({"origin": "https://evil.example"}, 403), ({"host": "evil.example"}, 421)):
            answer = await client.get("/stream", headers=headers)
            assert (answer.status_code, answer.json()["error_code"]) == (status, "ERR_INVALID_REQUEST")


@pytest.mark.requirement("acp:6.2-1")
async def test_over_http_each_refusal_has_its_code(port: int) -> None:
    async with api(port) as client:
        big = await client.post("/message:send", content=json.dumps({"text": "x" * 3_000}))
        assert (big.status_code, big.json()["error_code"]) == (413, "ERR_MSG_TOO_LARGE")
        for body in ("no json", "[]", '{"role":"boss","text":"x"}', '{"role":"user"}', b"\xff"):
            answer = await client.post("/message:send", content=body)
            assert (answer.status_code, answer.json()["error_code"]) == (400, "ERR_INVALID_REQUEST")
        for path, status, code in (
            ("/nowhere", 404, "ERR_NOT_FOUND"),
            ("/message:send", 405, "ERR_INVALID_REQUEST"),
            ("/tasks", 404, "ERR_NOT_FOUND"),
            ("/stream?since=x", 400, "ERR_INVALID_REQUEST"),
        ):
            answer = await client.get(path)
            assert (answer.status_code, answer.json()["error_code"]) == (status, code), path
    async with api(port, token="tok_wrong_one") as stranger:
        answer = await stranger.post("/message:send", json={"text": "x"})
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert "tok_wrong_one" not in answer.text


async def test_a_slow_body_is_refused_and_a_slow_line_too(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"POST /message:send HTTP/1.1\r\nHost: localhost\r\nX-ACP-Token: {ANN}\r\nContent-Length: 50\r\n\r\n"
    writer.write(head.encode() + b'{"text":')
    assert b" 408 " in await reader.readline()
    writer.close()
    async with serve_tcp(host_of()) as tcp_port:
        reader, writer = await asyncio.open_connection("127.0.0.1", tcp_port)
        assert json.loads(await reader.readline())["code"] == "ERR_TIMEOUT"
        assert await reader.read() == b""
        writer.close()


@pytest.mark.requirement("acp:3.4-1")
async def test_a_frame_that_is_too_large_or_no_text_ends_a_connection(port: int) -> None:
    for frame, code, closed in (
        (json.dumps({"type": "acp.message", "text": "x" * 3_000}), "ERR_MSG_TOO_LARGE", 1000),
        (b"binary", "ERR_INVALID_REQUEST", 1008),
    ):
        async with connect(f"ws://127.0.0.1:{port}/{ANN}", proxy=None) as guest:
            await guest.send('{"type":"acp.agent_card","card":{"name":"G"}}')
            await guest.send(frame)
            codes, close_code = await errors(guest)
            assert (codes[0], close_code) == (code, closed)


async def test_a_token_follows_no_redirect() -> None:
    asked = []

    async def away(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        location = f"ws://127.0.0.1:{writer.get_extra_info('sockname')[1]}/other"
        writer.write(f"HTTP/1.1 307 Go\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode())
        writer.close()

    async with await asyncio.start_server(away, "127.0.0.1", 0) as server:
        url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        with pytest.raises(RemoteProtocolError, match="ERR_NOT_CONNECTED"):
            async with acp_connect(url, token=ANN, wait_seconds=0.5):
                raise AssertionError("connected")
    assert not any(b"/other" in each for each in asked)


async def test_after_too_much_nonsense_a_connection_is_closed(port: int) -> None:
    async with connect(f"ws://127.0.0.1:{port}/{ANN}", proxy=None) as guest:
        for _ in range(30):
            await guest.send("nonsense")
        codes, _ = await errors(guest)
        assert codes == ["ERR_INVALID_REQUEST"] * 21


async def test_more_connections_than_allowed_are_refused(port: int) -> None:
    async with acp_connect(f"acp://127.0.0.1:{port}/{ANN}"), acp_connect(f"acp://127.0.0.1:{port}/{BOB}"):
        async with connect(f"ws://127.0.0.1:{port}/{ANN}", proxy=None) as third:
            assert await errors(third) == (["ERR_NOT_CONNECTED"], 1013)
        async with api(port) as client:
            answer = await client.get("/stream")
            assert (answer.status_code, answer.json()["error_code"]) == (503, "ERR_NOT_CONNECTED")


async def test_a_message_over_http_waits_for_room_before_it_is_refused() -> None:
    agent, told = Echo(), {"text": "hi"}
    agent.works.clear()
    host = AcpHost(agent, authenticate=TOKENS, limits=ServerLimits(window=1))
    async with serving(acp_app(host)) as port, api(port) as client:
        statuses = [(await client.post("/message:send", json=told)).status_code for _ in range(3)]
        asyncio.get_running_loop().call_later(0.1, agent.works.set)
        statuses.append((await client.post("/message:send", json=told)).status_code)
    assert statuses == [200, 200, 503, 200]


async def test_over_tcp_nothing_is_read_that_the_inbox_has_no_room_for() -> None:
    agent = Echo()
    agent.works.clear()
    line = json.dumps({"type": "acp.message", "text": "x" * 100_000}).encode() + b"\n"
    async with serve_tcp(AcpHost(agent, authenticate=TOKENS, limits=ServerLimits(window=1))) as port:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b'{"type":"acp.agent_card","card":{"name":"G"},"token":"%s"}\n' % ANN.encode() + 3 * line)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                for _ in range(500):  # much more than the system holds of a connection
                    writer.write(line)
                    await writer.drain()
        writer.transport.abort()


async def flood(session: AcpSession) -> None:
    """Send to a peer that reads nothing, until it is refused; a moment is given to what still is taken."""
    while True:
        await asyncio.sleep(0.01)
        try:
            await session.send("x" * 100_000, wait=False)
        except LocalProtocolError:
            if session.connection.log.written == session.connection.log.last or session.connection.log.in_flight:
                continue
            raise


async def test_a_half_open_peer_holds_nothing_but_its_own_session() -> None:
    host = host_of(ServerLimits(write_time=0.3, window=64))
    async with serving(acp_app(host)) as port:
        raw = socket.create_connection(("127.0.0.1", port))
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        raw.sendall(f"GET /stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {ANN}\r\n\r\n".encode())
        await async_wait_until(lambda: host.connections == 1)
        (session,) = host.sessions()
        sending = asyncio.create_task(flood(session))
        await async_wait_until(lambda: host.connections == 0)
        with pytest.raises(LocalProtocolError, match="ERR_NOT_CONNECTED"):
            await asyncio.wait_for(sending, PATIENCE)
        async with acp_connect(f"acp://127.0.0.1:{port}/{BOB}") as other:
            assert text_of(await other.request("hi")) == "echo hi"
        raw.close()


async def test_a_right_that_ends_ends_the_connection() -> None:
    async def briefly(scope: Any) -> Principal:
        return Principal("ann", expires_at=time.time() + 0.3)

    async with (
        serving(acp_app(host_of(authenticate=briefly))) as port,
        connect(f"ws://127.0.0.1:{port}/", proxy=None) as guest,
    ):
        await guest.send('{"type":"acp.agent_card","card":{"name":"G"}}')
        assert (await errors(guest))[1] == 1000


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def server_tls(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1", "localhost").configure_cert(context)
    return context


def client_tls(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


@pytest.mark.requirement("acp:7.3-1")
async def test_over_tls_a_token_says_who_it_is(authority: trustme.CA) -> None:
    host = host_of(PATIENT)
    async with serve_tcp(host, ssl=server_tls(authority)) as port:
        connecting = partial(acp_connect, f"tls://127.0.0.1:{port}", limits=PATIENT, wait_seconds=PATIENCE)
        async with connecting(tls=client_tls(authority), token=BOB) as session:
            assert text_of(await session.request("by token")) == "echo by token"
        assert [session.name for session in host.sessions()] == ["bob"]
        for token in ("", "tok_wrong"):
            with pytest.raises(RemoteProtocolError, match="invalid_token"):
                async with connecting(tls=client_tls(authority), token=token):
                    raise AssertionError("let in")
        with pytest.raises(RemoteProtocolError, match="untrusted_certificate"):
            async with connecting(tls=client_tls(trustme.CA()), token=BOB):
                raise AssertionError("trusted")


async def test_a_client_waits_for_the_verdict_of_a_host_that_is_slow_to_judge() -> None:
    """Not for the 0.1 s that it waits between two looks at a connection that is being opened."""

    async def slowly(scope: Any) -> Principal:
        await asyncio.sleep(0.3)
        return await TOKENS(scope)

    async with serve_tcp(host_of(PATIENT, slowly)) as port:
        with pytest.raises(RemoteProtocolError, match="invalid_token"):
            async with acp_connect(f"tcp://127.0.0.1:{port}", token="tok_wrong", limits=PATIENT):
                raise AssertionError("let in")


async def test_websockets_and_http_over_tls(authority: trustme.CA, tmp_path: Any) -> None:
    issued = authority.issue_cert("127.0.0.1")
    key, chain = tmp_path / "key.pem", tmp_path / "chain.pem"
    issued.private_key_pem.write_to_path(str(key))
    for number, pem in enumerate(issued.cert_chain_pems):
        pem.write_to_path(str(chain), append=number > 0)
    async with serving(acp_app(host_of(ServerLimits())), ssl_keyfile=str(key), ssl_certfile=str(chain)) as port:
        for scheme in ("wss", "https"):
            address = f"{scheme}://127.0.0.1:{port}"
            async with acp_connect(address, tls=client_tls(authority), token=ANN) as session:
                assert text_of(await session.request(scheme)) == f"echo {scheme}"
        for tls in (client_tls(trustme.CA()), None):
            with pytest.raises(RemoteProtocolError, match="untrusted_certificate"):
                async with acp_connect(f"wss://127.0.0.1:{port}", tls=tls, token=ANN):
                    raise AssertionError("trusted")


async def test_no_card_says_a_token(port: int) -> None:
    async with serve_tcp(host_of()) as tcp_port:
        reader, writer = await asyncio.open_connection("127.0.0.1", tcp_port)
        writer.write(json.dumps({"type": "acp.agent_card", "card": {"name": "G"}, "token": ANN}).encode() + b"\n")
        answer = (await reader.readline()).decode()
        assert ANN not in answer
        assert type(parse_envelope(answer)).__name__ == "CardMessage"
        writer.close()


@pytest.mark.parametrize("binding", ["A", "C", "D", "E"])
async def test_a_token_stands_in_no_log(binding: str, caplog: pytest.LogCaptureFixture) -> None:
    """ACP 3.1 and 5.2: in A and C the token is a part of the address."""
    caplog.set_level(0)
    reaching = address_of(binding, host_for(Echo()), Proxy())
    async with reaching as address, acp_connect(address, token=TOKEN) as session:
        assert text_of(await session.request("hello")) == "echo hello"
    assert TOKEN not in caplog.text and (caplog.records or binding in "AE")


async def test_a_relay_reads_no_long_message_on_the_loop_and_no_dense_one_at_all() -> None:
    async with serving(relay_app(limits=HELD)) as port, api(port) as client:
        await client.post("/acp/new", params={"token": ANN})
        with core_calls_with_long_texts() as read:
            for action in ("send", "join"):
                taken, refused = [await client.post(f"/acp/{ANN}/{action}", content=text) for text in (LONG, DENSE)]
                assert (taken.status_code, refused.status_code) == (200, 413)
                assert "1,048,576 bytes once its values are read" in refused.json()["message"]
        sent, joined = (await client.get(f"/acp/{ANN}/poll")).json()["messages"]
    assert read == set()
    assert [{**sent, **json.loads(LONG)}, joined["card"]] == [sent, {"name": "G"}]


async def test_no_long_first_message_of_a_connection_is_read_on_the_loop() -> None:
    with core_calls_with_long_texts() as read:
        async with serving(acp_app(host_of(HELD))) as port, serve_tcp(host_of(HELD)) as tcp_port:
            for text, code in ((LONG, "ERR_INVALID_REQUEST"), (DENSE, "ERR_MSG_TOO_LARGE")):
                async with connect(f"ws://127.0.0.1:{port}/{ANN}", proxy=None) as guest:
                    await guest.send(text)
                    await guest.send(b"binary")
                    assert (await errors(guest))[0][0] == code
            reader, writer = await asyncio.open_connection("127.0.0.1", tcp_port)
            writer.write(LONG.encode() + b"\n")
            assert json.loads(await reader.readline())["type"] == "acp.agent_card"
            writer.close()
    assert read == set()
