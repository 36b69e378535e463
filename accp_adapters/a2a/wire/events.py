"""A2A objects with frames for parts: `encode` before sending, `decode` after receiving.

An object keeps its shape: ids, roles, states, names and metadata stay where A2A has them, and each text or data part
becomes one frame in its place; JSON in a text becomes a view. Messages inside a task leave out the ids that they share
with it, which pays for the frames. Where it does not, the object is sent as it is: nothing becomes larger, in bytes or
in tokens. An object of others with metadata like ours is not changed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from time import time
from typing import Final, TypeVar

from a2a.types import Message, Part, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent

from accp_adapters.a2a.wire.envelope_flag import A2aEvent, clear_flag, is_flagged, set_flag
from accp_adapters.a2a.wire.part_locations import located_parts
from accp_adapters.a2a.wire.parts import WHOLE, ChunkStart, PartLocation, frame_of_part, frame_to_part
from accp_adapters.a2a.wire.values import protojson_text
from accp_adapters.tokens import o200k_base
from accp_core.accp.grammar import metadata_start
from accp_core.accp.head import frame_head
from accp_core.accp.serializer import serialize_envelope
from accp_core.accp.vocabulary import MEDIA_TYPE
from accp_core.errors import EncodeError, ProtocolError

__all__ = ["AnyEvent", "decode", "encode", "is_larger", "renumbered", "time_of"]

_MAX_COUNTED_BYTES: Final = 1 << 16
"""The tokens of a larger object are not counted: that would block every other call of the event loop."""
AnyEvent = TypeVar("AnyEvent", bound=A2aEvent)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frames:
    """How the frames of one object are written."""

    start: ChunkStart
    now: int
    views: bool


def encode(event: AnyEvent, start: ChunkStart = WHOLE, *, never_larger: bool = True, views: bool = True) -> AnyEvent:
    """Return a copy of `event` with frames for parts, or `event` itself where frames would make it larger.

    Args:
        event: A plain object; it is not changed.
        start: Where a chunk begins in its artifact.
        never_larger: Frame texts only where that makes the object no larger; False: frame every text and data part.
        views: Whether the peer reads views, which are no form of the draft.
    """
    frames = _Frames(start=start, now=time_of(event), views=views)
    is_counted = event.ByteSize() <= _MAX_COUNTED_BYTES
    if not never_larger or _would_change(event, start):
        return _frame(event, frames, prose=is_counted or not never_larger) or event
    # Prose takes more tokens as a frame; in an object that is too large to count, it stays as it is.
    for prose in (True, False) if is_counted and _has_texts(event) else (False,):
        framed = _frame(event, frames, prose=prose)
        if framed is not None and not is_larger(framed, event):
            return framed
    return event


def decode(event: AnyEvent, start: ChunkStart = WHOLE) -> AnyEvent:
    """Return the plain object that `event` encodes; one that is not ours is returned as it is.

    Args:
        event: An object as a peer sent it; it is not changed.
        start: Where a chunk must begin in its artifact.

    Raises:
        ProtocolError: E1001, E1004, a frame of ours holds no content; E2003, it expands to too large a value; E3002,
            E3003, the index of a chunk is below or above the expected one.
    """
    if not is_flagged(event):
        return event
    plain, is_ours = deepcopy(event), False
    for framed, location in located_parts(plain, start):
        part = frame_to_part(framed, location)
        if part is not None:
            framed.CopyFrom(part)
            is_ours = True
    if not is_ours:
        return event
    clear_flag(plain)
    _map_ids(plain, _restored_id)
    return plain


def time_of(event: A2aEvent) -> int:
    """Return the time of its state, or the present time, in seconds of the Unix epoch."""
    if isinstance(event, Task | TaskStatusUpdateEvent) and event.status.timestamp.seconds > 0:
        return event.status.timestamp.seconds
    return int(time())


def renumbered(framed: AnyEvent, start: ChunkStart, number: int) -> tuple[AnyEvent, int]:
    """Return an encoded object whose frames have numbers from `number` on, and the number after them."""
    if not is_flagged(framed):
        return framed, number
    numbered = deepcopy(framed)
    for part, location in located_parts(numbered, start):
        with suppress(ProtocolError):
            envelope = frame_head(part.text).envelope
            if replace(envelope, sequence=None, timestamp=None) == location.envelope:
                body = part.text[: metadata_start(part.text)]
                part.text = body + serialize_envelope(replace(envelope, sequence=number))
                number += 1
    return numbered, number


def _frame(event: AnyEvent, frames: _Frames, *, prose: bool) -> AnyEvent | None:
    """Return a copy of `event` with frames, None when no part can be one; without `prose` only of data and JSON."""
    framed_event, number = deepcopy(event), 1
    for part, location in located_parts(framed_event, frames.start):
        would_decode = _would_decode(part, location)
        # An agent's own frame is not wrapped in another one.
        if part.media_type != MEDIA_TYPE or would_decode:
            is_prose = prose or would_decode
            frame = frame_of_part(part, location, number=number, now=frames.now, prose=is_prose, views=frames.views)
            if frame is not None:
                part.text, part.media_type, number = frame, MEDIA_TYPE, number + 1
    if number == 1:
        return None
    _map_ids(framed_event, _elided_id)
    set_flag(framed_event)
    return framed_event


def _has_texts(event: A2aEvent) -> bool:
    return any(part.WhichOneof("content") == "text" for part, _ in located_parts(event))


def _would_change(event: A2aEvent, start: ChunkStart) -> bool:
    """Return whether `decode` would change a plain object of others; such an object must be encoded."""
    return is_flagged(event) and any(_would_decode(*located) for located in located_parts(event, start))


def _would_decode(part: Part, location: PartLocation) -> bool:
    """Return whether `decode` would take a plain part for a frame of ours; such a part must be framed."""
    try:
        return frame_to_part(part, location) is not None
    except ProtocolError:
        return True


def _map_ids(event: A2aEvent, change: Callable[[str, str], str]) -> None:
    """Replace the context and task ids of the messages inside `event` by `change(id, id of the event)`."""
    if isinstance(event, Message | TaskArtifactUpdateEvent):
        return
    task_id, messages = (event.id, [*event.history]) if isinstance(event, Task) else (event.task_id, [])
    if event.status.HasField("message"):
        messages.append(event.status.message)
    for message in messages:
        message.context_id = change(message.context_id, event.context_id)
        message.task_id = change(message.task_id, task_id)


def _elided_id(inner_id: str, outer_id: str) -> str:
    """Return an id as an encoded message has it: empty where it equals the id of the object around the message."""
    if inner_id == outer_id:
        return ""
    # A blank in front distinguishes an empty id from an elided one; an id with a blank in front gets a second one.
    return f" {inner_id}" if not inner_id or inner_id.startswith(" ") else inner_id


def _restored_id(inner_id: str, outer_id: str) -> str:
    """Return the id that `_elided_id` encoded."""
    return inner_id.removeprefix(" ") if inner_id else outer_id


def is_larger(framed: A2aEvent, plain: A2aEvent) -> bool:
    """Return whether `framed` takes more than `plain`: bytes as protobuf, bytes as JSON, or tokens.

    It counts as larger where JSON cannot hold it (NaN over gRPC).
    """
    if framed.ByteSize() > plain.ByteSize():
        return True
    try:
        framed_text, plain_text = protojson_text(framed), protojson_text(plain)
    except EncodeError:
        return True
    if len(framed_text.encode()) > len(plain_text.encode()):
        return True
    return plain.ByteSize() <= _MAX_COUNTED_BYTES and o200k_base()(framed_text) > o200k_base()(plain_text)
