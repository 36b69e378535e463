"""A client that asked for nothing reads the very bytes that the server wrote, over standard streams and over HTTP."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from accp_adapters.mcp import EXTENSION, Decoder, Encoder
from accp_adapters.mcp.proxy.relay import Relay, encoder_relay
from accp_adapters.mcp.shim.protocol import JsonObject
from accp_adapters.mcp.shim.router import ShimRouter
from tests.adapters.mcp.serving import proxying, serving
from tests.adapters.mcp.transcripts import ACCP, LEGACY, MODERN, NEGOTIATE, SERVER, converse, meaning, modern
from tests.harness.mcp_suite.content import ORDERS
from tests.harness.mcp_suite.server import build, http_app
from tests.limits import PATIENCE

pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
VARIES = {"date", "mcp-session-id", "connection"}
"""Headers that differ from one session, second or connection to the next."""


ERAS = {"2025-11-25": LEGACY, "2026-07-28": MODERN}


@functools.cache
def direct(era: str) -> list[bytes]:
    """Return what the server says by itself over standard streams."""
    return converse(SERVER, ERAS[era])


class Spy(Encoder):
    """An encoder that notes what it makes of results."""

    framed: list[JsonObject]

    def from_server(self, message: JsonObject) -> JsonObject:
        """Note what was framed."""
        written = super().from_server(message)
        if EXTENSION in (written.get("result") or {}).get("_meta", {}):
            self.framed.append(written)
        return written


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("options", [[], ["--structured", "drop"]], ids=" ".join)
def test_over_standard_streams_every_line_is_the_servers(era: str, options: list[str]) -> None:
    assert len(direct(era)) >= 13
    assert converse([*NEGOTIATE, *options, "--", *SERVER], ERAS[era]) == direct(era)


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_over_standard_streams_a_decoder_before_an_encoder_gives_back_what_the_server_said(era: str) -> None:
    chained = converse([*ACCP, "--decode", "--", *NEGOTIATE, "--", *SERVER], ERAS[era])
    assert [meaning(line) for line in chained] == [meaning(line) for line in direct(era)]


@pytest.fixture
def origin() -> Iterator[str]:
    with serving(http_app(build()), lifespan="on") as url:
        yield url


def speak(url: str, lines: list[bytes]) -> list[Any]:
    """Return status, headers and body of the answer to each line."""
    answers = []
    with httpx.Client(timeout=PATIENCE) as client:
        headers = dict(ACCEPT)
        for line in lines:
            answer = client.post(url, content=line, headers=headers | routing(line))
            if session := answer.headers.get("mcp-session-id"):
                headers |= {"mcp-session-id": session, "mcp-protocol-version": "2025-11-25"}
            kept = {name: value for name, value in answer.headers.items() if name not in VARIES}
            answers.append((answer.status_code, kept, answer.content))
        answers.append(client.delete(url, headers=headers).status_code)
    return answers


def routing(line: bytes) -> dict[str, str]:
    """Return the headers that stand beside a request by 2026-07-28."""
    try:
        params = json.loads(line)["params"]
        version = params["_meta"]["io.modelcontextprotocol/protocolVersion"]
    except (ValueError, KeyError, TypeError):
        return {}
    named = params.get("name") or params.get("uri")
    headers = {"mcp-protocol-version": version, "mcp-method": json.loads(line)["method"]}
    return headers | ({"mcp-name": named} if named else {})


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("options", [{}, {"structured": "drop"}], ids=str)
def test_over_http_every_answer_is_the_servers(origin: str, era: str, options: dict[str, Any]) -> None:
    with proxying(f"{origin}/mcp", lambda: encoder_relay(Encoder(**options))) as url:
        proxied = speak(url, ERAS[era])
    with serving(http_app(build()), lifespan="on") as other:
        assert proxied == speak(f"{other}/mcp", ERAS[era])


@pytest.mark.parametrize("era", ERAS)
def test_over_http_a_decoder_before_an_encoder_gives_back_what_the_server_said(origin: str, era: str) -> None:
    framed: list[JsonObject] = []

    def spying() -> Relay:
        spy = Spy(min_gain=-1_000_000)
        spy.framed = framed
        return Relay(ShimRouter(spy))

    with (
        proxying(f"{origin}/mcp", spying) as encoder,
        proxying(encoder, lambda: Relay(ShimRouter(Decoder()))) as decoder,
    ):
        chained = speak(decoder, ERAS[era])
    with serving(http_app(build()), lifespan="on") as other:
        alone = speak(f"{other}/mcp", ERAS[era])
    assert [said(answer) for answer in chained] == [said(answer) for answer in alone]
    assert len(framed) >= 2


def said(answer: Any) -> object:
    """Return the status of an answer and the messages in it, whatever their spelling."""
    if isinstance(answer, int):
        return answer
    status, _, body = answer
    return status, [meaning(line.removeprefix(b"data: ")) for line in body.splitlines()]


@pytest.mark.slow
def test_a_host_that_wants_views_reads_fewer_bytes_and_programs_the_same_value() -> None:
    lines = [modern("tools/call", 1, name="orders", arguments={})]
    [served, _] = converse(SERVER, lines)
    [shown, _] = converse([*ACCP, "--", *SERVER], lines)
    plain, view = json.loads(served)["result"], json.loads(shown)["result"]
    assert len(view["content"][0]["text"]) < len(plain["content"][0]["text"]) / 2
    assert view["structuredContent"] == plain["structuredContent"] == {"result": ORDERS}
