"""One tool in the place of many: search, schemas on demand, calls that reach the server as ordinary calls."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accp_adapters.mcp import Encoder
from accp_adapters.tokens import count_o200k
from accp_core.view import read
from tests.adapters.mcp.messages import ERAS, Era, Json, Wire, call, request, response
from tests.work import count_calls


def tool(name: str, description: str = "", **properties: Any) -> Json:
    schema = {"type": "object", "properties": properties, "required": [each for each in properties if each[0] != "_"]}
    return {"name": name, "description": description, "inputSchema": schema}


LONG = "It does what it says, and it says at length what it does. " * 12
TOOLS = [
    tool("create_page", f"Creates a page below another one.\nMore. {LONG}", parent={"type": "string"}, _icon={}),
    tool("query", f"Finds pages by their properties\n{LONG}", filter={"type": "object"}),
    tool("me"),
]


def indexed(level: str = "signatures", *, era: Era = "2025-11-25", **settings: Any) -> Wire:
    return Wire(encoder=Encoder(tools=level, **settings), decoder=None, era=era)


def listed(wire: Wire, tools: list[Json] = TOOLS) -> list[Json]:
    asked = request("tools/list", era=wire.era)
    found: list[Json] = wire.ask(asked, {"tools": tools})["result"]["tools"]
    return found


def ask(wire: Wire, **arguments: Any) -> Json:
    """Return the result of a call of the index; the server's is "the server was asked"."""
    asked = call("accp_tools", arguments, era=wire.era)
    result: Json = wire.ask(asked, {"content": "the server was asked"})["result"]
    return result


def text_of(result: Json) -> str:
    text: str = result["content"][0]["text"]
    return text


@pytest.mark.parametrize("era", ERAS)
def test_the_list_is_one_tool_whose_description_names_them_all(era: Era) -> None:
    (index,) = listed(indexed(era=era))
    assert index["name"] == "accp_tools"
    assert index["description"].split("\n")[2:] == [
        "create_page(parent, _icon?) Creates a page below another one",
        "query(filter:{}) Finds pages by their properties",
        "me()",
    ]


def test_describe_gives_the_servers_own_definitions() -> None:
    wire = indexed()
    listed(wire)
    result = ask(wire, describe="query, create_page,query")
    assert [read(block["text"]) for block in result["content"]] == [TOOLS[1], TOOLS[0]]
    assert not result["isError"]


def test_search_finds_tools_by_words_of_name_description_and_arguments() -> None:
    wire = indexed("lazy")
    listed(wire)
    assert text_of(ask(wire, search="PAGE")).startswith("create_page(")
    assert text_of(ask(wire, search="icon")).startswith("create_page(")
    assert "no tool" in text_of(ask(wire, search="weather"))


def test_a_search_is_as_much_work_as_its_first_words_and_folds_no_tool_again() -> None:
    wire = indexed("lazy")
    listed(wire, [tool(f"tool_{number}", LONG) for number in range(300)])
    few, many = "tool_7 says", " ".join(["tool_7 says", *(f"word{number}" for number in range(8_000))])
    assert text_of(ask(wire, search=few)).startswith("tool_7(")
    folded = [count_calls(lambda words=words: ask(wire, search=words), "casefold") for words in (few, many)]
    assert folded[0] < 10
    assert folded[1] < 400  # as many as 2,000 characters have words
    assert text_of(ask(wire, search=many)).startswith("tool_7(")
    assert "E4001" in text_of(ask(wire, describe=",".join(f"no{number}" for number in range(100))))
    assert "E2003: expected at most 100 names, found 8000" in text_of(ask(wire, describe="tool_7," * 7_999))


@pytest.mark.parametrize("arguments", [{"filter": {}}, '{"filter": {}}'])
def test_a_call_reaches_the_server_under_the_tools_own_name(arguments: object) -> None:
    encoder = Encoder(tools="lazy")
    sent = call("accp_tools", {"call": "query", "arguments": arguments})
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
    [
        ({"describe": "creat"}, "E4001"),
        ({"describe": 5}, "E4003"),
        ({}, "E4003"),
        ({"call": ""}, "E4003"),
        ({"calls": []}, "E4003"),
    ],
)
def test_a_wrong_question_is_answered_with_its_code(arguments: Json, code: str) -> None:
    wire = indexed()
    listed(wire)
    result = ask(wire, **arguments)
    assert result["isError"]
    assert text_of(result).startswith(code)


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("query", {}, "E4003: query: expected the arguments to have 'filter', found []; its schema: {"),
        (
            "query",
            {"filter": "late"},
            "E4003: query: expected the argument 'filter' to meet type: object, found 'late'",
        ),
        ("query", None, "E4003: query: expected the arguments to have 'filter'"),
        ("query", "late", "E4003: query: expected the arguments to meet type: object, found 'late'"),
        ("strict", {"n": 1, "m": 2}, "E4003: strict: expected no 'm' in the arguments, found ['m', 'n']"),
        ("qery", {}, "E4001: expected the name of a tool such as create_page, query, me, strict; found 'qery'"),
        ("create", {}, "E4001: expected the name of a tool such as create_page; found 'create'"),
    ],
)
def test_the_proxy_checks_the_arguments_that_no_host_has_a_schema_of(name: str, arguments: object, said: str) -> None:
    wire = indexed("names")
    strict = tool("strict", LONG, n={})
    strict["inputSchema"]["additionalProperties"] = False
    listed(wire, [*TOOLS, strict])
    result = ask(wire, call=name, arguments=arguments)
    assert result["isError"]
    assert text_of(result).startswith(said)


def test_a_long_schema_is_not_repeated_in_a_refusal() -> None:
    wire = indexed("names")
    listed(wire, [tool("wide", **{f"argument_{n}": {"description": LONG} for n in range(9)})])
    assert text_of(ask(wire, call="wide")).endswith("; describe=wide shows its schema")


def test_a_call_before_any_list_is_the_servers_to_refuse() -> None:
    assert ask(indexed(), call="query", arguments={}) == {"content": "the server was asked"}


def test_an_index_that_was_never_listed_says_what_to_do() -> None:
    assert "tools/list" in text_of(ask(indexed(), describe="query"))


def test_pages_are_gathered() -> None:
    wire = indexed()
    first = wire.ask(request("tools/list"), {"tools": TOOLS[:2], "nextCursor": "n"})["result"]
    assert first == {"tools": [], "nextCursor": "n"}
    last = wire.ask(request("tools/list", {"cursor": "n"}), {"tools": TOOLS[2:], "cacheScope": "public"})["result"]
    assert "create_page" in last["tools"][0]["description"]
    assert "\nme()" in last["tools"][0]["description"]
    assert last["cacheScope"] == "private"


def test_a_server_that_has_a_tool_of_that_name_keeps_it() -> None:
    wire, theirs = indexed(), [tool("accp_tools", "Theirs.")]
    assert listed(wire, theirs) == theirs
    assert ask(wire, describe="x") == {"content": "the server was asked"}


def test_it_holds_without_negotiation_and_does_not_start_any() -> None:
    wire = indexed(policy="never")
    assert [each["name"] for each in listed(wire)] == ["accp_tools"]
    answer = response({"content": []})
    assert wire.encoder is not None
    wire.encoder.from_client(call())
    assert wire.encoder.from_server(answer) is answer


@pytest.mark.parametrize("level", ["signatures", "names"])
def test_a_long_list_is_cut_and_can_be_searched(level: str) -> None:
    wire = indexed(level)
    many = [tool(f"tool_{n}", "Does a thing. " * 50, **{f"a{m}": {} for m in range(40)}) for n in range(1_000)]
    (index,) = listed(wire, many)
    assert "600 more" in index["description"]
    assert count_o200k(index["description"]) < 30_000
    assert "tool_999(" in text_of(ask(wire, search="tool_999"))


@pytest.mark.parametrize(
    "odd",
    [
        {"name": "x", "inputSchema": 5},
        {"name": "x", "description": 7, "inputSchema": {"properties": [], "required": 3}, "annotations": 5},
    ],
)
def test_odd_definitions_do_no_harm(odd: Json) -> None:
    (index, *_) = listed(indexed(), [odd, *TOOLS])
    assert "\nx()" in index["description"]


def test_a_small_server_is_listed_as_it_is() -> None:
    wire, few = indexed(), [tool("now", "Tells the time.")]
    assert listed(wire, few) == few


def test_a_model_is_not_told_what_is_for_the_client() -> None:
    wire = indexed()
    listed(wire, [{**each, "outputSchema": {"type": "object"}, "annotations": {"title": "x"}} for each in TOOLS])
    assert read(text_of(ask(wire, describe="me"))) == TOOLS[2]


def test_a_small_server_promises_no_structured_content_where_it_is_dropped() -> None:
    wire = indexed(policy="always", structured="drop")
    (shown,) = listed(wire, [{**tool("now"), "outputSchema": {"type": "object"}}])
    assert shown == tool("now")


READS = {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}
ADDS = {"readOnlyHint": False, "destructiveHint": False}
HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


@pytest.mark.parametrize(
    ("annotations", "hints"),
    [
        ([READS, READS, READS], (True, False, True, False)),
        ([READS, ADDS, READS], (False, False, False, True)),
        ([READS, READS, None], (False, True, False, True)),
        ([READS, READS, {**READS, "readOnlyHint": "yes"}], (False, True, True, False)),
    ],
)
def test_the_one_tool_has_the_strictest_annotations_of_all(annotations: list[Any], hints: tuple[bool, ...]) -> None:
    pairs = zip(TOOLS, annotations, strict=True)
    (index,) = listed(indexed(), [each if noted is None else {**each, "annotations": noted} for each, noted in pairs])
    assert tuple(index["annotations"][hint] for hint in HINTS) == hints


@pytest.mark.parametrize("level", ["full", "signatures"])
def test_tools_that_are_not_offered_are_neither_listed_nor_called(level: str) -> None:
    wire = indexed(level, include=("*e*",), exclude=("cr*",))
    shown = json.dumps(listed(wire))
    assert "create_page" not in shown
    assert "query" in shown
    for asked in (call("create_page", {"parent": "x"}), call("accp_tools", {"call": "create_page", "arguments": {}})):
        refused = wire.ask(asked, {"content": "the server was asked"})["result"]
        if level == "signatures" or asked["params"]["name"] == "create_page":
            assert refused["content"][0]["text"] == "E4001: expected the name of a tool, found 'create_page'"
    assert wire.ask(call("query", {}), {"content": []})["result"] == {"content": []}


def test_a_malformed_entry_does_not_bring_back_what_is_not_offered() -> None:
    wire = indexed("full", exclude=("query",))
    assert [each["name"] for each in listed(wire, [*TOOLS, 5])] == ["create_page", "me"]  # type: ignore[list-item]
