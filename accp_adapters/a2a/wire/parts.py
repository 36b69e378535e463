"""One A2A part as one frame, and back (ACCP section 11.4: "frames are embedded as A2A message parts").

The content of a part goes into one parameter of the frame: a text into `d`; a map, an array, a number, a boolean or
null of a data part into `d`, a string into `value`; what is shorter as a view into `view`. JSON in a text is a view,
too, with the `layout` that restores the text byte for byte. The part's own media type goes into `mt`. Its metadata and
its file name stay on the part; files (raw, url) are not framed.

The ids of the envelope come from A2A's own: `mid` is a digest of the id of the message or artifact and of the index of
the part, `cid` one of the id of the task or, in a stream, of the artifact. `seq` counts frames in a stream of
events. The view and the layout are forms of ours: they are written for peers that negotiated them.
"""

from __future__ import annotations

import functools
import re
from copy import deepcopy
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import product
from typing import Any, Final, NamedTuple

from a2a.types import Part

from accp_adapters.a2a.wire.values import read_value, write_value
from accp_adapters.tokens import o200k_base
from accp_core import accp, view
from accp_core.accp import ErrorCode, Intent
from accp_core.errors import ProtocolError
from accp_core.packing.expansion import DEFAULT_EXPANSION

__all__ = [
    "WHOLE", "ChunkStart", "PartLocation", "codec", "frame_of_part", "frame_to_part", "has_content", "msg_id",
    "read_frame", "write_content",
]  # fmt: skip

_UNLIMITED: Final = 1 << 40
_MSG_ID: Final = re.compile(r"[0-9a-f]{12}")
_MIN_VIEWED_CHARS: Final = 60
"""A value of fewer characters is not rendered as a view, whose header would cost more than it saves."""
_MAX_COMPARED: Final = 64
"""Parts of a message among which that of a frame out of its place is looked for."""
_LARGE_PART_BYTES: Final = 4096
_MAX_RESTORED_CHARS: Final = DEFAULT_EXPANSION.size // 3
"""A longer text has no view: the peer, who bounds what a view may expand to, might refuse to restore it."""
_MAY_HOLD_JSON: Final = re.compile(r"[\[{]")
_CONTENT_KEYS: Final = frozenset({"data", "message", "value", "view"})
_OTHER_KEYS: Final = frozenset({"layout", "mt", "chunk_index", "total_chunks", "is_final", "code"})
_SCHEMAS: Final = {Intent.STREAM: "ST", Intent.FAILURE: "ER"}


@functools.cache
def codec() -> accp.Codec:
    """Return what encodes and decodes the frames in A2A parts.

    No model reads these frames: the limits on the bytes and members of one frame are enough.
    """
    limits = accp.FrameLimits(body_hard=_UNLIMITED, total_hard=_UNLIMITED, total_soft=_UNLIMITED)
    return accp.Codec(counter=len, limits=limits, split=False)


class ChunkStart(NamedTuple):
    """Where a chunk begins in its artifact."""

    part: int = 0
    """The index of its first part: the parts that the artifact had before."""
    restart: int = 0
    """Which restart of an artifact in this stream the chunk belongs to; 0: the artifact was not sent before."""


WHOLE: Final = ChunkStart()
"""Where an artifact begins that is sent for the first time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartLocation:
    """Where a part is, and all that its frame holds besides the content."""

    owner_id: str
    """The id of the message, or the ids of the task and its artifact; the msg_id is a digest of it."""
    index: int
    """The index of the part in its message or artifact; in a stream, in the whole artifact so far."""
    sender: str = "agent"
    """The sender of the frame: "user" or "agent"."""
    intent: Intent = Intent.COMPLETE
    """The intent of the frame, from the state of the task or the role of the message."""
    operation: str = "task"
    """The operation of the frame."""
    code: ErrorCode | None = None
    """The error code of a failure."""
    is_last: bool = False
    """Whether a stream ends with this part."""
    chain: str = ""
    """The id of the task; empty: the chain is that of the owner."""
    count: int = 0
    """The parts of the message or of the artifact so far."""
    restart: int = 0
    """Which restart of an artifact the part belongs to: an artifact that is sent again is another stream."""

    @property
    def envelope(self) -> accp.Envelope:
        """The envelope of the frame but for its number and time."""
        owner_id = f"{self.owner_id}\0{self.restart}\0" if self.restart else self.owner_id
        return accp.Envelope(msg_id=msg_id(owner_id, self.index), correlation_id=msg_id(self.chain or owner_id, 0))


def msg_id(owner_id: str, index: int) -> str:
    """Return the msg_id, 12 hexadecimal digits, of part `index` of the object with the id `owner_id`.

    An owner id of this form is itself the msg_id of the first part.
    """
    if index == 0 and _MSG_ID.fullmatch(owner_id):
        return owner_id
    name = f"{owner_id}\0{index}" if index else owner_id
    return sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def frame_of_part(
    part: Part, location: PartLocation, *, number: int, now: int, prose: bool = True, views: bool = True
) -> str | None:
    """Return the shortest frame of the content of `part`, with that number and time; with `views` also as a view.

    None for a part that no frame can carry: a file, NaN, or a content beyond the limits of a frame; and without `prose`
    for a text that has no JSON in it.
    """
    try:
        forms = _content_forms(part, prose=prose)
    except ProtocolError:
        return None
    envelope = replace(location.envelope, sequence=number, timestamp=now)
    chosen = [form for form in forms if views or "view" not in form]
    texts = [text for content in chosen if (text := _frame_text(content, location, envelope)) is not None]
    return min(texts, key=len, default=None)


def frame_to_part(framed: Part, location: PartLocation) -> Part | None:
    """Return the part that `framed` encodes at this location, None where it is no such frame.

    Only a frame with the msg_id and the correlation_id of the location is ours. An agent's own frame, or one that was
    moved here from another message, is content and stays.

    Raises:
        ProtocolError: E3002, E3003, the frame belongs to an earlier or a later part of the same message or artifact;
            E1001, it holds no content of a part; E1004, it holds a value that no double is; E2003, its view expands to
            too large a value.
    """
    message = read_frame(framed)
    if message is None or not _is_own(message, location):
        return None
    part = deepcopy(framed)
    write_content(part, message.payload)
    return part


def _is_own(message: accp.Message, location: PartLocation) -> bool:
    """Return whether a frame belongs to `location`; refuse one of another part of the same message or artifact.

    Raises:
        ProtocolError: E3002, it is the frame of an earlier part; E3003, of a later one.
    """
    found = replace(message.envelope, sequence=None, timestamp=None)
    if found == location.envelope:
        return True
    chunk = message.payload.get("chunk_index")
    indices = [chunk] if type(chunk) is int and chunk >= 0 else range(min(location.count, _MAX_COMPARED))
    # A chunk that came twice or not at all shifts the restarts by one.
    restarts = range(max(location.restart - 1, 0), location.restart + 2) if location.intent is Intent.STREAM else (0,)
    for restart, index in product(restarts, indices):
        if found == replace(location, index=index, restart=restart).envelope:
            is_earlier = (restart, index) < (location.restart, location.index)
            code = ErrorCode.DUPLICATE if is_earlier else ErrorCode.SEQUENCE_GAP
            raise ProtocolError(f"expected part {location.index}, found part {index!r}", code=code)
    return False


def read_frame(part: Part) -> accp.Message | None:
    """Return the ACCP message whose frame is the text of a part, None where the text is no frame.

    The media type is not looked at: conversion to A2A 0.3 drops it.
    """
    if part.WhichOneof("content") != "text" or not part.text.startswith("@"):
        return None
    try:
        message = codec().decode(part.text, keep_refs=True)
    except ProtocolError:
        return None
    return message if isinstance(message, accp.Message) else None


def has_content(message: accp.Message) -> bool:
    """Return whether the payload is the content of one part and nothing else."""
    keys = message.payload.keys()
    return len(_CONTENT_KEYS & keys) == 1 and keys <= _CONTENT_KEYS | _OTHER_KEYS


def write_content(part: Part, payload: Any) -> None:
    """Give `part` the content that the payload of a frame holds.

    Raises:
        ProtocolError: E1001, there is no content, or more than one, or a layout that does not belong to its view;
            E1004, it is no JSON value; E2003, its view expands to too large a value.
    """
    keys = _CONTENT_KEYS & payload.keys()
    if len(keys) != 1:
        reason = f"expected one of {sorted(_CONTENT_KEYS)}, found {sorted(keys)!r}"
        raise ProtocolError(reason, code=ErrorCode.PARSE_ERROR)
    (key,) = keys
    value = payload[key]
    if key == "message" or (key == "data" and isinstance(value, str)):
        part.text = str(value)
    elif key == "view" and "layout" in payload:
        part.text = view.restore(str(value), str(payload["layout"]))
    elif key == "view":
        part.data.CopyFrom(write_value(view.read(str(value))))
    else:
        part.data.CopyFrom(write_value(value))
    part.media_type = str(payload.get("mt", ""))


def _content_forms(part: Part, *, prose: bool) -> list[dict[str, Any]]:
    """Return the payloads that can carry the content of a part: as it is, and as a view; none for a file."""
    kind = part.WhichOneof("content")
    forms: list[dict[str, Any]] = []
    if kind == "text":
        forms = ([{"data": part.text}] if prose else []) + _text_views(part.text)
    elif kind == "data":
        value = read_value(part.data)
        forms = [{"value" if isinstance(value, str) else "data": value}]
        if isinstance(value, (dict, list)) and _is_viewed(part, value):
            forms.append({"view": view.render(value, counter=o200k_base())})
    media_type = {"mt": part.media_type} if part.media_type else {}
    return [{**form, **media_type} for form in forms]


def _is_viewed(part: Part, value: object) -> bool:
    """Return whether a value is long enough for a view; a large part always is."""
    return part.ByteSize() > _LARGE_PART_BYTES or len(str(value)) >= _MIN_VIEWED_CHARS


def _text_views(text: str) -> list[dict[str, Any]]:
    """Return the payload with the view of a text, none for a text without JSON."""
    if not _MIN_VIEWED_CHARS <= len(text) <= _MAX_RESTORED_CHARS or not _MAY_HOLD_JSON.search(text):
        return []
    shown = view.render_text(text, counter=o200k_base())
    return [] if shown.layout == view.AS_IS else [{"view": shown.text, "layout": shown.layout}]


def _frame_text(content: dict[str, Any], location: PartLocation, envelope: accp.Envelope) -> str | None:
    """Return the text of the frame with `content` at this location, None where it is beyond the limits of a frame."""
    message = accp.Message(
        sender=location.sender,
        intent=location.intent,
        operation=location.operation,
        payload=_payload(content, location),
        schema=_SCHEMAS.get(location.intent),
        envelope=envelope,
    )
    try:
        (frame,) = codec().encode(message).frames
        return accp.serialize_frame(frame)
    except ProtocolError:
        return None


def _payload(content: dict[str, Any], location: PartLocation) -> dict[str, Any]:
    """Return `content` with what the schema of the frame adds: the index of a chunk, the code of a failure."""
    if location.intent is Intent.STREAM:
        return {"chunk_index": location.index, **content} | ({"is_final": True} if location.is_last else {})
    if location.intent is Intent.FAILURE:
        # "Standard error frames use intent `fail`, operation `error`, and schema `ER`." (section 3.6)
        is_text = isinstance(content.get("data"), str)
        fields = {"message" if is_text and key == "data" else key: value for key, value in content.items()}
        return {"code": str(location.code or ErrorCode.INTERNAL_ERROR), **fields}
    return content
