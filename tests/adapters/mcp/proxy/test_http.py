"""A proxy in front of an HTTP server: streams event by event, sessions, who is let in, and servers that fail."""

from __future__ import annotations

import asyncio
import json
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import httpx
import pytest

from accp_adapters.mcp.proxy.admission import ProxyLimits
from accp_adapters.mcp.proxy.relay import Relay
from accp_adapters.mcp.shim.protocol import JsonObject
from accp_adapters.mcp.shim.router import ShimRouter
from tests.adapters.mcp.messages import CAPABILITIES
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
    upstream.says(b'{"mark": 1}', content_type="application/json", content_length="11")
    answer = post(url, content=b"{}")
    assert answer.json() == {"mark": 1, "marked": True}
    assert answer.headers["content-length"] == str(len(answer.content))


VERSION = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}


@pytest.mark.parametrize("meta", [{}, {CAPABILITIES: {}, **VERSION}])
def test_a_request_that_the_shim_answers_is_answered_if_the_server_accepts_another(
    upstream: Upstream, url: str, meta: dict[str, Any]
) -> None:
    headers = {"authorization": "Bearer t", "mcp-session-id": "s"} | ({"mcp-method": "ours"} if meta else {})
    answer = post(url, json={"method": "ours", "id": 4, "params": {"_meta": meta}}, headers=headers)
    assert (answer.status_code, answer.json()) == (200, {"id": 4, "result": "ours"})
    [(_, _, received, body)] = upstream.requests
    assert json.loads(body)["method"] == ("server/discover" if meta else "ping")
    assert (received["authorization"], received["mcp-session-id"]) == ("Bearer t", "s")
    assert received.get("mcp-method") == ("server/discover" if meta else None)


STREAM = {"content_type": "text/event-stream"}
REFUSALS = [
    ({"status": 403, "data": b"no"}, 403, b"no"),
    ({"data": b'{"id":"x","error":{"code":-32001}}'}, 200, b'"id":4,"error":{"code":-32001}'),
    ({"data": b': hello\n\ndata: {}\n\ndata: {"error":{"code":1}}\n\n', **STREAM}, 200, b'{"code":1}'),
    ({"data": b'{"error":{"code":-32601}}'}, 200, b'"ours"'),
    ({"data": b'data: {"result":{}}\n\n', **STREAM}, 200, b'"ours"'),
    ({"data": b"", "status": 202}, 502, b"RemoteProtocolError"),
    ({"data": b" " * 2_000_000}, 502, b"RemoteProtocolError"),
]


@pytest.mark.parametrize(("refusal", "status", "said"), REFUSALS)
def test_what_the_server_refuses_the_shim_does_not_answer(
    upstream: Upstream, url: str, refusal: dict[str, Any], status: int, said: bytes
) -> None:
    upstream.says(**{"content_type": "application/json", **refusal})
    answer = post(url, json={"method": "ours", "id": 4})
    assert answer.status_code == status
    assert said in answer.content


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
    upstream.says(b'{"mark":1}', content_type="application/json", content_encoding="x-odd")
    with stream("POST", url, content=b"{}") as answer:
        assert b"".join(answer.iter_raw()) == b'{"mark":1}'
        assert answer.headers["content-encoding"] == "x-odd"


@pytest.mark.parametrize("path", ["/.well-known/oauth-protected-resource/mcp", "/.well-known/x?a=b"])
def test_documents_about_the_server_pass_as_they_are(upstream: Upstream, url: str, path: str) -> None:
    upstream.says(b'{"mark":1}', content_type="application/json", content_length="10")
    answer = get(url.removesuffix("/mcp") + path)
    assert answer.content == b'{"mark":1}'
    assert upstream.requests[0][1] == path


def test_a_challenge_and_other_statuses_pass(upstream: Upstream, url: str) -> None:
    upstream.says(b"who are you?", 401, www_authenticate='Bearer resource_metadata="https://x.example/y"')
    answer = post(url, content=b"{}")
    assert (answer.status_code, answer.content) == (401, b"who are you?")
    assert answer.headers["www-authenticate"] == 'Bearer resource_metadata="https://x.example/y"'


def test_a_redirect_of_the_endpoint_is_followed_and_a_slash_remembered(upstream: Upstream, url: str) -> None:
    async def answering(scope: dict[str, Any], body: bytes, say: Saying) -> None:
        if scope["path"] == "/mcp":
            await say(b"", 307, location=f"http://{dict(scope['headers'])[b'host'].decode()}/mcp/?a=1")
        else:
            await say(body, content_type="application/json")

    upstream.answering = answering
    for path in ("", "/"):
        assert post(url + path, content=b'{"mark":1}').json() == {"mark": 1, "marked": True}
    assert [path for _, path, _, _ in upstream.requests] == ["/mcp", "/mcp/?a=1", "/mcp/"]


@pytest.mark.parametrize(
    ("status", "location", "shown"),
    [
        (307, "http://other.example/mcp", "http://other.example/mcp"),
        (308, "//other.example/mcp", "//other.example/mcp"),
        (307, "http://[", "http://["),
        (302, "http://HOST/mcp/", "/mcp/"),
    ],
)
def test_another_redirect_is_left_to_the_client(
    upstream: Upstream, url: str, status: int, location: str, shown: str
) -> None:
    async def answering(scope: dict[str, Any], body: bytes, say: Saying) -> None:
        await say(b"", status, location=location.replace("HOST", dict(scope["headers"])[b"host"].decode()))

    upstream.answering = answering
    answer = post(url, content=b"{}")
    assert (answer.status_code, answer.headers["location"]) == (status, shown)


def test_redirects_without_an_end_are_a_502(upstream: Upstream, url: str) -> None:
    upstream.says(b"", 307, location="/mcp")
    assert "TooManyRedirects" in post(url, content=b"{}").text


def test_a_server_that_cannot_be_reached_is_a_502_for_the_request() -> None:
    with proxying(f"http://127.0.0.1:{free_port()}/mcp", marking) as url:
        answer = post(url, json={"jsonrpc": "2.0", "id": "a", "method": "x"})
    assert answer.status_code == 502
    assert answer.json()["id"] == "a"
    assert answer.json()["error"]["code"] == -32603
    assert "ConnectError" in answer.json()["error"]["message"]


def test_a_server_that_dies_in_mid_document_is_a_502(upstream: Upstream, url: str) -> None:
    upstream.says(b'{"id": 1, "resu', more=True, content_type="application/json", content_length="100")
    assert post(url, content=b'{"id":1}').status_code == 502


def test_a_server_that_dies_in_mid_stream_cuts_the_clients_connection(upstream: Upstream, url: str) -> None:
    upstream.says(b"data: {}\n\ndata: {", more=True, content_type="text/event-stream")
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
    upstream.says(b'{"mark":"' + b"x" * 200 + b'"}', content_type="application/json", content_length="211")
    limits = ProxyLimits(body_bytes=100, message_bytes=100)
    with serving(upstream) as origin, proxying(f"{origin}/mcp", marking, limits=limits) as url:
        assert post(url, content=b" " * 101).status_code == 413
        answer = post(url, content=b" " * 100)
    assert answer.content == b'{"mark":"' + b"x" * 200 + b'"}'
    assert len(upstream.requests) == 1


class Counts(Marks):
    """A shim that says how many messages of the client it has seen."""

    def __init__(self) -> None:
        self.seen = 0

    def from_client(self, message: JsonObject) -> JsonObject:
        self.seen += 1
        return message

    def from_server(self, message: JsonObject) -> JsonObject:
        return {"seen": self.seen}


def test_one_shim_sees_a_session_and_no_other() -> None:
    upstream = Upstream()

    async def answering(scope: dict[str, Any], body: bytes, say: Saying) -> None:
        named = {"mcp_session_id": json.loads(body)["begin"]} if b"begin" in body else {}
        await say(b"{}", content_type="application/json", **named)

    upstream.answering = answering
    with serving(upstream) as origin, proxying(f"{origin}/mcp", lambda: Relay(ShimRouter(Counts()))) as url:

        def seen(body: str, session: str = "") -> int:
            headers = {"mcp-session-id": session} if session else {}
            return int(post(url, content=body, headers=headers).json()["seen"])

        assert [seen('{"begin":"a"}'), seen('{"begin":"b"}')] == [1, 1]
        assert [seen("{}", "a"), seen("{}", "a"), seen("{}", "b"), seen("{}"), seen("{}", "c")] == [2, 3, 2, 1, 1]
        delete(url, headers={"mcp-session-id": "a"})
        assert [seen("{}", "a"), seen("{}", "b")] == [1, 3]


def test_what_all_exchanges_hold_is_bounded(upstream: Upstream) -> None:
    async def answering(scope: dict[str, Any], body: bytes, say: Saying) -> None:
        data = b'{"mark":"' + b"x" * 200 + b'"}'
        is_stream = b"stream" in body
        kind = "text/event-stream" if is_stream else "application/json"
        await say(b"data: " + data + b"\n\n" if is_stream else data, content_type=kind)

    upstream.answering = answering
    # Half for a caller that the server knows, an eighth for a stranger; each request counts three beside its body.
    limits = ProxyLimits(buffered_bytes=3_224)
    with serving(upstream) as origin, proxying(f"{origin}/mcp", marking, limits=limits) as url:
        assert [post(url, content=b"[" * count).status_code for count in (9, 8)] == [503, 200]
        assert [post(url, content=b" " * count).status_code for count in (805, 804)] == [503, 200]
    limits = ProxyLimits(buffered_bytes=1_200)
    with serving(upstream) as origin, proxying(f"{origin}/mcp", marking, limits=limits) as url:
        assert [b"marked" in post(url, content=body).content for body in (b"1", b'"stream"')] == [False, False]


@pytest.mark.slow
@pytest.mark.parametrize("size", [10, 50_000_000])
def test_a_result_of_any_size_passes(upstream: Upstream, url: str, size: int) -> None:
    upstream.says(events('{"mark":"' + "x" * size + '"}'), content_type="text/event-stream")
    answer = post(url, content=b"{}")
    data = answer.content.removeprefix(b"id: 0\ndata: ").removesuffix(b"\n\n")
    assert json.loads(data) == {"mark": "x" * size, "marked": True}


def test_a_hundred_calls_of_one_stranger_wait_at_once(upstream: Upstream) -> None:
    waiting, all_here = 0, asyncio.Event()

    async def answering(scope: dict[str, Any], body: bytes, say: Saying) -> None:
        nonlocal waiting
        waiting += 1
        if waiting == 100:
            all_here.set()
        await all_here.wait()
        await say(body, content_type="application/json")

    async def call(number: int) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 12\r\nconnection: close\r\n\r\n"
        writer.write(head + b'{"id":%05d}' % (number + 10_000))
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        return answer.partition(b"\r\n\r\n")[2]

    async def calls() -> list[bytes]:
        return await asyncio.gather(*(call(number) for number in range(100)))

    upstream.answering = answering
    port = free_port()
    with serving(upstream) as origin:
        command = [*ACCP, "--url", f"{origin}/mcp", "--listen", f"127.0.0.1:{port}"]
        with subprocess.Popen(command, stderr=subprocess.PIPE) as proxy:
            assert proxy.stderr is not None
            assert any(f":{port}/mcp" in line.decode() for line in proxy.stderr)
            answers = asyncio.run(calls())
            proxy.terminate()
    assert [json.loads(answer) for answer in answers] == [{"id": number + 10_000} for number in range(100)]
