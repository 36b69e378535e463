"""JSON-RPC messages of both eras, and a connection of a Decoder and an Encoder in front of a scripted server."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field
from typing import Any, Literal

from accp_adapters.mcp import EXTENSION, Decoder, Encoder

Json = dict[str, Any]
Era = Literal["2025-11-25", "2026-07-28"]
ERAS: tuple[Era, ...] = ("2025-11-25", "2026-07-28")
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"


def request(method: str, params: Json | None = None, *, message_id: object = 1, era: Era = "2025-11-25") -> Json:
    """Return a request as an unaware client of that era sends it."""
    params = dict(params or {})
    if era == "2026-07-28":
        params["_meta"] = {"io.modelcontextprotocol/protocolVersion": era, CAPABILITIES: {}}
    return {"jsonrpc": "2.0", "id": message_id, "method": method, "params": params}


def start(era: Era = "2025-11-25") -> Json:
    """Return the request with which a client of that era learns what the server can do."""
    if era == "2026-07-28":
        return request("server/discover", message_id=0, era=era)
    client = {"name": "client", "version": "1"}
    return request("initialize", {"protocolVersion": era, "capabilities": {}, "clientInfo": client}, message_id=0)


def started(era: Era = "2025-11-25", **members: Any) -> Json:
    """Return the result of `start`."""
    if era == "2026-07-28":
        modern = {"supportedVersions": [era], "resultType": "complete", "ttlMs": 1000, "cacheScope": "public"}
        return {"capabilities": {"tools": {}}, **modern, **members}
    return {"protocolVersion": era, "capabilities": {"tools": {}}, "serverInfo": {"name": "s"}, **members}


def call(name: str = "find", arguments: Json | None = None, *, message_id: object = 1, era: Era = "2025-11-25") -> Json:
    """Return a call of a tool."""
    return request("tools/call", {"name": name, "arguments": arguments or {}}, message_id=message_id, era=era)


def response(result: Json, message_id: object = 1) -> Json:
    """Return a response."""
    return {"jsonrpc": "2.0", "id": message_id, "result": result}


def served(value: Any, *, indent: int | None = 2, **members: Any) -> Json:
    """Return a result as SDKs write it: the value as JSON text, and again as `structuredContent`."""
    structured = value if isinstance(value, dict) else {"result": value}
    text = json.dumps(value, indent=indent)
    return {"content": [{"type": "text", "text": text}], "structuredContent": structured, "isError": False, **members}


def rows(count: int = 20) -> Json:
    """Return a value that a table makes smaller, its keys not sorted."""
    items = [{"sku": f"A-{n}", "name": f"part {n}", "price": n + 0.5, "left": None} for n in range(count)]
    return {"items": items, "cursor": ""}


@dataclass
class Wire:
    """A client's and a server's shim, either of which may be missing, and what went between them."""

    encoder: Encoder | None = field(default_factory=Encoder)
    decoder: Decoder | None = field(default_factory=Decoder)
    era: Era = "2025-11-25"
    between: list[Json] = field(default_factory=list)
    """What the server's side sent."""

    def ask(self, message: Json, answer: Json) -> Json:
        """Return what the client sees when the server answers `message` with the result `answer`."""
        sent = self.decoder.from_client(message) if self.decoder else message
        if self.encoder:
            own = self.encoder.answer_own(sent)
            if own is not None:
                return self.decoder.from_server(own) if self.decoder else own
            self.encoder.from_client(sent)
        reply = copy.deepcopy({"jsonrpc": "2.0", "id": message["id"], "result": answer})
        coded = self.encoder.from_server(reply) if self.encoder else reply
        self.between.append(coded)
        return self.decoder.from_server(coded) if self.decoder else coded

    def begin(self, **members: Any) -> Json:
        """Start in the era of this connection."""
        return self.ask(start(self.era), started(self.era, **members))

    def call(self, answer: Json, message_id: object = 1) -> Json:
        """Return the result that the client sees of a tool's result."""
        seen: Json = self.ask(call(era=self.era, message_id=message_id), answer)["result"]
        return seen


def block_of(result: Json) -> Json:
    """Return the settings of our extension in a result of `initialize` or `server/discover`."""
    capabilities = result["capabilities"]
    found: Json = {**capabilities.get("experimental", {}), **capabilities.get("extensions", {})}[EXTENSION]
    return found
