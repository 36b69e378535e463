"""`ask`: a call of a tool that only reads has a query of its own result, and the client gets the answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accp_adapters.fetching import tables_in
from accp_adapters.mcp import Encoder
from accp_adapters.mcp.shim.results.views import restore_view
from accp_adapters.tokens import count_o200k
from tests.adapters.mcp.messages import ERAS, Era, Json, Wire, call, request, rows, served

ROWS = [{"sku": f"A-{n}", "name": f"part {n}", "price": n + 0.5} for n in range(400)]
QUERY = "SELECT count(*) AS n FROM rows WHERE price > 100"
PLAIN = {"content": [{"type": "text", "text": json.dumps(ROWS)}], "isError": False}
SCHEMA = {
    "type": "object",
    "properties": {"q": {"type": "string"}},
    "required": ["q"],
    "additionalProperties": False,
}
READS = {"readOnlyHint": True}
TOOLS = [
    {"name": "find", "inputSchema": SCHEMA, "annotations": READS},
    {"name": "write", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": False}},
    {"name": "unknown", "inputSchema": SCHEMA},
    {"name": "left", "inputSchema": SCHEMA, "annotations": READS},
    {"name": "own", "inputSchema": {"type": "object", "properties": {"accp_query": {}}}, "annotations": READS},
]


def asking(era: Era = "2025-11-25", **settings: Any) -> Wire:
    """Return a connection whose tools take queries, and whose client has listed them."""
    settings = {"policy": "always", "fetch": True, "ask": True, "forms": {"left": "as_is"}, **settings}
    wire = Wire(encoder=Encoder(**settings), decoder=None, era=era)
    wire.ask(request("tools/list", era=era), {"tools": TOOLS})
    return wire


def seen(wire: Wire, answer: Json, name: str = "find", **arguments: Any) -> str:
    """Return the first text that the client sees of a result."""
    result = wire.ask(call(name, {"q": "x", **arguments}, era=wire.era), answer)["result"]
    return str(result["content"][0]["text"])


@pytest.mark.parametrize("era", ERAS)
def test_the_client_gets_the_answer_and_the_server_never_the_query(era: Era) -> None:
    wire = asking(era)
    assert wire.encoder is not None
    message = call("find", {"q": "x", "accp_query": QUERY}, era=era)
    forwarded = wire.encoder.from_client(message)
    assert forwarded == call("find", {"q": "x"}, era=era)
    result = wire.encoder.from_server({"jsonrpc": "2.0", "id": 1, "result": PLAIN})["result"]
    first, tables, answer = result["content"][0]["text"].split("\n")
    assert first.startswith("[accp_query over 400 rows; the whole: accp_fetch $cold.")
    assert (tables, answer) == ("tables: rows(sku, name, price)", "n 300")
    assert "tables:" not in seen(wire, PLAIN, accp_query=QUERY)
    stored = wire.encoder.session.stored_results
    assert stored is not None
    assert restore_view(result, stored.open) == PLAIN


def test_tools_that_only_read_take_the_argument_and_no_others() -> None:
    wire = asking()
    listed = wire.ask(request("tools/list"), {"tools": TOOLS})["result"]["tools"]
    added = {each["name"]: "accp_query" in each["inputSchema"]["properties"] for each in listed}
    assert added == {
        "find": True, "write": False, "unknown": False, "left": False, "own": True, "accp_fetch": False
    }  # fmt: skip
    assert listed[0]["inputSchema"]["required"] == ["q"]
    assert listed[4] == TOOLS[4]
    assert listed[:4] != TOOLS[:4]


def test_a_tool_that_has_such_an_argument_is_given_it() -> None:
    wire = asking()
    assert wire.encoder is not None
    message = call("own", {"accp_query": QUERY})
    assert wire.encoder.from_client(message) is message


@pytest.mark.parametrize("written", ["", None, 3])
def test_what_is_no_query_is_taken_out_and_changes_nothing(written: object) -> None:
    assert seen(asking(), PLAIN, accp_query=written) == seen(asking(), PLAIN)


def test_a_query_that_does_not_fit_is_refused_above_the_ordinary_preview() -> None:
    first, below = seen(asking(), PLAIN, accp_query="SELECT nothing FROM rows").split("\n", 1)
    assert first.startswith("[accp_query refused: E1004: ")
    assert below == seen(asking(), PLAIN)


def test_a_result_that_the_host_shows_in_its_other_form_stays_ordinary() -> None:
    both = served({"items": ROWS, "cursor": ""})
    unknown = seen(asking(), both, accp_query="price > 398")
    assert unknown == seen(asking(), both)
    for host in ("text", "cursor", "both"):
        shown = seen(asking(host=host), both, accp_query="SELECT sku FROM items WHERE price > 398")
        assert shown.startswith("[accp_query over 400 rows")
        assert "A-399" in shown


def test_a_small_result_and_a_failed_one_are_shown_whole() -> None:
    few = served(rows(3))
    assert seen(asking(), few, accp_query="price > 1") == seen(asking(), few)
    failed = {**PLAIN, "isError": True}
    assert seen(asking(), failed, accp_query=QUERY) == seen(asking(), failed)


def test_nobody_is_asked_where_it_is_off() -> None:
    wire = asking(ask=False)
    assert wire.encoder is not None
    message = call("find", {"q": "x", "accp_query": QUERY})
    assert wire.encoder.from_client(message) is message
    with pytest.raises(ValueError, match="expected 'fetch' to be True where 'ask' is, found False"):
        Encoder(ask=True)


ORDERS = {"type": "array", "items": {"$ref": "#/$defs/Order"}}
DEFINED = {"Order": {"type": "object", "properties": {"id": {}, "status": {}, "total": {}}}}
WIDE = {
    "type": "array",
    "items": {"type": "object", "properties": {f"a long name of column {n}": {} for n in range(90)}},
}


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "object", "properties": {"orders": ORDERS}, "$defs": DEFINED}, "orders(id, status, total)"),
        (
            {"properties": {"data": {"properties": {"orders": ORDERS}}, "cursor": {}}, "$defs": DEFINED},
            "data.orders(id, status, total)",
        ),
        ({"properties": {"result": ORDERS}, "$defs": DEFINED}, "rows(id, status, total)"),
        ({"properties": {"result": ORDERS}}, ""),
        (
            {"properties": {"x": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"properties": {"x": {"$ref": "#/$defs/x"}}}}},
            "",
        ),
        ("nothing", ""),
    ],
)
def test_the_schema_of_results_names_tables_and_columns(schema: object, said: str) -> None:
    wire = asking()
    tool = {"name": "find", "inputSchema": SCHEMA, "annotations": READS, "outputSchema": schema}
    listed = wire.ask(request("tools/list"), {"tools": [tool]})["result"]["tools"]
    shown = listed[0]["inputSchema"]["properties"]["accp_query"]["description"]
    assert shown == ("query the result" + (f": {said}" if said else ""))


def test_what_a_schema_says_takes_at_most_forty_tokens() -> None:
    said = tables_in({"properties": {"wide": WIDE, "orders": ORDERS}, "$defs": DEFINED}, count_o200k)
    assert said.startswith("wide(a long name of column 0, ")
    assert "…)" in said
    assert count_o200k(said) <= 40
