"""A whole task as a list of frames, and back: for sessions, files and the other bindings of ACCP.

    @user>req:task{d:"Which_of_them_breach?"}[mid:…,seq:1,cid:…,sid:…]
    @agent>stream:task{idx:0|d:…|done:true|schema:ST}[…]        one for each part of an artifact
    @agent>sync:task{d:"Three_of_them."}[…]
    @agent>done:task{status:completed|task:{…}}[…]

The last frame holds the state, and in `task` all that the other frames do not hold: ids, names, times, metadata, files.
Between A2A peers, `frames` writes them in the places of the parts instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, Final, TypeAlias

from a2a.types import Artifact, Message, Part, Role, Task, TaskStatus
from google.protobuf.json_format import Error, ParseDict

from accp_adapters.a2a.frames import beside, codec, content_of, frame_of, time_of
from accp_adapters.a2a.values import protojson
from accp_adapters.a2a.walk import msg_id, session_walk, state_kind, task_state
from accp_core import parse_frame, serialize_frame
from accp_core.accp import Envelope, ErrorCode, Frame, Intent
from accp_core.accp import Message as AccpMessage
from accp_core.accp.frame import MEDIA_TYPE
from accp_core.errors import EncodeError, ProtocolError

__all__ = ["frames_to_task", "task_to_frames"]

_PROGRESS: Final = frozenset({Intent.SYNCHRONIZE, Intent.ACKNOWLEDGE, Intent.COMPRESS, Intent.PING, Intent.PONG})
"""Intents that answer nothing: even a last frame of such an intent belongs to the history."""

_TOTAL: Final = "of"
"""Our metadata field of each frame: how many frames the task has."""

_Decoded: TypeAlias = tuple[Frame, AccpMessage]
"""A frame and its message."""


def task_to_frames(task: Task) -> list[Frame]:
    """Return the frames of `task`, numbered from 1 in the order in which a session accepts them.

    Raises:
        EncodeError: E1001, what has no frame of its own (files) is more than the last frame can hold; E1004, the task
            holds something that is not JSON.
    """
    rest, frames = deepcopy(task), []
    for part, place in session_walk(rest):
        frame = frame_of(part, place, number=1, now=time_of(task))
        if frame is not None:
            stream_id = place.owner_id if place.kind.intent is Intent.STREAM else ""
            frames.append(_chained(parse_frame(frame), task, stream_id))
            part.text, part.media_type = "", MEDIA_TYPE
    frames.append(_chained(_state_frame(rest), task))
    return [
        replace(frame, envelope=replace(frame.envelope, sequence=number, extra={_TOTAL: f"{len(frames)}"}))
        for number, frame in enumerate(frames, start=1)
    ]


def frames_to_task(frames: Iterable[Frame | str]) -> Task:
    """Return the task that `task_to_frames` wrote; other frames become the task that they describe.

    Raises:
        ProtocolError: E1001, there are no frames, or one is malformed; E3003, frames are missing or
            not in order; the codes of `Codec.decode`.
    """
    decoded = [_decoded(frame) for frame in frames]
    if not decoded:
        raise ProtocolError("expected the frames of a task, found none", code=ErrorCode.PARSE_ERROR)
    _check_order([frame for frame, _ in decoded])
    rest = decoded[-1][1].payload.get("task")
    if isinstance(rest, dict):
        return _completed(rest, [message for _, message in decoded[:-1]])
    return _assembled(decoded)


# "Frames MUST be processed in ascending "seq" order" (section 3.7); each end may count for itself.
def _check_order(frames: Sequence[Frame]) -> None:
    last: dict[str, int] = {}
    for frame in frames:
        total, number = frame.envelope.extra.get(_TOTAL, f"{len(frames)}"), frame.envelope.sequence or 0
        if total != f"{len(frames)}":
            raise ProtocolError(f"expected {total:.20} frames, found {len(frames)}", code=ErrorCode.SEQUENCE_GAP)
        if number < last.get(frame.sender, 0):
            reason = f"expected frames in their order, found {number} after {last[frame.sender]}"
            raise ProtocolError(reason, code=ErrorCode.SEQUENCE_GAP)
        last[frame.sender] = number


# "All chunks in a stream MUST share the same `correlation_id`." (section 10.4) The ids are digests of A2A's ids, which
# the parameter `task` of the last frame holds whole.
def _chained(frame: Frame, task: Task, stream_id: str = "") -> Frame:
    """Return `frame` with the correlation_id of the task, or of a stream that the task caused."""
    chain = msg_id(task.id)
    envelope = replace(frame.envelope, correlation_id=chain, session_id=msg_id(task.context_id))
    if stream_id:
        envelope = replace(envelope, correlation_id=msg_id(stream_id), causation_id=chain)
    return replace(frame, envelope=envelope)


def _state_frame(rest: Task) -> Frame:
    """Return the frame with the state of a task, and with `rest`, which is what the other frames do not hold."""
    kind = state_kind(rest.status.state)
    payload: dict[str, Any] = {"status": kind.state_name, "task": _exact_protojson(rest)}
    message = AccpMessage(
        sender="agent",
        intent=kind.intent,
        operation=kind.operation,
        payload=payload if kind.code is None else {"code": str(kind.code), **payload},
        schema=None if kind.code is None else "ER",
        envelope=Envelope(msg_id=msg_id(f"{rest.id}\0{kind.state_name}"), timestamp=time_of(rest)),
    )
    (frame,) = codec().encode(message).frames
    # A frame that cannot be written is refused here, not where it is sent.
    serialize_frame(frame)
    return frame


def _exact_protojson(task: Task) -> dict[str, Any]:
    """Return the ProtoJSON of a task.

    Raises:
        EncodeError: E1004, JSON would change it: a value is not set.
    """
    data = protojson(task)
    if ParseDict(data, Task()) != task:
        raise EncodeError("expected a task that JSON can hold, found a value not set", code=ErrorCode.INVALID_TYPE)
    return data


def _decoded(frame: Frame | str) -> _Decoded:
    parsed = parse_frame(frame) if isinstance(frame, str) else frame
    message = codec().decode(parsed, keep_refs=True)
    assert isinstance(message, AccpMessage)  # references are kept, so none is missing
    return parsed, message


def _completed(rest: Any, messages: Sequence[AccpMessage]) -> Task:
    """Return the task of the last frame with the contents of the other frames put in."""
    try:
        task = ParseDict(rest, Task())
    except Error as error:
        raise ProtocolError(f"expected a task, found {error}", code=ErrorCode.PARSE_ERROR) from error
    open_parts = [part for part, _ in session_walk(task) if _is_open(part)]
    if len(open_parts) != len(messages):
        raise ProtocolError(f"expected {len(open_parts)} frames, found {len(messages)}", code=ErrorCode.SEQUENCE_GAP)
    for part, message in zip(open_parts, messages, strict=True):
        part.CopyFrom(beside(part, content_of(message)))
    return task


def _is_open(part: Part) -> bool:
    """Return whether another frame holds the content of this part; an empty text can be no frame of an agent's own."""
    return part.WhichOneof("content") == "text" and not part.text and part.media_type == MEDIA_TYPE


def _assembled(decoded: Sequence[_Decoded]) -> Task:
    """Return the task that another agent's frames describe: requests, streams, and the state of the last frame."""
    _, last = decoded[-1]
    envelope = last.envelope
    # A stream has a correlation_id of its own, and the request as its cause.
    chain = envelope.causation_id if last.intent is Intent.STREAM else envelope.correlation_id or envelope.msg_id
    task = Task(id=chain or "task", context_id=envelope.session_id or "")
    for _, message in decoded:
        _add_to_task(task, message, is_last=message is last)
    task.status.state = task_state(last.intent, last.operation, last.payload.get("code"))
    return task


def _add_to_task(task: Task, message: AccpMessage, *, is_last: bool) -> None:
    """Add the content of one frame: a chunk to its artifact, an answer to the status, the rest to the history."""
    part = content_of(message)
    if message.intent is Intent.STREAM:
        _artifact(task, message.envelope.correlation_id or "stream").parts.append(part)
        return
    is_request = message.intent in (Intent.REQUEST, Intent.QUERY)
    role = Role.ROLE_USER if is_request else Role.ROLE_AGENT
    entry = Message(message_id=message.envelope.msg_id or "", role=role, task_id=task.id, context_id=task.context_id)
    entry.parts.append(part)
    if is_last and not is_request and message.intent not in _PROGRESS:
        task.status.CopyFrom(TaskStatus(message=entry))
    else:
        task.history.append(entry)


def _artifact(task: Task, artifact_id: str) -> Artifact:
    """Return the artifact of this id, added to the task where it is new."""
    known = (each for each in task.artifacts if each.artifact_id == artifact_id)
    return next(known, None) or task.artifacts.add(artifact_id=artifact_id)
