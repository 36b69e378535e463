"""Who understands frames: the capability block of both eras, and the registry announced beside it (section 11.3).

    era              the client says                                          the server answers
    <= 2025-11-25    initialize: capabilities.experimental[EXTENSION]         capabilities.experimental[EXTENSION]
                     (or .extensions, as clients of later SDKs do)
    2026-07-28       every request: _meta[clientCapabilities].extensions      discover: capabilities.extensions

"Registry sync occurs at MCP session initialization via a sync:registry frame in the system prompt": MCP has none, so
the frame stands in the `instructions` of that answer, which a host may show to its model. A client that did not
declare the extension is answered byte for byte as the server answered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, get_args

from accp_adapters.mcp.shim.protocol import CLIENT_CAPABILITIES, EXTENSION, REGISTRY_URI, SENDER, Json, without
from accp_core.accp import BUILT_IN, Frame, Intent, SchemaRegistry, Value, serialize_frame

__all__ = [
    "Declared",
    "Structured",
    "announce",
    "announcement",
    "declare",
    "declared_at_start",
    "declared_in_request",
    "discard_announcement",
    "settings_in",
]

Structured: TypeAlias = Literal["keep", "drop", "only"]
"""Both forms of a result; `content` alone; `structuredContent` alone, less the texts that repeat it."""

VERSION: Final = 1
"""Of the settings in the capability block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What a client said it understands; a setting it did not make, or made wrongly, is at its default."""

    results: Literal["frame", "view"] = "frame"
    """Whether it decodes frames or wants texts for a model."""
    structured: Structured | None = None
    """Which form of a result it wants, where both say the same; None: what the server is set to."""
    restores: bool = False
    """Whether it writes `structuredContent` again from a frame, which so need not be sent beside it."""
    columns: bool = False
    """Whether it can turn a table (a header row, then rows) back into the maps it was."""
    fetch: bool = False
    """Whether it opens references, so that a large result may be one."""
    listed: bool = True
    """Whether the resources of the shim are to be listed among the server's."""
    registry: str = ""
    """The hash of the schema registry it has."""

    def to_json(self) -> Json:
        """Return the capability block."""
        said = {"results": self.results, "structured": self.structured, "registry": self.registry or None}
        flags = {name: True if getattr(self, name) else None for name in ("restores", "columns", "fetch")}
        flags["listed"] = None if self.listed else False
        return {"version": VERSION, **{name: value for name, value in (said | flags).items() if value is not None}}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Declared:
        """Return what a capability block says."""
        structured = data.get("structured")
        return cls(
            results="view" if data.get("results") == "view" else "frame",
            structured=structured if structured in get_args(Structured) else None,
            restores=data.get("restores") is True,
            columns=data.get("columns") is True,
            fetch=data.get("fetch") is True,
            listed=data.get("listed") is not False,
            registry=str(data.get("registry", "")),
        )


def settings_in(capabilities: object) -> Json | None:
    """Return the capability block in `capabilities`, wherever it stands; None when there is none."""
    for place in ("extensions", "experimental"):
        holder = capabilities.get(place) if isinstance(capabilities, dict) else None
        block = holder.get(EXTENSION) if isinstance(holder, dict) else None
        if isinstance(block, dict):
            return block
    return None


def declared_at_start(params: object) -> Declared | None:
    """Return what the params of `initialize` declare; None for a client that knows nothing of frames."""
    return _declared(params.get("capabilities") if isinstance(params, dict) else None)


def declared_in_request(params: object) -> Declared | None:
    """Return what the `_meta` of one request declares (2026-07-28), None as above."""
    return _declared(_request_capabilities(params))


def _declared(capabilities: object) -> Declared | None:
    block = settings_in(capabilities)
    return None if block is None else Declared.from_json(block)


def _request_capabilities(params: object) -> Any:
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta.get(CLIENT_CAPABILITIES) if isinstance(meta, dict) else None


def declare(message: Json, declared: Declared) -> Json:
    """Return a client's message with the extension declared; the same message where it has no place for it.

    A malformed request is not repaired: only an object of capabilities that is there is added to.
    """
    params = message.get("params")
    if not isinstance(params, dict) or not isinstance(message.get("method"), str):
        return message
    if message["method"] == "initialize":
        capabilities = _with_block(params.get("capabilities"), "experimental", declared.to_json())
        return message if capabilities is None else {**message, "params": {**params, "capabilities": capabilities}}
    capabilities = _with_block(_request_capabilities(params), "extensions", declared.to_json())
    if capabilities is None:
        return message
    meta = {**params["_meta"], CLIENT_CAPABILITIES: capabilities}
    return {**message, "params": {**params, "_meta": meta}}


def announcement(registry: SchemaRegistry = BUILT_IN) -> str:
    """Return the frame that says which registry a server has: `@mcp>sync:registry{v:1|hash:…}`."""
    params: dict[str, Value] = {"v": registry.version, "hash": registry.hash}
    return serialize_frame(Frame(sender=SENDER, intent=Intent.SYNCHRONIZE, operation="registry", params=params))


def announce(result: Json, method: str, registry: SchemaRegistry) -> Json:
    """Return the result of `initialize` or `server/discover` with the extension answered and announced."""
    block = {
        "version": VERSION,
        "registry": {"v": registry.version, "hash": registry.hash, "uri": REGISTRY_URI},
        "profiles": ["TC", "ER"],
    }
    place = "experimental" if method == "initialize" else "extensions"
    capabilities = _with_block(result.get("capabilities"), place, block)
    if capabilities is None:
        return result
    said, frame = result.get("instructions"), announcement(registry)
    if "instructions" in result and not isinstance(said, str):
        return {**result, "capabilities": capabilities}
    instructions = frame if said is None else f"{said}\n{frame}"
    return {**result, "capabilities": capabilities, "instructions": instructions}


def discard_announcement(result: Json, registry_hash: str) -> Json:
    """Return a result of `announce` with the `instructions` that the server gave: a decoder's model needs no frame."""
    said = result.get("instructions")
    before, _, last = said.rpartition("\n") if isinstance(said, str) else ("", "", "")
    if not last.startswith(f"@{SENDER}>sync:registry{{") or registry_hash not in last:
        return result
    if last == said:
        return without(result, "instructions")
    return {**result, "instructions": before}


def _with_block(capabilities: object, place: str, block: Json) -> Json | None:
    """Return `capabilities` with our block at `place`; None where there is no room for it, or it is there."""
    if not isinstance(capabilities, dict) or settings_in(capabilities) is not None:
        return None
    holder = capabilities.get(place, {})
    return {**capabilities, place: {**holder, EXTENSION: block}} if isinstance(holder, dict) else None
