"""`index=True`: one tool that searches, describes and calls the others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accp_adapters.mcp import Encoder
from accp_core.view import read
from tests.adapters.mcp.messages import ERAS, Era, Json, Wire, call, request

LONG = "It does what it says, and says at length what it does. " * 6


def tool(name: str, description: str = LONG, **members: Any) -> Json:
    schema = {"type": "object", "properties": {"id": {"type": "string"}, "note": {}}, "required": ["id"]}
    return {"name": name, "description": description, "inputSchema": schema, **members}


TOOLS = [tool("list_orders", f"Lists orders. {LONG}"), tool("getUser"), tool("delete_user"), tool("share_event")]


def indexed(tools: list[Json] | None = None, era: Era = "2025-11-25") -> tuple[Wire, list[Json]]:
    """Return a connection, and what its client is listed."""
    wire = Wire(encoder=Encoder(index=True), decoder=None, era=era)
    listed = wire.ask(request("tools/list", era=era), {"tools": TOOLS if tools is None else tools})["result"]["tools"]
    return wire, listed


def asked(wire: Wire, **arguments: Any) -> Json:
    """Return the answer of the index, or what the server is asked."""
    assert wire.encoder is not None
    message = call("accp_tools", arguments, era=wire.era)
    own = wire.encoder.answer_own(message)
    found: Json = own["result"] if own else wire.encoder.from_client(message)["params"]
    return found


def text(result: Json) -> str:
    return "\n".join(block["text"] for block in result["content"])


@pytest.mark.parametrize("era", ERAS)
def test_one_tool_names_the_others_and_calls_them(era: Era) -> None:
    wire, (index,) = indexed(era=era)
    assert index["description"].endswith("Tools: list_orders, getUser, delete_user, share_event")
    for arguments in ({"id": "7"}, '{"id": "7"}'):
        sent = asked(wire, call="getUser", arguments=arguments)
        assert (sent["name"], sent["arguments"]) == ("getUser", {"id": "7"})
    assert asked(wire, call="getUser")["arguments"] == {}
    assert asked(wire, call="getUser", arguments="no JSON")["arguments"] == "no JSON"


def test_a_list_that_the_index_does_not_make_smaller_is_listed_in_full() -> None:
    short = [{"name": "find", "inputSchema": {}}]
    assert indexed(short)[1] == short
    assert indexed([])[1] == []


def test_pages_are_one_index_with_the_last_of_them() -> None:
    wire = Wire(encoder=Encoder(index=True), decoder=None)
    first = wire.ask(request("tools/list"), {"tools": TOOLS[:2], "nextCursor": "2"})["result"]
    last = wire.ask(request("tools/list", {"cursor": "2"}), {"tools": TOOLS[2:]})["result"]
    assert first["tools"] == []
    assert "list_orders" in last["tools"][0]["description"] and "share_event" in last["tools"][0]["description"]


def test_schemas_are_described_and_tools_are_found_by_words() -> None:
    wire, _ = indexed()
    described = asked(wire, describe="getUser, share_event")["content"]
    assert [read(block["text"])["name"] for block in described] == ["getUser", "share_event"]
    assert read(described[0]["text"])["inputSchema"] == TOOLS[1]["inputSchema"]
    assert text(asked(wire, search="user")).splitlines() == [
        f"{name}(id, note?) It does what it says, and says at length what it does."
        for name in ("getUser", "delete_user")
    ]
    assert text(asked(wire, search="orders")) == "list_orders(id, note?) Lists orders."
    assert "no tool has one of these words" in text(asked(wire, search="weather"))


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"describe": "getusers"}, "E4001"),
        ({"describe": ",".join("x" * 101)}, "E2003"),
        ({}, "E4003"),
        ({"call": 5}, "E4003"),
    ],
)
def test_what_is_asked_wrongly_is_an_error_result_with_a_code(arguments: Json, code: str) -> None:
    wire, _ = indexed()
    refused = asked(wire, **arguments)
    assert refused["isError"]
    assert text(refused).startswith(code)


def test_nothing_is_known_before_the_tools_are_listed() -> None:
    wire = Wire(encoder=Encoder(index=True), decoder=None)
    assert text(asked(wire, search="user")).startswith("E4001")
    assert asked(wire, call="getUser")["name"] == "getUser"


def test_a_server_that_has_a_tool_of_that_name_keeps_it() -> None:
    tools = [*TOOLS, tool("accp_tools")]
    wire, listed = indexed(tools)
    assert listed == tools
    assert asked(wire, search="user")["name"] == "accp_tools"


def test_the_index_has_the_strictest_annotations_of_its_tools() -> None:
    reads = {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}
    (only,) = indexed([tool(f"get_{n}", annotations=reads) for n in range(4)])[1]
    assert only["annotations"] == {**reads, "destructiveHint": False}
    (mixed,) = indexed([*TOOLS, tool("get", annotations=reads)])[1]
    assert mixed["annotations"] == {
        "readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True
    }  # fmt: skip


def test_many_tools_are_named_up_to_a_limit() -> None:
    (index,) = indexed([tool(f"tool_{n}") for n in range(500)])[1]
    assert index["description"].endswith("tool_399, … 100 more: search")
    assert len(json.dumps(index)) < 10_000
