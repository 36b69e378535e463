"""One tool in the place of many: index, schemas on demand, calls that reach the server as ordinary calls."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accp_adapters.mcp import Encoder
from accp_adapters.tokens import count_o200k
from tests.adapters.mcp.messages import Json, Wire, call, request, response


def tool(name: str, description: str = "", **properties: Any) -> Json:
    schema = {"type": "object", "properties": properties, "required": [each for each in properties if each[0] != "_"]}
    return {"name": name, "description": description, "inputSchema": schema}


LONG = "It does what it says, and it says at length what it does. " * 12
TOOLS = [
    tool("create_page", f"Creates a page. It may have children.\nMore. {LONG}", parent={"type": "string"}, _icon={}),
    tool("query", f"Finds pages by their properties\n{LONG}", filter={"type": "object"}),
    tool("me"),
]


def lazy(**settings: Any) -> Wire:
    return Wire(encoder=Encoder(tools="lazy", **settings), decoder=None)


def listed(wire: Wire, tools: list[Json] = TOOLS) -> list[Json]:
    found: list[Json] = wire.ask(request("tools/list"), {"tools": tools})["result"]["tools"]
    return found


def ask(wire: Wire, **arguments: Any) -> Json:
    """Return the result of a call of the index, which the server does not see."""
    result: Json = wire.ask(call("accp_tools", arguments), {"content": "the server was asked"})["result"]
    return result


def test_the_list_is_one_tool_whose_description_names_them_all() -> None:
    (index,) = listed(lazy())
    assert index["name"] == "accp_tools"
    assert index["description"].split("\n")[1:] == [
        "create_page(parent, _icon?) Creates a page.",
        "query(filter) Finds pages by their properties",
        "me()",
    ]


def test_describe_gives_the_servers_own_definitions() -> None:
    wire = lazy()
    listed(wire)
    result = ask(wire, describe="query, create_page,query")
    assert [json.loads(block["text"]) for block in result["content"]] == [TOOLS[1], TOOLS[0]]
    assert not result["isError"]


def test_search_finds_tools_by_words_of_name_description_and_arguments() -> None:
    wire = lazy()
    listed(wire)
    assert ask(wire, search="PAGE")["content"][0]["text"].startswith("create_page(")
    assert ask(wire, search="icon")["content"][0]["text"].startswith("create_page(")
    assert "no tool" in ask(wire, search="weather")["content"][0]["text"]


def test_a_call_reaches_the_server_under_the_tools_own_name() -> None:
    encoder = Encoder(tools="lazy")
    sent = call("accp_tools", {"call": "query", "arguments": {"filter": {}}})
    sent["params"]["_meta"] = {"progressToken": 7}
    assert encoder.answer_own(sent) is None
    assert encoder.from_client(sent) == {
        **sent,
        "params": {"name": "query", "arguments": {"filter": {}}, "_meta": {"progressToken": 7}},
    }
    direct = call("query", {"filter": {}})
    assert encoder.from_client(direct) is direct


@pytest.mark.parametrize(
    ("arguments", "code"),
    [({"describe": "creat"}, "E4001"), ({"describe": 5}, "E4003"), ({}, "E4003"), ({"call": ""}, "E4003")],
)
def test_a_wrong_question_is_answered_with_its_code(arguments: Json, code: str) -> None:
    wire = lazy()
    listed(wire)
    result = ask(wire, **arguments)
    assert result["isError"]
    assert result["content"][0]["text"].startswith(code)


def test_an_index_that_was_never_listed_says_what_to_do() -> None:
    assert "tools/list" in ask(lazy(), describe="query")["content"][0]["text"]


def test_pages_are_gathered() -> None:
    wire = lazy()
    first = wire.ask(request("tools/list"), {"tools": TOOLS[:2], "nextCursor": "n"})["result"]
    assert first == {"tools": [], "nextCursor": "n"}
    last = wire.ask(request("tools/list", {"cursor": "n"}), {"tools": TOOLS[2:], "cacheScope": "public"})["result"]
    assert "create_page" in last["tools"][0]["description"]
    assert "\nme()" in last["tools"][0]["description"]
    assert last["cacheScope"] == "private"


def test_a_server_that_has_a_tool_of_that_name_keeps_it() -> None:
    wire, theirs = lazy(), [tool("accp_tools", "Theirs.")]
    assert listed(wire, theirs) == theirs
    assert ask(wire, describe="x") == {"content": "the server was asked"}


def test_it_holds_without_negotiation_and_does_not_start_any() -> None:
    wire = lazy(policy="never")
    assert [each["name"] for each in listed(wire)] == ["accp_tools"]
    answer = response({"content": []})
    assert wire.encoder is not None
    wire.encoder.from_client(call())
    assert wire.encoder.from_server(answer) is answer


def test_a_long_list_is_cut_and_can_be_searched() -> None:
    wire = lazy()
    many = [tool(f"tool_{n}", "Does a thing. " * 50, **{f"a{m}": {} for m in range(40)}) for n in range(1_000)]
    (index,) = listed(wire, many)
    assert "600 more" in index["description"]
    assert count_o200k(index["description"]) < 30_000
    assert "tool_999(" in ask(wire, search="tool_999")["content"][0]["text"]


@pytest.mark.parametrize(
    "odd",
    [
        {"name": "x", "inputSchema": 5},
        {"name": "x", "description": 7, "inputSchema": {"properties": [], "required": 3}},
    ],
)
def test_odd_definitions_do_no_harm(odd: Json) -> None:
    (index, *_) = listed(lazy(), [odd, *TOOLS])
    assert "\nx()" in index["description"]


def test_a_small_server_is_listed_as_it_is() -> None:
    wire, few = lazy(), [tool("now", "Tells the time.")]
    assert listed(wire, few) == few


def test_a_model_is_not_told_what_is_for_the_client() -> None:
    wire = lazy()
    listed(wire, [{**each, "outputSchema": {"type": "object"}, "annotations": {"title": "x"}} for each in TOOLS])
    assert json.loads(ask(wire, describe="me")["content"][0]["text"]) == TOOLS[2]


def test_a_small_server_promises_no_structured_content_where_it_is_dropped() -> None:
    wire = lazy(policy="always", structured="drop")
    (shown,) = listed(wire, [{**tool("now"), "outputSchema": {"type": "object"}}])
    assert shown == tool("now")
