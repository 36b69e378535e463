"""A proxy in front of an HTTP server: streams event by event, sessions, who is let in, and servers that fail."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import httpx
import pytest

from accp_adapters.mcp.proxy.http import Sessions
from accp_adapters.mcp.proxy.relay import JsonRpcMessage, Relay
from tests.adapters.mcp.proxy.marking_relay import Marks, marking
from tests.adapters.mcp.proxy.upstream import Saying, Upstream
from tests.adapters.mcp.serving import free_port, proxying, serving
from tests.adapters.mcp.transcripts import ACCP
from tests.limits import PATIENCE

get, post, delete, stream = (
    partial(do, timeout=PATIENCE) for do in (httpx.get, httpx.post, httpx.delete, httpx.stream)
)


@pytest.fixture
def upstream() -> Upstream:
    return Upstream()


@pytest.fixture
def url(upstream: Upstream) -> Iterator[str]:
    with serving(upstream) as origin, proxying(f"{origin}/mcp", marking) as proxy:
        yield proxy


def events(*data: str) -> bytes:
    return "".join(f"id: {number}\ndata: {each}\n\n" for number, each in enumerate(data)).encode()


def test_a_request_goes_through_byte_for_byte(upstream: Upstream, url: str) -> None:
    body = b'{ "jsonrpc": "2.0", "id": 1,\n "method": "x" }'
    sent = {"authorization": "Bearer t", "mcp-protocol-version": "2026-07-28", "accept-encoding": "gzip"}
    answer = post(f"{url}?a=%20b", content=body, headers=sent)
    assert (answer.content, answer.headers["x-mine"]) == (b'{ "id": 1 }', "1")
    [(method, path, headers, received)] = upstream.requests
    assert (method, path, received) == ("POST", "/mcp?a=%20b", body)
    assert headers["authorization"] == "Bearer t"
    assert headers["mcp-protocol-version"] == "2026-07-28"
    assert headers["accept-encoding"] == "identity"


def test_a_changed_document_gets_its_own_length(upstream: Upstream, url: str) -> None:
    async def answering(scope: dict[str, Any], body: bytes, say: Saying) -> None:
        await say(b'{"mark": 1}', content_type="application/json", content_length="11")

    upstream.answering = answering
    answer = post(url, content=b"{}")
    assert answer.json() == {"mark": 1, "marked": True}
    assert answer.headers["content-length"] == str(len(answer.content))


def test_a_request_that_the_shim_answers_does_not_reach_the_server(upstream: Upstream, url: str) -> None:
    answer = post(url, json={"method": "ours", "id": 4})
    assert (answer.status_code, answer.json()) == (200, {"id": 4, "result": "ours"})
    assert upstream.requests == []


def test_events_are_passed_on_one_by_one_and_only_their_data_change(upstream: Upstream, url: str) -> None:
    release = asyncio.Event()

    async def answering(scope: dict[str, Any], body: bytes, say: Saying) -> None:
        await say(b"retry: 100\n: hello\n\nid: 1\nda", more=True, content_type="text/event-stream")
        await say(b'ta: {"mark": 1}\n\n', more=True)
        await release.wait()
        await say(b"data: { }\r\n\r\n: without an end")

    upstream.answering = answering
    with stream("POST", url, content=b"{}") as answer:
        chunks = answer.iter_raw()
        first = next(chunks)
        while b"marked" not in first:
            first += next(chunks)
        assert first == b'retry: 100\n: hello\n\nid: 1\ndata: {"mark":1,"marked":true}\n\n'
        upstream.loop.call_soon_threadsafe(release.set)
        assert b"".join(chunks) == b"data: { }\r\n\r\n: without an end"


def test_what_is_compressed_all_the_same_passes_as_it_came(upstream: Upstream, url: str) -> None:
    async def answering(scope: dict[str, Any], body: bytes, say: Saying) -> None:
        await say(b'{"mark":1}', content_type="application/json", content_encoding="x-odd")

    upstream.answering = answering
    with stream("POST", url, content=b"{}") as answer:
        assert b"".join(answer.iter_raw()) == b'{"mark":1}'
        assert answer.headers["content-encoding"] == "x-odd"


@pytest.mark.parametrize(
    ("path", "body"), [("/.well-known/oauth-protected-resource/mcp", b'{"mark":1}'), ("/other", b'{"mark":1}')]
)
def test_other_paths_of_the_origin_pass_as_they_are(upstream: Upstream, url: str, path: str, body: bytes) -> None:
    async def answering(scope: dict[str, Any], received: bytes, say: Saying) -> None:
        await say(body, content_type="application/json", content_length=str(len(body)))

    upstream.answering = answering
    answer = get(url.removesuffix("/mcp") + path)
    assert answer.content == body
    assert upstream.requests[0][1] == path


def test_a_challenge_and_other_statuses_pass(upstream: Upstream, url: str) -> None:
    async def answering(scope: dict[str, Any], body: bytes, say: Saying) -> None:
        await say(b"who are you?", 401, www_authenticate='Bearer resource_metadata="https://x.example/y"')

    upstream.answering = answering
    answer = post(url, content=b"{}")
    assert (answer.status_code, answer.content) == (401, b"who are you?")
    assert answer.headers["www-authenticate"] == 'Bearer resource_metadata="https://x.example/y"'


@pytest.mark.parametrize("target", ["@127.0.0.1:9/steal", "http://127.0.0.1:9/steal", "127.0.0.1:9", "*", "%2Fmcp"])
def test_a_request_target_that_could_name_another_host_is_refused(upstream: Upstream, url: str, target: str) -> None:
    host, _, port = url.removeprefix("http://").partition("/")[0].partition(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as connection:
        connection.sendall(f"GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        answer = b"".join(iter(partial(connection.recv, 65536), b""))
    assert answer.startswith(b"HTTP/1.1 400")
    assert upstream.requests == []


def test_a_redirect_within_the_server_stays_with_the_proxy(upstream: Upstream, url: str) -> None:
    async def answering(scope: dict[str, Any], body: bytes, say: Saying) -> None:
        await say(b"", 307, location=f"http://{dict(scope['headers'])[b'host'].decode()}/mcp/")

    upstream.answering = answering
    assert post(url, content=b"{}").headers["location"] == "/mcp/"


def test_a_server_that_cannot_be_reached_is_a_502_for_the_request() -> None:
    with proxying(f"http://127.0.0.1:{free_port()}/mcp", marking) as url:
        answer = post(url, json={"jsonrpc": "2.0", "id": "a", "method": "x"})
    assert answer.status_code == 502
    assert answer.json()["id"] == "a"
    assert answer.json()["error"]["code"] == -32603
    assert "ConnectError" in answer.json()["error"]["message"]


def test_a_server_that_dies_in_mid_document_is_a_502(upstream: Upstream, url: str) -> None:
    async def answering(scope: dict[str, Any], body: bytes, say: Saying) -> None:
        await say(b'{"id": 1, "resu', more=True, content_type="application/json", content_length="100")

    upstream.answering = answering
    assert post(url, content=b'{"id":1}').status_code == 502


def test_a_server_that_dies_in_mid_stream_cuts_the_clients_connection(upstream: Upstream, url: str) -> None:
    async def answering(scope: dict[str, Any], body: bytes, say: Saying) -> None:
        await say(b"data: {}\n\ndata: {", more=True, content_type="text/event-stream")

    upstream.answering = answering
    with pytest.raises(httpx.RemoteProtocolError), stream("POST", url, content=b"{}") as answer:
        answer.read()


def test_a_client_that_goes_away_ends_the_exchange_with_the_server(upstream: Upstream, url: str) -> None:
    gone = threading.Event()

    async def answering(scope: dict[str, Any], body: bytes, say: Saying) -> None:
        await say(b"data: {}\n\n", more=True, content_type="text/event-stream")
        await say.run_until_disconnect()
        gone.set()

    upstream.answering = answering
    with stream("GET", url) as answer:
        next(answer.iter_raw())
    assert gone.wait(PATIENCE)


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"host": "evil.example"}, 421), ({"origin": "http://evil.example"}, 403), ({"origin": "null"}, 403)],
)
def test_a_stranger_is_turned_away_before_the_server_hears_of_it(
    upstream: Upstream, url: str, headers: dict[str, str], status: int
) -> None:
    answer = post(url, content=b"{}", headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, -32600)
    assert upstream.requests == []


def test_a_body_beyond_the_limit_is_refused_and_an_answer_beyond_it_passes(upstream: Upstream) -> None:
    async def answering(scope: dict[str, Any], body: bytes, say: Saying) -> None:
        await say(b'{"mark":"' + b"x" * 200 + b'"}', content_type="application/json", content_length="211")

    upstream.answering = answering
    with serving(upstream) as origin, proxying(f"{origin}/mcp", marking, limit=100) as url:
        assert post(url, content=b" " * 101).status_code == 413
        answer = post(url, content=b" " * 100)
    assert answer.content == b'{"mark":"' + b"x" * 200 + b'"}'
    assert len(upstream.requests) == 1


class Counts(Marks):
    """A shim that says how many messages of the client it has seen."""

    def __init__(self) -> None:
        self.seen = 0

    def from_client(self, message: JsonRpcMessage) -> JsonRpcMessage:
        self.seen += 1
        return message

    def from_server(self, message: JsonRpcMessage) -> JsonRpcMessage:
        return {"seen": self.seen}


def test_one_shim_sees_a_session_and_no_other() -> None:
    upstream = Upstream()

    async def answering(scope: dict[str, Any], body: bytes, say: Saying) -> None:
        named = {"mcp_session_id": json.loads(body)["begin"]} if b"begin" in body else {}
        await say(b"{}", content_type="application/json", **named)

    upstream.answering = answering
    with serving(upstream) as origin, proxying(f"{origin}/mcp", lambda: Relay(Counts())) as url:

        def seen(body: str, session: str = "") -> int:
            headers = {"mcp-session-id": session} if session else {}
            return int(post(url, content=body, headers=headers).json()["seen"])

        assert [seen('{"begin":"a"}'), seen('{"begin":"b"}')] == [1, 1]
        assert [seen("{}", "a"), seen("{}", "a"), seen("{}", "b"), seen("{}"), seen("{}", "c")] == [2, 3, 2, 1, 1]
        delete(url, headers={"mcp-session-id": "a"})
        assert [seen("{}", "a"), seen("{}", "b")] == [1, 3]


def test_sessions_beyond_the_limit_are_forgotten_the_most_silent_first() -> None:
    sessions = Sessions(marking, limit=2)
    first, second, third = marking(), marking(), marking()
    sessions.keep("1", first)
    sessions.keep("2", second)
    assert sessions.find("1") is first
    sessions.keep("3", third)
    assert len(sessions) == 2
    assert sessions.find("1") is first
    assert sessions.find("2") is not second
    sessions.forget("1")
    assert sessions.find("1") is not first


@pytest.mark.parametrize("size", [10, 50_000_000])
def test_a_result_of_any_size_passes(upstream: Upstream, url: str, size: int) -> None:
    async def answering(scope: dict[str, Any], body: bytes, say: Saying) -> None:
        await say(events('{"mark":"' + "x" * size + '"}'), content_type="text/event-stream")

    upstream.answering = answering
    answer = post(url, content=b"{}")
    data = answer.content.removeprefix(b"id: 0\ndata: ").removesuffix(b"\n\n")
    assert json.loads(data) == {"mark": "x" * size, "marked": True}


def test_a_thousand_calls_at_once(upstream: Upstream) -> None:
    waiting, all_here = 0, asyncio.Event()

    async def answering(scope: dict[str, Any], body: bytes, say: Saying) -> None:
        nonlocal waiting
        waiting += 1
        if waiting == 1000:
            all_here.set()
        await all_here.wait()
        await say(body, content_type="application/json")

    async def call(number: int) -> bytes:
        # By hand, because a thousand calls take the usual client longer than the proxy.
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 12\r\nconnection: close\r\n\r\n"
        writer.write(head + b'{"id":%05d}' % (number + 10_000))
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        return answer.partition(b"\r\n\r\n")[2]

    async def calls() -> list[bytes]:
        return await asyncio.gather(*(call(number) for number in range(1000)))

    upstream.answering = answering
    port = free_port()
    with serving(upstream) as origin:
        command = [*ACCP, "--url", f"{origin}/mcp", "--listen", f"127.0.0.1:{port}"]
        with subprocess.Popen(command, stderr=subprocess.PIPE) as proxy:
            assert proxy.stderr is not None
            assert f":{port}/mcp" in proxy.stderr.readline().decode()
            answers = asyncio.run(calls())
            proxy.terminate()
    assert [json.loads(answer) for answer in answers] == [{"id": number + 10_000} for number in range(1000)]


def test_exchanges_without_sessions_share_what_one_caller_knows_and_nothing_else() -> None:
    class Shares(Counts):
        def exchange(self) -> Relay:
            return Relay(self, exchange=self.exchange)

    async def answering(scope: dict[str, Any], body: bytes, say: Saying) -> None:
        await say(b"{}", content_type="application/json")

    upstream = Upstream()
    upstream.answering = answering
    with serving(upstream) as origin, proxying(f"{origin}/mcp", lambda: Shares().exchange()) as url:

        def seen(**headers: str) -> int:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            return int(post(url, content=b"{}", headers=named).json()["seen"])

        assert [seen(mcp_method="x"), seen(mcp_method="x"), seen(mcp_method="x", authorization="a")] == [1, 2, 1]
        assert [seen(), seen(), seen(mcp_method="x", authorization="a")] == [1, 1, 2]
