"""A tools/call result as a TC-profile frame, and back (ACCP sections 10.2 and 11.3).

    {"content": [{"type": "resource", "resource": {"mimeType": "application/accp", "text":
        "@mcp>done:tool{tool:list_orders|res:{…}|schema:TC}[mid:…,seq:…,ts:…,cid:…]"}}],
     "_meta": {EXTENSION: {"mid": …, …}}}

The frame is whole: any session takes it. In `_meta` is what a program needs to restore the plain result byte for byte.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

from accp_adapters.mcp.shim.meta import add_metadata, has_room_for_metadata, read_metadata, remove_metadata
from accp_adapters.mcp.shim.protocol import EXTENSION, FRAME_MEDIA_TYPE, SENDER, JsonObject, is_same_result, without
from accp_adapters.mcp.shim.results.duplicate_content import DuplicateContent, find_duplicate
from accp_adapters.mcp.shim.results.key_orders import key_orders, with_key_orders
from accp_adapters.tokens import count_o200k
from accp_adapters.wire_log import log_frame
from accp_core import accp
from accp_core.accp import Envelope, Intent
from accp_core.accp.debug import Direction
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.packing.expansion import DEFAULT_EXPANSION, Expansion

__all__ = [
    "PLACEHOLDER",
    "FrameCarrier",
    "FrameSettings",
    "codec",
    "frame_of",
    "framed_text",
    "is_framed",
    "restore_frame",
    "write_frame",
]

PLACEHOLDER: Final = Envelope(msg_id="0" * 12, sequence=100, timestamp=10**9, correlation_id="100")
"""The metadata of a frame that is counted and read, and not sent."""
FrameCarrier: TypeAlias = Literal["resource", "text"]
"""The content block that holds a frame: an embedded resource, as section 11.3 wants it, or text."""


@functools.cache
def codec() -> accp.Codec:
    """Return what writes and reads all frames of the shim."""
    return accp.Codec(counter=count_o200k, limits=accp.PRACTICAL_LIMITS, split=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameSettings:
    """How one result is written as a frame."""

    tool: str
    """The name of the tool that was called."""
    envelope: Callable[[], Envelope]
    """Returns the metadata of the frame that is sent, with the correlation_id that section 10.2 demands."""
    carrier: FrameCarrier = "resource"
    """The content block that holds the frame."""
    drop_structured: bool = True
    """Whether `structuredContent`, which the frame contains, is left out."""


def write_frame(result: JsonObject, settings: FrameSettings, gains: Callable[[JsonObject], bool]) -> JsonObject | None:
    """Return `result` with a frame in place of its JSON; None if it has none, or if the new result `gains` nothing.

    Args:
        result: A result of tools/call.
        settings: How the frame is written.
        gains: Returns whether a rewritten result is enough smaller.

    Raises:
        ValueError: The value cannot be written as a frame, or not be restored from it (EncodeError among them).
        RecursionError: The value nests too deep.
    """
    found = find_duplicate(result)
    if found is None or not has_room_for_metadata(result):
        return None
    duplicate, value = found
    orders = key_orders(value)
    frame = frame_of("tool", {"tool_name": settings.tool, "result": value}, "TC")

    def write(envelope: Envelope) -> JsonObject:
        metadata = {"mid": envelope.msg_id, **duplicate.to_json(), **({"orders": orders} if orders else {})}
        content = list(result["content"])
        text = accp.serialize_frame(replace(frame, envelope=envelope))
        content[duplicate.at : duplicate.at + duplicate.count] = [_frame_block(text, envelope, settings)]
        written = add_metadata({**result, "content": content}, metadata)
        return without(written, "structuredContent") if duplicate.structured and settings.drop_structured else written

    # A number that is given must be sent: the next frame would come after a gap (section 3.7).
    draft = write(PLACEHOLDER)
    if not gains(draft):
        return None
    if not is_same_result(restore_frame(draft), result):
        raise ValueError("expected to restore the same result from its frame, found another")
    written = write(settings.envelope())
    log_frame(Direction.SENT, "mcp", framed_text(written))
    return written


def restore_frame(result: JsonObject) -> JsonObject:
    """Return the plain result that `write_frame` was given.

    Raises:
        ValueError, ProtocolError, TypeError, LookupError: It holds no frame (DecodeError), or the frame and its
            metadata do not fit each other.
    """
    metadata = read_metadata(result)
    duplicate = DuplicateContent.from_json(metadata)
    content = list(result["content"])
    text = _text_of(content[duplicate.at])
    value = with_key_orders(_decode(text, metadata["mid"]), metadata.get("orders", []))
    content[duplicate.at : duplicate.at + 1] = duplicate.write(value, Expansion(DEFAULT_EXPANSION.of(len(text))))
    restored = {**remove_metadata(result), "content": content}
    return {**restored, "structuredContent": value} if duplicate.structured else restored


def is_framed(result: object) -> bool:
    """Return whether a result holds one of our frames, by its metadata."""
    return {"mid", "at"} <= set(read_metadata(result))


def framed_text(result: JsonObject) -> str:
    """Return the frame in a result that `is_framed`."""
    return _text_of(result["content"][read_metadata(result)["at"]])


def frame_of(operation: str, payload: JsonObject, schema: str | None = None) -> accp.Frame:
    """Return the `done` frame that holds what a server answered, without an envelope.

    Raises:
        EncodeError: E1004, E2003, no frame can hold it.
    """
    message = accp.Message(sender=SENDER, intent=Intent.COMPLETE, operation=operation, payload=payload, schema=schema)
    (frame,) = codec().encode(message).frames
    return frame


def _decode(text: str, msg_id: object) -> Any:
    message = codec().decode(text)
    is_result = isinstance(message, accp.Message) and message.schema == "TC" and "result" in message.payload
    if not isinstance(message, accp.Message) or not is_result or message.envelope.msg_id != msg_id:
        raise ProtocolError("expected a frame of a tool result", code=ErrorCode.TOOL_SCHEMA_MISMATCH)
    return message.payload["result"]


def _frame_block(text: str, envelope: Envelope, settings: FrameSettings) -> JsonObject:
    if settings.carrier == "text":
        return {"type": "text", "text": text, "_meta": {EXTENSION: {"mimeType": FRAME_MEDIA_TYPE}}}
    uri = f"accp://frame/{envelope.msg_id}"
    return {"type": "resource", "resource": {"uri": uri, "mimeType": FRAME_MEDIA_TYPE, "text": text}}


def _text_of(block: Any) -> str:
    text = block["text"] if block["type"] == "text" else block["resource"]["text"]
    if not isinstance(text, str):
        raise TypeError(f"expected the text of a frame, found {type(text).__name__!r}")
    return text
