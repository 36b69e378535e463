"""What goes between peers: the same object at the other end, never larger, and only what is ours is opened."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from a2a.helpers import new_data_part, new_text_part
from a2a.types import (
    Artifact,
    Message,
    Part,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from google.protobuf.json_format import MessageToDict, ParseDict
from hypothesis import given
from hypothesis import strategies as st

from accp_adapters.a2a.wire import events as wire_events
from accp_adapters.a2a.wire.events import decode, encode, renumbered
from accp_adapters.a2a.wire.part_locations import located_parts
from accp_adapters.a2a.wire.parts import WHOLE, ChunkStart
from accp_adapters.tokens import o200k_base
from accp_core import parse_frame
from accp_core.accp import Codec, FrameRefused, Session
from accp_core.errors import ProtocolError
from tests.adapters.a2a.agent import TICKETS
from tests.adapters.a2a.strategies import events


@pytest.fixture(autouse=True, scope="module")
def _time_stands_still() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wire_events, "time", lambda: 1_714_000_000.5)
        yield


def identical(one: Any, other: Any) -> bool:
    """Return whether two objects have the same bytes: NaN is NaN, -0.0 is not 0.0, empty metadata are not none."""
    return type(one) is type(other) and one.SerializeToString(deterministic=True) == other.SerializeToString(
        deterministic=True
    )


@given(event=events, start=st.builds(ChunkStart, st.integers(0, 3), st.integers(0, 2)), never_larger=st.booleans())
def test_any_object_comes_back_as_it_was(event: Any, start: ChunkStart, never_larger: bool) -> None:
    before = event.SerializeToString(deterministic=True)
    framed = encode(event, start, never_larger=never_larger)
    assert identical(decode(framed, start), event)
    assert event.SerializeToString(deterministic=True) == before


@given(event=events)
def test_an_object_that_was_encoded_once_can_be_encoded_again(event: Any) -> None:
    once = encode(event, never_larger=False)
    twice = encode(once, never_larger=False)
    assert identical(decode(twice), once)
    assert identical(decode(decode(twice)), event)


@given(event=events)
def test_nothing_becomes_larger_unless_its_own_metadata_have_our_key(event: Any) -> None:
    framed = encode(event)
    if "accp" not in (event.metadata.fields if event.HasField("metadata") else ()):
        assert framed.ByteSize() <= event.ByteSize()
        if framed is not event:
            assert len(written(framed).encode()) <= len(written(event).encode())
            assert o200k_base()(written(framed)) <= o200k_base()(written(event))


@given(event=events)
def test_every_frame_is_read_by_the_parser_and_is_the_same_again(event: Any) -> None:
    framed = encode(event, never_larger=False)
    assert identical(framed, encode(event, never_larger=False))
    for (before, _), (after, _) in zip(located_parts(event), located_parts(framed), strict=True):
        if before != after:
            assert after.media_type == "application/accp"
            envelope = parse_frame(after.text).envelope
            assert envelope.msg_id and envelope.sequence


def written(event: Any) -> str:
    """Return an object as the SDK's routes write it."""
    return json.dumps(MessageToDict(event), ensure_ascii=False, separators=(",", ":"))


def a_task(*parts: Part, state: TaskState = TaskState.TASK_STATE_COMPLETED, **more: Any) -> Task:
    """Return a task with one artifact of these parts."""
    history = [Message(message_id="m1", role=Role.ROLE_USER, context_id="c", task_id="t", parts=[new_text_part("hi")])]
    artifact = Artifact(artifact_id="a1", parts=parts)
    return Task(id="t", context_id="c", status=TaskStatus(state=state), history=history, artifacts=[artifact], **more)


def frames_of(event: Any, **options: Any) -> list[str]:
    """Return the texts of all parts of what is sent."""
    framed = encode(event, never_larger=False, **options)
    return [part.text for part, _ in located_parts(framed)]


def test_a_completed_task_is_a_request_and_what_was_done() -> None:
    texts = frames_of(a_task(new_text_part("Generated text"), new_data_part({"count": 42, "rate": 2.5})))
    assert [text.split("[mid")[0] for text in texts] == [
        "@user>req:task{d:hi}",
        '@agent>sync:task{d:"Generated_text"}',
        "@agent>done:task{d:{count:42,rate:2.5}}",
    ]


@pytest.mark.parametrize(
    ("state", "beginning"),
    [
        (TaskState.TASK_STATE_SUBMITTED, "@agent>ack:task{d:why}["),
        (TaskState.TASK_STATE_WORKING, "@agent>sync:task{d:why}["),
        (TaskState.TASK_STATE_INPUT_REQUIRED, "@agent>wait:input{d:why}["),
        (TaskState.TASK_STATE_AUTH_REQUIRED, "@agent>wait:auth{d:why}["),
        (TaskState.TASK_STATE_COMPLETED, "@agent>done:task{d:why}["),
        (TaskState.TASK_STATE_FAILED, "@agent>fail:error{code:E9999|msg:why|schema:ER}["),
        (TaskState.TASK_STATE_REJECTED, "@agent>fail:error{code:E5001|msg:why|schema:ER}["),
        (TaskState.TASK_STATE_CANCELED, "@agent>cancel:task{d:why}["),
        (TaskState.TASK_STATE_UNSPECIFIED, "@agent>sync:task{d:why}["),
        (42, "@agent>sync:task{d:why}["),
    ],
)
def test_every_state_has_its_intent(state: TaskState, beginning: str) -> None:
    why = Message(message_id="m", role=Role.ROLE_AGENT, parts=[new_text_part("why")])
    (text,) = frames_of(Task(id="t", context_id="c", status=TaskStatus(state=state, message=why)))
    assert text.startswith(beginning)
    # The first 12 digits of the SHA-256 of "m".
    assert parse_frame(text).envelope.msg_id == "62c66a7a5dd7"


def chunk(*parts: Part, append: bool = True, last: bool = False) -> TaskArtifactUpdateEvent:
    """Return a chunk of an artifact."""
    artifact = Artifact(artifact_id="a1", parts=parts)
    return TaskArtifactUpdateEvent(task_id="t", context_id="c", artifact=artifact, append=append, last_chunk=last)


def test_the_parts_of_a_chunk_are_stream_frames_one_by_one() -> None:
    texts = frames_of(chunk(new_text_part("a"), new_data_part({"n": 1}), last=True), start=ChunkStart(3))
    assert [text.split("[mid")[0] for text in texts] == [
        "@agent>stream:task{idx:3|d:a|schema:ST}",
        "@agent>stream:task{idx:4|d:{n:1}|done:true|schema:ST}",
    ]
    assert [parse_frame(text).envelope.sequence for text in texts] == [1, 2]


@pytest.mark.parametrize(
    ("part", "restart", "code"), [(4, 1, "E3002"), (2, 1, "E3003"), (0, 2, "E3002"), (3, 0, "E3003")]
)
def test_a_chunk_before_or_behind_its_turn_is_refused(part: int, restart: int, code: str) -> None:
    framed = encode(chunk(new_text_part("a")), ChunkStart(3, 1), never_larger=False)
    with pytest.raises(ProtocolError, match=f"{code}: expected part {part}, found part 3"):
        decode(framed, ChunkStart(part, restart))


def test_an_artifact_that_is_sent_again_is_another_stream() -> None:
    again = chunk(new_text_part("a"), new_text_part("b"), append=False)
    first, second = (
        [parse_frame(text).envelope for text in frames_of(again, start=ChunkStart(restart=n))] for n in (0, 1)
    )
    assert len({each.msg_id for each in (*first, *second)}) == 4
    assert len({each.correlation_id for each in (*first, *second)}) == 2


def test_a_frame_that_the_agent_made_itself_is_not_encoded_twice() -> None:
    own = Part(text="@crm>done:lookup{n:1}[mid:0123456789ab,seq:1]", media_type="application/accp")
    task = a_task(own)
    assert identical(decode(encode(task, never_larger=False)), task)
    assert frames_of(task)[1] == own.text


def test_a_frame_that_would_pass_for_ours_is_put_into_another_one() -> None:
    framed = encode(a_task(new_text_part("one"), new_text_part("two")), never_larger=False)
    for parts in (framed.artifacts[0].parts[:], framed.artifacts[0].parts[::-1]):
        relayed = a_task(*parts)
        again = encode(relayed, never_larger=False)
        assert identical(decode(again), relayed)
        assert again.artifacts[0].parts[0].text.startswith("@agent>sync:task{d:\\@agent")


def test_what_json_cannot_say_goes_as_it_is() -> None:
    task = a_task(new_data_part(TICKETS))
    task.metadata.fields["x"].number_value = float("nan")
    assert encode(task) is task
    assert identical(decode(encode(task, never_larger=False)), task)


def test_long_prose_is_not_even_tried() -> None:
    prose = new_text_part("Das ist ein Satz ohne Zeichen die etwas kosten " * 2_000)
    assert encode(a_task(prose, new_data_part(TICKETS))).artifacts[0].parts[0] == prose


def test_files_stay_what_they_are() -> None:
    files = [Part(raw=b"tck", filename="x", media_type="text/plain"), Part(url="https://example.org/x")]
    framed = encode(a_task(*files, new_data_part(TICKETS)), never_larger=False)
    assert list(framed.artifacts[0].parts[:2]) == files


def test_prose_stays_prose_where_a_frame_would_take_more_tokens() -> None:
    prose = new_text_part("The quick brown fox jumps over the lazy dog. " * 40)
    framed = encode(a_task(prose, new_data_part(TICKETS)))
    assert framed.artifacts[0].parts[0] == prose
    assert framed.artifacts[0].parts[1].text.startswith("@agent>done:task{view:")


def test_a_small_message_goes_as_it_is() -> None:
    message = Message(message_id="m", role=Role.ROLE_USER, parts=[new_text_part("hi")])
    assert encode(message) is message


def test_what_a_frame_cannot_hold_goes_as_it_is() -> None:
    huge = new_text_part("x" * (1 << 20))
    framed = encode(a_task(huge), never_larger=False)
    assert framed.artifacts[0].parts[0] == huge
    assert framed.history[0].parts[0].text.startswith("@user>req:task{")


def test_a_broken_frame_of_ours_is_refused_with_its_code() -> None:
    framed = encode(chunk(new_text_part("a")), never_larger=False)
    framed.artifact.parts[0].text = framed.artifact.parts[0].text.replace("d:a", "x:a")
    with pytest.raises(ProtocolError, match=r"E1001: expected one of .*found \[\]"):
        decode(framed)


def test_text_that_is_no_frame_is_text_in_a_marked_object_too() -> None:
    framed = encode(chunk(new_text_part("a")), never_larger=False)
    framed.artifact.parts[0].text = "@agent>stream:task{idx:"
    assert decode(framed).artifact.parts[0].text == "@agent>stream:task{idx:"


def test_whole_numbers_are_integers_in_a_frame() -> None:
    text = frames_of(a_task(new_data_part({"count": 42, "half": 0.5})))[1]
    assert "{count:42,half:0.5}" in text
    assert ParseDict(MessageToDict(decode(encode(a_task(new_data_part({"count": 42}))))), Task()).artifacts


# --- metadata of others -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [True, False, {"was": 1}, {"was": True}, 1, "yes"])
def test_metadata_like_our_flag_are_not_taken_for_ours(value: Any) -> None:
    for parts in ([new_text_part("hello")], [], [Part(text="@crm>done:x{n:1}[mid:0123456789ab,seq:1]")]):
        message = Message(message_id="m", role=Role.ROLE_USER, parts=parts)
        message.metadata.update({"accp": value, "other": 1})
        assert decode(message) is message
        assert identical(decode(encode(message, never_larger=False)), message)


def test_an_object_of_others_that_is_small_goes_as_it_is() -> None:
    message = Message(message_id="m", role=Role.ROLE_USER, parts=[new_text_part("hello")])
    message.metadata["accp"] = True
    assert encode(message) is message


def test_parts_that_would_pass_for_ours_are_framed_whatever_it_takes() -> None:
    framed = encode(Message(message_id="m", role=Role.ROLE_USER, parts=[new_text_part("hi")]), never_larger=False)
    like_ours = Message(message_id="m", role=Role.ROLE_USER, parts=framed.parts)
    like_ours.metadata["accp"] = True
    assert decode(like_ours) is not like_ours
    sent = encode(like_ours)
    assert sent.metadata["accp"] == {"was": True}
    assert identical(decode(sent), like_ours)


# --- large values, and JSON in texts ----------------------------------------------------------------------------------


def test_a_value_of_more_members_than_a_frame_may_have_is_framed_as_a_view() -> None:
    task = a_task(new_data_part([{"id": n, "open": n % 2 == 0} for n in range(4_000)]))
    framed = encode(task)
    assert framed.artifacts[0].parts[0].text.startswith("@agent>done:task{view:")
    assert framed.ByteSize() < task.ByteSize() / 2
    assert identical(decode(framed), task)


TEXTS = {
    "compact": json.dumps(TICKETS, separators=(",", ":")),
    "indented": json.dumps(TICKETS, indent=2),
    "among words": f"I found these:\n{json.dumps(TICKETS, indent=4)}\nAnything else? ",
    "lines": "\n".join(map(json.dumps, TICKETS["tickets"])),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_json_in_a_text_is_a_view_on_the_wire_and_comes_back_byte_for_byte(text: str) -> None:
    task = a_task(Part(text=text, media_type="application/json"))
    framed = encode(task)
    sent = framed.artifacts[0].parts[0].text
    assert sent.startswith("@agent>done:task{view:") and "|layout:" in sent
    assert len(written(framed).encode()) < len(written(task).encode())
    assert o200k_base()(written(framed)) < o200k_base()(written(task))
    assert identical(decode(framed), task)


def test_json_in_a_text_is_a_view_in_a_large_object_too() -> None:
    prose = new_text_part("Das ist ein Satz ohne Zeichen die etwas kosten " * 2_000)
    task = a_task(prose, new_text_part(TEXTS["indented"]))
    parts = encode(task).artifacts[0].parts
    assert parts[0] == prose
    assert parts[1].text.startswith("@agent>done:task{view:")


def test_a_text_so_long_that_the_peer_might_refuse_its_view_goes_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accp_adapters.a2a.wire.parts._MAX_RESTORED_CHARS", len(TEXTS["indented"]) - 1)
    framed = encode(a_task(new_text_part(TEXTS["indented"])), never_larger=False)
    assert "view:" not in framed.artifacts[0].parts[0].text


def test_a_layout_that_does_not_belong_to_its_view_is_refused() -> None:
    framed = encode(a_task(new_text_part(TEXTS["indented"])))
    part = framed.artifacts[0].parts[0]
    part.text = part.text.replace("|layout:", "|layout:t9")
    with pytest.raises(ProtocolError, match="E1001"):
        decode(framed)


def refusals(frames: list[str]) -> list[str]:
    """Return what a session of the core refuses of frames."""
    session = Session("s1", "reader", codec=Codec(counter=len), new_id=lambda: "0123456789ab")
    taken = [event for frame in frames for event in session.receive(frame, 1_714_000_000)]
    assert session.received == len(frames)
    return [f"{event.code} {event.reason}" for event in taken if isinstance(event, FrameRefused)]


def test_a_session_takes_every_frame_of_a_task() -> None:
    words = Message(message_id="m2", role=Role.ROLE_AGENT, parts=[new_text_part("all"), new_data_part({"n": 1})])
    for state in TaskState.values():
        task = a_task(new_text_part("one"), new_data_part({"count": 42}), new_text_part("two"), state=state)
        task.artifacts.add(artifact_id="a2").parts.extend([new_text_part("three"), new_text_part("four")])
        assert refusals(frames_of(task)) == []
        task.status.message.CopyFrom(words)
        assert refusals(frames_of(task)) == []


def test_a_session_takes_every_frame_of_a_stream_of_events() -> None:
    done = TaskStatus(state=TaskState.TASK_STATE_COMPLETED)
    done.message.CopyFrom(Message(message_id="m3", role=Role.ROLE_AGENT, parts=[new_text_part("that is all")]))
    working = TaskStatus(state=TaskState.TASK_STATE_WORKING)
    stream: list[tuple[Any, ChunkStart]] = [
        (a_task(state=TaskState.TASK_STATE_WORKING), WHOLE),
        (chunk(new_text_part("a"), new_text_part("b"), append=False), WHOLE),
        (TaskStatusUpdateEvent(task_id="t", context_id="c", status=working), WHOLE),
        (chunk(new_text_part("c"), last=True), ChunkStart(2)),
        (TaskStatusUpdateEvent(task_id="t", context_id="c", status=done), WHOLE),
    ]
    frames, number = list[str](), 1
    for event, start in stream:
        framed, number = renumbered(encode(event, start, never_larger=False), start, number)
        frames += [part.text for part, _ in located_parts(framed)]
        assert identical(decode(framed, start), event)
    assert refusals(frames) == []
    assert [parse_frame(frame).intent.value for frame in frames] == ["req", "stream", "stream", "stream", "done"]
    assert all(parse_frame(frame).envelope.correlation_id for frame in frames)


def test_a_peer_that_did_not_ask_for_views_gets_values_of_the_draft() -> None:
    framed = encode(a_task(new_data_part(TICKETS), new_text_part(TEXTS["compact"])), never_larger=False, views=False)
    for part in framed.artifacts[0].parts:
        params = parse_frame(part.text, strict=True).params
        assert "d" in params and not {"view", "layout"} & set(params)
