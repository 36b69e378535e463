"""Every part of an A2A object with what its frame says of it: whose it is, which one, and what for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeAlias

from a2a.types import Artifact, Message, Role, Task, TaskArtifactUpdateEvent, TaskState, TaskStatusUpdateEvent

from accp_adapters.a2a.wire.envelope_flag import Event
from accp_adapters.a2a.wire.parts import Place
from accp_adapters.a2a.wire.states import STATES, WORKING, State, request_state, role_state, state_of
from accp_core.accp import Intent

__all__ = ["Slot", "artifact_places", "history_places", "message_places", "places"]

Slot: TypeAlias = tuple[Any, int, Place]
"""The list in which a part stands, its index in it, and its place."""


def places(event: Event, first: int = 0) -> Iterator[Slot]:
    """Yield the slot of each part of `event`; `first` is the index of the first part of a chunk in its artifact."""
    if isinstance(event, Message):
        yield from message_places(event, role_state(event))
    elif isinstance(event, Task):
        yield from _task_places(event)
    elif isinstance(event, TaskStatusUpdateEvent):
        yield from message_places(event.status.message, state_of(event.status.state))
    else:
        yield from _chunk_places(event, first)


def message_places(message: Message, state: State) -> Iterator[Slot]:
    """Yield the slots of a message that comes with this state."""
    place = Place(
        owner=message.message_id,
        index=0,
        sender="user" if message.role == Role.ROLE_USER else "agent",
        intent=state.intent,
        operation=state.operation,
        code=state.code,
    )
    yield from _each(message.parts, place)


def history_places(task: Task) -> Iterator[Slot]:
    """Yield the slots of all that was said before the present state."""
    requested = False
    for message in task.history:
        user = message.role == Role.ROLE_USER
        # The first request made the task, and what an agent said on the way is no answer yet.
        yield from message_places(message, request_state(resumed=requested) if user else WORKING)
        requested = requested or user


def artifact_places(task_id: str, artifact: Artifact, state: State, first: int = 0) -> Iterator[Slot]:
    """Yield the slots of an artifact, or of a chunk of it that begins with part `first`."""
    owner = f"{task_id}\0{artifact.artifact_id}"
    yield from _each(artifact.parts, Place(owner=owner, index=first, intent=state.intent, operation=state.operation))


def _each(parts: Any, place: Place) -> Iterator[Slot]:
    return ((parts, index, replace(place, index=place.index + index)) for index in range(len(parts)))


def _task_places(task: Task) -> Iterator[Slot]:
    yield from history_places(task)
    done = task.status.state == TaskState.TASK_STATE_COMPLETED
    for artifact in task.artifacts:
        yield from artifact_places(task.id, artifact, STATES[TaskState.TASK_STATE_COMPLETED] if done else WORKING)
    yield from message_places(task.status.message, state_of(task.status.state))


# "A2A streaming artifact parts map 1:1 to ST-schema stream frames" (section 11.4). A2A has no chunk index: it is how
# many parts the artifact has so far.
def _chunk_places(event: TaskArtifactUpdateEvent, first: int) -> Iterator[Slot]:
    chunk = State(Intent.STREAM, "task", "")
    for parts, index, place in artifact_places(event.task_id, event.artifact, chunk, first):
        yield parts, index, replace(place, last=event.last_chunk and index + 1 == len(parts))
