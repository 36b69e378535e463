"""Task states and roles as intents and operations, and intents as states (ACCP section 11.4).

"A2A task creation maps to ACCP "req" intent; task completion maps to "done"". The rest of the table is ours: what
waits is `wait`, what goes on is `sync`, what failed is `fail:error` with schema ER, as every failure is in ACCP.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from a2a.types import Message, Role, TaskState

from accp_core.accp import ErrorCode, Intent

__all__ = ["STATES", "WORKING", "State", "request_state", "role_state", "state_of", "task_state"]


class State(NamedTuple):
    """What a frame says of a task in one state."""

    intent: Intent
    operation: str
    word: str
    """What the state is called in a frame."""
    code: ErrorCode | None = None
    """Of a failure."""


STATES: Final[Mapping[int, State]] = MappingProxyType(
    {
        TaskState.TASK_STATE_SUBMITTED: State(Intent.ACKNOWLEDGE, "task", "submitted"),
        TaskState.TASK_STATE_WORKING: State(Intent.SYNCHRONIZE, "task", "working"),
        TaskState.TASK_STATE_INPUT_REQUIRED: State(Intent.WAITING, "input", "input_required"),
        TaskState.TASK_STATE_AUTH_REQUIRED: State(Intent.WAITING, "auth", "auth_required"),
        TaskState.TASK_STATE_COMPLETED: State(Intent.COMPLETE, "task", "completed"),
        TaskState.TASK_STATE_FAILED: State(Intent.FAILURE, "error", "failed", ErrorCode.INTERNAL_ERROR),
        TaskState.TASK_STATE_REJECTED: State(Intent.FAILURE, "error", "rejected", ErrorCode.POLICY_DENIED),
        TaskState.TASK_STATE_CANCELED: State(Intent.CANCEL, "task", "canceled"),
    }
)
"""State of a task to what its frame says; a state that is not here is `sync:task`, unknown."""
UNKNOWN: Final = State(Intent.SYNCHRONIZE, "task", "unknown")
WORKING: Final = STATES[TaskState.TASK_STATE_WORKING]

_BACK: Final[Mapping[Intent, TaskState]] = MappingProxyType(
    {
        Intent.ACKNOWLEDGE: TaskState.TASK_STATE_SUBMITTED,
        Intent.COMPLETE: TaskState.TASK_STATE_COMPLETED,
        Intent.CANCEL: TaskState.TASK_STATE_CANCELED,
        Intent.REQUEST: TaskState.TASK_STATE_SUBMITTED,
        Intent.QUERY: TaskState.TASK_STATE_SUBMITTED,
        # Who escalates asks somebody else to decide.
        Intent.ESCALATE: TaskState.TASK_STATE_INPUT_REQUIRED,
    }
)


def state_of(state: int) -> State:
    """Return what a frame says of a task in `state`, whatever number that is."""
    return STATES.get(state, UNKNOWN)


def request_state(*, resumed: bool) -> State:
    """Return what a frame of a user's message says: the request that makes a task, or one that goes on with it."""
    return State(Intent.REQUEST, "resume" if resumed else "task", "")


def role_state(message: Message) -> State:
    """Return what a frame of a message says that stands by itself: a request, or a reply to one."""
    if message.role == Role.ROLE_USER:
        return request_state(resumed=bool(message.task_id))
    return STATES[TaskState.TASK_STATE_COMPLETED]


def task_state(intent: Intent, operation: str, code: object) -> TaskState:
    """Return the state of a task whose last frame has this intent, operation and error code."""
    if intent is Intent.FAILURE:
        rejected = str(code).startswith("E5")
        return TaskState.TASK_STATE_REJECTED if rejected else TaskState.TASK_STATE_FAILED
    if intent is Intent.WAITING:
        return TaskState.TASK_STATE_AUTH_REQUIRED if operation == "auth" else TaskState.TASK_STATE_INPUT_REQUIRED
    return _BACK.get(intent, TaskState.TASK_STATE_WORKING)
