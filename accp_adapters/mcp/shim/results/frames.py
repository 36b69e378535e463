"""A tools/call result as a TC-profile frame, and the plain result again (ACCP sections 10.2 and 11.3).

    {"content": [{"type": "resource", "resource": {"mimeType": "application/accp", "text":
        "@mcp>done:tool{tool:list_orders|res:{…}|schema:TC}"}}], "_meta": {EXTENSION: {"env": "[mid:…,cid:…]", …}}}

The envelope stands in `_meta`: a model that is shown the content reads the frame without it. What a program needs to
write the plain result again, to the byte, stands there as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from accp_adapters.mcp.shim.meta import has_room, note_in, with_note, without_note
from accp_adapters.mcp.shim.protocol import EXTENSION, MEDIA_TYPE, SENDER, Json, same_result, without
from accp_adapters.mcp.shim.results.columns import pack, unpack
from accp_adapters.mcp.shim.results.duplicate_content import Copy, find_copy
from accp_adapters.tokens import count_o200k
from accp_core.accp import PRACTICAL_LIMITS, Codec, Envelope, Intent, Message, serialize_frame
from accp_core.accp.frame import Frame
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["CODEC", "Carrier", "Wrapping", "is_framed", "restore_frame", "write_envelope", "write_frame"]

Carrier: TypeAlias = Literal["resource", "text"]
"""The content block that holds a frame: an embedded resource, as section 11.3 has it, or text."""

CODEC: Final = Codec(counter=count_o200k, limits=PRACTICAL_LIMITS, split=False)
"""What frames are written and read by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrapping:
    """What a frame says beside the result, and where it is put."""

    tool: str
    """The name of the tool that was called."""
    envelope: Envelope
    """The metadata, with the correlation_id that section 10.2 demands."""
    carrier: Carrier = "resource"
    """The block that holds it."""
    alone: bool = True
    """Whether the peer does without `structuredContent`, which the frame says."""
    columns: bool = True
    """Whether the peer reads tables."""


def write_frame(result: Json, wrapping: Wrapping, gains: Callable[[Json], bool]) -> Json | None:
    """Return `result` with a frame in the place of what it says in JSON.

    None where it says nothing in JSON, or where what it would be `gains` nothing.

    Raises: ValueError (EncodeError among them), RecursionError: the value cannot be carried or not be restored.
    """
    found = find_copy(result)
    if found is None or not has_room(result):
        return None
    copy, value = found
    packed, tables, orders = pack(value, columns=wrapping.columns)
    text = serialize_frame(_encode(packed, wrapping))
    note = {"env": write_envelope(wrapping.envelope), **copy.to_json()}
    note |= {name: said for name, said in (("tables", tables), ("orders", orders)) if said}
    content = list(result["content"])
    content[copy.at : copy.at + copy.count] = [_block(text, wrapping)]
    written = with_note({**result, "content": content}, note)
    if copy.structured and wrapping.alone:
        written = without(written, "structuredContent")
    if not gains(written):
        return None
    if not same_result(restore_frame(written), result):
        raise ValueError("expected a result that a frame gives back")
    return written


def restore_frame(result: Json) -> Json:
    """Return the plain result that `write_frame` was given.

    Raises: ValueError (DecodeError among them), ProtocolError, TypeError, LookupError: it holds no frame, or one
        that does not say what its note does.
    """
    note = note_in(result)
    copy = Copy.from_json(note)
    content = list(result["content"])
    value = _decode(_text_of(content[copy.at]), note["env"])
    value = unpack(value, note.get("tables", []), note.get("orders", []))
    content[copy.at : copy.at + 1] = copy.write(value)
    restored = {**without_note(result), "content": content}
    return {**restored, "structuredContent": value} if copy.structured else restored


def is_framed(result: object) -> bool:
    """Tell whether a result holds a frame of ours, by its note."""
    return {"env", "at"} <= set(note_in(result))


def write_envelope(envelope: Envelope) -> str:
    """Return the metadata block of a frame alone, `[mid:…,seq:…,ts:…,cid:…]`."""
    frame = serialize_frame(Frame(sender=SENDER, intent=Intent.COMPLETE, operation="tool", envelope=envelope))
    return frame[frame.index("[") :]


def _encode(value: Any, wrapping: Wrapping) -> Frame:
    """Return the frame without its envelope, which travels apart."""
    payload = {"tool_name": wrapping.tool, "result": value}
    message = Message(sender=SENDER, intent=Intent.COMPLETE, operation="tool", payload=payload, schema="TC")
    (frame,) = CODEC.encode(message).frames
    return frame


def _decode(text: str, envelope: str) -> Any:
    message = CODEC.decode(text + envelope)
    if not isinstance(message, Message) or message.schema != "TC" or "result" not in message.payload:
        raise ProtocolError("expected the frame of a tool's result", code=ErrorCode.TOOL_SCHEMA_MISMATCH)
    return message.payload["result"]


def _block(text: str, wrapping: Wrapping) -> Json:
    if wrapping.carrier == "text":
        return {"type": "text", "text": text, "_meta": {EXTENSION: {"mimeType": MEDIA_TYPE}}}
    uri = f"accp://frame/{wrapping.envelope.msg_id}"
    return {"type": "resource", "resource": {"uri": uri, "mimeType": MEDIA_TYPE, "text": text}}


def _text_of(block: Any) -> str:
    text = block["text"] if block["type"] == "text" else block["resource"]["text"]
    if not isinstance(text, str):
        raise TypeError(f"expected the text of a frame, got {type(text).__name__!r}")
    return text
