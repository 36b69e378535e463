"""A whole task as frames that stand by themselves, and back: for sessions, files and the other bindings of ACCP.

    @user>req:task{d:"Which_of_them_breach?"}[mid:…,seq:1,cid:…,sid:…]
    @agent>stream:task{idx:0|d:…|done:true|schema:ST}[…]        one for each part of an artifact
    @agent>sync:task{d:"Three_of_them."}[…]
    @agent>done:task{status:completed|task:{…}}[…]

The last frame says the state, and in `task` what the others leave open: ids, names, times, metadata, files. Between
A2A peers `wire` does the same in place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, Final

from a2a.types import Artifact, Message, Part, Role, Task, TaskStatus
from google.protobuf.json_format import Error, ParseDict

from accp_adapters.a2a.wire.envelope_flag import MEDIA_TYPE
from accp_adapters.a2a.wire.part_locations import Slot, artifact_places, history_places, message_places
from accp_adapters.a2a.wire.parts import CODEC, has_content, msg_id, part_to_frame, write_content
from accp_adapters.a2a.wire.states import WORKING, State, state_of, task_state
from accp_adapters.a2a.wire.values import to_json
from accp_core import parse_frame, serialize_frame
from accp_core.accp import Envelope, ErrorCode, Frame, Intent
from accp_core.accp import Message as Said
from accp_core.errors import EncodeError, ProtocolError

__all__ = ["frames_to_task", "task_to_frames"]

_STREAM: Final = State(Intent.STREAM, "task", "")
_ON_THE_WAY: Final = frozenset({Intent.SYNCHRONIZE, Intent.ACKNOWLEDGE, Intent.COMPRESS, Intent.PING, Intent.PONG})


def task_to_frames(task: Task) -> list[Frame]:
    """Return the frames that say `task`, numbered from 1 in the order in which a session takes them.

    Raises:
        EncodeError: E1001, what has no frame of its own (files) is more than the last frame can hold; E1004, its
            metadata hold what JSON does not.
    """
    rest, frames = deepcopy(task), []
    for parts, index, place in list(_places(rest)):
        framed = part_to_frame(parts[index], place)
        if framed is not None:
            frames.append(
                _chained(parse_frame(framed.text), task, place.owner if place.intent is Intent.STREAM else "")
            )
            parts[index].text, parts[index].media_type = "", MEDIA_TYPE
    frames.append(_chained(_state_frame(rest), task))
    return [
        replace(frame, envelope=replace(frame.envelope, sequence=number))
        for number, frame in enumerate(frames, start=1)
    ]


def frames_to_task(frames: Iterable[Frame | str]) -> Task:
    """Return the task that the frames say; frames of any other origin make a task as far as they go.

    Raises:
        ProtocolError: E1001, there are none, or one is malformed; E3003, some are missing; the codes of
            `Codec.decode`.
    """
    said = [_decoded(frame) for frame in frames]
    if not said:
        raise ProtocolError("expected the frames of a task, found none", code=ErrorCode.PARSE_ERROR)
    rest = said[-1][1].payload.get("task")
    if isinstance(rest, dict):
        return _filled(rest, [message for _, message in said[:-1]])
    return _assembled(said)


def _places(task: Task) -> Iterator[Slot]:
    """Yield the slots of a task in the order of a session: each artifact is a stream, the answer comes last."""
    yield from history_places(task)
    for artifact in task.artifacts:
        for parts, index, place in artifact_places(task.id, artifact, _STREAM):
            yield parts, index, replace(place, last=index + 1 == len(parts))
    yield from message_places(task.status.message, WORKING)


# "All chunks in a stream MUST share the same `correlation_id`." (section 10.4) The ids are digests of A2A's, which
# `task` has in full.
def _chained(frame: Frame, task: Task, stream: str = "") -> Frame:
    """Return the frame as one of the chain of the task, or of a stream that the task caused."""
    chain = msg_id(task.id, 0)
    envelope = replace(frame.envelope, correlation_id=chain, session_id=msg_id(task.context_id, 0))
    if stream:
        envelope = replace(envelope, correlation_id=msg_id(stream, 0), causation_id=chain)
    return replace(frame, envelope=envelope)


def _state_frame(rest: Task) -> Frame:
    """Return the frame that says the state of a task, and all that the other frames left open."""
    left = _as_json(rest)
    state = state_of(rest.status.state)
    payload: dict[str, Any] = {"status": state.word, "task": left}
    seconds = rest.status.timestamp.seconds
    message = Said(
        sender="agent",
        intent=state.intent,
        operation=state.operation,
        payload=payload if state.code is None else {"code": str(state.code), **payload},
        schema=None if state.code is None else "ER",
        envelope=Envelope(msg_id=msg_id(f"{rest.id}\0{state.word}", 0), timestamp=seconds if seconds > 0 else None),
    )
    (frame,) = CODEC.encode(message).frames
    # Refused here, and not where the frame is to be sent.
    serialize_frame(frame)
    return frame


def _as_json(task: Task) -> dict[str, Any]:
    """Return the ProtoJSON of a task, refusing one that JSON would change: values that are not set."""
    left = to_json(task)
    if ParseDict(left, Task()) != task:
        raise EncodeError("expected a task that JSON can say, found a value not set", code=ErrorCode.INVALID_TYPE)
    return left


def _decoded(frame: Frame | str) -> tuple[Frame, Said]:
    read = parse_frame(frame) if isinstance(frame, str) else frame
    message = CODEC.decode(read, keep_refs=True)
    assert isinstance(message, Said)  # references are kept, so none is missing
    return read, message


def _filled(rest: Any, said: Sequence[Said]) -> Task:
    """Return the task that the last frame left open, with the content of the others."""
    try:
        task = ParseDict(rest, Task())
    except Error as error:
        raise ProtocolError(f"expected a task, found {error}", code=ErrorCode.PARSE_ERROR) from error
    open_parts = [parts[index] for parts, index, _ in _places(task) if _is_open(parts[index])]
    if len(open_parts) != len(said):
        raise ProtocolError(f"expected {len(open_parts)} frames, found {len(said)}", code=ErrorCode.SEQUENCE_GAP)
    for part, message in zip(open_parts, said, strict=True):
        write_content(part, message.payload)
    return task


def _is_open(part: Part) -> bool:
    """Return whether a frame has the content of this part; no text is left to stand here, so it cannot be one."""
    return part.WhichOneof("content") == "text" and not part.text and part.media_type == MEDIA_TYPE


def _assembled(said: Sequence[tuple[Frame, Said]]) -> Task:
    """Return the task that another agent's frames make: requests, streams, and the state of the last one."""
    _, last = said[-1]
    task = Task(id=_chain_of(last) or "task", context_id=last.envelope.session_id or "")
    for frame, message in said:
        _place(task, frame, message, answers=message is last)
    task.status.state = task_state(last.intent, last.operation, last.payload.get("code"))
    return task


def _chain_of(message: Said) -> str | None:
    envelope = message.envelope
    return envelope.causation_id if message.intent is Intent.STREAM else envelope.correlation_id or envelope.msg_id


def _place(task: Task, frame: Frame, message: Said, *, answers: bool) -> None:
    """Put what one frame says where a task has it."""
    part = _part_of(frame, message)
    if message.intent is Intent.STREAM:
        _artifact(task, message.envelope.correlation_id or "stream").parts.append(part)
        return
    asked = message.intent in (Intent.REQUEST, Intent.QUERY)
    role = Role.ROLE_USER if asked else Role.ROLE_AGENT
    words = Message(message_id=message.envelope.msg_id or "", role=role, task_id=task.id, context_id=task.context_id)
    words.parts.append(part)
    if answers and not asked and message.intent not in _ON_THE_WAY:
        task.status.CopyFrom(TaskStatus(message=words))
    else:
        task.history.append(words)


def _artifact(task: Task, name: str) -> Artifact:
    for artifact in task.artifacts:
        if artifact.artifact_id == name:
            return artifact
    return task.artifacts.add(artifact_id=name)


def _part_of(frame: Frame, message: Said) -> Part:
    """Return the content of a frame, or the frame itself where its payload is of another make."""
    part = Part()
    if has_content(message):
        write_content(part, message.payload)
    else:
        part.text, part.media_type = serialize_frame(frame), MEDIA_TYPE
    return part
