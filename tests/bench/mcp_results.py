"""Tokens of recorded MCP results: as served, as frames, and as views in one form or in both."""

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

_FORMS: Final[Mapping[str, ClientSettings]] = MappingProxyType(
    {
        "frame": ClientSettings(restores=True, columns=True),
        "views": ClientSettings(results="view"),
        "content": ClientSettings(results="view", structured="drop"),
        "structured": ClientSettings(results="view", structured="only"),
    }
)
_NOTES: Final = """\
Counted are the texts in content, and structuredContent as compact JSON. Served: as the server sent them. Frame: to a
client that negotiated. Views: both forms, the texts as views. Content, structured: that form alone. Larger: results
with more tokens than as served. Lost: results that could not be restored as they were served.
"""


def main(data: Path | None, console: Console) -> None:
    """Print the table, or what was skipped."""
    if data is None:
        console.print("MCP results: skipped, no data folder (set ACCP_DATA)")
        return
    servers = {path.stem: list(_captured(path)) for path in sorted((data / "mcp").glob("*.json"))}
    rows = [(name, _count(results)) for name, results in servers.items() if results]
    rows.append(("total", [sum(column) for column in zip(*(row for _, row in rows), strict=True)]))
    columns = ("", "results", "served", *(head for form in _FORMS for head in (form, "%")), "larger", "lost")
    title = "Results of MCP tools: o200k_base tokens of what is read"
    console.print(plain_table(title, columns, [(name, *_line(row)) for name, row in rows]))
    console.print(_NOTES)


def _line(row: list[int]) -> list[str]:
    results, served, *forms, larger, lost = row
    pairs = [cell for tokens in forms for cell in (f"{tokens:,}", percent(tokens, served))]
    return [f"{results:,}", f"{served:,}", *pairs, f"{larger:,}", f"{lost:,}"]


def _captured(path: Path) -> Iterator[JsonObject]:
    capture = read_json(path)
    calls = (capture.get("legacy") or {}).get("tools/call", [])
    yield from (call["response"]["result"] for call in calls if "result" in call["response"])


def _count(results: list[JsonObject]) -> list[int]:
    served = [count_o200k(visible_text(result)) for result in results]
    sent = [[_sent(result, settings) for result in results] for settings in _FORMS.values()]
    tokens = [[count_o200k(visible_text(result)) for result in form] for form in sent]
    larger = sum(after > before for form in tokens for after, before in zip(form, served, strict=True))
    lost = sum(_restored(after) != before for form in sent for after, before in zip(form, results, strict=True))
    return [len(results), sum(served), *map(sum, tokens), larger, lost]


def _sent(result: JsonObject, settings: ClientSettings) -> JsonObject:
    """Return a result as a client with these settings gets it."""
    encoder = Encoder()
    params = {"name": "tool", "arguments": {}, "_meta": {CLIENT_CAPABILITIES: {}}}
    encoder.from_client(
        declare_extension({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, settings)
    )
    sent: JsonObject = encoder.from_server({"jsonrpc": "2.0", "id": 1, "result": result})["result"]
    return sent


def _restored(sent: JsonObject) -> JsonObject:
    """Return a result as a decoder restores it."""
    plain: JsonObject = Decoder().from_server({"jsonrpc": "2.0", "id": 1, "result": sent})["result"]
    return plain
