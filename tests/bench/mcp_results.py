"""What hosts are shown of results that MCP servers gave: as served, as frames, as views in one form or in both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from rich.console import Console

from accp_adapters.inspector.tables import percent, plain_table
from accp_adapters.mcp import Decoder, Encoder
from accp_adapters.mcp.shim.negotiation import ClientSettings, declare_extension
from accp_adapters.mcp.shim.protocol import CLIENT_CAPABILITIES, JsonObject, visible_text
from accp_adapters.tokens import count_o200k
from tests.bench.data import read_json

__all__ = ["main"]

_WAYS: Final[Mapping[str, ClientSettings]] = MappingProxyType(
    {
        "frame": ClientSettings(restores=True, columns=True),
        "views": ClientSettings(results="view"),
        "content": ClientSettings(results="view", structured="drop"),
        "structured": ClientSettings(results="view", structured="only"),
    }
)
_NOTES: Final = """\
Tokens are those of content, texts as they are, and of structuredContent as compact JSON. Served: as the server gave
them. Frame: to a client that negotiated. Views: both forms, the texts as views; content, structured: that form alone.
Larger, lost: results that took more tokens than as served, and that could not be written again as they were served.
"""


def main(data: Path | None, console: Console) -> None:
    """Print the table, or what was skipped."""
    if data is None:
        console.print("MCP results: skipped, no data folder (set ACCP_DATA)")
        return
    servers = {path.stem: list(_captured(path)) for path in sorted((data / "mcp").glob("*.json"))}
    rows = [(name, _count(results)) for name, results in servers.items() if results]
    rows.append(("total", [sum(column) for column in zip(*(row for _, row in rows), strict=True)]))
    columns = ("", "results", "served", *(head for way in _WAYS for head in (way, "%")), "larger", "lost")
    title = "Results of MCP tools: o200k_base tokens of what is read"
    console.print(plain_table(title, columns, [(name, *_line(row)) for name, row in rows]))
    console.print(_NOTES)


def _line(row: list[int]) -> list[str]:
    results, served, *ways, larger, lost = row
    pairs = [cell for tokens in ways for cell in (f"{tokens:,}", percent(tokens, served))]
    return [f"{results:,}", f"{served:,}", *pairs, f"{larger:,}", f"{lost:,}"]


def _captured(path: Path) -> Iterator[JsonObject]:
    capture = read_json(path)
    calls = (capture.get("legacy") or {}).get("tools/call", [])
    yield from (call["response"]["result"] for call in calls if "result" in call["response"])


def _count(results: list[JsonObject]) -> list[int]:
    served = [count_o200k(visible_text(result)) for result in results]
    seen = [[_seen(result, way) for result in results] for way in _WAYS.values()]
    tokens = [[count_o200k(visible_text(each)) for each in way] for way in seen]
    larger = sum(new > old for way in tokens for new, old in zip(way, served, strict=True))
    lost = sum(_restored(each) != result for way in seen for each, result in zip(way, results, strict=True))
    return [len(results), sum(served), *map(sum, tokens), larger, lost]


def _seen(result: JsonObject, client_settings: ClientSettings) -> JsonObject:
    """Return a result as a client that declared so is sent it."""
    encoder = Encoder()
    params = {"name": "tool", "arguments": {}, "_meta": {CLIENT_CAPABILITIES: {}}}
    encoder.from_client(
        declare_extension({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, client_settings)
    )
    seen: JsonObject = encoder.from_server({"jsonrpc": "2.0", "id": 1, "result": result})["result"]
    return seen


def _restored(seen: JsonObject) -> JsonObject:
    """Return a result as a decoder that shows plain results gives it back."""
    plain: JsonObject = Decoder().from_server({"jsonrpc": "2.0", "id": 1, "result": seen})["result"]
    return plain
