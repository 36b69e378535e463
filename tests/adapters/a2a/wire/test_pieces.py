"""An object that is cut into pieces and joined is the same; no piece is large, and a task is cut as it was taken."""

from __future__ import annotations

from typing import Any

import pytest
from a2a.helpers import new_data_part, new_text_part
from a2a.types import (
    Artifact,
    Message,
    Part,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from google.protobuf.struct_pb2 import Struct
from hypothesis import given, settings
from hypothesis import strategies as st

from accp_adapters.a2a.wire import pieces
from accp_adapters.a2a.wire.envelope_flag import Event
from accp_adapters.a2a.wire.pieces import cut, join, take, value_size

SMALL = 12

scalars = st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=20)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=4), inner, max_size=6)
)
parts = st.lists(
    st.builds(new_text_part, st.text(max_size=9))
    | values.map(new_data_part)
    | st.sampled_from([Part(), Part(url="u", metadata={}), Part(raw=b"x", filename="f"), new_data_part({})]),
    max_size=4,
)
metadata = st.sampled_from([None, {}, {"k": 1.0}]).map(lambda each: None if each is None else _struct(each))
messages = st.builds(lambda parts, metadata: Message(message_id="m", parts=parts, metadata=metadata), parts, metadata)
statuses = st.builds(
    lambda message, state: TaskStatus(message=message, state=state),
    st.none() | messages,
    st.sampled_from([TaskState.TASK_STATE_WORKING, TaskState.TASK_STATE_COMPLETED]),
)
artifacts = st.builds(lambda parts: Artifact(artifact_id="a", extensions=["e"], parts=parts), parts)
events: st.SearchStrategy[Any] = (
    messages
    | st.builds(lambda status: TaskStatusUpdateEvent(task_id="t", status=status), st.none() | statuses)
    | st.builds(lambda artifact: TaskArtifactUpdateEvent(append=True, artifact=artifact), st.none() | artifacts)
    | st.builds(
        lambda status, history, made: Task(id="t", status=status, history=history, artifacts=made),
        st.none() | statuses,
        st.lists(messages, max_size=2),
        st.lists(artifacts, max_size=2),
    )
)


def _struct(value: dict[str, Any]) -> Struct:
    made = Struct()
    made.update(value)
    return made


def again(event: Event) -> Event:
    """Return the event, cut and joined."""
    made = type(event)()
    join(cut(take(event)), made)
    return made


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "MAX_PIECE", SMALL)
    monkeypatch.setattr(pieces, "_MAX_INLINE", 2)


@settings(max_examples=40)
@given(events)
def test_what_was_cut_is_joined_to_the_same(event: Event) -> None:
    assert again(event) == event


def test_a_status_and_a_message_that_are_empty_are_not_the_same_as_none() -> None:
    for event in (Task(status=TaskStatus()), Task(status=TaskStatus(message=Message())), Task()):
        assert again(event) == event
        assert again(event).HasField("status") == event.HasField("status")


def test_no_piece_is_large_but_a_long_text() -> None:
    rows: list[Any] = [{"id": n, "in": {"deep": [n] * 30}} for n in range(40)]
    event = Message(parts=[new_data_part({"rows": rows, "text": "x" * 500, "none": {}})])
    data = [data for _, _, data in cut(take(event))]
    assert len(data) > 100 and sorted(map(len, data))[-2] < 400
    assert again(event) == event


def test_a_task_is_cut_as_it_was_when_it_was_taken() -> None:
    task = Task(id="t", artifacts=[Artifact(artifact_id="a", parts=[new_data_part(list(range(50)))])])
    task.status.message.parts.append(new_text_part("first"))
    before = Task()
    before.CopyFrom(task)
    taken = take(task)
    # What the SDK does with each event of a task.
    task.artifacts[0].parts.append(new_text_part("more"))
    task.artifacts[0].CopyFrom(Artifact(artifact_id="b", parts=[new_data_part({"x": 1})]))
    task.history.append(task.status.message)
    task.status.CopyFrom(TaskStatus(message=Message(parts=[new_text_part("second")])))
    made = Task()
    join(cut(taken), made)
    assert made == before


@pytest.mark.parametrize(("value", "size"), [({"ab": [1, "xyz"]}, 9), ([], 1), ("abc", 4), ([[]] * 5, 6)])
def test_the_size_counts_characters_and_values(value: Any, size: int) -> None:
    assert value_size(new_data_part(value).data, 100) == size
    assert value_size(new_data_part([value] * 1_000).data, 20) <= 40
