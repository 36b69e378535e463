"""One part and one frame, and back (ACCP section 11.4: "frames are embedded as A2A message parts").

A text is the frame's `d`; of a data part, a map, an array, a number, a boolean and null are `d`, a string is `value`,
and what is shorter as a view is `view`. The part's own media type becomes `mt`. Its metadata and its file name stay
on the part, files (raw, url) stay what they are. The ids of an envelope are A2A's own in short: `mid` is the digest of
the id of the message or artifact, `seq` the place of the part in it; `cid` and `sid` are the task's and the context's,
which the object around says already and no frame repeats.
"""

from __future__ import annotations

import re
from copy import deepcopy
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final

from a2a.types import Part

from accp_adapters.a2a.wire.envelope_flag import MEDIA_TYPE
from accp_adapters.a2a.wire.values import read_value, write_value
from accp_adapters.tokens import o200k_base
from accp_core.accp import Codec, Envelope, ErrorCode, FrameLimits, Intent, Message, serialize_frame
from accp_core.errors import ProtocolError
from accp_core.view import read, render

__all__ = ["CODEC", "Place", "frame_to_part", "has_content", "msg_id", "part_to_frame", "read_frame", "write_content"]

_UNLIMITED: Final = 1 << 40
# No model reads these frames: what bounds them are the bytes and members of one frame.
CODEC: Final = Codec(
    counter=len, limits=FrameLimits(body_hard=_UNLIMITED, total_hard=_UNLIMITED, total_soft=_UNLIMITED), split=False
)
"""How a part becomes a frame and a frame a part."""

_HEX12: Final = re.compile(r"[0-9a-f]{12}")
# A view of less says its header for nothing.
_SHORTEST_VIEW: Final = 60
_CONTENT: Final = frozenset({"data", "message", "value", "view"})
_BESIDE: Final = frozenset({"mt", "chunk_index", "total_chunks", "is_final", "code"})
_SCHEMAS: Final = {Intent.STREAM: "ST", Intent.FAILURE: "ER"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a part stands, which is what its frame says of it beside its content."""

    owner: str
    """The id of the message, or of the task and its artifact, from which the msg_id comes."""
    index: int
    """Of the part in it; in a stream, of the part in the artifact as it has grown so far."""
    sender: str = "agent"
    """Who speaks: "user" or "agent"."""
    intent: Intent = Intent.COMPLETE
    """What the state of the task, or the role of the message, comes to."""
    operation: str = "task"
    """The verb of the frame."""
    code: ErrorCode | None = None
    """Of a failure."""
    last: bool = False
    """Whether a stream ends with this part."""

    @property
    def envelope(self) -> Envelope:
        """The envelope of the frame."""
        return Envelope(msg_id=msg_id(self.owner, self.index), sequence=self.index + 1)


def msg_id(owner: str, index: int) -> str:
    """Return the 12 hex digits that identify part `index` of what has the id `owner`."""
    if index == 0 and _HEX12.fullmatch(owner):
        return owner
    name = f"{owner}\0{index}" if index else owner
    return sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def part_to_frame(part: Part, place: Place) -> Part | None:
    """Return the part whose text is the frame of `part`, None for what no frame carries: files, NaN, what is too big.

    The metadata and the file name of `part` stay.
    """
    try:
        texts = [_write(content, place) for content in _contents(part)]
    except ProtocolError:
        return None
    if not texts:
        return None
    framed = deepcopy(part)
    framed.text = min(texts, key=len)
    framed.media_type = MEDIA_TYPE
    return framed


def frame_to_part(framed: Part, place: Place) -> Part | None:
    """Return the part of which `framed` is the frame at this place, None where it is no such frame.

    Only what `part_to_frame` writes there is one, told by msg_id and sequence: an agent's own frame, or one of another
    message that was moved here, is content and stays.

    Raises:
        ProtocolError: E3002, E3003, the frame belongs to an earlier or a later place of the same message or artifact;
            E1001, it holds no content of ours; E1004, it holds a value that no double is.
    """
    message = read_frame(framed)
    if message is None or not _is_own(message.envelope, place):
        return None
    part = deepcopy(framed)
    write_content(part, message.payload)
    return part


def _is_own(envelope: Envelope, place: Place) -> bool:
    """Return whether this is the envelope of a part of what stands at `place`; refuse that of another part of it."""
    index = (envelope.sequence or 0) - 1
    if index < 0 or envelope != replace(place, index=index).envelope:
        return False
    if index != place.index:
        code = ErrorCode.DUPLICATE if index < place.index else ErrorCode.SEQUENCE_GAP
        raise ProtocolError(f"expected part {place.index}, found part {index!r}", code=code)
    return True


def read_frame(framed: Part) -> Message | None:
    """Return what the text of a part says if it is a frame; the media type may have been lost on the way (A2A 0.3)."""
    if framed.WhichOneof("content") != "text" or not framed.text.startswith("@"):
        return None
    try:
        message = CODEC.decode(framed.text, keep_refs=True)
    except ProtocolError:
        return None
    return message if isinstance(message, Message) else None


def has_content(message: Message) -> bool:
    """Return whether a frame holds the content of a part and nothing else; any other says something of its own."""
    return len(_CONTENT & message.payload.keys()) == 1 and message.payload.keys() <= _CONTENT | _BESIDE


def write_content(part: Part, content: Any) -> None:
    """Make `part` say what `content` of a frame says.

    Raises:
        ProtocolError: E1001, there is nothing in it, or too much; E1004, it is no JSON value.
    """
    keys = _CONTENT & content.keys()
    if len(keys) != 1:
        raise ProtocolError(f"expected one of {sorted(_CONTENT)}, found {sorted(keys)!r}", code=ErrorCode.PARSE_ERROR)
    (key,) = keys
    value = content[key]
    if key == "message" or (key == "data" and isinstance(value, str)):
        part.text = str(value)
    elif key == "view":
        part.data.CopyFrom(write_value(read(str(value))))
    else:
        part.data.CopyFrom(write_value(value))
    part.media_type = str(content.get("mt", ""))


def _contents(part: Part) -> list[dict[str, Any]]:
    """Return the forms in which a frame can say what is in a part."""
    kind = part.WhichOneof("content")
    own = {"mt": part.media_type} if part.media_type else {}
    if kind == "text":
        return [{"data": part.text, **own}]
    if kind != "data":
        return []
    value = read_value(part.data)
    plain = {"value" if isinstance(value, str) else "data": value, **own}
    if not isinstance(value, (dict, list)) or len(str(value)) < _SHORTEST_VIEW:
        return [plain]
    return [plain, {"view": render(value, counter=o200k_base()), **own}]


def _write(content: dict[str, Any], place: Place) -> str:
    """Return the text of the frame that says `content` at this place."""
    message = Message(
        sender=place.sender,
        intent=place.intent,
        operation=place.operation,
        payload=_payload(content, place),
        schema=_SCHEMAS.get(place.intent),
        envelope=place.envelope,
    )
    (frame,) = CODEC.encode(message).frames
    return serialize_frame(frame)


def _payload(content: dict[str, Any], place: Place) -> dict[str, Any]:
    if place.intent is Intent.STREAM:
        return {"chunk_index": place.index, **content} | ({"is_final": True} if place.last else {})
    if place.intent is Intent.FAILURE:
        # "Standard error frames use intent `fail`, operation `error`, and schema `ER`." (section 3.6)
        said = {"message" if isinstance(value, str) and key == "data" else key: value for key, value in content.items()}
        return {"code": str(place.code or ErrorCode.INTERNAL_ERROR), **said}
    return content
