"""A resources/read result with frames, and the plain result again (ACCP section 11.3).

    {"contents": [{"uri": …, "mimeType": "application/accp", "text":
        "@mcp>done:fetch{fmt:application/json|d:…}[mid:…,seq:…,ts:…,cid:…]"}],
     "_meta": {EXTENSION: {"frames": {"0": [style, orders]}}}}

Programs read resources, by their media type. So only a client that negotiated gets frames, and nobody a view or a
preview. The frame has the media type that the server sent. What a host renders itself, HTML and the pages of MCP Apps,
stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from accp_adapters.mcp import frames as mcp_frames
from accp_adapters.mcp.messages import (
    FRAME_MEDIA_TYPE,
    REGISTRY_URI,
    JsonObject,
    add_metadata,
    has_room_for_metadata,
    read_metadata,
    remove_metadata,
    without,
)
from accp_adapters.wire_log import log_frame
from accp_core.accp import Envelope, Frame, Message
from accp_core.accp.debug import Direction
from accp_core.documents.json_styles import read_styled_json, write_styled_json
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.packing.expansion import DEFAULT_EXPANSION, Expansion
from accp_core.ports import TokenCounter
from accp_core.strict_json import compact_json

__all__ = ["framed_contents", "read_foreign_contents", "restore_contents", "write_framed_contents"]

_CONTENTS: Final = "contents"
_FRAMES: Final = "frames"
_TEXT: Final = "text/plain"
_RENDERED: Final = frozenset({"text/html", "text/css", "text/javascript", "image/svg+xml", FRAME_MEDIA_TYPE})


def write_framed_contents(
    result: JsonObject, envelope: Callable[[], Envelope], counter: TokenCounter, min_gain: int, *, is_literal: bool
) -> JsonObject | None:
    """Return a result of resources/read with frames in place of JSON texts; None where that saves nothing.

    Args:
        result: The result.
        envelope: Returns the metadata of a frame, which is sent.
        counter: Counts the tokens of a text.
        min_gain: The tokens that a frame must save.
        is_literal: As for `write_frame`.

    Raises:
        ValueError: A value cannot be written as a frame (EncodeError among them), or not be restored from it.
        RecursionError: A value nests too deep.
    """
    frames: dict[int, Frame] = {}
    styles: JsonObject = {}
    for index, content in _texts(result):
        opened = read_styled_json(content["text"])
        # A text alone gains nothing by its quotes.
        if opened is None or not isinstance(opened[0], (dict, list)):
            continue
        media_type = content.get("mimeType")
        frame = mcp_frames.frame_of("fetch", {**({"format": media_type} if media_type else {}), "data": opened[0]})
        text = mcp_frames.frame_text(replace(frame, envelope=mcp_frames.PLACEHOLDER), is_literal=is_literal)
        if counter(content["text"]) - counter(text) >= min_gain:
            frames[index], styles[str(index)] = frame, [opened[1], mcp_frames.key_orders(opened[0])]

    def write(of: Callable[[], Envelope]) -> JsonObject:
        contents = list(result[_CONTENTS])
        for index, frame in frames.items():
            text = mcp_frames.frame_text(replace(frame, envelope=of()), is_literal=is_literal)
            contents[index] = {**contents[index], "mimeType": FRAME_MEDIA_TYPE, "text": text}
        return add_metadata({**result, _CONTENTS: contents}, {_FRAMES: styles})

    if not frames:
        return None
    # A number that is given must be sent: the next frame would come after a gap (section 3.7).
    try:
        _check_restored(write(lambda: mcp_frames.PLACEHOLDER), result)
    except ValueError:
        if is_literal:
            return None
        raise
    written = write(envelope)
    for text in framed_contents(written):
        log_frame(Direction.SENT, "mcp", text)
    return written


def framed_contents(result: JsonObject) -> list[str]:
    """Return the frames that `write_framed_contents` put into a result of resources/read; none into any other."""
    return [result[_CONTENTS][int(index)]["text"] for index in read_metadata(result).get(_FRAMES, {})]


def read_foreign_contents(result: JsonObject) -> JsonObject:
    """Return a result of resources/read in which frames of others have become JSON; the same object without any."""
    contents = result.get(_CONTENTS)
    read: list[Any] = [_read_foreign(each) for each in contents] if isinstance(contents, list) else []
    is_same = all(one is other for one, other in zip(read, contents or (), strict=False))
    return result if is_same else {**result, _CONTENTS: read}


def _read_foreign(content: Any) -> Any:
    if not isinstance(content, dict) or content.get("uri") == REGISTRY_URI:
        return content
    payload = mcp_frames.foreign_payload(content)
    if payload is None:
        return content
    return {**content, "mimeType": "application/json", "text": compact_json(payload.get("data", payload))}


def restore_contents(result: JsonObject) -> JsonObject:
    """Return the plain result that `write_framed_contents` was given.

    Raises:
        ValueError, ProtocolError, TypeError, LookupError: The metadata does not fit the result.
    """
    metadata, contents, restored = read_metadata(result), list(result[_CONTENTS]), remove_metadata(result)
    for index, (style, orders) in metadata.get(_FRAMES, {}).items():
        content = contents[int(index)]
        payload = _payload_of(content["text"])
        room = Expansion(DEFAULT_EXPANSION.of(len(content["text"])))
        text = write_styled_json(mcp_frames.with_key_orders(payload["data"], orders), style, room)
        plain = {**content, "mimeType": payload.get("format"), "text": text}
        contents[int(index)] = without(plain, "mimeType") if plain["mimeType"] is None else plain
    return {**restored, _CONTENTS: contents}


def _payload_of(text: str) -> JsonObject:
    message = mcp_frames.codec().decode(text)
    said = f"{message.intent}:{message.operation}" if isinstance(message, Message) else type(message).__name__
    if not isinstance(message, Message) or said != "done:fetch":
        raise ProtocolError(f"expected a frame of done:fetch, found {said!r}", code=ErrorCode.TOOL_SCHEMA_MISMATCH)
    return dict(message.payload)


def _check_restored(written: JsonObject, result: JsonObject) -> None:
    if compact_json(restore_contents(written), sort_keys=True) != compact_json(result, sort_keys=True):
        raise ValueError("expected to restore the same contents, found others")


def _texts(result: JsonObject) -> list[tuple[int, JsonObject]]:
    """Return the contents that may become frames, each after its index."""
    contents = result.get(_CONTENTS)
    if not isinstance(contents, list) or not has_room_for_metadata(result):
        return []
    return [(index, each) for index, each in enumerate(contents) if _is_text(each)]


def _is_text(content: Any) -> bool:
    if not isinstance(content, dict) or not isinstance(content.get("text"), str):
        return False
    media_type = str(content.get("mimeType") or _TEXT).partition(";")[0].strip().lower()
    return media_type not in _RENDERED and not str(content.get("uri")).startswith("ui://")
