"""ACCP over HTTP, the server's end: frames in, frames out, and what is refused with which status (ACCP 11.1)."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import httpx2
import pytest
import websockets

from accp_adapters.bindings.accp.app import accp_app
from accp_adapters.bindings.hosts import SessionHost
from accp_adapters.serving.principals import BearerTokens, Principal
from accp_adapters.stores import SqliteColdStore
from accp_core.accp import StreamChunkReceived, parse_frame
from accp_core.accp.frame import MEDIA_TYPE, Intent
from accp_core.errors import ProtocolError
from tests.adapters.bindings.accp.serving import count, echo, serve, serving
from tests.adapters.bindings.hosts.agents import CODEC, Client

TYPE = {"content-type": MEDIA_TYPE}
TOKENS = BearerTokens({"token-of-ann": Principal("ann", frozenset({"ann"})), "token-of-bob": Principal("bob")})


async def post(address: str, body: Any, **headers: str) -> httpx2.Response:
    fields = TYPE | {name.replace("_", "-"): value for name, value in headers.items()}
    async with httpx2.AsyncClient() as client:
        return await client.post(f"http://{address}/accp/v1/frames", content=body, headers=fields)


async def raw_post(address: str, rest: str) -> bytes:
    """Return what is answered to a request whose body does not end, until the server closes the connection."""
    reader, writer = await asyncio.open_connection(*address.split(":"))
    head = f"POST /accp/v1/frames HTTP/1.1\r\nhost: {address}\r\ncontent-type: {MEDIA_TYPE}\r\n"
    writer.write(f"{head}{rest}".encode())
    answer = await reader.read()
    writer.close()
    return answer


def code_of(response: httpx2.Response) -> str:
    """Return the code of the one error frame of a response."""
    frame = parse_frame(response.text.removesuffix("\n"))
    assert (frame.intent, frame.operation, frame.params["schema"]) == (Intent.FAILURE, "error", "ER")
    return str(frame.params["code"])


@pytest.mark.requirement("11.1-1", "11.1-2", "11.1-4")
async def test_a_frame_is_answered_by_frames() -> None:
    client = Client()
    async with serving() as address:
        response = await post(address, client.ask("add", n=7))
    assert (response.status_code, response.headers["content-type"]) == (200, f"{MEDIA_TYPE}; charset=utf-8")
    (message,) = client.messages(response.text.splitlines())
    assert (message.intent, message.payload) == (Intent.COMPLETE, {"n": 7})


async def test_a_decimal_is_rounded_for_a_peer_of_the_draft_and_the_log_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with serving() as address:
        response = await post(address, "@ann>req:add{n:=0.30000000000000004}[mid:a,seq:1,ts:1000]")
    assert "n:0.3}" in response.text
    assert "found 0.30000000000000004" in caplog.text


async def test_the_same_frame_again_has_the_same_answer_for_who_resumes() -> None:
    client = Client()
    frame = client.ask("add", n=7)
    async with serving() as address:
        answers = [(await post(address, frame, accp_resume="1")).text for _ in range(3)]
        refused = await post(address, frame)
    assert len(set(answers)) == 1
    assert (refused.status_code, code_of(refused)) == (400, "E3002")


# "Accumulated hot state exceeds 400 tokens" (section 5.2)


@pytest.mark.requirement("5.2-2")
@pytest.mark.parametrize("words", [1, 125])
async def test_a_checkpoint_is_taken_at_an_answer_and_where_hot_state_is_full(words: int) -> None:
    text = ",".join(f"word{number}" for number in range(words))
    async with serving() as address:
        first = await post(address, f"@ann>req:add{{n:[{text}]}}[mid:a1,seq:1,ts:1000,sid:s1]")
        second = await post(address, "@ann>req:add{n:$warm.ckpt_1.summary}[mid:a2,seq:2,ts:1000,sid:s1]")
    assert (first.status_code, second.status_code) == (200, 200)


# "Streaming: use Transfer-Encoding: chunked with one ST-schema frame per chunk"


@pytest.mark.requirement("11.1-5")
async def test_a_stream_comes_chunk_by_chunk() -> None:
    client, chunks = Client(), []
    async with serving(count) as address, httpx2.AsyncClient() as http:
        url = f"http://{address}/accp/v1/frames"
        async with http.stream("POST", url, content=client.ask("count", n=3), headers=TYPE) as response:
            assert response.headers["transfer-encoding"] == "chunked"
            chunks = [chunk.decode() async for chunk in response.aiter_raw()]
    events = [event for event in client.take(chunks) if isinstance(event, StreamChunkReceived)]
    assert [event.message.payload["data"] for event in events] == ["0", "1", "2", ""]


# "or 400 with ER-schema error frame body"


@pytest.mark.requirement("11.1-3", "11.1-4")
@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("", "E1001"),
        ("no frame", "E1001"),
        ("@ann>shout:add{n:1}[mid:a,seq:1]", "E1002"),
        ("@ann>req:add{n:1}[mid:a,seq:x]", "E1004"),
        ("@ann>req:add{n:1}[seq:1,sid:s1]", "E1001"),
        ("@ann>req:add{n:[1}[mid:a,seq:1,ts:1,sid:s1]", "E1001"),
        ("@ann>req:add{n:1|schema:XX}[mid:a,seq:1,ts:1,sid:s1]", "E1003"),
        ("@agent>req:add{n:1}[mid:a,seq:1,ts:1,sid:s1]", "E5001"),
        (f"@ann>req:add{{n:1}}[mid:a,seq:1,ts:1,sid:{'s' * 65}]", "E1001"),
        (b"@ann>req:add{n:\xff}[mid:a,seq:1]", "E1001"),
        ("@ann>req:add{n:1}[mid:a,seq:1]\n@ann>req:add{n:1}[mid:b,seq:2]", "E1001"),
    ],
)
async def test_what_is_no_frame_of_the_session_has_status_400(body: Any, code: str) -> None:
    async with serving() as address:
        response = await post(address, body)
    assert (response.status_code, code_of(response)) == (400, code)


REFUSED: list[tuple[dict[str, str], int, str]] = [
    ({"authorization": ""}, 401, "E5001"),
    ({"authorization": "Bearer token-of-eve"}, 401, "E5001"),
    ({"host": "evil.example"}, 421, "E5001"),
    ({"origin": "https://evil.example"}, 403, "E5001"),
    ({"content_type": "application/json"}, 415, "E1001"),
    ({"content_type": "application/accp; charset=latin-1"}, 415, "E1001"),
    ({"content_encoding": "gzip"}, 415, "E1001"),
]


@pytest.mark.requirement("11.1-2")
@pytest.mark.parametrize(("headers", "status", "code"), REFUSED)
async def test_a_request_that_may_not_come_in_is_refused(headers: dict[str, str], status: int, code: str) -> None:
    fields = {"authorization": "Bearer token-of-ann"} | headers
    async with serving(authenticate=TOKENS) as address:
        response = await post(address, Client().ask("add", n=7), **fields)
    assert (response.status_code, code_of(response)) == (status, code)
    assert "token-of" not in response.text


@pytest.mark.requirement("11.1-1")
async def test_only_a_frame_is_posted() -> None:
    async with serving() as address, httpx2.AsyncClient() as http:
        assert (await http.get(f"http://{address}/accp/v1/frames")).status_code == 405
        assert (await http.get(f"http://{address}/health")).text == "ok\n"
        assert (await http.get(f"http://{address}/ready")).text == "ready\n"


async def test_the_same_session_id_of_somebody_else_is_another_session() -> None:
    """ACCP 9: the answer to a stranger does not say whether a session exists."""
    client, statuses = Client(), []
    async with serving(authenticate=TOKENS) as address:
        for token, frame in (("ann", client.ask("add", n=1)), ("bob", Client().ask("add", n=1))):
            response = await post(address, frame, authorization=f"Bearer token-of-{token}")
            statuses.append((response.status_code, parse_frame(response.text.removesuffix("\n")).envelope.sequence))
    assert statuses == [(200, 2), (200, 2)]


HUGE = ["content-length: 1001\r\n\r\n", "transfer-encoding: chunked\r\n\r\n3e9\r\n" + "x" * 1_001]


@pytest.mark.parametrize("body", HUGE)
async def test_a_huge_frame_is_refused_before_it_is_read(body: str) -> None:
    async with serving(limits={"frame_bytes": 1_000}) as address:
        answer = await raw_post(address, body)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"code:E2003" in answer


async def test_too_many_frames_in_a_second_wait() -> None:
    client = Client()
    async with serving(limits={"rate": 0.001, "burst": 2}) as address:
        responses = [await post(address, client.ask("add", n=number)) for number in range(3)]
    assert [each.status_code for each in responses] == [200, 200, 429]
    # A busy machine takes a second or more for the three.
    assert code_of(responses[2]) == "E2003" and 900 < int(responses[2].headers["retry-after"]) <= 1_000


async def test_too_many_requests_at_once_are_refused_and_places_become_free() -> None:
    began, go_on = asyncio.Event(), asyncio.Event()

    async def slow(request: Any) -> dict[str, Any]:
        began.set()
        await go_on.wait()
        return dict(request.message.payload)

    client = Client()
    async with serving(slow, limits={"places_each": 1}) as address:
        first = asyncio.ensure_future(post(address, client.ask("add", n=1)))
        await began.wait()
        refused = await post(address, client.ask("add", n=2))
        go_on.set()
        assert (refused.status_code, code_of(refused)) == (429, "E2003")
        assert (await first).status_code == 200
        assert (await post(address, Client("s2").ask("add", n=3))).status_code == 200


async def test_memory_for_all_frames_that_arrive_is_bounded() -> None:
    async with serving(limits={"buffered_bytes": 10}) as address:
        response = await post(address, Client().ask("add", n=1))
    assert (response.status_code, code_of(response)) == (503, "E2003")


async def test_a_slow_body_times_out() -> None:
    async with serving(limits={"body_time": 0.05}) as address:
        answer = await raw_post(address, "content-length: 100\r\n\r\n@ann>")
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"code:E3001" in answer


async def test_a_client_that_leaves_finds_its_answer_when_it_comes_back() -> None:
    began, go_on, runs = asyncio.Event(), asyncio.Event(), []

    async def slow(request: Any) -> dict[str, Any]:
        runs.append(request.idempotency_key)
        began.set()
        await go_on.wait()
        return dict(request.message.payload)

    client = Client()
    frame = client.ask("add", n=7)
    async with serving(slow) as address:
        leaving = asyncio.ensure_future(post(address, frame, accp_resume="1"))
        await began.wait()
        leaving.cancel()
        go_on.set()
        (message,) = client.messages((await post(address, frame, accp_resume="1")).text.splitlines())
    assert (message.payload, runs) == ({"n": 7}, ["ann1"])


@pytest.mark.parametrize("is_socket", [False, True])
async def test_work_ends_when_a_client_leaves_that_cannot_come_back(is_socket: bool) -> None:
    async def ask(address: str) -> None:
        if not is_socket:
            await post(address, Client().ask("add", n=7))
        async with websockets.connect(f"ws://{address}/accp/v1/ws") as socket:
            await socket.send("@ann>sync:registry{v:1|hash:abc}[mid:a,seq:1,ts:1000]")
            await socket.send("@ann>req:add{n:1}[mid:b,seq:2,ts:1000]")
            await asyncio.Future()

    began, ended = asyncio.Event(), asyncio.Event()

    async def slow(_: Any) -> Any:
        began.set()
        try:
            await asyncio.Future()
        finally:
            ended.set()

    async with serving(slow) as address:
        leaving = asyncio.ensure_future(ask(address))
        await began.wait()
        leaving.cancel()
        await ended.wait()


async def test_a_failing_server_says_nothing_about_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: Any) -> Any:
        raise RuntimeError("the password is 1234")
        yield

    async with serving() as address:
        monkeypatch.setattr("accp_adapters.bindings.hosts.host.SessionHost.stream", fail)
        response = await post(address, Client().ask("add", n=1))
    assert (response.status_code, code_of(response)) == (500, "E9999")
    assert "1234" not in response.text


class Refusing(SqliteColdStore):
    """A store that is out of reach for some operations."""

    refused = ""

    def _fail(self, operation: str) -> None:
        if operation in self.refused.split():
            raise ProtocolError("redis://secret.example refuses the password", code="E5001")

    def get(self, session_id: str, key: str) -> str | None:
        self._fail("get")
        return super().get(session_id, key)

    def load_session(self, name: str) -> tuple[int, str] | None:
        self._fail("load")
        return super().load_session(name)

    def save_session(self, name: str, version: int, data: str) -> bool:
        self._fail("save")
        return super().save_session(name, version, data)


async def test_a_server_whose_store_takes_nothing_is_not_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accp_adapters.bindings.hosts.host._PROBE_SECONDS", 0.1)
    store, other = SqliteColdStore(tmp_path / "s"), sqlite3.connect(tmp_path / "s", isolation_level=None)
    async with SessionHost(echo, codec=CODEC, store=store) as host:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(ProtocolError, match="expected the store to write"):
            await host.check()
        other.close()
        monkeypatch.undo()
        await host.check()


@pytest.mark.parametrize("refused", ["get", "load", "save"])
async def test_a_store_that_refuses_the_server_is_no_refusal_of_the_peer(
    refused: str, caplog: pytest.LogCaptureFixture
) -> None:
    """E5001 would end an honest client; it sends the frame again as long as the store is out of reach."""
    frame = "@ann>req:add{n:1|text:$cold.%s}[mid:a,seq:1,ts:1000,sid:s1]" % ("1" * 29)
    store = Refusing()
    async with SessionHost(echo, codec=CODEC, store=store) as host, serve(accp_app(host)) as address:
        store.refused = refused
        async with httpx2.AsyncClient(trust_env=False) as http:
            ready = await http.get(f"http://{address}/ready")
        answer = await post(address, frame, accp_resume="1")
        store.refused = ""
        again = await post(address, frame, accp_resume="1")
    out_of_reach = 503, "the store of the sessions is out of reach\n"
    assert (ready.status_code, ready.text) == (out_of_reach if refused != "get" else (200, "ready\n"))
    assert (answer.status_code, code_of(answer), code_of(again)) == (503, "E3001", "E2001")
    assert "secret.example" not in answer.text
    assert "secret.example" in caplog.text
