"""Tokens of the definitions of MCP tools in every model call: as listed, as an index, with some of them described."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from accp_adapters.inspector.tables import percent, plain_table
from accp_adapters.mcp.shim.protocol import JsonObject
from accp_adapters.mcp.shim.tools.tool_catalog import ToolCatalog
from accp_adapters.mcp.shim.tools.tool_index import INDEX_NAME, answer_index_call, index_tool, listed_tools
from accp_adapters.tokens import o200k_base
from accp_core.strict_json import compact_json
from accp_core.view import render
from tests.bench.data import read_json

__all__ = ["main"]

_DESCRIBED: Final = (1, 3, 10)
"""Tools that a session uses."""
_MAX_ROWS: Final = 10
"""Servers with a row of their own: those with the most tokens."""
_NOTES: Final = """\
Counted is what a host shows a model of a tool: name, description, inputSchema. Plain: compact JSON. View: the same as
a view, which no provider's API accepts. Lazy: what tools="lazy" lists. + k: that, and the calls that describe k tools
of average size, which then are part of the session's history.
"""


def main(data: Path | None, console: Console) -> None:
    """Print the table, or what was skipped."""
    folder = data / "json_documents" / "mcp_tool_definitions" if data else None
    if data is None or folder is None or not folder.is_dir():
        console.print("MCP tools: skipped, no data folder (set ACCP_DATA)")
        return
    servers = {**dict(_captured(data / "mcp")), **dict(_collected(folder))}
    counts = {name: [len(tools), *_count(tools)] for name, tools in servers.items()}
    largest = sorted(counts, key=lambda name: -counts[name][1])[:_MAX_ROWS]
    rows = [(name, *counts[name]) for name in largest]
    rest = [counts[name] for name in counts if name not in largest]
    rows += [(f"{len(rest)} others", *map(sum, zip(*rest, strict=True)))] if rest else []
    rows.append((f"{len(counts)} servers", *map(sum, zip(*counts.values(), strict=True))))
    columns = ("", "tools", "plain", "view", "lazy", "%", *(f"+ {k}" for k in _DESCRIBED))
    title = "MCP tool definitions: o200k_base tokens in each model call"
    console.print(plain_table(title, columns, [_line(*row) for row in rows]))
    console.print(_NOTES)


def _line(name: str, tools: int, plain: int, view: int, lazy: int, *described: int) -> tuple[str, ...]:
    return (
        name,
        f"{tools:,}",
        f"{plain:,}",
        f"{view:,}",
        f"{lazy:,}",
        percent(lazy, plain),
        *map("{:,}".format, described),
    )


def _count(tools: list[JsonObject]) -> list[int]:
    """Return the tokens of the definitions: plain, as a view, as lazy mode lists them, with some described."""
    count, catalog = o200k_base(), ToolCatalog()
    catalog.add({"tools": tools}, None)
    definitions = [_definition(tool) for tool in tools]
    plain = count(compact_json(definitions))
    listed = listed_tools(catalog, count)
    is_index = [tool["name"] for tool in listed] == [INDEX_NAME]
    lazy = count(compact_json([index_tool(catalog)])) if is_index else plain
    described = sum(_tokens_to_describe(tool["name"], catalog) for tool in tools) / len(tools) if is_index else 0
    return [
        plain,
        count(render(definitions, counter=count)),
        lazy,
        *(round(lazy + min(k, len(tools)) * described) for k in _DESCRIBED),
    ]


def _tokens_to_describe(name: str, catalog: ToolCatalog) -> int:
    """Return the tokens of the call that describes one tool, and of its result."""
    arguments = {"describe": name}
    answer = answer_index_call(arguments, catalog)["content"][0]["text"]
    return o200k_base()(compact_json({"name": INDEX_NAME, "arguments": arguments})) + o200k_base()(answer)


def _definition(tool: JsonObject) -> JsonObject:
    return {name: tool[name] for name in ("name", "description", "inputSchema") if name in tool}


def _captured(folder: Path) -> Iterator[tuple[str, list[JsonObject]]]:
    """Yield the tools of servers whose exchanges were recorded."""
    for path in sorted(folder.glob("*.json")):
        listed = read_json(path)["legacy"].get("tools/list")
        if listed:
            yield path.stem, listed["result"]["tools"]


def _collected(folder: Path) -> Iterator[tuple[str, list[JsonObject]]]:
    """Yield the tools of servers whose definitions were published."""
    snaps = sorted((folder / "__toolsnaps__").glob("*.snap"))
    if snaps:
        yield "github", [json.loads(path.read_text(encoding="utf-8")) for path in snaps]
    collection = folder / "livemcptool_tools.json"
    servers: list[Any] = read_json(collection) if collection.is_file() else []
    for server in servers:
        for name, part in server["tools"].items():
            if part.get("tools"):
                yield name, part["tools"]
