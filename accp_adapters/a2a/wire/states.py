"""Task states and roles as intents and operations, and intents as task states (ACCP section 11.4).

"A2A task creation maps to ACCP "req" intent; task completion maps to "done"". The draft says no more; the other rows
are ours: a task that waits is `wait`, one that is worked on is `sync`, one that failed is `fail:error` with schema ER,
as every failure is in ACCP.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from a2a.types import Message, Role, TaskState

from accp_core.accp import ErrorCode, Intent

__all__ = [
    "FRAME_KINDS", "STREAM_CHUNK", "WORKING", "FrameKind", "message_kind", "request_kind", "state_kind", "task_state",
]  # fmt: skip


class FrameKind(NamedTuple):
    """What kind of frame a message or a task in one state is written as."""

    intent: Intent
    operation: str
    state_name: str
    """The name of the task's state in a frame, such as "completed"; empty where the frame names no state."""
    code: ErrorCode | None = None
    """The error code of a failure."""


FRAME_KINDS: Final[Mapping[int, FrameKind]] = MappingProxyType(
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
"""State of a task to the kind of its frame; any other state is `sync:task`, unknown."""
UNKNOWN: Final = FrameKind(Intent.SYNCHRONIZE, "task", "unknown")
WORKING: Final = FRAME_KINDS[TaskState.TASK_STATE_WORKING]
STREAM_CHUNK: Final = FrameKind(Intent.STREAM, "task", "")

_TASK_STATES: Final[Mapping[Intent, TaskState]] = MappingProxyType(
    {
        Intent.ACKNOWLEDGE: TaskState.TASK_STATE_SUBMITTED,
        Intent.COMPLETE: TaskState.TASK_STATE_COMPLETED,
        Intent.CANCEL: TaskState.TASK_STATE_CANCELED,
        Intent.REQUEST: TaskState.TASK_STATE_SUBMITTED,
        Intent.QUERY: TaskState.TASK_STATE_SUBMITTED,
        # An escalation asks another agent or a person to decide.
        Intent.ESCALATE: TaskState.TASK_STATE_INPUT_REQUIRED,
    }
)


def state_kind(state: int) -> FrameKind:
    """Return the kind of frame of a task in `state`; an unknown number has a kind, too."""
    return FRAME_KINDS.get(state, UNKNOWN)


def request_kind(*, resumed: bool) -> FrameKind:
    """Return the kind of frame of a user's message: it creates a task, or with `resumed` continues one."""
    return FrameKind(Intent.REQUEST, "resume" if resumed else "task", "")


def message_kind(message: Message) -> FrameKind:
    """Return the kind of frame of a message outside a task: a request, or the reply to one."""
    if message.role == Role.ROLE_USER:
        return request_kind(resumed=bool(message.task_id))
    return FRAME_KINDS[TaskState.TASK_STATE_COMPLETED]


def task_state(intent: Intent, operation: str, code: object) -> TaskState:
    """Return the state of a task whose last frame has this intent, operation and error code."""
    if intent is Intent.FAILURE:
        rejected = str(code).startswith("E5")
        return TaskState.TASK_STATE_REJECTED if rejected else TaskState.TASK_STATE_FAILED
    if intent is Intent.WAITING:
        return TaskState.TASK_STATE_AUTH_REQUIRED if operation == "auth" else TaskState.TASK_STATE_INPUT_REQUIRED
    return _TASK_STATES.get(intent, TaskState.TASK_STATE_WORKING)
