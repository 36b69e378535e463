"""Frames in MCP: results of tools, contents of resources and errors, and back (ACCP sections 3.6, 10.2 and 11.3).

    {"content": [{"type": "resource", "resource": {"mimeType": "application/accp", "text":
        "@mcp>done:tool{tool:list_orders|res:{…}|schema:TC}[mid:…,seq:…,ts:…,cid:…]"}}],
     "_meta": {EXTENSION: {"mid": …, …}}}

The frame is whole: any session takes it. In `_meta` is what a program needs to restore the plain result byte for byte.
A frame without it was written by somebody else, and is read by its grammar. A peer that has not agreed to more gets the
draft's literal grammar; a value that it cannot hold exactly is not framed.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from accp_adapters.mcp import messages
from accp_adapters.tokens import count_o200k
from accp_adapters.wire_log import log_frame
from accp_core import accp
from accp_core.accp import Envelope, ErrorCode, Intent, error_message
from accp_core.accp.debug import Direction
from accp_core.errors import ProtocolError
from accp_core.packing.expansion import DEFAULT_EXPANSION, Expansion
from accp_core.packing.values import SpelledFloat
from accp_core.strict_json import compact_json

__all__ = [
    "JSON_RPC_CODES", "PLACEHOLDER", "code_of_error", "codec", "foreign_payload", "frame_of", "frame_text",
    "framed_text", "is_framed", "key_orders", "read_foreign_frames", "remove_error_frame", "restore_frame",
    "with_key_orders", "write_error_frame", "write_frame",
]  # fmt: skip

_LOG: Final = logging.getLogger(__name__)

PLACEHOLDER: Final = Envelope(msg_id="0" * 12, sequence=100, timestamp=10**9, correlation_id="100")
"""The metadata of a frame that is counted and read, and not sent."""
JSON_RPC_CODES: Final[Mapping[int, ErrorCode]] = MappingProxyType(
    {
        -32700: ErrorCode.PARSE_ERROR,
        -32600: ErrorCode.PARSE_ERROR,
        -32020: ErrorCode.PARSE_ERROR,
        -32022: ErrorCode.PARSE_ERROR,
        -32601: ErrorCode.INVALID_INTENT,
        -32001: ErrorCode.TIMEOUT,
        -32000: ErrorCode.TIMEOUT,
        -32021: ErrorCode.POLICY_DENIED,
        -32042: ErrorCode.POLICY_DENIED,
    }
)
"""JSON-RPC error code to our code, for every method; any other one is E9999, but for what a method says of it."""
_INVALID_PARAMS: Final = -32602
_METHOD_CODES: Final[Mapping[tuple[str, int], ErrorCode]] = MappingProxyType(
    {
        ("tools/call", _INVALID_PARAMS): ErrorCode.TOOL_SCHEMA_MISMATCH,
        ("resources/read", _INVALID_PARAMS): ErrorCode.REF_NOT_FOUND,
        ("resources/read", -32002): ErrorCode.REF_NOT_FOUND,
    }
)
"""What a code says where a certain method was called: a server answers an unknown tool and bad arguments by -32602."""
_MAX_REASON: Final = 500
"""Characters of an error message that its frame repeats."""


@functools.cache
def codec() -> accp.Codec:
    """Return what writes and reads all frames of the shim."""
    return accp.Codec(counter=count_o200k, limits=accp.PRACTICAL_LIMITS, split=False)


def frame_text(frame: accp.Frame, *, is_literal: bool) -> str:
    """Return the text of a frame; a literal one is in ASCII, with at most six decimals (section 3.1.1).

    Raises:
        EncodeError: As `serialize_frame`.
    """
    return accp.serialize_frame(frame, ascii_only=is_literal, decimal="round6" if is_literal else "exact")


def write_frame(
    result: messages.JsonObject,
    tool: str,
    envelope: Callable[[], Envelope],
    gains: Callable[[messages.JsonObject], bool],
    *,
    is_literal: bool,
) -> messages.JsonObject | None:
    """Return `result` with a frame in place of its JSON; None if it has none, or if the new result `gains` nothing.

    Args:
        result: A result of tools/call.
        tool: The name of the tool that was called.
        envelope: Returns the metadata of the frame that is sent, with the correlation_id that section 10.2 demands.
        gains: Returns whether a new result is worth it.
        is_literal: Whether the client has agreed to nothing beyond the draft's grammar, and reads `structuredContent`
            itself.

    Raises:
        ValueError: The value cannot be written as a frame, or not be restored from it (EncodeError among them).
        RecursionError: The value nests too deep.
    """
    found = messages.find_duplicate(result)
    if found is None or not messages.has_room_for_metadata(result):
        return None
    duplicate, value = found
    orders = key_orders(value)
    frame = frame_of("tool", {"tool_name": tool, "result": value}, "TC")

    def write(own: Envelope) -> messages.JsonObject:
        metadata = {"mid": own.msg_id, **duplicate.to_json(), **({"orders": orders} if orders else {})}
        content = list(result["content"])
        text = frame_text(replace(frame, envelope=own), is_literal=is_literal)
        resource = {"uri": f"accp://frame/{own.msg_id}", "mimeType": messages.FRAME_MEDIA_TYPE, "text": text}
        content[duplicate.at : duplicate.at + duplicate.count] = [{"type": "resource", "resource": resource}]
        written = messages.add_metadata({**result, "content": content}, metadata)
        return written if is_literal or not duplicate.structured else messages.without(written, "structuredContent")

    # A number that is given must be sent: the next frame would come after a gap (section 3.7).
    draft = write(PLACEHOLDER)
    if not gains(draft):
        return None
    if not messages.is_same_result(restore_frame(draft), result):
        if is_literal:
            return None
        raise ValueError("expected to restore the same result from its frame, found another")
    written = write(envelope())
    log_frame(Direction.SENT, "mcp", framed_text(written))
    return written


def restore_frame(result: messages.JsonObject) -> messages.JsonObject:
    """Return the plain result that `write_frame` was given.

    Raises:
        ValueError, ProtocolError, TypeError, LookupError: It holds no frame (DecodeError), or the frame and its
            metadata do not fit each other.
    """
    metadata = messages.read_metadata(result)
    duplicate = messages.DuplicateContent.from_json(metadata)
    content = list(result["content"])
    text = _text_of(content[duplicate.at])
    value = with_key_orders(_decode(text, metadata["mid"]), metadata.get("orders", []))
    content[duplicate.at : duplicate.at + 1] = duplicate.write(value, Expansion(DEFAULT_EXPANSION.of(len(text))))
    restored = {**messages.remove_metadata(result), "content": content}
    return {**restored, "structuredContent": value} if duplicate.structured else restored


def is_framed(result: object) -> bool:
    """Return whether a result holds one of our frames, by its metadata."""
    return {"mid", "at"} <= set(messages.read_metadata(result))


def framed_text(result: messages.JsonObject) -> str:
    """Return the frame in a result that `is_framed`."""
    return _text_of(result["content"][messages.read_metadata(result)["at"]])


def frame_of(operation: str, payload: messages.JsonObject, schema: str | None = None) -> accp.Frame:
    """Return the `done` frame that holds what a server answered, without an envelope.

    Raises:
        EncodeError: E1004, E2003, no frame can hold it.
    """
    message = accp.Message(
        sender=messages.SENDER, intent=Intent.COMPLETE, operation=operation, payload=payload, schema=schema
    )
    (frame,) = codec().encode(message).frames
    return frame


def read_foreign_frames(result: messages.JsonObject) -> messages.JsonObject:
    """Return a result of tools/call in which frames of others have become text; the same object if there are none.

    A frame is known by its media type. The result of a TC frame is also the `structuredContent`, where the server sent
    none and one frame only. A frame that is refused stays as it came.
    """
    content = result.get("content")
    found = dict(_foreign_payloads(content)) if isinstance(content, list) else {}
    if not found:
        return result
    assert isinstance(content, list)
    texts = {index: messages.text_block(_shown(payload)) for index, payload in found.items()}
    decoded = {**result, "content": [texts.get(index, block) for index, block in enumerate(content)]}
    if len(found) > 1 or "structuredContent" in result or result.get("isError"):
        return decoded
    (payload,) = found.values()
    value = payload.get("result")
    structured = value if isinstance(value, dict) else {"result": value}
    return decoded if value is None else {**decoded, "structuredContent": structured}


def _foreign_payloads(content: list[Any]) -> Iterator[tuple[int, messages.JsonObject]]:
    """Yield the index of each block that holds a frame, and what it says."""
    for index, block in enumerate(content):
        resource = block.get("resource") if isinstance(block, dict) and block.get("type") == "resource" else None
        if isinstance(resource, dict) and (payload := foreign_payload(resource)) is not None:
            yield index, payload


def foreign_payload(holder: messages.JsonObject) -> messages.JsonObject | None:
    """Return what the frame in the `text` of a resource, or of the data of an error, says; None if it holds none."""
    media_type = str(holder.get("mimeType")).partition(";")[0].strip().lower()
    if media_type != messages.FRAME_MEDIA_TYPE or not isinstance(holder.get("text"), str):
        return None
    try:
        message = codec().decode(holder["text"], keep_refs=True)
    except (ValueError, ProtocolError, RecursionError) as error:
        # The text of the error may quote the message.
        _LOG.warning("a frame is passed on as it came: %s", getattr(error, "code", type(error).__name__))
        return None
    if not isinstance(message, accp.Message) or not isinstance(message.payload, dict):
        return None
    log_frame(Direction.RECEIVED, "mcp", holder["text"])
    return message.payload


def _shown(payload: messages.JsonObject) -> str:
    value = payload.get("result", payload)
    return value if isinstance(value, str) else compact_json(value)


def code_of_error(error: messages.JsonObject, method: str) -> ErrorCode:
    """Return the code for the JSON-RPC error that answers a request of `method`."""
    code = error.get("code")
    if not isinstance(code, int):
        return ErrorCode.INTERNAL_ERROR
    return _METHOD_CODES.get((method, code)) or JSON_RPC_CODES.get(code, ErrorCode.INTERNAL_ERROR)


def write_error_frame(code: ErrorCode, reason: str, envelope: Envelope, *, is_literal: bool = False) -> str:
    """Return the `fail:error` frame with its envelope; a long reason is cut, since the message has all of it."""
    message = replace(error_message(messages.SENDER, code, reason[:_MAX_REASON]), envelope=envelope)
    (frame,) = codec().encode(message).frames
    text = frame_text(frame, is_literal=is_literal)
    log_frame(Direction.SENT, "mcp", text)
    return text


def remove_error_frame(holder: messages.JsonObject, member: str) -> messages.JsonObject:
    """Return an error (`member`: "data") or a result ("_meta") as it was before a frame was added."""
    return messages.remove_metadata(holder, member) if "frame" in messages.read_metadata(holder, member) else holder


def key_orders(value: object) -> list[list[str]]:
    """Return the keys of each shape whose order a frame does not keep, since section 3.1.1 sorts them by their bytes.

    Raises:
        ValueError: The same keys have two orders, or a number has a spelling that a frame does not keep.
    """
    by_shape: dict[frozenset[str], list[str]] = {}
    for members in _objects(value):
        keys = list(members)
        if by_shape.setdefault(frozenset(keys), keys) != keys:
            raise ValueError(f"expected the same keys in one order, found {keys!r} in two")
    return [
        keys for keys in by_shape.values() if keys != sorted(keys, key=lambda key: key.encode("utf-8", "surrogatepass"))
    ]


def with_key_orders(value: object, orders: list[list[str]]) -> Any:
    """Return a value with the orders that `key_orders` found.

    Raises:
        TypeError: The orders are no lists of keys.
        RecursionError: The value nests too deep.
    """
    return _reorder(value, {frozenset(order): order for order in orders})


def _objects(value: object) -> Iterator[dict[str, Any]]:
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if type(part) is SpelledFloat:
            raise ValueError(f"expected a number that a float holds, found {part!r}")
        if isinstance(part, dict):
            yield part
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part


def _reorder(value: object, orders: dict[frozenset[str], list[str]]) -> object:
    if isinstance(value, dict):
        names = orders.get(frozenset(value), value)
        return {name: _reorder(value[name], orders) for name in names}
    if isinstance(value, list):
        return [_reorder(member, orders) for member in value]
    return value


def _decode(text: str, msg_id: object) -> Any:
    message = codec().decode(text)
    is_result = isinstance(message, accp.Message) and message.schema == "TC" and "result" in message.payload
    if not isinstance(message, accp.Message) or not is_result or message.envelope.msg_id != msg_id:
        raise ProtocolError("expected a frame of a tool result", code=ErrorCode.TOOL_SCHEMA_MISMATCH)
    return message.payload["result"]


def _text_of(block: Any) -> str:
    text = block["resource"]["text"]
    if not isinstance(text, str):
        raise TypeError(f"expected the text of a frame, found {type(text).__name__!r}")
    return text
