"""A2A objects with frames for parts: `encode` before sending, `decode` after receiving (ACCP section 11.4).

An object keeps its shape: ids, roles, states, names and metadata stay where A2A has them, and each text or data part
becomes one frame in its place. The content goes into one parameter: a text into `d`; a map, an array, a number, a
boolean or null of a data part into `d`, a string into `value`; what is shorter as a view into `view`, and JSON in a
text, too, with the `layout` that restores the text. The part's own media type goes into `mt`. Files are not framed.

Messages inside a task leave out the ids that they share with it, which pays for the frames; `metadata.accp = true` says
so. Where frames do not pay, the object is sent as it is: nothing becomes larger, in bytes or in tokens.

"Frames are embedded as A2A message parts with content type application/accp": such a part is decoded, whoever wrote it.
A2A 0.3 drops media types; there the flag in the metadata says that texts may be frames.
"""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from time import time
from typing import Any, Final, TypeVar

from a2a.types import Message, Part, Role, SendMessageRequest, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent
from a2a.utils.errors import A2AError

from accp_adapters.a2a.values import protojson_text, read_value, write_value
from accp_adapters.a2a.walk import WHOLE, A2aEvent, ChunkStart, PartPlace, walk
from accp_adapters.serving.threads import off_loop
from accp_adapters.tokens import o200k_base
from accp_core import accp, view
from accp_core.accp import ErrorCode, Intent
from accp_core.accp.frame import MEDIA_TYPE
from accp_core.bounded import BoundedDict
from accp_core.errors import EncodeError, ProtocolError
from accp_core.packing.expansion import DEFAULT_EXPANSION

__all__ = [
    "EventEncoder", "beside", "codec", "content_of", "decode", "encode", "frame_of", "has_flag", "is_unread",
    "read_frame", "time_of", "with_message",
]  # fmt: skip

_LOGGER: Final = logging.getLogger("accp.a2a")
AnyEvent = TypeVar("AnyEvent", bound=A2aEvent)

METADATA_KEY: Final = "accp"
"""The key of the flag in metadata; an object that uses it otherwise is not framed."""
MAX_ARTIFACTS: Final = 10_000
"""Artifacts of one stream whose parts are counted."""
_UNLIMITED: Final = 1 << 40
_MAX_COUNTED_BYTES: Final = 1 << 16
"""The tokens of a larger object are not counted: that would block every other call of the event loop."""
_MIN_VIEWED_CHARS: Final = 60
"""A value of fewer characters is not rendered as a view, whose header would cost more than it saves."""
_LARGE_PART_BYTES: Final = 4096
_MAX_RESTORED_CHARS: Final = DEFAULT_EXPANSION.size // 3
"""A longer text has no view: the peer, who bounds what a view may expand to, might refuse to restore it."""
_MAY_HOLD_JSON: Final = re.compile(r"[\[{]")
_CONTENT_KEYS: Final = frozenset({"data", "message", "value", "view"})
_OTHER_KEYS: Final = {"layout", "mt", "chunk_index", "total_chunks", "is_final", "code", "retryable", "status"}
_SCHEMAS: Final = {Intent.STREAM: "ST", Intent.FAILURE: "ER"}


@functools.cache
def codec() -> accp.Codec:
    """Return what encodes and decodes the frames in A2A parts.

    No model reads these frames: the limits on the bytes and members of one frame are enough.
    """
    limits = accp.FrameLimits(body_hard=_UNLIMITED, total_hard=_UNLIMITED, total_soft=_UNLIMITED)
    return accp.Codec(counter=len, limits=limits, split=False)


# --- sending ----------------------------------------------------------------------------------------------------------


class EventEncoder:
    """Writes the frames of one stream of events, numbered from 1 in their order (ACCP section 3.5)."""

    def __init__(self, *, never_larger: bool = True, views: bool = True) -> None:
        """Begin a stream.

        Args:
            never_larger: Frame texts only where that makes an object no larger; False: every text and data part.
            views: Whether the peer negotiated our own forms; for any other one, frames are in the draft's literal ABNF.
        """
        self._never_larger: Final = never_larger
        self._views: Final = views
        self._number = 1
        self._chunks: Final[BoundedDict[str, ChunkStart]] = BoundedDict(MAX_ARTIFACTS)
        self._restarts = 0

    def encode(self, event: AnyEvent) -> AnyEvent:
        """Return a copy of `event` with frames for parts, or `event` itself where frames would make it larger."""
        start = self._count(event)
        # Prose takes more tokens as a frame; in an object that is too large to count, it stays as it is.
        for prose in (True, False) if event.ByteSize() <= _MAX_COUNTED_BYTES else (not self._never_larger,):
            framed, number = self._framed(event, start, prose=prose)
            if number > self._number and not (self._never_larger and is_larger(framed, event)):
                self._number = number
                return framed
        return event

    def _framed(self, event: AnyEvent, start: ChunkStart, *, prose: bool) -> tuple[AnyEvent, int]:
        """Return `event` with frames, and the number after them; without `prose` only of data and JSON."""
        if event.HasField("metadata") and METADATA_KEY in event.metadata.fields:
            return event, self._number
        framed, number, now = deepcopy(event), self._number, time_of(event)
        # Metadata that are there and empty would be gone after the flag is removed.
        can_flag = bool(framed.metadata.fields) or not framed.HasField("metadata")
        for part, place in walk(framed, start):
            if part.media_type == MEDIA_TYPE and read_frame(part) is not None:
                continue  # an agent's own frame is not wrapped in another one
            frame = frame_of(
                part, place, number=number, now=now, prose=prose or part.text.startswith("@"), views=self._views
            )
            if frame is None:
                can_flag = can_flag and not part.text.startswith("@")
            else:
                part.text, part.media_type, number = frame, MEDIA_TYPE, number + 1
        if number > self._number and can_flag:
            _map_ids(framed, _elided_id)
            framed.metadata[METADATA_KEY] = True
        return (framed, number) if number > self._number else (event, number)

    def _count(self, event: A2aEvent) -> ChunkStart:
        """Return where a chunk begins, and count the parts of an event; a whole task replaces all counts."""
        if isinstance(event, Task):
            self._chunks.clear()
            for artifact in event.artifacts:
                self._chunks.put(artifact.artifact_id, ChunkStart(len(artifact.parts)))
        if not isinstance(event, TaskArtifactUpdateEvent):
            return WHOLE
        start = self._chunks.get(event.artifact.artifact_id)
        if start is not None and not event.append:
            self._restarts += 1
            start = ChunkStart(0, self._restarts)
        start = start or WHOLE
        after = start._replace(part=start.part + len(event.artifact.parts))
        self._chunks.put(event.artifact.artifact_id, after)
        return start


def encode(event: AnyEvent, *, never_larger: bool = True, views: bool = True) -> AnyEvent:
    """Return a copy of one `event` with frames for parts; see `EventEncoder`."""
    return EventEncoder(never_larger=never_larger, views=views).encode(event)


def frame_of(
    part: Part, place: PartPlace, *, number: int, now: int, prose: bool = True, views: bool = True
) -> str | None:
    """Return the shortest frame of the content of `part`, with that number and time; with `views` also as a view.

    None for a part that no frame can carry: a file, NaN, or a content beyond the limits of a frame; and without `prose`
    for a text that has no JSON in it.
    """
    try:
        forms = _content_forms(part, prose=prose, views=views)
    except ProtocolError:
        return None
    envelope = replace(place.envelope, sequence=number, timestamp=now)
    frames = [_frame_text(form, place, envelope, ascii_only=not views) for form in forms]
    return min((text for text in frames if text is not None), key=len, default=None)


def _content_forms(part: Part, *, prose: bool, views: bool) -> list[dict[str, Any]]:
    """Return the payloads that can carry the content of a part: as it is, and as a view; none for a file."""
    kind = part.WhichOneof("content")
    forms: list[dict[str, Any]] = []
    if kind == "text":
        forms = ([{"data": part.text}] if prose else []) + (_text_views(part.text) if views else [])
    elif kind == "data":
        value = read_value(part.data)
        forms = [{"value" if isinstance(value, str) else "data": value}]
        is_long = part.ByteSize() > _LARGE_PART_BYTES or len(str(value)) >= _MIN_VIEWED_CHARS
        if views and isinstance(value, (dict, list)) and is_long:
            forms.append({"view": view.render(value, counter=o200k_base())})
    media_type = {"mt": part.media_type} if part.media_type else {}
    return [{**form, **media_type} for form in forms]


def _text_views(text: str) -> list[dict[str, Any]]:
    """Return the payload with the view of a text, none for a text without JSON."""
    if not _MIN_VIEWED_CHARS <= len(text) <= _MAX_RESTORED_CHARS or not _MAY_HOLD_JSON.search(text):
        return []
    shown = view.render_text(text, counter=o200k_base())
    return [] if shown.layout == view.AS_IS else [{"view": shown.text, "layout": shown.layout}]


def _frame_text(content: dict[str, Any], place: PartPlace, envelope: accp.Envelope, *, ascii_only: bool) -> str | None:
    """Return the text of the frame with `content` at this place, None where it is beyond the limits of a frame."""
    message = accp.Message(
        sender=place.sender,
        intent=place.kind.intent,
        operation=place.kind.operation,
        payload=_payload(content, place),
        schema=_SCHEMAS.get(place.kind.intent),
        envelope=envelope,
    )
    try:
        (frame,) = codec().encode(message).frames
        return accp.serialize_frame(frame, ascii_only=ascii_only, decimal="refuse" if ascii_only else "exact")
    except ProtocolError:
        return None


def _payload(content: dict[str, Any], place: PartPlace) -> dict[str, Any]:
    """Return `content` with what the schema of the frame adds: the index of a chunk, the code of a failure."""
    if place.kind.intent is Intent.STREAM:
        return {"chunk_index": place.index, **content} | ({"is_final": True} if place.is_last else {})
    if place.kind.intent is Intent.FAILURE:
        # "Standard error frames use intent `fail`, operation `error`, and schema `ER`." (section 3.6)
        is_text = isinstance(content.get("data"), str)
        fields = {"message" if is_text and key == "data" else key: value for key, value in content.items()}
        code = place.kind.code or ErrorCode.INTERNAL_ERROR
        return {"code": code.value, **fields, "retryable": code.retryable}
    return content


# --- receiving --------------------------------------------------------------------------------------------------------


def decode(event: AnyEvent, *, admit: Callable[[Any], object] = id) -> AnyEvent:
    """Return `event` with plain parts in place of frames, or `event` itself where none is a frame.

    A frame that is refused is passed on as it came, with a line in the log. `admit` is called with each JSON value in
    a frame before protobuf copies it; what it raises ends the call.
    """
    is_flagged = has_flag(event)
    if not any(_may_be_frame(part, is_flagged=is_flagged) for part, _ in walk(event)):
        return event
    plain, found = deepcopy(event), 0
    for part, _ in walk(plain):
        content = _decoded(part, admit) if _may_be_frame(part, is_flagged=is_flagged) else None
        if content is not None:
            part.CopyFrom(content)
            found += 1
    if not found:
        return event
    if is_flagged:
        _map_ids(plain, _restored_id)
        del plain.metadata.fields[METADATA_KEY]
        if not plain.metadata.fields:
            plain.ClearField("metadata")
    return plain


def read_frame(part: Part) -> accp.Message | None:
    """Return the ACCP message whose frame is the text of a part, None where the text is no frame."""
    if part.WhichOneof("content") != "text":
        return None
    try:
        message = codec().decode(part.text, keep_refs=True)
    except ProtocolError as error:
        _LOGGER.info("a part is no frame and passed on as it came: %s", error)
        return None
    return message if isinstance(message, accp.Message) else None


def content_of(message: accp.Message, admit: Callable[[Any], object] = id) -> Part:
    """Return the content of a frame as a plain part; a payload that is more than one content, as a map.

    `admit` is called with the JSON value of a data part before it is copied.

    Raises:
        ProtocolError: E1001, a layout does not belong to its view; E1004, it is no JSON value; E2003, its view expands
            to too large a value.
    """
    payload = message.payload
    keys = _CONTENT_KEYS & payload.keys()
    is_content = len(keys) == 1 and payload.keys() <= _CONTENT_KEYS | _OTHER_KEYS
    key = next(iter(keys)) if is_content else ""
    value, part = payload.get(key, dict(payload)), Part(media_type=str(payload.get("mt", "")) if is_content else "")
    if key == "message" or (key == "data" and isinstance(value, str)):
        part.text = str(value)
    elif key == "view" and "layout" in payload:
        part.text = view.restore(str(value), str(payload["layout"]))
    else:
        content = view.read(str(value)) if key == "view" else value
        admit(content)
        part.data.CopyFrom(write_value(content))
    return part


def is_unread(task: Task) -> bool:
    """Return whether the user's last message came back in the frames in which it was sent, because none was decoded."""
    last = next((each for each in reversed(task.history) if each.role == Role.ROLE_USER), Message())
    return has_flag(last) and not has_flag(task) and any(_may_be_frame(part, is_flagged=True) for part in last.parts)


def _may_be_frame(part: Part, *, is_flagged: bool) -> bool:
    return part.media_type == MEDIA_TYPE or (is_flagged and part.text.startswith("@"))


def _decoded(framed: Part, admit: Callable[[Any], object]) -> Part | None:
    """Return the plain part of a frame, with the metadata and the file name beside it; None where it is refused."""
    message = read_frame(framed)
    if message is None:
        return None
    try:
        content = content_of(message, admit)
    except ProtocolError as error:
        _LOGGER.warning("a frame is refused and passed on as it came: %s", error)
        return None
    return beside(framed, content)


def beside(framed: Part, content: Part) -> Part:
    """Return `content` with the file name and the metadata that stand beside a frame."""
    content.filename = framed.filename
    if framed.HasField("metadata"):
        content.metadata.CopyFrom(framed.metadata)
    return content


def with_message(request: SendMessageRequest, message: Message) -> SendMessageRequest:
    """Return a copy of `request` with another message, or `request` itself where that is its own."""
    if message is request.message:
        return request
    other = deepcopy(request)
    other.message.CopyFrom(message)
    return other


class Safely:
    """Runs our own work on the objects of others: a fault in it loses nothing, is logged once, and is counted."""

    def __init__(self) -> None:
        """Begin without faults."""
        self.faults = 0
        """How many objects were passed on as they came, because our own work on them failed."""

    async def run(self, work: Callable[[AnyEvent], AnyEvent], event: AnyEvent) -> AnyEvent:
        """Return `work(event)`, done in a thread where the event is long; where that fails, the event as it is now."""
        # A task object is changed in place while the task goes on.
        now = deepcopy(event) if isinstance(event, Task) else event
        try:
            return await off_loop(now.ByteSize(), work, now)
        except A2AError:  # a refusal, which the caller is told
            raise
        except Exception:
            log = _LOGGER.warning if not self.faults else _LOGGER.debug
            log("an A2A object is passed on as it came: our own work on it failed", exc_info=True)
            self.faults += 1
            return now


# --- the object around the parts --------------------------------------------------------------------------------------


def has_flag(event: A2aEvent) -> bool:
    """Return whether the metadata say that the parts are frames."""
    # Reading a key that is not there would create it.
    fields = event.metadata.fields
    return METADATA_KEY in fields and fields[METADATA_KEY].bool_value


def time_of(event: A2aEvent) -> int:
    """Return the time of its state, or the present time, in seconds of the Unix epoch."""
    if isinstance(event, Task | TaskStatusUpdateEvent) and event.status.timestamp.seconds > 0:
        return event.status.timestamp.seconds
    return int(time())


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
