"""How much a list says about tools: lines, names, words; and which of them costs least."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from accp_adapters.mcp.shim.tools.levels import (
    LEVELS,
    AgentUse,
    ListOptions,
    cheapest_level,
    index_tool,
    listed_tools,
    model_definitions,
    session_tokens,
)
from accp_adapters.mcp.shim.tools.signatures import says_all, signature
from accp_adapters.mcp.shim.tools.tool_catalog import ToolCatalog
from accp_adapters.tokens import count_o200k
from accp_core.strict_json import compact_json
from tests.adapters.mcp.messages import Json
from tests.adapters.mcp.shim.tools.test_tool_index import LONG, tool
from tests.harness.bench.data import find_data
from tests.harness.bench.mcp_tools import PEER, all_servers


def catalog_of(tools: list[Json]) -> ToolCatalog:
    catalog = ToolCatalog()
    catalog.add({"tools": tools}, None)
    return catalog


def many(count: int, description: str = LONG) -> list[Json]:
    return [
        tool(f"get_part_{n}", f"Looks up what {n} costs. {description}", number={"type": "integer"})
        for n in range(count)
    ]


@pytest.mark.parametrize(
    ("properties", "required", "line"),
    [
        ({"a": {"type": "string"}, "b": {"type": "integer"}}, ["b"], "find(b:int, a?)"),
        ({"a": {"type": ["null", "number"]}, "b": {"type": "boolean"}}, [], "find(a?:num, b?:bool)"),
        (
            {"a": {"anyOf": [{"type": "null"}, {"type": "array"}]}, "b": {"oneOf": [{"type": "object"}]}},
            ["a"],
            "find(a:[], b?:{})",
        ),
        ({"a": True, "b": {"type": "file"}, "c": {"type": [5]}, "d": {"anyOf": 5}}, [], "find(a?, b?, c?, d?)"),
        ({name: {} for name in "abcdefghij"}, [], "find(a?, b?, c?, d?, e?, f?, g?, h?, …)"),
    ],
)
def test_a_line_has_the_arguments_and_the_types_that_are_not_text(
    properties: Json, required: list[str], line: str
) -> None:
    assert signature({"name": "find", "inputSchema": {"properties": properties, "required": required}}) == line


@pytest.mark.parametrize(
    ("name", "description", "said"),
    [
        ("list_orders", "Lists the orders.", ""),
        ("listOrders", "List late orders of a customer. With more.", "List late orders of a customer"),
        ("HTTPGet", "An HTTP get", ""),
    ],
)
def test_a_summary_says_what_the_name_does_not(name: str, description: str, said: str) -> None:
    assert signature({"name": name, "description": description}) == f"{name}() {said}".rstrip()


def test_a_long_summary_ends_after_a_word() -> None:
    line = signature(
        {"name": "x", "description": "one two three four five six seven eight nine ten eleven twelve thirteen"}
    )
    assert line == "x() one two three four five six seven eight nine ten eleven…"


@pytest.mark.parametrize(
    ("properties", "is_all"),
    [
        ({"a": {"type": "string"}}, True),
        ({"a": {"type": "string", "enum": ["x"]}}, False),
        ({"a": {"type": "object"}}, False),
        ({name: {"type": "string"} for name in "abcdefghi"}, False),
    ],
)
def test_a_line_says_all_where_any_value_of_its_types_fits(properties: Json, is_all: bool) -> None:
    assert says_all({"name": "find", "inputSchema": {"properties": properties}}) == is_all


def test_each_level_says_less_than_the_one_before() -> None:
    catalog = catalog_of(many(40))
    texts = [
        compact_json(model_definitions(listed_tools(catalog, ListOptions(level), count_o200k))) for level in LEVELS
    ]
    counts = list(map(count_o200k, texts))
    assert counts == sorted(counts, reverse=True)
    assert len(set(counts)) == len(LEVELS)
    signatures, names, lazy = texts[1:]
    assert "get_part_7(number:int) Looks up what 7 costs" in signatures
    assert "get_part_7, get_part_8" in names
    assert "40 tools, of: get, part" in lazy


def test_lists_of_calls_are_offered_where_the_transport_can_make_them() -> None:
    catalog = catalog_of(many(40))
    for has_lists in (False, True):
        index = index_tool(catalog, "names", has_lists=has_lists)
        assert ("calls" in index["inputSchema"]["properties"]) == ("$from" in index["description"]) == has_lists


@pytest.mark.parametrize(
    ("tools", "session", "level"),
    [
        ([], AgentUse(), "full"),
        (many(1, ""), AgentUse(), "full"),
        (many(60), AgentUse(tools=1, calls=1), "lazy"),
        (many(60), AgentUse(tools=3, calls=6), "signatures"),
    ],
)
def test_the_cheapest_level_depends_on_the_tools_and_the_calls(
    tools: list[Json], session: AgentUse, level: str
) -> None:
    catalog = catalog_of(tools)
    assert cheapest_level(catalog, session, count_o200k) == level
    costs = {each: session_tokens(catalog, each, session, count_o200k) for each in LEVELS} if tools else {"full": 0}
    assert costs[level] == min(costs.values())  # type: ignore[index]


def test_auto_lists_what_costs_least_in_a_session_of_usual_length() -> None:
    few, more = catalog_of(many(1, "")), catalog_of(many(60))
    assert listed_tools(few, ListOptions("auto"), count_o200k) == many(1, "")
    assert "get_part_7(number:int)" in listed_tools(more, ListOptions("auto"), count_o200k)[0]["description"]


def test_every_level_is_smaller_than_the_peers_on_every_recorded_list() -> None:
    data: Path | None = find_data()
    if data is None:
        pytest.skip("no data folder (set ACCP_DATA)")
    peer: dict[str, dict[str, int]] = json.loads(PEER.read_text(encoding="utf-8"))
    for name, tools in all_servers(data).items():
        catalog = catalog_of(tools)
        ours = {level: _tokens(listed_tools(catalog, ListOptions(level, True), count_o200k)) for level in LEVELS}
        assert ours["signatures"] <= min(peer[name]["low"], peer[name]["medium"]), name
        assert ours["names"] <= min(peer[name]["high"], peer[name]["max"]), name
        assert ours["lazy"] <= peer[name]["max"], name


def _tokens(tools: list[Any]) -> int:
    return count_o200k(compact_json(model_definitions(tools)))
