"""Errors as frames beside them; code, message and text stay as the server gave them."""

from __future__ import annotations

from typing import Any

import pytest

from accp_adapters.mcp import EXTENSION, Decoder
from accp_adapters.mcp.frames import JSON_RPC_CODES
from accp_core import Codec, Message
from accp_core.accp import read_error
from tests.adapters.mcp.messages import Json, Wire, call, request

TOOLS = {
    "tools": [
        {
            "name": "find",
            "inputSchema": {
                "type": "object",
                "properties": {"q": {"type": "string", "pattern": "^(a+)+$"}, "n": {"type": "integer", "minimum": 1}},
                "required": ["q"],
            },
            "outputSchema": {"type": "object", "required": ["hits"]},
        }
    ]
}


def aware(view: str = "frame", *, listed: bool = True) -> Wire:
    wire = Wire(decoder=Decoder(view=view))  # type: ignore[arg-type]  # one of the three
    wire.begin()
    if listed:
        wire.ask(request("tools/list", message_id="l"), TOOLS)
    return wire


def code_in(holder: Json) -> str:
    frame = holder[EXTENSION]["frame"]
    message = Codec(counter=len).decode(frame)
    assert isinstance(message, Message)
    assert message.envelope.correlation_id
    report = read_error(message)
    assert report is not None
    return report.code


def fail(wire: Wire, message: Json, error: Json) -> Json:
    """Return the error that the client sees when the server refuses `message`."""
    assert wire.encoder is not None
    assert wire.decoder is not None
    wire.encoder.from_client(wire.decoder.from_client(message))
    coded = wire.encoder.from_server({"jsonrpc": "2.0", "id": message["id"], "error": error})
    seen: Json = wire.decoder.from_server(coded)["error"]
    return seen


@pytest.mark.parametrize(("name", "arguments", "code"), [("find", {"q": "x"}, "E4002"), ("lost", {}, "E4001")])
def test_a_failed_call_is_told_by_the_tools_and_not_by_words(name: str, arguments: Json, code: str) -> None:
    failed = {"content": [{"type": "text", "text": "Unknown tool: but not really"}], "isError": True}
    seen = aware().ask(call(name, arguments), failed)["result"]
    assert code_in(seen["_meta"]) == code
    assert {"content": seen["content"], "isError": seen["isError"]} == failed


def test_a_tool_is_not_unknown_before_the_whole_list_is_known() -> None:
    failed = {"content": [], "isError": True}
    wire = aware(listed=False)
    assert code_in(wire.ask(call("lost"), failed)["result"]["_meta"]) == "E4002"
    wire.ask(request("tools/list", message_id="l"), {**TOOLS, "nextCursor": "2"})
    assert code_in(wire.ask(call("lost"), failed)["result"]["_meta"]) == "E4002"
    wire.ask(request("tools/list", {"cursor": "2"}, message_id="l"), {"tools": [{"name": "more"}, {"title": 1}, 7]})
    assert code_in(wire.ask(call("lost"), failed)["result"]["_meta"]) == "E4001"
    assert code_in(wire.ask(call("find"), failed)["result"]["_meta"]) == "E4002"
    assert wire.encoder is not None
    wire.encoder.from_server({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    assert code_in(wire.ask(call("lost"), failed)["result"]["_meta"]) == "E4002"


@pytest.mark.parametrize(
    ("method", "params", "jsonrpc", "code"),
    [
        ("tools/call", {"name": "lost"}, -32602, "E4001"),
        ("tools/call", {"name": "find", "arguments": {}}, -32602, "E4003"),
        ("tools/call", {"name": "find", "arguments": {"q": "x"}}, -32603, "E9999"),
        ("tools/call", {"name": "find", "arguments": {"q": "x"}}, -32001, "E3001"),
        ("tools/call", {"name": "find", "arguments": {"q": "x"}}, -32601, "E1002"),
        ("resources/read", {"uri": "a:b"}, -32602, "E2001"),
        ("resources/read", {"uri": "a:b"}, -32002, "E2001"),
        ("resources/read", {"uri": "a:b"}, 0, "E9999"),
        ("prompts/get", {"name": "p"}, -32602, "E9999"),
        ("ping", {}, -32601, "E1002"),
        ("ping", {}, "odd", "E9999"),
        *(("ping", {}, jsonrpc, code.value) for jsonrpc, code in JSON_RPC_CODES.items()),
    ],
)
def test_a_jsonrpc_error_keeps_code_and_message_and_gets_a_frame(
    method: str, params: Json, jsonrpc: Any, code: str
) -> None:
    seen = fail(aware(), request(method, params), {"code": jsonrpc, "message": "no, sorry"})
    assert (seen["code"], seen["message"]) == (jsonrpc, "no, sorry")
    assert code_in(seen["data"]) == code


@pytest.mark.parametrize("data", [{"uri": "a:b"}, {}, None, "text", [1]])
def test_the_servers_own_data_stays(data: Any) -> None:
    error = {"code": -32602, "message": "no", "data": data}
    seen = fail(aware(), request("resources/read", {"uri": "a:b"}), error)
    if isinstance(data, dict):
        assert code_in(seen["data"]) == "E2001"
        assert {name: seen["data"][name] for name in data} == data
    else:
        assert seen == error


@pytest.mark.parametrize("members", [{}, {"data": {"a": 1}}, {"data": {}}])
def test_a_plain_decoder_gives_errors_back_as_they_were(members: Json) -> None:
    wire, error = aware("plain"), {"code": -32602, "message": "no", **members}
    assert fail(wire, request("ping"), error) == error
    failed = {"content": [{"type": "text", "text": "no"}], "isError": True, "_meta": {"b": 2}}
    assert wire.call(failed) == failed


def test_an_unaware_client_sees_the_servers_error() -> None:
    wire = Wire(decoder=None)
    assert wire.encoder is not None
    wire.encoder.from_client(request("ping"))
    answer = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}}
    assert wire.encoder.from_server(answer) is answer


def test_a_long_message_is_cut_in_the_frame_only() -> None:
    seen = fail(aware(), request("ping"), {"code": 1, "message": "x" * 100_000})
    assert len(seen["message"]) == 100_000
    assert len(seen["data"][EXTENSION]["frame"]) < 1_000
