"""Every part of an A2A object with its location: who sends it, its index, and the kind of its frame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from a2a.types import Artifact, Message, Part, Role, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent

from accp_adapters.a2a.wire.envelope_flag import A2aEvent
from accp_adapters.a2a.wire.parts import WHOLE, ChunkStart, PartLocation
from accp_adapters.a2a.wire.states import (
    STREAM_CHUNK,
    WORKING,
    FrameKind,
    message_kind,
    request_kind,
    state_kind,
)
from accp_core.accp import Intent

__all__ = ["LocatedPart", "artifact_parts", "history_parts", "located_parts", "message_parts", "stream_parts"]

_ENDS: Final = frozenset({Intent.COMPLETE, Intent.FAILURE, Intent.CANCEL})
LocatedPart: TypeAlias = tuple[Part, PartLocation]
"""A part of an object, which may be changed in place, and its location there."""


def located_parts(event: A2aEvent, start: ChunkStart = WHOLE) -> Iterator[LocatedPart]:
    """Yield each part of `event`; `start` is where a chunk begins in its artifact."""
    if isinstance(event, Message):
        yield from message_parts(event, message_kind(event), event.task_id)
    elif isinstance(event, Task):
        yield from _task_parts(event)
    elif isinstance(event, TaskStatusUpdateEvent):
        yield from message_parts(event.status.message, state_kind(event.status.state), event.task_id)
    else:
        yield from _chunk_parts(event, start)


def message_parts(message: Message, kind: FrameKind, chain: str) -> Iterator[LocatedPart]:
    """Yield the parts of a message of the task `chain`, whose frames are of this kind."""
    first = PartLocation(
        owner_id=message.message_id,
        index=0,
        sender="user" if message.role == Role.ROLE_USER else "agent",
        intent=kind.intent,
        operation=kind.operation,
        code=kind.code,
        chain=chain,
    )
    yield from _numbered(message.parts, first)


def history_parts(task: Task) -> Iterator[LocatedPart]:
    """Yield the parts of all messages before the present state of a task."""
    is_requested = False
    for message in task.history:
        is_user = message.role == Role.ROLE_USER
        # The first request creates the task; what an agent says before the end is progress, not an answer.
        yield from message_parts(message, request_kind(resumed=is_requested) if is_user else WORKING, task.id)
        is_requested = is_requested or is_user


def artifact_parts(
    task_id: str, artifact: Artifact, kind: FrameKind, start: ChunkStart = WHOLE, *, chain: str = ""
) -> Iterator[LocatedPart]:
    """Yield the parts of an artifact, or of a chunk of it that begins at `start`.

    They belong to the task `chain`; without one, to a stream of their own.
    """
    first = PartLocation(
        owner_id=f"{task_id}\0{artifact.artifact_id}",
        index=start.part,
        restart=start.restart,
        intent=kind.intent,
        operation=kind.operation,
        chain=chain,
    )
    yield from _numbered(artifact.parts, first)


# A request has one answer (ACCP section 3.7): what stands before the last part of it is progress.
def _numbered(parts: Sequence[Part], first: PartLocation) -> Iterator[LocatedPart]:
    count = first.index + len(parts)
    for index, part in enumerate(parts, first.index):
        location = replace(first, index=index, count=count)
        if first.intent in _ENDS and index + 1 < count:
            location = replace(location, intent=WORKING.intent, operation=WORKING.operation, code=None)
        yield part, location


def _task_parts(task: Task) -> Iterator[LocatedPart]:
    yield from history_parts(task)
    kind = state_kind(task.status.state)
    is_answer = kind.intent is Intent.COMPLETE and not task.status.message.parts
    for left, artifact in enumerate(task.artifacts, 1 - len(task.artifacts)):
        yield from artifact_parts(task.id, artifact, kind if is_answer and left == 0 else WORKING, chain=task.id)
    yield from message_parts(task.status.message, kind, task.id)


def stream_parts(
    task_id: str, artifact: Artifact, start: ChunkStart = WHOLE, *, is_whole: bool
) -> Iterator[LocatedPart]:
    """Yield the parts of an artifact, or of a chunk of it, as chunks of a stream, which ends where it `is_whole`."""
    for part, location in artifact_parts(task_id, artifact, STREAM_CHUNK, start):
        yield part, replace(location, is_last=is_whole and location.index + 1 == location.count)


# "A2A streaming artifact parts map 1:1 to ST-schema stream frames" (section 11.4). A2A has no chunk index: it is the
# number of parts that the artifact had before. An artifact that is sent again is another stream, with a cid of its own.
def _chunk_parts(event: TaskArtifactUpdateEvent, start: ChunkStart) -> Iterator[LocatedPart]:
    yield from stream_parts(event.task_id, event.artifact, start, is_whole=event.last_chunk)
