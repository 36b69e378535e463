"""The schema registry as a resource: `resources/read accp://registry` (ACCP sections 6.4 and 11.3)."""

from __future__ import annotations

from typing import Final

from accp_adapters.mcp.shim.protocol import MEDIA_TYPE, REGISTRY_URI, SENDER, Json
from accp_adapters.mcp.shim.results.frames import CODEC
from accp_core.accp import Intent, Message, SchemaRegistry, serialize_frame
from accp_core.accp.profiles import PINNED
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["REGISTRY_RESOURCE", "learn_registry", "read_registry"]

_HOUR: Final = 3_600_000
REGISTRY_RESOURCE: Final[Json] = {
    "uri": REGISTRY_URI,
    "name": "accp-registry",
    "title": "ACCP schema registry",
    "mimeType": MEDIA_TYPE,
}
"""How the registry is listed among a server's resources."""


# "On mismatch, the full registry delta is transmitted once and cached." (section 6.4)
def read_registry(registry: SchemaRegistry, *, is_modern: bool) -> Json:
    """Return the result of reading the registry; from 2026-07-28 on it says how long it may be cached."""
    message = Message(sender=SENDER, intent=Intent.SYNCHRONIZE, operation="registry", payload=registry.offer())
    (frame,) = CODEC.encode(message).frames
    contents = [{"uri": REGISTRY_URI, "mimeType": MEDIA_TYPE, "text": serialize_frame(frame)}]
    if not is_modern:
        return {"contents": contents}
    return {"resultType": "complete", "contents": contents, "ttlMs": _HOUR, "cacheScope": "public"}


def learn_registry(registry: SchemaRegistry, text: str) -> SchemaRegistry:
    """Return `registry` with what a peer's `sync:registry` frame offers besides.

    Raises: ProtocolError, DecodeError: the text is no such frame, or conflicts with what is known.
    """
    message = CODEC.decode(text, keep_refs=True)
    if not isinstance(message, Message) or (message.intent, message.operation) != (Intent.SYNCHRONIZE, "registry"):
        raise ProtocolError("expected the frame of a registry", code=ErrorCode.INVALID_INTENT)
    return registry.merged(SchemaRegistry.from_offer(message.payload, (registry,)), pinned=PINNED)
