"""A resource as texts for a model, and the plain resource again."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from accp_adapters.mcp import EXTENSION, Decoder, Encoder
from tests.adapters.mcp.messages import ERAS, Era, Json, Wire, request, response, rows

URI = "orders://all"
JSON_TEXT = json.dumps(rows(), indent=2)


def content(text: str = JSON_TEXT, **members: Any) -> Json:
    return {"uri": URI, "mimeType": "application/json", "text": text, **members}


@pytest.mark.parametrize("settings", [{"policy": "always", "host": "text"}, {"policy": "negotiate"}])
def test_a_client_that_did_not_negotiate_gets_a_resource_as_it_is(settings: Json) -> None:
    plain = {"contents": [content()]}
    wire = Wire(encoder=Encoder(**settings), decoder=None)
    assert wire.ask(request("resources/read", {"uri": URI}), plain)["result"] == plain


@pytest.mark.parametrize(
    "plain",
    [
        content("prose stays as it is", mimeType="text/plain"),
        content(mimeType="text/html;profile=mcp-app"),
        content(uri="ui://orders/page", mimeType="text/plain"),
        content(mimeType="application/accp"),
        {"uri": URI, "text": 5},
    ],
)
def test_what_a_host_renders_itself_and_what_gets_no_smaller_stays(plain: Json) -> None:
    wire = Wire()
    wire.begin()
    wire.ask(request("resources/read", {"uri": URI}), {"contents": [plain]})
    assert wire.between[-1]["result"] == {"contents": [plain]}


@pytest.mark.parametrize("members", [{"contents": "none"}, {"contents": [content()], "_meta": {EXTENSION: {}}}])
def test_odd_results_pass(members: Json) -> None:
    encoder = Encoder(policy="always")
    encoder.from_client(request("resources/read", {"uri": URI}))
    answer = response(copy.deepcopy(members))
    assert encoder.from_server(answer) is answer


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("style", [{"indent": 2}, {"indent": "\t", "ensure_ascii": False}, {}])
def test_a_framed_resource_arrives_as_the_server_sent_it(era: Era, style: Json) -> None:
    wire = Wire(era=era, encoder=Encoder(min_gain=-1_000))
    wire.begin()
    text = json.dumps({"price": 1.5, "name": "naïve $x", "rows": rows()}, **style)
    sent = {
        "contents": [{"uri": "a:b", "mimeType": "image/png", "blob": ""}, content(text), {"uri": URI, "text": "[]"}]
    }
    seen = wire.ask(request("resources/read", {"uri": URI}, era=era), sent)["result"]
    assert seen == sent
    framed = wire.between[-1]["result"]["contents"]
    assert [each["mimeType"] for each in framed] == ["image/png", "application/accp", "application/accp"]
    assert framed[2]["text"].startswith("@mcp>done:fetch{d:[]}[mid:")


def test_a_decoder_that_wants_frames_passes_a_framed_resource() -> None:
    wire = Wire(decoder=Decoder(view="frame"))
    wire.begin()
    seen = wire.ask(request("resources/read", {"uri": URI}), {"contents": [content()]})["result"]
    assert seen["contents"][0]["mimeType"] == "application/accp"


@pytest.mark.parametrize("frame", ["@mcp>done:fetch{fmt:x}[mid:a,seq:1]", "@mcp>req:fetch{d:[]}[mid:a,seq:1]"])
def test_a_framed_resource_of_another_shape_passes_as_it_is(frame: str) -> None:
    metadata = {"_meta": {EXTENSION: {"frames": {"0": ["2", []]}}}}
    hostile = response({"contents": [content(frame, mimeType="application/accp")], **metadata})
    assert Decoder().from_server(hostile) is hostile
