"""Tokens of recorded MCP results, in the form that a host shows its model: as served, and as we send them."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final, get_args

from rich.console import Console

from accp_adapters.cli.tables import percent, plain_table
from accp_adapters.mcp import Decoder, Encoder
from accp_adapters.mcp.hosts import ShownForm, shown_text
from accp_adapters.mcp.messages import CLIENT_CAPABILITIES, JsonObject
from accp_adapters.mcp.negotiation import ClientSettings, declare_extension
from accp_adapters.tokens import count_o200k
from tests.harness.bench.data import read_json

__all__ = ["main"]

_KINDS: Final[tuple[ShownForm, ...]] = get_args(ShownForm)
"""What a host may show its model of a result."""
_CLIENTS: Final[Mapping[str, ClientSettings]] = MappingProxyType(
    {"frame": ClientSettings(restores=True), "view": ClientSettings(results="view")}
)
"""Clients that negotiate, which know both forms of a result."""
_PARAMS: Final[JsonObject] = {"name": "tool", "arguments": {}, "_meta": {CLIENT_CAPABILITIES: {}}}
_NOTES: Final = """\
Text, structured, both: what a host of that kind shows its model, as the server sent it and with --policy always: the
texts in content; structuredContent as compact JSON, the texts where there is none; both. Frame, view: both forms
as served, and what a client gets that negotiated frames or views. Unknown: % for a host whose
kind is not known, by what it may show. Larger: results with more tokens than as served. Lost: results that could not
be restored as they were served.
"""


def main(data: Path | None, console: Console) -> None:
    """Print the table, or what was skipped."""
    if data is None:
        console.print("MCP results: skipped, no data folder (set ACCP_DATA)")
        return
    servers = {path.stem: list(_captured(path)) for path in sorted((data / "mcp").glob("*.json"))}
    rows = [(name, _count(results)) for name, results in servers.items() if results]
    rows.append(("total", [sum(column) for column in zip(*(row for _, row in rows), strict=True)]))
    heads = [head for kind in _KINDS for head in (kind, "ours", "%")]
    columns = ("", "results", *heads, *(head for form in _CLIENTS for head in (form, "%")))
    title = "Results of MCP tools: o200k_base tokens of what a model reads"
    console.print(plain_table(title, columns, [(name, *_line(row)) for name, row in rows]))
    served = [sum(_tokens(result, kind) for results in servers.values() for result in results) for kind in _KINDS]
    unknown = [[_shown(result, "unknown") for result in results] for results in servers.values()]
    ours = [sum(_tokens(result, kind) for results in unknown for result in results) for kind in _KINDS]
    shares = (f"{kind} {percent(after, before)}" for kind, after, before in zip(_KINDS, ours, served, strict=True))
    larger, lost = rows[-1][1][-2:]
    console.print(f"unknown host: {', '.join(shares)}; larger: {larger}, lost: {lost}", highlight=False)
    console.print(_NOTES)


def _line(row: list[int]) -> list[str]:
    results, *counts, _, _ = row
    hosts, clients = counts[: 2 * len(_KINDS)], counts[2 * len(_KINDS) :]
    cells = []
    for before, after in zip(hosts[::2], hosts[1::2], strict=True):
        cells += [f"{before:,}", f"{after:,}", percent(after, before)]
    for after in clients:
        cells += [f"{after:,}", percent(after, hosts[-2])]
    return [f"{results:,}", *cells]


def _captured(path: Path) -> Iterator[JsonObject]:
    capture = read_json(path)
    calls = (capture.get("legacy") or {}).get("tools/call", [])
    yield from (call["response"]["result"] for call in calls if "result" in call["response"])


def _count(results: list[JsonObject]) -> list[int]:
    """Return the number of results, tokens by kind of host, tokens by client, larger results, lost results."""
    sent = {kind: [_shown(result, kind) for result in results] for kind in _KINDS}
    negotiated = {name: [_sent(result, settings) for result in results] for name, settings in _CLIENTS.items()}
    pairs = [(kind, results, after) for kind, after in sent.items()]
    pairs += [("both", results, after) for after in negotiated.values()]
    counts = [
        ([_tokens(result, kind) for result in before], [_tokens(result, kind) for result in after])
        for kind, before, after in pairs
    ]
    larger = sum(each > old for before, after in counts for old, each in zip(before, after, strict=True))
    lost = sum(_restored(each) != old for _, before, after in pairs for old, each in zip(before, after, strict=True))
    hosts = [sum(column) for pair in counts[: len(_KINDS)] for column in pair]
    return [len(results), *hosts, *(sum(after) for _, after in counts[len(_KINDS) :]), larger, lost]


def _tokens(result: JsonObject, kind: ShownForm) -> int:
    return count_o200k(shown_text(result, kind))


def _shown(result: JsonObject, host: str) -> JsonObject:
    """Return a result as a host that knows nothing of the extension gets it."""
    encoder = Encoder(policy="always", host=host)
    encoder.from_client({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": _PARAMS})
    sent: JsonObject = encoder.from_server({"jsonrpc": "2.0", "id": 1, "result": result})["result"]
    return sent


def _sent(result: JsonObject, settings: ClientSettings) -> JsonObject:
    """Return a result as a client with these settings gets it."""
    encoder = Encoder()
    encoder.from_client(
        declare_extension({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": _PARAMS}, settings)
    )
    sent: JsonObject = encoder.from_server({"jsonrpc": "2.0", "id": 1, "result": result})["result"]
    return sent


def _restored(sent: JsonObject) -> JsonObject:
    """Return a result as a decoder restores it."""
    plain: JsonObject = Decoder().from_server({"jsonrpc": "2.0", "id": 1, "result": sent})["result"]
    return plain
