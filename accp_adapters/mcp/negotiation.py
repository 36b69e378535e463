"""Which clients understand frames: the capability block of both eras, and the announced registry (section 11.3).

    era              the client declares                                      the server answers
    <= 2025-11-25    initialize: capabilities.experimental[EXTENSION]         capabilities.experimental[EXTENSION]
                     (or .extensions, as clients of later SDKs do)
    2026-07-28       every request: _meta[clientCapabilities].extensions      discover: capabilities.extensions

"Registry sync occurs at MCP session initialization via a sync:registry frame in the system prompt": MCP has no system
prompt, so the frame is added to the `instructions` of that answer, which a host may show to its model. A client that
did not declare the extension gets the server's answer byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from accp_adapters.mcp import messages
from accp_adapters.mcp.frames import codec
from accp_adapters.wire_log import log_frame
from accp_core.accp import Envelope, Frame, Intent, Message, SchemaRegistry, Value, serialize_frame
from accp_core.accp.debug import Direction
from accp_core.accp.profiles import PINNED
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = [
    "REGISTRY_RESOURCE", "ClientSettings", "announce_registry", "declare_extension", "find_capability",
    "merge_registry", "read_registry", "remove_announcement", "settings_in_initialize", "settings_in_request",
]  # fmt: skip

_VERSION: Final = 1
"""The version of the settings in the capability block."""
_HOUR_MS: Final = 3_600_000
"""One hour in milliseconds."""
REGISTRY_RESOURCE: Final[messages.JsonObject] = {
    "uri": messages.REGISTRY_URI,
    "name": "accp-registry",
    "title": "ACCP schema registry",
    "mimeType": messages.FRAME_MEDIA_TYPE,
}
"""The entry of resources/list for the registry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSettings:
    """The capability block of a client; a missing or invalid member has its default."""

    results: Literal["frame", "view"] = "frame"
    """Whether the client decodes frames or wants views, which its model can read."""
    restores: bool = False
    """Whether it restores `structuredContent` from a frame, so that it need not be sent with the frame."""
    fetch: bool = False
    """Whether it opens references, so that a large result may be a preview."""
    listed: bool = True
    """Whether the shim's own resources are listed with those of the server."""
    registry: str = ""
    """The hash of its schema registry."""

    def to_json(self) -> messages.JsonObject:
        """Return the capability block."""
        members = {"results": self.results, "registry": self.registry or None}
        flags = {name: True if getattr(self, name) else None for name in ("restores", "fetch")}
        flags["listed"] = None if self.listed else False
        return {"version": _VERSION, **{name: value for name, value in (members | flags).items() if value is not None}}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ClientSettings:
        """Return the settings in a capability block."""
        return cls(
            results="view" if data.get("results") == "view" else "frame",
            restores=data.get("restores") is True,
            fetch=data.get("fetch") is True,
            listed=data.get("listed") is not False,
            registry=str(data.get("registry", "")),
        )


def find_capability(capabilities: object) -> messages.JsonObject | None:
    """Return our capability block in `capabilities`, under either member; None if there is none."""
    for member in ("extensions", "experimental"):
        blocks = capabilities.get(member) if isinstance(capabilities, dict) else None
        block = blocks.get(messages.EXTENSION) if isinstance(blocks, dict) else None
        if isinstance(block, dict):
            return block
    return None


def settings_in_initialize(params: object) -> ClientSettings | None:
    """Return the settings in the params of `initialize`; None if the client did not declare the extension."""
    return _settings(params.get("capabilities") if isinstance(params, dict) else None)


def settings_in_request(params: object) -> ClientSettings | None:
    """Return the settings in the `_meta` of a request of 2026-07-28; None if it does not declare the extension."""
    return _settings(_request_capabilities(params))


def _settings(capabilities: object) -> ClientSettings | None:
    block = find_capability(capabilities)
    return None if block is None else ClientSettings.from_json(block)


def _request_capabilities(params: object) -> Any:
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta.get(messages.CLIENT_CAPABILITIES) if isinstance(meta, dict) else None


def declare_extension(message: messages.JsonObject, settings: ClientSettings) -> messages.JsonObject:
    """Return a client's message that declares the extension; the same message where it cannot.

    A malformed request is not repaired: the block is only added to an existing object of capabilities.
    """
    params = message.get("params")
    if not isinstance(params, dict) or not isinstance(message.get("method"), str):
        return message
    if message["method"] == "initialize":
        capabilities = _with_block(params.get("capabilities"), "experimental", settings.to_json())
        return message if capabilities is None else {**message, "params": {**params, "capabilities": capabilities}}
    capabilities = _with_block(_request_capabilities(params), "extensions", settings.to_json())
    if capabilities is None:
        return message
    meta = {**params["_meta"], messages.CLIENT_CAPABILITIES: capabilities}
    return {**message, "params": {**params, "_meta": meta}}


def announce_registry(
    result: messages.JsonObject, method: str, registry: SchemaRegistry, envelope: Callable[[], Envelope]
) -> messages.JsonObject:
    """Return the result of `initialize` or `server/discover` with our capability block and the announced registry.

    A frame, whose metadata `envelope` returns, names it: `@mcp>sync:registry{v:1|hash:…}[mid:…,seq:…,ts:…]`.
    """
    block = {
        "version": _VERSION,
        "registry": {"v": registry.version, "hash": registry.hash, "uri": messages.REGISTRY_URI},
        "profiles": ["TC", "ER"],
    }
    member = "experimental" if method == "initialize" else "extensions"
    capabilities = _with_block(result.get("capabilities"), member, block)
    if capabilities is None:
        return result
    instructions = result.get("instructions")
    if "instructions" in result and not isinstance(instructions, str):
        return {**result, "capabilities": capabilities}
    params: dict[str, Value] = {"v": registry.version, "hash": registry.hash}
    frame = Frame(
        sender=messages.SENDER, intent=Intent.SYNCHRONIZE, operation="registry", params=params, envelope=envelope()
    )
    text = serialize_frame(frame)
    log_frame(Direction.SENT, "mcp", text)
    announced = text if instructions is None else f"{instructions}\n{text}"
    return {**result, "capabilities": capabilities, "instructions": announced}


def remove_announcement(result: messages.JsonObject, registry_hash: str) -> messages.JsonObject:
    """Return a result of `announce_registry` with the server's own `instructions`: a decoder's model needs no frame."""
    instructions = result.get("instructions")
    before, _, last = instructions.rpartition("\n") if isinstance(instructions, str) else ("", "", "")
    if not last.startswith(f"@{messages.SENDER}>sync:registry{{") or registry_hash not in last:
        return result
    if last == instructions:
        return messages.without(result, "instructions")
    return {**result, "instructions": before}


def _with_block(capabilities: object, member: str, block: messages.JsonObject) -> messages.JsonObject | None:
    """Return `capabilities` with our block in `member`; None where it cannot be added, or is there already."""
    if not isinstance(capabilities, dict) or find_capability(capabilities) is not None:
        return None
    blocks = capabilities.get(member, {})
    return {**capabilities, member: {**blocks, messages.EXTENSION: block}} if isinstance(blocks, dict) else None


# "On mismatch, the full registry delta is transmitted once and cached." (section 6.4)
def read_registry(registry: SchemaRegistry, envelope: Envelope, *, is_modern: bool) -> messages.JsonObject:
    """Return the result of reading the registry; from 2026-07-28 on, it says how long it may be cached."""
    message = Message(
        sender=messages.SENDER,
        intent=Intent.SYNCHRONIZE,
        operation="registry",
        payload=registry.offer(),
        envelope=envelope,
    )
    (frame,) = codec().encode(message).frames
    text = serialize_frame(frame)
    log_frame(Direction.SENT, "mcp", text)
    contents = [{"uri": messages.REGISTRY_URI, "mimeType": messages.FRAME_MEDIA_TYPE, "text": text}]
    if not is_modern:
        return {"contents": contents}
    return {"resultType": "complete", "contents": contents, "ttlMs": _HOUR_MS, "cacheScope": "private"}


def merge_registry(registry: SchemaRegistry, text: str) -> SchemaRegistry:
    """Return `registry` with the further schemas that a peer's `sync:registry` frame offers.

    Raises:
        DecodeError: `text` is not a frame.
        ProtocolError: E1002, it is another frame; or its schemas conflict with known ones.
    """
    message = codec().decode(text, keep_refs=True)
    if not isinstance(message, Message) or (message.intent, message.operation) != (Intent.SYNCHRONIZE, "registry"):
        raise ProtocolError("expected a sync:registry frame", code=ErrorCode.INVALID_INTENT)
    return registry.merged(SchemaRegistry.from_offer(message.payload, (registry,)), pinned=PINNED)
