"""A client on standard streams and a server over HTTP: the proxy keeps what the client would have had to keep."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import queue
import threading
import tracemalloc
import zlib
from collections.abc import Iterator
from typing import Any

import pytest

from accp_adapters.mcp import Encoder
from accp_adapters.mcp.links.url_link import UrlLink
from accp_adapters.mcp.proxy.lines import serve_lines
from accp_adapters.mcp.proxy.relay import Relay, encoder_relay
from tests.adapters.mcp.proxy.marking_relay import marking
from tests.adapters.mcp.proxy.upstream import Saying, Upstream
from tests.adapters.mcp.serving import free_port, serving
from tests.adapters.mcp.transcripts import LEGACY, MODERN, SERVER, ask, converse, meaning, modern
from tests.harness.mcp_suite.server import build, http_app
from tests.limits import PATIENCE

pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
START = LEGACY[:2]
EVENTS = {"content_type": "text/event-stream"}


class Talk:
    """A client whose lines go through the proxy to a URL."""

    def __init__(self, url: str, relay: Relay | None = None, **options: Any) -> None:
        (source, self._to_proxy), (from_proxy, target) = os.pipe(), os.pipe()
        link = UrlLink(url, **options)
        run = serve_lines(link, relay or encoder_relay(Encoder()), source=source, target=target)
        self._proxy = threading.Thread(target=lambda: asyncio.run(run), daemon=True)
        self._proxy.start()
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._reading = threading.Thread(target=self._read, args=(from_proxy,), daemon=True)
        self._reading.start()
        self._source = source

    def _read(self, from_proxy: int) -> None:
        with open(from_proxy, "rb") as stream:
            for line in stream:
                self._lines.put(line)
        self._lines.put(b"")

    def __enter__(self) -> Talk:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        os.close(self._source)

    def send(self, line: bytes) -> None:
        """Say a line."""
        os.write(self._to_proxy, line)

    def hear(self) -> Any:
        """Return the next message of the server, None at the end."""
        line = self._lines.get(timeout=PATIENCE)
        return meaning(line) if line else None

    def call(self, line: bytes) -> Any:
        """Say a line and return its answer."""
        self.send(line)
        return next(each for each in iter(self.hear, None) if each.get("id") == json.loads(line)["id"])

    def say(self, line: bytes) -> Any:
        """Say a line and return its answer, None where it asks for none."""
        return self.call(line) if "id" in json.loads(line) else self.send(line)

    def close(self) -> list[Any]:
        """Say no more; return what is still heard."""
        if self._to_proxy >= 0:
            os.close(self._to_proxy)
            self._to_proxy = -1
            self._proxy.join(PATIENCE)
            assert not self._proxy.is_alive()
            return list(iter(self.hear, None))
        return []


@pytest.fixture
def url() -> Iterator[str]:
    with serving(http_app(build()), lifespan="on") as origin:
        yield f"{origin}/mcp"


@pytest.fixture
def upstream() -> Upstream:
    return Upstream()


@pytest.fixture
def remote(upstream: Upstream) -> Iterator[str]:
    with serving(upstream) as origin:
        yield f"{origin}/mcp"


@pytest.mark.slow
@pytest.mark.parametrize("lines", [LEGACY[:-5], MODERN], ids=["2025-11-25", "2026-07-28"])
def test_it_answers_as_the_server_does_over_standard_streams(url: str, lines: list[bytes]) -> None:
    with Talk(url) as talk:
        answers = [answer for line in lines if (answer := talk.say(line)) is not None]
    alone = [message for message in map(meaning, converse(SERVER, lines)) if isinstance(message, dict)]
    assert answers == [message for message in alone if "id" in message]


def test_the_server_asks_the_client_in_the_middle_of_a_call(url: str) -> None:
    with Talk(url) as talk:
        talk.call(START[0])
        talk.send(START[1])
        talk.send(ask("tools/call", 5, name="test_sampling", arguments={"prompt": "Hello?"}))
        asked = talk.hear()
        assert asked["method"] == "sampling/createMessage"
        result = {"role": "assistant", "content": {"type": "text", "text": "Hi!"}, "model": "none"}
        talk.send(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}).encode() + b"\n")
        assert talk.hear()["result"]["content"] == [{"type": "text", "text": "LLM response: Hi!"}]


def test_a_stream_that_breaks_off_is_taken_up(url: str) -> None:
    with Talk(url) as talk:
        talk.call(START[0])
        talk.send(START[1])
        answer = talk.call(ask("tools/call", 5, name="test_reconnection", arguments={}))
    assert answer["result"]["content"][0]["text"] == "Reconnection test completed"


@pytest.mark.parametrize("region", ["Berlin", " Zürich\n"])
def test_marked_arguments_stand_in_headers(url: str, region: str) -> None:
    with Talk(url) as talk:
        talk.call(modern("tools/list", 1))
        answer = talk.call(modern("tools/call", 2, name="test_x_mcp_header", arguments={"region": region}))
    assert answer["result"]["content"] == [{"type": "text", "text": "ok"}]


async def answer_as_told(scope: Any, body: bytes, say: Saying) -> None:
    """Answer with what the params of the request say."""
    told = json.loads(body)["params"] if body else {}
    await say(told.get("body", "").encode(), told.get("status", 200), content_type=told.get("type", "text/plain"))


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"status": 401, "body": "who are you?"}, "HTTP 401 Unauthorized"),
        ({"status": 404, "body": ""}, "HTTP 404 Not Found"),
        ({"status": 202, "body": ""}, "HTTP 202 Accepted"),
        ({"body": "no JSON", "type": "application/json"}, "HTTP 200 OK"),
        ({"body": ": nothing\n\n", "type": "text/event-stream"}, "without a response"),
    ],
)
def test_what_is_no_answer_is_an_error_for_the_request(
    upstream: Upstream, remote: str, told: dict[str, Any], said: str
) -> None:
    upstream.answering = answer_as_told
    with Talk(remote) as talk:
        answer = talk.call(ask("x", 3, **told))
    assert answer["error"]["code"] == -32603
    assert said in answer["error"]["message"]


def packed(data: bytes, kind: str) -> bytes:
    if kind == "gzip":
        return gzip.compress(data)
    return zlib.compress(data) if kind == "deflate" else data


LIMIT = 10_000


@pytest.mark.parametrize("kind", ["identity", "gzip", "deflate"])
@pytest.mark.parametrize("type_", ["application/json", "text/event-stream"])
def test_a_response_is_bounded_also_after_it_was_unpacked(
    upstream: Upstream, remote: str, kind: str, type_: str
) -> None:
    async def answering(scope: Any, body: bytes, say: Saying) -> None:
        asked = json.loads(body)
        result = "x" * asked["params"]["size"]
        data = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}).encode()
        data = data if type_ == "application/json" else b"data: " + data + b"\n\n"
        await say(packed(data, kind), content_type=type_, content_encoding=kind)

    upstream.answering = answering
    with Talk(remote, limit=LIMIT) as talk:
        refused = [talk.call(ask("x", number, size=50 * LIMIT)) for number in (1, 2)]
        assert talk.call(ask("x", 3, size=LIMIT // 2))["result"] == "x" * (LIMIT // 2)
    for answer in refused:
        assert answer["error"]["code"] == -32603
        assert f"E2003: expected a response of at most {LIMIT} bytes" in answer["error"]["message"]


def test_a_few_packed_bytes_do_not_become_gigabytes(upstream: Upstream, remote: str) -> None:
    bomb, limit = gzip.compress(b" " * (64 << 20)), 1 << 20

    upstream.says(bomb, content_type="application/json", content_encoding="gzip")
    tracemalloc.start()
    try:
        with Talk(remote, limit=limit) as talk:
            answer = talk.call(ask("x", 1))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "E2003" in answer["error"]["message"]
    assert peak < 10 * limit


@pytest.mark.parametrize(
    ("encoding", "body", "said"),
    [("br", b"{}", "E1001: expected no compression, found 'br'"), ("gzip", b"no gzip", "E1001: expected gzip, found")],
)
def test_a_body_that_cannot_be_unpacked_is_an_error(
    upstream: Upstream, remote: str, encoding: str, body: bytes, said: str
) -> None:
    async def answering(scope: Any, _: bytes, say: Saying) -> None:
        await say(body, content_type="application/json", content_encoding=encoding)

    upstream.answering = answering
    with Talk(remote) as talk:
        assert said in talk.call(ask("x", 1))["error"]["message"]


def test_a_long_event_that_nobody_awaits_is_left_out(upstream: Upstream, remote: str) -> None:
    async def answering(scope: Any, body: bytes, say: Saying) -> None:
        if scope["method"] != "GET":
            await say(b"", 202)
            return
        notes = [json.dumps({"jsonrpc": "2.0", "method": "note", "params": each}) for each in ("x" * 3 * LIMIT, "y")]
        await say("".join(f"data: {note}\n\n" for note in notes).encode(), more=True, **EVENTS)
        await say.run_until_disconnect()

    upstream.answering = answering
    with Talk(remote, limit=LIMIT) as talk:
        talk.send(START[1])
        assert talk.hear()["params"] == "y"


def test_an_error_without_an_id_is_the_requests(upstream: Upstream, remote: str) -> None:
    upstream.answering = answer_as_told
    body = '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}'
    with Talk(remote) as talk:
        answer = talk.call(ask("x", "a", status=400, body=body, type="application/json"))
    assert answer == {"jsonrpc": "2.0", "id": "a", "error": {"code": -32000, "message": "no"}}


def test_an_answer_of_many_lines_becomes_one(upstream: Upstream, remote: str) -> None:
    upstream.answering = answer_as_told
    body = '{\r\n  "jsonrpc": "2.0",\n  "id": 1,\n  "result": {}\n}\n'
    with Talk(remote) as talk:
        assert talk.call(ask("x", 1, body=body, type="application/json")) == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_a_server_that_cannot_be_reached_is_an_error_for_requests_only() -> None:
    with Talk(f"http://127.0.0.1:{free_port()}/mcp") as talk:
        talk.send(START[1])
        talk.send(b"\n")
        answer = talk.call(ask("x", 1))
        assert talk.close() == []
    assert "ConnectError" in answer["error"]["message"]


def test_a_cancelled_call_of_the_new_era_ends_its_exchange(upstream: Upstream, remote: str) -> None:
    gone = threading.Event()

    async def answering(scope: Any, body: bytes, say: Saying) -> None:
        await say(b'data: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n', more=True, **EVENTS)
        await say.run_until_disconnect()
        gone.set()

    upstream.answering = answering
    with Talk(remote) as talk:
        talk.send(modern("tools/call", 1, name="slow", arguments={}))
        assert talk.hear()["method"] == "notifications/progress"
        talk.send(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n')
        assert gone.wait(PATIENCE)
        assert talk.close() == []
    assert len(upstream.requests) == 1


def test_a_session_is_kept_listened_to_and_ended(upstream: Upstream, remote: str) -> None:
    async def answering(scope: Any, body: bytes, say: Saying) -> None:
        if scope["method"] == "GET":
            await say(b'retry: 1\nid: 7\ndata: {"jsonrpc":"2.0","method":"notifications/message"}\n\n', **EVENTS)
        elif b"initialize" in body and b"notifications" not in body:
            result = {"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-11-25"}}
            headers = {"content_type": "application/json", "mcp_session_id": "s1"}
            await say(json.dumps(result).encode(), **headers)
        else:
            await say(b"", 202)

    upstream.answering = answering
    with Talk(remote, extra=[(b"authorization", b"Bearer t")]) as talk:
        talk.call(START[0])
        talk.send(START[1])
        assert [talk.hear()["method"] for _ in range(2)] == ["notifications/message"] * 2
        talk.send(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n')
    seen = [
        (method, headers.get("mcp-session-id"), headers["authorization"]) for method, _, headers, _ in upstream.requests
    ]
    assert seen[0] == ("POST", None, "Bearer t")
    assert {each[1:] for each in seen[1:]} == {("s1", "Bearer t")}
    assert seen[-1][0] == "DELETE"
    resumed = [headers.get("last-event-id") for method, _, headers, _ in upstream.requests if method == "GET"]
    assert resumed[:2] == [None, "7"]
    assert {headers["mcp-protocol-version"] for _, _, headers, _ in upstream.requests[1:]} == {"2025-11-25"}


async def test_a_line_beyond_the_limit_is_refused() -> None:
    (source, writing), (reading, target) = os.pipe(), os.pipe()
    os.write(writing, b"x" * 10 + b"\n")
    os.close(writing)
    await serve_lines(UrlLink("http://127.0.0.1:1/mcp"), marking(), source=source, target=target, limit=5)
    with open(reading, "rb") as stream:
        assert "expected a line of at most 5 bytes" in json.loads(stream.read())["error"]["message"]
