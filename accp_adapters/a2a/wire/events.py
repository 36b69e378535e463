"""What A2A peers send each other, with frames in it: `encode` on the way out, `decode` on the way in.

An object keeps its shape: ids, roles, states, names, metadata are where A2A has them, and each text or data part is
one frame in its place. A message inside a task leaves out the ids that the task says. That pays for the frames, and
where it does not, the object goes as it is: nothing becomes larger, in bytes or in tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Final, TypeVar

from a2a.types import Message, Part, Task, TaskArtifactUpdateEvent

from accp_adapters.a2a.wire.envelope_flag import MEDIA_TYPE, Event, has_key, is_marked, lengthen, mark, shorten, unmark
from accp_adapters.a2a.wire.part_locations import places
from accp_adapters.a2a.wire.parts import Place, frame_to_part, part_to_frame
from accp_adapters.a2a.wire.values import compact_json
from accp_adapters.tokens import o200k_base
from accp_core.errors import EncodeError, ProtocolError

__all__ = ["decode", "encode", "is_larger"]

_COUNTED: Final = 1 << 16
"""Bytes up to which the tokens are counted, too; counting a megabyte would hold up every other call."""
AnyEvent = TypeVar("AnyEvent", bound=Event)


def encode(event: AnyEvent, first: int = 0, *, never_larger: bool = True) -> AnyEvent:
    """Return a copy of `event` with frames for parts, or `event` itself where frames would make it larger.

    A text that takes more tokens as a frame stays a text if that is what decides. `first` is the index of the first
    part of a chunk in its artifact.
    """
    # Prose takes more tokens as a frame, and what is too long to be counted is not risked.
    texts = not never_larger or event.ByteSize() <= _COUNTED
    framed = _frame(event, first, texts=texts)
    if framed is None or not never_larger or has_key(event):
        return event if framed is None else framed
    if texts and is_larger(framed, event) and _has_texts(event):
        framed = _frame(event, first, texts=False)
    return event if framed is None or is_larger(framed, event) else framed


def decode(event: AnyEvent, first: int = 0) -> AnyEvent:
    """Return the object of which `event` is the encoding; one that is not marked is itself.

    Raises:
        ProtocolError: E1001, E1004 for a frame of ours that holds no content; E3002, E3003 for a chunk whose index is
            below or above the one that is due, `first` for the first part.
    """
    if not is_marked(event):
        return event
    plain = deepcopy(event)
    unmark(plain)
    _map_ids(plain, lengthen)
    for parts, index, place in list(places(plain, first)):
        part = frame_to_part(parts[index], place)
        if part is not None:
            parts[index].CopyFrom(part)
    return plain


def _frame(event: AnyEvent, first: int, *, texts: bool) -> AnyEvent | None:
    """Return `event` with frames, None when nothing in it can be one; without `texts` only data become frames."""
    framed, found = deepcopy(event), has_key(event)
    for parts, index, place in list(places(framed, first)):
        part = parts[index]
        if _is_due(part, texts=texts) or _looks_framed(part, place):
            frame = part_to_frame(part, place)
            if frame is not None:
                parts[index].CopyFrom(frame)
                found = True
    if not found:
        return None
    _map_ids(framed, shorten)
    mark(framed)
    return framed


def _has_texts(event: Event) -> bool:
    return any(parts[index].WhichOneof("content") == "text" for parts, index, _ in places(event))


def _is_due(part: Part, *, texts: bool) -> bool:
    if part.WhichOneof("content") == "text":
        # An agent's own frame is not put into another one.
        return texts and part.media_type != MEDIA_TYPE
    return True


def _looks_framed(part: Part, place: Place) -> bool:
    try:
        return frame_to_part(part, place) is not None
    except ProtocolError:
        return True


def _map_ids(event: Event, change: Callable[[str, str], str]) -> None:
    """Shorten or lengthen the ids of the messages inside `event`."""
    if isinstance(event, Message | TaskArtifactUpdateEvent):
        return
    task_id, inner = (event.id, [*event.history]) if isinstance(event, Task) else (event.task_id, [])
    if event.status.HasField("message"):
        inner.append(event.status.message)
    for message in inner:
        message.context_id = change(message.context_id, event.context_id)
        message.task_id = change(message.task_id, task_id)


def is_larger(framed: Event, plain: Event) -> bool:
    """Return whether `framed` takes more than `plain`: bytes as protobuf, bytes as JSON, or tokens.

    Where JSON has no spelling for it (NaN over gRPC) it counts as larger.
    """
    if framed.ByteSize() > plain.ByteSize():
        return True
    try:
        texts = compact_json(framed), compact_json(plain)
    except EncodeError:
        return True
    if len(texts[0].encode()) > len(texts[1].encode()):
        return True
    return plain.ByteSize() <= _COUNTED and o200k_base()(texts[0]) > o200k_base()(texts[1])
