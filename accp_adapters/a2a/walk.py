"""Every part of an A2A object with its place: who sends it, its index, and the kind of frame that carries it.

"A2A task creation maps to ACCP "req" intent; task completion maps to "done". A2A streaming artifact parts map 1:1 to
ST-schema stream frames." (ACCP section 11.4) The draft says no more; the other kinds are ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from a2a.types import Artifact, Message, Part, Role, Task, TaskArtifactUpdateEvent, TaskState, TaskStatusUpdateEvent

from accp_core.accp import Envelope, ErrorCode, Intent

__all__ = [
    "WHOLE", "A2aEvent", "ChunkStart", "FrameKind", "PartPlace", "msg_id", "session_walk", "state_kind",
    "task_state", "walk",
]  # fmt: skip

A2aEvent: TypeAlias = Task | Message | TaskStatusUpdateEvent | TaskArtifactUpdateEvent
"""An A2A object that has parts; the SDK's event queues call it by this name, too."""
_MSG_ID: Final = re.compile(r"[0-9a-f]{12}")


class FrameKind(NamedTuple):
    """What kind of frame carries a part."""

    intent: Intent
    operation: str = "task"
    state_name: str = ""
    """The name of the task's state in a frame, such as "completed"; empty where the frame names no state."""
    code: ErrorCode | None = None
    """The error code of a failure."""


_STATES: Final[Mapping[int, FrameKind]] = MappingProxyType(
    {
        TaskState.TASK_STATE_SUBMITTED: FrameKind(Intent.ACKNOWLEDGE, "task", "submitted"),
        TaskState.TASK_STATE_WORKING: FrameKind(Intent.SYNCHRONIZE, "task", "working"),
        TaskState.TASK_STATE_INPUT_REQUIRED: FrameKind(Intent.WAITING, "input", "input_required"),
        TaskState.TASK_STATE_AUTH_REQUIRED: FrameKind(Intent.WAITING, "auth", "auth_required"),
        TaskState.TASK_STATE_COMPLETED: FrameKind(Intent.COMPLETE, "task", "completed"),
        TaskState.TASK_STATE_FAILED: FrameKind(Intent.FAILURE, "error", "failed", ErrorCode.INTERNAL_ERROR),
        TaskState.TASK_STATE_REJECTED: FrameKind(Intent.FAILURE, "error", "rejected", ErrorCode.POLICY_DENIED),
        TaskState.TASK_STATE_CANCELED: FrameKind(Intent.CANCEL, "task", "canceled"),
    }
)
_PROGRESS: Final = FrameKind(Intent.SYNCHRONIZE)
_ANSWER: Final = FrameKind(Intent.COMPLETE)
_CHUNK: Final = FrameKind(Intent.STREAM)
_ENDS: Final = frozenset({Intent.COMPLETE, Intent.FAILURE, Intent.CANCEL})
_STATE_OF: Final[Mapping[Intent, TaskState]] = MappingProxyType(
    {
        Intent.ACKNOWLEDGE: TaskState.TASK_STATE_SUBMITTED,
        Intent.REQUEST: TaskState.TASK_STATE_SUBMITTED,
        Intent.QUERY: TaskState.TASK_STATE_SUBMITTED,
        Intent.COMPLETE: TaskState.TASK_STATE_COMPLETED,
        Intent.CANCEL: TaskState.TASK_STATE_CANCELED,
        Intent.ESCALATE: TaskState.TASK_STATE_INPUT_REQUIRED,  # another agent or a person decides
    }
)


def state_kind(state: int) -> FrameKind:
    """Return the kind of frame of a task in `state`; an unknown number has a kind, too."""
    return _STATES.get(state, FrameKind(Intent.SYNCHRONIZE, "task", "unknown"))


def task_state(intent: Intent, operation: str, code: object) -> TaskState:
    """Return the state of a task whose last frame has this intent, operation and error code."""
    if intent is Intent.FAILURE:
        rejected = str(code).startswith("E5")
        return TaskState.TASK_STATE_REJECTED if rejected else TaskState.TASK_STATE_FAILED
    if intent is Intent.WAITING:
        return TaskState.TASK_STATE_AUTH_REQUIRED if operation == "auth" else TaskState.TASK_STATE_INPUT_REQUIRED
    return _STATE_OF.get(intent, TaskState.TASK_STATE_WORKING)


# A2A has no chunk index: it is the number of parts that the artifact had before in the stream of events. An artifact
# that is sent again is another stream, with a correlation_id of its own.
class ChunkStart(NamedTuple):
    """Where a chunk begins in its artifact."""

    part: int = 0
    """The index of its first part."""
    restart: int = 0
    """How many times artifacts were sent again before, in this stream of events."""


WHOLE: Final = ChunkStart()
"""Where an artifact begins that is sent for the first time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartPlace:
    """Where a part is, which says all that its frame holds besides the content."""

    owner_id: str
    """The id of the message, or the ids of the task and its artifact."""
    index: int = 0
    """The index of the part in its message or artifact; in a stream, in the whole artifact so far."""
    sender: str = "agent"
    """The sender of the frame: "user" or "agent"."""
    kind: FrameKind = _ANSWER
    chain: str = ""
    """The id of the task; empty: the chain is that of the owner."""
    is_last: bool = False
    """Whether a stream ends with this part."""

    @property
    def envelope(self) -> Envelope:
        """The ids of the envelope: digests of A2A's own."""
        return Envelope(msg_id=msg_id(self.owner_id, self.index), correlation_id=msg_id(self.chain or self.owner_id))


PlacedPart: TypeAlias = tuple[Part, PartPlace]
"""A part, which may be changed in place, and where it is."""


def msg_id(owner_id: str, index: int = 0) -> str:
    """Return the msg_id, 12 hexadecimal digits, of part `index` of the object with the id `owner_id`.

    An owner id of this form is itself the msg_id of the first part.
    """
    if index == 0 and _MSG_ID.fullmatch(owner_id):
        return owner_id
    name = f"{owner_id}\0{index}" if index else owner_id
    return sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def walk(event: A2aEvent, start: ChunkStart = WHOLE) -> Iterator[PlacedPart]:
    """Yield each part of `event`, which may be changed in place, and its place; a chunk begins at `start`."""
    if isinstance(event, Message):
        is_user = event.role == Role.ROLE_USER
        kind = _request_kind(resumed=bool(event.task_id)) if is_user else _ANSWER
        yield from _message_parts(event, kind, event.task_id)
    elif isinstance(event, TaskStatusUpdateEvent):
        yield from _message_parts(event.status.message, state_kind(event.status.state), event.task_id)
    elif isinstance(event, TaskArtifactUpdateEvent):
        yield from _stream_parts(event.task_id, event.artifact, start, is_whole=event.last_chunk)
    else:
        yield from _task_parts(event)


def session_walk(task: Task) -> Iterator[PlacedPart]:
    """Yield the parts of a task in the order of a session: each artifact is a stream, the answer comes last."""
    yield from _history_parts(task)
    for artifact in task.artifacts:
        yield from _stream_parts(task.id, artifact, WHOLE, is_whole=True)
    yield from _message_parts(task.status.message, _PROGRESS, task.id)


def _request_kind(*, resumed: bool) -> FrameKind:
    """Return the kind of a user's message: it creates a task, or with `resumed` continues one."""
    return FrameKind(Intent.REQUEST, "resume" if resumed else "task")


def _task_parts(task: Task) -> Iterator[PlacedPart]:
    yield from _history_parts(task)
    kind = state_kind(task.status.state)
    answers = kind.intent is Intent.COMPLETE and not task.status.message.parts
    for left, artifact in enumerate(task.artifacts, 1 - len(task.artifacts)):
        which = kind if answers and left == 0 else _PROGRESS
        first = PartPlace(owner_id=_owner(task.id, artifact), kind=which, chain=task.id)
        yield from _numbered(artifact.parts, first)
    yield from _message_parts(task.status.message, kind, task.id)


def _history_parts(task: Task) -> Iterator[PlacedPart]:
    """Yield the parts of all messages before the present state of a task."""
    is_requested = False
    for message in task.history:
        is_user = message.role == Role.ROLE_USER
        # What an agent says before the end is progress, not an answer.
        yield from _message_parts(message, _request_kind(resumed=is_requested) if is_user else _PROGRESS, task.id)
        is_requested = is_requested or is_user


def _message_parts(message: Message, kind: FrameKind, chain: str) -> Iterator[PlacedPart]:
    sender = "user" if message.role == Role.ROLE_USER else "agent"
    yield from _numbered(message.parts, PartPlace(owner_id=message.message_id, sender=sender, kind=kind, chain=chain))


def _stream_parts(task_id: str, artifact: Artifact, start: ChunkStart, *, is_whole: bool) -> Iterator[PlacedPart]:
    again = f"\0{start.restart}\0" if start.restart else ""
    first = PartPlace(owner_id=_owner(task_id, artifact) + again, index=start.part, kind=_CHUNK)
    end = start.part + len(artifact.parts) - 1
    for part, place in _numbered(artifact.parts, first):
        yield part, replace(place, is_last=is_whole and place.index == end)


def _owner(task_id: str, artifact: Artifact) -> str:
    return f"{task_id}\0{artifact.artifact_id}"


# A request has one answer (ACCP section 3.7): what stands before the last part of it is progress.
def _numbered(parts: Sequence[Part], first: PartPlace) -> Iterator[PlacedPart]:
    end = first.index + len(parts) - 1
    for index, part in enumerate(parts, first.index):
        kind = _PROGRESS if first.kind.intent in _ENDS and index < end else first.kind
        yield part, replace(first, index=index, kind=kind)
