"""Tokens of the definitions of MCP tools, in full and as the index, beside a peer's, which are recorded."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from accp_adapters.cli.tables import percent, plain_table
from accp_adapters.mcp.index import ToolCatalog, listed_tools
from accp_adapters.mcp.messages import JsonObject
from accp_adapters.tokens import count_o200k
from accp_core.strict_json import compact_json
from tests.harness.bench.data import read_json

__all__ = ["PEER", "all_servers", "main"]

PEER: Final = Path(__file__).with_name("mcp_compressor.json")
"""Name of a list to mcp-compressor's tokens at each of its levels."""
_PEER_LEVELS: Final = ("low", "medium", "high", "max")
_MAX_ROWS: Final = 10
"""Servers with a row of their own: those with the most tokens."""
_NOTES: Final = """\
Counted is what a host shows a model of a tool: name, description, inputSchema, as compact JSON. Full: as the server
lists it. Index: what --index lists; a list that it does not make smaller is listed in full. low to max:
mcp-compressor 0.38.2 (low and medium: names, arguments, descriptions; high: names, arguments; max: names).
"""


def main(data: Path | None, console: Console) -> None:
    """Print the table, or what was skipped."""
    servers = all_servers(data) if data else {}
    if not servers:
        console.print("MCP tools: skipped, no data folder (set ACCP_DATA)")
        return
    peer = _peer()
    counts = {name: [len(tools), *_tokens(tools), *peer.get(name, [0] * 4)] for name, tools in servers.items()}
    largest = sorted(counts, key=lambda name: -counts[name][1])[:_MAX_ROWS]
    rows = [(name, *counts[name]) for name in largest]
    rest = [counts[name] for name in counts if name not in largest]
    rows += [(f"{len(rest)} others", *map(sum, zip(*rest, strict=True)))] if rest else []
    rows.append((f"{len(counts)} lists", *map(sum, zip(*counts.values(), strict=True))))
    title = "MCP tool definitions: o200k_base tokens in each model call"
    columns = ("", "tools", "full", "index", "%", *_PEER_LEVELS)
    console.print(plain_table(title, columns, [_line(*row) for row in rows]))
    console.print(_NOTES)


def _line(name: str, tools: int, full: int, index: int, *peer: int) -> tuple[str, ...]:
    cells = (f"{tokens:,}" if tokens else "" for tokens in peer)
    return name, f"{tools:,}", f"{full:,}", f"{index:,}", percent(index, full), *cells


def _tokens(tools: list[JsonObject]) -> list[int]:
    """Return the tokens of a list in full, and with the index."""
    catalog = ToolCatalog()
    catalog.add({"tools": tools}, None)
    shown = ("name", "description", "inputSchema")
    lists = (list(catalog.tools.values()), listed_tools(catalog, count_o200k))
    definitions = ([{name: tool[name] for name in shown if name in tool} for tool in each] for each in lists)
    return [count_o200k(compact_json(each)) for each in definitions]


def all_servers(data: Path) -> dict[str, list[JsonObject]]:
    """Return the tools of all servers whose definitions were recorded or published, by name."""
    folder = data / "json_documents" / "mcp_tool_definitions"
    if not folder.is_dir():
        return {}
    return {**dict(_captured(data / "mcp")), **dict(_collected(folder))}


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


def _peer() -> dict[str, list[int]]:
    """Return the peer's tokens by the name of a list."""
    recorded: dict[str, dict[str, int]] = read_json(PEER)
    return {name: [levels[level] for level in _PEER_LEVELS] for name, levels in recorded.items()}
