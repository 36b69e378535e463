"""A task as frames that stand by themselves: exactly the same task back, in an order that a session takes."""

from __future__ import annotations

import pytest
from a2a.helpers import new_data_part, new_text_part
from a2a.types import Artifact, Message, Part, Role, Task, TaskState, TaskStatus
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import assume, given

from accp_adapters.a2a import frames_to_task, task_to_frames
from accp_adapters.tokens import o200k_base
from accp_core import Codec, Session, serialize_frame
from accp_core.accp import PRACTICAL_LIMITS, ExchangeClosed, FrameRefused, StreamChunkReceived
from accp_core.errors import EncodeError, ProtocolError
from tests.adapters.a2a.agent import TICKETS
from tests.adapters.a2a.strategies import tasks
from tests.adapters.a2a.test_frames import a_task, identical


@pytest.mark.slow
@given(task=tasks)
def test_any_task_comes_back_from_the_texts_of_its_frames(task: Task) -> None:
    try:
        texts = [serialize_frame(frame) for frame in task_to_frames(task)]
    except EncodeError as error:
        # NaN outside a part that could stay native.
        assume(error.code != "E1004")
        raise
    assert identical(frames_to_task(texts), task)


def a_long_task() -> Task:
    """Return a task with all that one can have."""
    task = a_task(new_data_part(TICKETS), new_text_part("twelve"), Part(raw=b"\\0", filename="x"))
    task.artifacts.append(Artifact(artifact_id="a2", parts=[new_text_part("more")]))
    parts = [new_text_part("Which?")]
    task.history.append(Message(message_id="m2", role=Role.ROLE_AGENT, task_id="t", context_id="c", parts=parts))
    task.history.append(Message(message_id="m3", role=Role.ROLE_USER, task_id="t", context_id="c", parts=parts))
    answer = Message(message_id="m4", role=Role.ROLE_AGENT, parts=[new_text_part("Done."), new_data_part("as text")])
    time = Timestamp(seconds=1_760_723_229, nanos=680_794_000)
    task.status.CopyFrom(TaskStatus(state=TaskState.TASK_STATE_COMPLETED, message=answer, timestamp=time))
    return task


def test_a_session_takes_the_frames_of_a_task_in_their_order() -> None:
    codec = Codec(counter=o200k_base(), limits=PRACTICAL_LIMITS)
    # A session is named as the frames name it: by the first digits of the SHA-256 of the context's id.
    session = Session("2e7d2c03a950", "me", codec=codec, new_id=lambda: "0123456789ab")
    events = [
        event
        for frame in task_to_frames(a_long_task())
        for event in session.receive(serialize_frame(frame), 1_760_723_230)
    ]
    assert not [event for event in events if isinstance(event, FrameRefused)]
    assert [event.chain for event in events if isinstance(event, ExchangeClosed)] == ["e3b98a4da31a"]
    chunks = [event.message.payload["chunk_index"] for event in events if isinstance(event, StreamChunkReceived)]
    assert chunks == [0, 1, 0]


def test_the_frames_of_a_task_say_what_it_is() -> None:
    texts = [serialize_frame(frame) for frame in task_to_frames(a_long_task())]
    assert " ".join(text.partition("{")[0] for text in texts) == (
        "@user>req:task @agent>sync:task @user>req:resume @agent>stream:task @agent>stream:task @agent>stream:task "
        "@agent>sync:task @agent>sync:task @agent>done:task"
    )
    assert texts[-1].startswith("@agent>done:task{status:completed|task:{")
    assert ",seq:9,ts:1760723229," in texts[-1]


def test_a_missing_frame_is_a_gap_and_so_is_another_order() -> None:
    frames = task_to_frames(a_long_task())
    for wrong in (frames[1:], frames[:-1], frames[::-1]):
        with pytest.raises(ProtocolError, match="E3003: expected"):
            frames_to_task(wrong)


@pytest.mark.parametrize("broken", [[], ["@a>req:op{"], ["@agent>done:task{task:{nonsense:1}}[mid:a,seq:1]"]])
def test_what_is_no_task_is_refused(broken: list[str]) -> None:
    with pytest.raises(ProtocolError, match="E1001"):
        frames_to_task(broken)


def test_a_task_that_json_cannot_say_is_refused() -> None:
    task = Task(id="t")
    task.metadata.fields["x"].number_value = float("nan")
    with pytest.raises(EncodeError, match="E1004"):
        task_to_frames(task)


@pytest.mark.parametrize(
    ("last", "state"),
    [
        ("@b>done:analyze{d:found}", TaskState.TASK_STATE_COMPLETED),
        ("@b>fail:error{code:E5001|msg:no|schema:ER}", TaskState.TASK_STATE_REJECTED),
        ("@b>fail:analyze{d:no}", TaskState.TASK_STATE_FAILED),
        ("@b>wait:auth{d:login}", TaskState.TASK_STATE_AUTH_REQUIRED),
        ("@b>wait:input{d:more}", TaskState.TASK_STATE_INPUT_REQUIRED),
        ("@b>esc:review{to:boss}", TaskState.TASK_STATE_INPUT_REQUIRED),
        ("@b>ack:task{d:ok}", TaskState.TASK_STATE_SUBMITTED),
        ("@b>sync:state{d:half}", TaskState.TASK_STATE_WORKING),
        ("@b>stream:task{idx:1|d:b|schema:ST}", TaskState.TASK_STATE_WORKING),
        ("@b>end:task{}", TaskState.TASK_STATE_WORKING),
        ("@b>cancel:task{}", TaskState.TASK_STATE_CANCELED),
        ("@a>qry:task{q:state}", TaskState.TASK_STATE_SUBMITTED),
    ],
)
def test_frames_of_any_agent_make_a_task(last: str, state: TaskState) -> None:
    before = ["@a>req:analyze{d:q3}[mid:m1,seq:1]", "@b>stream:task{idx:0|d:a|schema:ST}[mid:m2,seq:2,cid:m1,sid:s1]"]
    task = frames_to_task([*before, f"{last}[mid:m3,seq:3,cid:m1,sid:s1]"])
    assert task.status.state == state
    assert task.history[0].parts[0].text == "q3"
    assert task.artifacts[0].parts[0].text == "a"
