"""Who understands frames, in both eras; a client that does not ask is answered as the server answered."""

from __future__ import annotations

import pytest

from accp_adapters.mcp import EXTENSION, Decoder, Encoder
from accp_core import parse_frame
from accp_core.accp import BUILT_IN, Schema
from tests.adapters.mcp.messages import CAPABILITIES, ERAS, Era, Wire, block_of, request, rows, served, start, started


@pytest.mark.requirement("11.3-3")
@pytest.mark.parametrize("era", ERAS)
def test_a_client_that_declares_is_answered_and_told_the_registry(era: Era) -> None:
    wire = Wire(era=era)
    wire.begin(instructions="Be brief.")
    result = wire.between[0]["result"]
    assert block_of(result)["registry"] == {"v": 1, "hash": BUILT_IN.hash, "uri": "accp://registry"}
    first, last = result["instructions"].split("\n")
    assert first == "Be brief."
    assert parse_frame(last, strict=True).params == {"v": 1, "hash": BUILT_IN.hash}
    assert result.get("cacheScope", "private") == "private"


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("instructions", [{}, {"instructions": ""}, {"instructions": "a\nb\n"}])
def test_a_decoder_gives_the_servers_instructions_back(era: Era, instructions: dict[str, str]) -> None:
    seen = Wire(era=era).begin(**instructions)["result"]
    assert {name: seen[name] for name in ("instructions",) if name in seen} == instructions


@pytest.mark.parametrize("era", ERAS)
def test_an_unaware_client_notices_nothing(era: Era) -> None:
    encoder = Encoder()
    sent, answer = start(era), {"jsonrpc": "2.0", "id": 0, "result": started(era)}
    assert encoder.answer_own(sent) is None
    assert encoder.from_client(sent) is sent
    assert encoder.from_server(answer) is answer


@pytest.mark.parametrize("era", ERAS)
def test_an_unaware_server_is_asked_the_same_and_answers_the_same(era: Era) -> None:
    wire = Wire(encoder=None, era=era)
    assert wire.begin()["result"] == started(era)
    assert wire.call(served(rows())) == served(rows())


@pytest.mark.parametrize(
    "broken",
    [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize"},
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}},
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": None}},
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {"experimental": []}}},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"_meta": {CAPABILITIES: 3}}},
        {"jsonrpc": "2.0", "id": 1, "method": 7, "params": {"_meta": {CAPABILITIES: {}}}},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
    ],
)
def test_a_malformed_request_is_not_repaired(broken: dict[str, object]) -> None:
    assert Decoder().from_client(broken) is broken


def test_a_client_of_a_later_sdk_declares_extensions_at_the_handshake() -> None:
    sent = start()
    sent["params"]["capabilities"] = {"extensions": {EXTENSION: {}}}
    encoder = Encoder()
    encoder.from_client(sent)
    assert (
        EXTENSION
        in encoder.from_server({"jsonrpc": "2.0", "id": 0, "result": started()})["result"]["capabilities"][
            "experimental"
        ]
    )


def test_a_handshake_is_not_announced_twice() -> None:
    outer, inner = Encoder(), Encoder()
    sent = Decoder().from_client(start())
    outer.from_client(sent)
    inner.from_client(sent)
    once = inner.from_server({"jsonrpc": "2.0", "id": 0, "result": started()})
    assert outer.from_server(once) is once


@pytest.mark.parametrize("era", ERAS)
def test_the_whole_registry_is_a_resource(era: Era) -> None:
    reply = Encoder().answer_own(request("resources/read", {"uri": "accp://registry"}, message_id="r", era=era))
    assert reply is not None
    assert reply["id"] == "r"
    (contents,) = reply["result"]["contents"]
    assert contents["mimeType"] == "application/accp"
    offered = parse_frame(contents["text"], strict=True)
    assert offered.params["hash"] == BUILT_IN.hash
    assert ("ttlMs" in reply["result"]) == (era == "2026-07-28")


@pytest.mark.parametrize("era", ERAS)
def test_two_registries_become_one_when_the_resource_is_read(era: Era) -> None:
    richer = BUILT_IN.register(Schema(name="order", code="OR", version=1, fields=("sku",)))
    wire = Wire(encoder=Encoder(registry=richer), era=era)
    assert wire.decoder is not None
    wire.begin()
    wire.ask(request("resources/read", {"uri": "accp://registry"}, era=era), {})
    assert wire.decoder.registry.get("OR").fields == ("sku",)


@pytest.mark.parametrize("text", ["", "@mcp>sync:state{v:1}", "@mcp>sync:registry{v:1|hash:aaaaaa|schemas:{}}"])
def test_a_registry_that_is_none_teaches_nothing(text: str) -> None:
    decoder = Decoder()
    read = {"jsonrpc": "2.0", "id": 1, "result": {"contents": [{"uri": "accp://registry", "text": text}]}}
    assert decoder.from_server(read) is read
    assert decoder.registry is BUILT_IN


def test_instructions_that_are_no_text_stay() -> None:
    assert Wire().begin(instructions=5)["result"]["instructions"] == 5
