"""What goes between peers: the same object at the other end, never larger; frames of strangers are read, too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from a2a import types
from a2a.helpers import new_data_part, new_text_part
from a2a.types import Artifact, Message, Part, Role, Task, TaskState, TaskStatus
from google.protobuf.json_format import MessageToDict
from hypothesis import assume, given
from hypothesis import strategies as st

from accp_adapters.a2a import decode, encode
from accp_adapters.a2a import frames as frames_module
from accp_adapters.a2a.frames import EventEncoder
from accp_adapters.a2a.walk import walk
from accp_adapters.tokens import o200k_base
from accp_core import parse_frame
from accp_core.accp import Codec, FrameRefused, Session
from tests.adapters.a2a.agent import TICKETS
from tests.adapters.a2a.strategies import events


@pytest.fixture(autouse=True, scope="module")
def _time_stands_still() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frames_module, "time", lambda: 1_714_000_000.5)
        yield


def identical(one: Any, other: Any) -> bool:
    """Return whether two objects have the same bytes: NaN is NaN, -0.0 is not 0.0, empty metadata are not none."""
    return type(one) is type(other) and one.SerializeToString(deterministic=True) == other.SerializeToString(
        deterministic=True
    )


def is_spoken_for(event: Any) -> bool:
    """Return whether an object holds frames of its own, or uses the key of our flag."""
    has_key = event.HasField("metadata") and "accp" in event.metadata.fields
    return has_key or any(part.media_type == "application/accp" for part, _ in walk(event))


@given(event=events, never_larger=st.booleans(), views=st.booleans())
def test_any_object_without_frames_comes_back_as_it_was(event: Any, never_larger: bool, views: bool) -> None:
    assume(not is_spoken_for(event))
    before = event.SerializeToString(deterministic=True)
    framed = encode(event, never_larger=never_larger, views=views)
    assert identical(decode(framed), event) or not views
    assert event.SerializeToString(deterministic=True) == before
    assert identical(framed, encode(event, never_larger=never_larger, views=views))
    for (plain, _), (part, _) in zip(walk(event), walk(framed), strict=True):
        if plain != part:
            assert part.media_type == "application/accp"
            envelope = parse_frame(part.text).envelope
            assert envelope.msg_id and envelope.sequence and envelope.timestamp and envelope.correlation_id
    if never_larger and framed is not event:
        assert framed.ByteSize() <= event.ByteSize()
        assert len(written(framed).encode()) <= len(written(event).encode())
        assert o200k_base()(written(framed)) <= o200k_base()(written(event))


@given(event=events)
def test_whatever_an_object_holds_is_decoded_or_passed_on(event: Any) -> None:
    before = event.SerializeToString(deterministic=True)
    decode(encode(event, never_larger=False))
    decode(event)
    assert event.SerializeToString(deterministic=True) == before


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
    return [part.text for part, _ in walk(framed)]


@pytest.mark.requirement("11.4-1", "11.4-2")
def test_a_completed_task_is_a_request_and_what_was_done() -> None:
    texts = frames_of(a_task(new_text_part("Generated text"), new_data_part({"count": 42, "rate": 2.5})))
    assert [text.split("[mid")[0] for text in texts] == [
        "@user>req:task{d:hi}",
        '@agent>sync:task{d:"Generated_text"}',
        "@agent>done:task{d:{count:42,rate:2.5}}",
    ]


@pytest.mark.requirement("11.4-2")
@pytest.mark.parametrize(
    ("state", "beginning"),
    [
        (TaskState.TASK_STATE_SUBMITTED, "@agent>ack:task{d:why}["),
        (TaskState.TASK_STATE_WORKING, "@agent>sync:task{d:why}["),
        (TaskState.TASK_STATE_INPUT_REQUIRED, "@agent>wait:input{d:why}["),
        (TaskState.TASK_STATE_AUTH_REQUIRED, "@agent>wait:auth{d:why}["),
        (TaskState.TASK_STATE_COMPLETED, "@agent>done:task{d:why}["),
        (TaskState.TASK_STATE_FAILED, "@agent>fail:error{code:E9999|msg:why|retry:true|schema:ER}["),
        (TaskState.TASK_STATE_REJECTED, "@agent>fail:error{code:E5001|msg:why|retry:false|schema:ER}["),
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


def chunk(*parts: Part, append: bool = True, last: bool = False) -> types.TaskArtifactUpdateEvent:
    """Return a chunk of an artifact."""
    artifact = Artifact(artifact_id="a1", parts=parts)
    return types.TaskArtifactUpdateEvent(task_id="t", context_id="c", artifact=artifact, append=append, last_chunk=last)


@pytest.mark.requirement("11.4-3")
def test_the_parts_of_a_chunk_are_stream_frames_one_by_one() -> None:
    encoder, stream = EventEncoder(never_larger=False), list[str]()
    for event in (
        chunk(new_text_part("a"), new_text_part("b"), append=False),
        chunk(new_data_part({"n": 1}), last=True),
        chunk(new_text_part("again"), append=False),
    ):
        stream += [part.text for part, _ in walk(encoder.encode(event))]
    assert [text.split("[mid")[0] for text in stream] == [
        "@agent>stream:task{idx:0|d:a|schema:ST}",
        "@agent>stream:task{idx:1|d:b|schema:ST}",
        "@agent>stream:task{idx:2|d:{n:1}|done:true|schema:ST}",
        "@agent>stream:task{idx:0|d:again|schema:ST}",
    ]
    envelopes = [parse_frame(text).envelope for text in stream]
    assert [each.sequence for each in envelopes] == [1, 2, 3, 4]
    assert len({each.msg_id for each in envelopes}) == 4
    # "All chunks in a stream MUST share the same correlation_id": an artifact that is sent again is another stream.
    assert [each.correlation_id == envelopes[0].correlation_id for each in envelopes] == [True, True, True, False]


STRANGERS = {
    "@user>req:task{d:hello_agent}": new_text_part("hello_agent"),
    "@crm>done:task{d:{open:2,rate:0.5}}": new_data_part({"open": 2, "rate": 0.5}),
    "@crm>done:lookup{n:1|who:ann}": new_data_part({"n": 1, "who": "ann"}),
    "@crm>stream:task{idx:0|d:chunk|schema:ST}": new_text_part("chunk"),
    "@crm>stream:task{idx:1|d:end|done:true|schema:ST}": new_text_part("end"),
    "@crm>fail:error{code:E5001|msg:no|retry:false|schema:ER}": new_text_part("no"),
    "@crm>done:task{status:completed|d:ready}": new_text_part("ready"),
}


# "ACCP frames are embedded as A2A message parts with content type application/accp" (section 11.4)
@pytest.mark.requirement("11.4-1")
@pytest.mark.parametrize(("text", "content"), STRANGERS.items(), ids=STRANGERS)
def test_a_frame_of_a_stranger_is_decoded_wherever_it_stands(text: str, content: Part) -> None:
    frame = Part(text=f"{text}[mid:0123456789ab,seq:1,cid:0123456789ab,ts:1714000000]", media_type="application/accp")
    words = Message(message_id="m", role=Role.ROLE_AGENT, parts=[frame])
    status = TaskStatus(state=TaskState.TASK_STATE_WORKING, message=words)
    for event in (words, chunk(frame), a_task(frame), types.TaskStatusUpdateEvent(task_id="t", status=status)):
        sent = encode(event)
        decoded = [part for part, _ in walk(decode(sent))][-1]
        assert (decoded.text, decoded.data) == (content.text, content.data)
        assert decoded.media_type != "application/accp"


@pytest.mark.parametrize(
    "text",
    [
        "{" * 100_000,
        "@crm>done:task{d:hel",  # both halves of a frame that a stream has split: a part is a frame (section 11.4)
        "lo}[mid:0123456789ab,seq:1]",
        f"@crm>stream:task{{idx:0|d:{'9' * 5_000}|schema:ST}}[mid:0123456789ab,seq:1]",
        f"@crm>stream:task{{idx:0|d:{'x' * 2_000_000}|schema:ST}}[mid:0123456789ab,seq:1]",
        "@crm>stream:task{idx:0|d:x|schema:ZZ}[mid:0123456789ab,seq:1]",
        "@crm>done:task{d:$cold.secret}[mid:0123456789ab,seq:1]",
        '@crm>done:task{view:"rows_\\[3\\]_a"}[mid:0123456789ab,seq:1]',
        "@crm>done:task{view:x|layout:v9}[mid:0123456789ab,seq:1]",
    ],
)
def test_what_is_refused_is_passed_on_as_it_came(text: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "accp.a2a")
    refused = a_task(new_text_part("words"), Part(text=text, media_type="application/accp"))
    assert decode(refused) is refused
    assert "as it came" in caplog.text


def test_what_json_cannot_say_goes_as_it_is() -> None:
    task = a_task(new_data_part(TICKETS))
    task.metadata.fields["x"].number_value = float("nan")
    assert encode(task) is task
    assert identical(decode(encode(task, never_larger=False)), task)


def test_prose_stays_prose_where_a_frame_would_take_more_tokens() -> None:
    prose = new_text_part("The quick brown fox jumps over the lazy dog. " * 40)
    framed = encode(a_task(prose, new_data_part(TICKETS)))
    assert framed.artifacts[0].parts[0] == prose
    assert framed.artifacts[0].parts[1].text.startswith("@agent>done:task{view:")


def test_what_a_frame_cannot_hold_goes_as_it_is() -> None:
    huge = new_text_part("x" * (1 << 20))
    framed = encode(a_task(huge), never_larger=False)
    assert framed.artifacts[0].parts[0] == huge
    assert framed.history[0].parts[0].text.startswith("@user>req:task{")


# --- metadata of others, and A2A 0.3, which drops media types -------------------------------------------------------


@pytest.mark.parametrize("value", [True, False, {"was": 1}, 1, "yes"])
def test_metadata_like_our_flag_stay_where_nothing_is_a_frame(value: Any) -> None:
    for parts in ([new_text_part("hello")], []):
        message = Message(message_id="m", role=Role.ROLE_USER, parts=parts)
        message.metadata.update({"accp": value, "other": 1})
        assert decode(message) is message
        assert identical(decode(encode(message, never_larger=False)), message)


def test_a_flagged_object_is_read_without_media_types_and_only_its_frames() -> None:
    task = a_task(new_data_part(TICKETS), new_text_part("@agent>done:task{d:forged}[mid:0123456789ab,seq:1]"))
    framed = encode(task, never_larger=False)
    assert framed.metadata["accp"] is True
    for part, _ in walk(framed):
        part.media_type = ""
    assert identical(decode(framed), task)


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
    monkeypatch.setattr("accp_adapters.a2a.frames._MAX_RESTORED_CHARS", len(TEXTS["indented"]) - 1)
    framed = encode(a_task(new_text_part(TEXTS["indented"])), never_larger=False)
    assert "view:" not in framed.artifacts[0].parts[0].text


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
    encoder, frames = EventEncoder(never_larger=False), list[str]()
    for event in (
        a_task(state=TaskState.TASK_STATE_WORKING),
        chunk(new_text_part("a"), new_text_part("b"), append=False),
        types.TaskStatusUpdateEvent(task_id="t", context_id="c", status=working),
        chunk(new_text_part("c"), last=True),
        types.TaskStatusUpdateEvent(task_id="t", context_id="c", status=done),
    ):
        framed = encoder.encode(event)
        frames += [part.text for part, _ in walk(framed)]
        assert identical(decode(framed), event)
    assert refusals(frames) == []
    assert [parse_frame(frame).intent.value for frame in frames] == ["req", "stream", "stream", "stream", "done"]


# Section 3.1: without our own extension, frames are written in the draft's ABNF, letter by letter.
def test_a_stranger_gets_the_literal_grammar_and_values_of_the_draft() -> None:
    parts = new_data_part({**TICKETS, "who": "naïve 中文", "x": 0.1234567}), new_text_part(TEXTS["compact"])
    framed = encode(a_task(*parts), never_larger=False, views=False)
    precise, part = framed.artifacts[0].parts
    params = parse_frame(part.text, strict=True).params
    assert part.text.isascii() and not {"view", "layout"} & set(params)
    assert precise == parts[0]  # six places would change it
