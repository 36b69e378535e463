"""Tokens of the definitions of MCP tools at each level, beside a peer's, which are recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import starmap
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from accp_adapters.cli.tables import percent, plain_table
from accp_adapters.mcp.shim.protocol import JsonObject
from accp_adapters.mcp.shim.tools.levels import (
    LEVELS,
    AgentUse,
    ListOptions,
    cheapest_level,
    listed_tools,
    model_definitions,
    session_tokens,
)
from accp_adapters.mcp.shim.tools.tool_catalog import ToolCatalog
from accp_adapters.tokens import count_o200k
from accp_core.strict_json import compact_json
from tests.harness.bench.data import read_json

__all__ = ["PEER", "all_servers", "main"]

PEER: Final = Path(__file__).with_name("mcp_compressor.json")
"""Name of a list to mcp-compressor's tokens at each of its levels."""
_PEER_LEVELS: Final = ("low", "medium", "high", "max")
_SESSIONS: Final = (AgentUse(1, 1), AgentUse(3, 6), AgentUse(10, 30))
_SIZES: Final = (2, 5, 10, 20, 50, 10_000)
_MAX_ROWS: Final = 10
"""Servers with a row of their own: those with the most tokens."""
_NOTES: Final = """\
Counted is what a host shows a model of a tool: name, description, inputSchema, as compact JSON. Full: as the server
lists it. Signatures, names, lazy: what --tools lists at that level, lists of calls included; a list that no level
makes smaller is listed in full. low to max: mcp-compressor 0.38.2 (low and medium: names, arguments, descriptions;
high: names, arguments; max: names).
"""
_SESSION_NOTES: Final = """\
Tokens of definitions that all model calls of a session read, for all lists with so many tools: the list with each model
call, and what the model asks for because the list does not say it. k/n: the cheapest level where k tools are used in n
calls, its share of the full lists, and that of what --tools auto lists.
"""


def main(data: Path | None, console: Console) -> None:
    """Print the tables, or what was skipped."""
    servers = all_servers(data) if data else {}
    if not servers:
        console.print("MCP tools: skipped, no data folder (set ACCP_DATA)")
        return
    _print_levels(servers, console)
    _print_sessions(servers, console)


def _print_levels(servers: Mapping[str, list[JsonObject]], console: Console) -> None:
    peer = _peer(servers)
    counts = {name: [len(tools), *_levels(tools), *peer.get(name, [])] for name, tools in servers.items()}
    largest = sorted(counts, key=lambda name: -counts[name][1])[:_MAX_ROWS]
    rows = [(name, *counts[name]) for name in largest]
    rest = [counts[name] for name in counts if name not in largest]
    rows += [(f"{len(rest)} others", *map(sum, zip(*rest, strict=False)))] if rest else []
    rows.append((f"{len(counts)} lists", *map(sum, zip(*counts.values(), strict=False))))
    columns = ("", "tools", "full", *(head for level in LEVELS[1:] for head in (level, "%")), *_PEER_LEVELS)
    title = "MCP tool definitions: o200k_base tokens in each model call"
    console.print(plain_table(title, columns, list(starmap(_line, rows))))
    larger = sum(_is_larger(each) for each in counts.values())
    console.print(f"lists at which a level is larger than the peer's: {larger} of {len(counts)}", highlight=False)
    console.print(_NOTES)


def _line(name: str, tools: int, full: int, *counts: int) -> tuple[str, ...]:
    levels, peer = counts[: len(LEVELS) - 1], counts[len(LEVELS) - 1 :]
    shares = (cell for tokens in levels for cell in (f"{tokens:,}", percent(tokens, full)))
    cells = [f"{tokens:,}" for tokens in peer] or [""] * len(_PEER_LEVELS)
    return name, f"{tools:,}", f"{full:,}", *shares, *cells


def _is_larger(counts: list[int]) -> bool:
    if len(counts) < 2 + len(LEVELS):
        return False
    _, _, signatures, names, lazy, low, medium, high, most = counts
    return signatures > min(low, medium) or names > min(high, most) or lazy > most


def _levels(tools: list[JsonObject]) -> list[int]:
    """Return the tokens of a list at each level."""
    lists = (listed_tools(_catalog(tools), ListOptions(level, has_lists=True), count_o200k) for level in LEVELS)
    return [count_o200k(compact_json(model_definitions(listed))) for listed in lists]


def _catalog(tools: list[JsonObject]) -> ToolCatalog:
    catalog = ToolCatalog()
    catalog.add({"tools": tools}, None)
    return catalog


def _print_sessions(servers: Mapping[str, list[JsonObject]], console: Console) -> None:
    catalogs = [_catalog(tools) for tools in servers.values()]
    rows = []
    for least, most in zip((1, *(size + 1 for size in _SIZES)), _SIZES, strict=False):
        group = [catalog for catalog in catalogs if least <= len(catalog.tools) <= most]
        if group:
            size = f"{least}-{most}" if most < _SIZES[-1] else f"{least} and more"
            rows.append((size, str(len(group)), *(cell for session in _SESSIONS for cell in _session(group, session))))
    heads = (head for each in _SESSIONS for head in (f"{each.tools}/{each.calls}", "%", "auto %"))
    console.print(plain_table("At how many tools and calls a level pays", ("tools", "lists", *heads), rows))
    console.print(_SESSION_NOTES)


def _session(catalogs: list[ToolCatalog], session: AgentUse) -> tuple[str, ...]:
    costs = {level: sum(session_tokens(each, level, session, count_o200k) for each in catalogs) for level in LEVELS}
    chosen = [cheapest_level(each, AgentUse(), count_o200k) for each in catalogs]
    auto = sum(session_tokens(*pair, session, count_o200k) for pair in zip(catalogs, chosen, strict=True))
    best = min(LEVELS, key=costs.__getitem__)
    return best, percent(costs[best], costs["full"]), percent(auto, costs["full"])


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


def _peer(servers: Mapping[str, list[JsonObject]]) -> dict[str, list[int]]:
    """Return the peer's tokens by the name of a list."""
    recorded: dict[str, dict[str, int]] = read_json(PEER)
    return {name: [levels[level] for level in _PEER_LEVELS] for name, levels in recorded.items() if name in servers}
