"""A result as a frame, and the plain result again."""

from __future__ import annotations

import copy
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_adapters.mcp import EXTENSION, Decoder, Encoder
from accp_adapters.mcp.frames import is_framed, key_orders
from accp_adapters.mcp.messages import find_duplicate
from accp_core import parse_frame
from accp_core.accp import Codec, FrameRefused, MessageReceived, RegistryAgreed, Session
from tests.adapters.mcp.messages import ERAS, Era, Wire, call, request, response, rows, served
from tests.properties.json_values import values as json_values

FORCED = -1_000_000


def visible_text(result: dict[str, Any]) -> str:
    return json.dumps([result.get("content"), result.get("structuredContent")])


@pytest.mark.requirement("11.3-1", "11.3-2")
@pytest.mark.parametrize("era", ERAS)
def test_a_result_travels_as_a_frame_and_arrives_as_it_was(era: Era) -> None:
    wire = Wire(era=era)
    wire.begin()
    assert wire.call(served(rows())) == served(rows())
    travelled = wire.between[-1]["result"]
    (block,) = travelled["content"]
    frame = parse_frame(block["resource"]["text"], strict=True)
    assert block["resource"]["mimeType"] == "application/accp"
    assert (frame.intent, frame.operation, frame.params["tool"]) == ("done", "tool", "find")
    assert "structuredContent" not in travelled
    assert len(visible_text(travelled)) < len(visible_text(served(rows()))) / 2


def test_the_envelope_links_the_result_to_its_request() -> None:
    wire = Wire(encoder=Encoder(new_id=lambda: "49679033e07c", now=lambda: 1_714_000_000.9))
    wire.begin()
    wire.call(served(rows()), message_id=7)
    wire.call(served(rows()), message_id="a b")
    first, second = (sent["result"]["content"][0]["resource"]["text"] for sent in wire.between[1:])
    assert first.endswith("|schema:TC}[mid:49679033e07c,seq:2,ts:1714000000,cid:7]")
    assert parse_frame(second).envelope.sequence == 3


@pytest.mark.parametrize("era", ERAS)
def test_a_session_takes_every_frame_that_is_sent(era: Era) -> None:
    """Registry, results and errors have one count (section 3.7); what is sent plain takes no number."""
    wire = Wire(era=era)
    wire.begin()
    frames = [wire.between[0]["result"]["instructions"]]
    small = {"content": [{"type": "text", "text": '{"a": 1}'}]}
    failed = {"content": [{"type": "text", "text": "no such customer"}], "isError": True}
    for number, result in enumerate((served(rows()), small, failed, served(rows(9))), 1):
        wire.call(result, message_id=number)
        sent = wire.between[-1]["result"]
        frames += [block["resource"]["text"] for block in sent["content"] if "resource" in block]
        frames += [sent["_meta"][EXTENSION]["frame"]] if result is failed else []
    assert wire.encoder is not None
    own = wire.encoder.answer_own(request("resources/read", {"uri": "accp://registry"}, message_id=9, era=era))
    assert own is not None
    frames += [own["result"]["contents"][0]["text"]]
    session = Session("s1", "client", codec=Codec(counter=len), new_id=lambda: "0123456789ab")
    events = [event for frame in frames for event in session.receive(frame, int(time.time()))]
    assert not [event for event in events if isinstance(event, FrameRefused)]
    received = [event.message for event in events if isinstance(event, MessageReceived)]
    assert [(each.intent, each.envelope.correlation_id) for each in received] == [
        ("done", "1"), ("fail", "3"), ("done", "4")
    ]  # fmt: skip
    assert len(frames) == 5
    assert [event for event in events if isinstance(event, RegistryAgreed)]


@pytest.mark.parametrize("indent", [None, 1, 2, 4])
def test_a_text_without_structured_content_is_framed_too(indent: int | None) -> None:
    plain = {"content": [{"type": "text", "text": json.dumps(rows(), indent=indent)}]}
    wire = Wire()
    wire.begin()
    assert wire.call(plain) == plain
    assert "_meta" in wire.between[-1]["result"]


@pytest.mark.parametrize(
    "plain",
    [
        {"content": [{"type": "text", "text": "All is well."}], "isError": False},
        {"content": [{"type": "text", "text": '{"a": 1}'}]},
        {**served(rows()), "resultType": "input_required"},
        {**served(rows()), "resultType": "com.example/task"},
        {"content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]},
        {"content": []},
        {"toolResult": 1},
    ],
)
def test_what_a_frame_does_not_make_smaller_or_is_not_ours_passes_as_it_came(plain: dict[str, Any]) -> None:
    encoder = Encoder()
    encoder.from_client(Decoder().from_client(call(era="2026-07-28")))
    answer = response(plain)
    assert encoder.from_server(answer) is answer


def test_a_result_is_rewritten_for_the_request_that_asked_for_it_only() -> None:
    wire = Wire()
    wire.begin()
    assert wire.encoder is not None
    unasked = response(served(rows()), message_id=99)
    assert wire.encoder.from_server(unasked) is unasked
    wire.encoder.from_client(call(message_id=99))
    wire.encoder.from_client({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}})
    assert wire.encoder.from_server(unasked) is unasked


@pytest.mark.parametrize("settings", [{}, {"policy": "always", "fetch": True, "index": True}])
@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}},
        {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": rows()}},
        {"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {"messages": []}},
        {"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": {"message": "?"}},
        {"jsonrpc": "2.0", "id": 1, "result": {"task": {"taskId": "t", "status": "working"}}},
        {"jsonrpc": "2.0", "id": 1, "result": {"resultType": "input_required", "requestState": "s", **served(rows())}},
    ],
)
def test_what_is_said_while_a_call_is_under_way_passes_as_it_came(settings: Any, message: dict[str, Any]) -> None:
    encoder, decoder = Encoder(**settings), Decoder(view="view")
    encoder.from_client(decoder.from_client(call(era="2026-07-28")))
    assert encoder.from_server(message) is message
    assert decoder.from_server(message) is message


def test_what_a_client_answers_a_server_passes_as_it_came() -> None:
    for answer in ({"jsonrpc": "2.0", "id": 1, "result": served(rows())}, {"jsonrpc": "2.0", "id": 1, "error": {}}):
        assert Encoder(policy="always").from_client(answer) is answer
        assert Decoder().from_client(answer) is answer


texts = st.text(max_size=30) | json_values.map(lambda value: json.dumps(value)) | st.just("{")
blocks = st.builds(lambda text: {"type": "text", "text": text}, texts) | st.just(
    {"type": "resource_link", "uri": "a:b"}
)


@st.composite
def results(draw: st.DrawFn) -> dict[str, Any]:
    """Results as servers write them, and results as nobody should."""
    value = draw(json_values)
    structured = draw(st.sampled_from(["none", "same", "wrapped", "other"]))
    ascii_only, indent = draw(st.booleans()), draw(st.sampled_from([None, 0, 2, 3]))
    items = value if isinstance(value, list) and draw(st.booleans()) else [value]
    said = [
        each
        if isinstance(each, str) and draw(st.booleans())
        else json.dumps(each, ensure_ascii=ascii_only, indent=indent)
        for each in items
    ]
    content = [{"type": "text", "text": text} for text in said]
    result: dict[str, Any] = {
        "content": draw(st.lists(blocks, max_size=1)) + content + draw(st.lists(blocks, max_size=2))
    }
    other = {"same": value, "wrapped": {"result": value}, "other": draw(json_values)}
    if structured != "none":
        result["structuredContent"] = other[structured]
    if draw(st.booleans()):
        result["_meta"] = draw(st.dictionaries(st.text(max_size=5), json_values, max_size=2))
    return result


@pytest.mark.slow
@given(results(), st.sampled_from(ERAS))
def test_a_decoder_gives_back_exactly_what_the_encoder_was_given(result: Any, era: Era) -> None:
    wire = Wire(encoder=Encoder(min_gain=FORCED), era=era)
    wire.begin()
    seen = wire.call(copy.deepcopy(result))
    assert json.dumps(seen, sort_keys=True) == json.dumps(result, sort_keys=True)
    structured = "structuredContent"
    assert json.dumps(seen.get(structured)) == json.dumps(result.get(structured))
    assert is_framed(wire.between[-1]["result"]) == can_be_framed(result)


def can_be_framed(result: dict[str, Any]) -> bool:
    """Tell whether a result says a JSON value whose order of keys can be noted."""
    found = find_duplicate(result)
    if found is None:
        return False
    try:
        key_orders(found[1])
    except ValueError:
        return False
    return True


ORDERS = (
    "@shop>done:tool{tool:orders|res:{rows:[{id:1,name:naïve},{id:2,name:b}]}|schema:TC}[mid:a1,seq:1,ts:1714000000]"
)
VALUE = {"rows": [{"id": 1, "name": "naïve"}, {"id": 2, "name": "b"}]}


def foreign(text: str, media_type: str = "application/accp") -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": "shop:1", "mimeType": media_type, "text": text}}


@pytest.mark.requirement("11.3-1", "11.3-2")
@pytest.mark.parametrize("media_type", ["application/accp", "Application/ACCP; charset=utf-8"])
def test_the_frame_of_a_stranger_is_read_by_its_grammar(media_type: str) -> None:
    """Section 11.3: frames are resource content of that media type; nothing of ours is beside them."""
    answer = response({"content": [{"type": "text", "text": "as asked"}, foreign(ORDERS, media_type)]})
    seen = Decoder().from_server(answer)["result"]
    assert [json.loads(block["text"]) for block in seen["content"][1:]] == [VALUE]
    assert seen["structuredContent"] == VALUE
    assert Decoder(view="frame").from_server(answer) is answer
    several = response({"content": [foreign(ORDERS)] * 2, "structuredContent": {"theirs": 1}})
    assert Decoder().from_server(several)["result"]["structuredContent"] == {"theirs": 1}


def test_an_error_and_a_resource_of_a_stranger_are_read_too() -> None:
    failure = "@shop>fail:error{code:E4002|msg:lost|retry:false|schema:ER}[mid:a2,seq:2,ts:1714000000]"
    failed = Decoder().from_server(response({"content": [foreign(failure)], "isError": True}))["result"]
    assert json.loads(failed["content"][0]["text"])["code"] == "E4002"
    assert "structuredContent" not in failed
    error = {"code": -32000, "message": "no", "data": foreign(failure)["resource"]}
    seen = Decoder().from_server({"jsonrpc": "2.0", "id": 1, "error": error})["error"]
    assert (seen["code"], seen["data"]["code"]) == (-32000, "E4002")
    contents = response({"contents": [foreign(ORDERS)["resource"], {"uri": "a:b", "text": "plain"}]})
    first, second = Decoder().from_server(contents)["result"]["contents"]
    assert (first["mimeType"], json.loads(first["text"])["result"]) == ("application/json", VALUE)
    assert second == {"uri": "a:b", "text": "plain"}


@pytest.mark.parametrize("text", ["@shop>done:tool{", "prose", "@shop>done:tool{res:~}[mid:a"])
def test_the_frame_of_a_stranger_that_is_refused_passes_as_it_came(text: str, caplog: pytest.LogCaptureFixture) -> None:
    answer = response({"content": [foreign(text)]})
    assert Decoder().from_server(answer) is answer
    assert "is passed on as it came: E1001" in caplog.text


def test_a_client_that_agreed_to_nothing_more_gets_the_literal_grammar() -> None:
    """Section 3.1.1: ASCII and at most six decimals; a value with more is not framed."""
    stranger = request(
        "initialize", {"protocolVersion": "2025-11-25", "capabilities": {"experimental": {EXTENSION: {}}}}
    )
    for price, is_sent in ((0.25, True), (0.12345678, False)):
        encoder = Encoder(min_gain=FORCED)
        encoder.from_client(stranger)
        encoder.from_client(call())
        plain = served({"name": "naïve 中文", "price": price})
        seen = encoder.from_server(response(plain))["result"]
        frames = [block["resource"]["text"] for block in seen["content"] if "resource" in block]
        assert bool(frames) == is_sent
        assert all(text.isascii() and parse_frame(text, strict=True) for text in frames)
        assert seen["structuredContent"] == plain["structuredContent"]
