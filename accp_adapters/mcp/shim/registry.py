"""The schema registry as a resource: `resources/read accp://registry` (ACCP sections 6.4 and 11.3)."""

from __future__ import annotations

from typing import Final

from accp_adapters.mcp.shim.protocol import FRAME_MEDIA_TYPE, REGISTRY_URI, SENDER, JsonObject
from accp_adapters.mcp.shim.results.frames import codec
from accp_adapters.wire_log import log_frame
from accp_core.accp import Envelope, Intent, Message, SchemaRegistry, serialize_frame
from accp_core.accp.debug import Direction
from accp_core.accp.profiles import PINNED
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["REGISTRY_RESOURCE", "merge_registry", "read_registry"]

_HOUR_MS: Final = 3_600_000
"""One hour in milliseconds."""
REGISTRY_RESOURCE: Final[JsonObject] = {
    "uri": REGISTRY_URI,
    "name": "accp-registry",
    "title": "ACCP schema registry",
    "mimeType": FRAME_MEDIA_TYPE,
}
"""The entry of resources/list for the registry."""


# "On mismatch, the full registry delta is transmitted once and cached." (section 6.4)
def read_registry(registry: SchemaRegistry, envelope: Envelope, *, is_modern: bool) -> JsonObject:
    """Return the result of reading the registry; from 2026-07-28 on, it says how long it may be cached."""
    message = Message(
        sender=SENDER, intent=Intent.SYNCHRONIZE, operation="registry", payload=registry.offer(), envelope=envelope
    )
    (frame,) = codec().encode(message).frames
    text = serialize_frame(frame)
    log_frame(Direction.SENT, "mcp", text)
    contents = [{"uri": REGISTRY_URI, "mimeType": FRAME_MEDIA_TYPE, "text": text}]
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
