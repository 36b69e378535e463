"""What one session sends and refuses where neither a story nor a test of one part shows it."""

import logging
import re

import pytest

from accp_core import serialize_frame
from accp_core.accp.budget import FrameLimits
from accp_core.accp.codec import Codec
from accp_core.accp.debug import DebugLog
from accp_core.accp.session.events import MessageReceived, RefsNeeded
from tests.conformance.agents import NOW, agent, codes, deliver, frames, message, of, wire

WEATHER = {
    "code": "WE", "version": 1, "fields": ["wind", "sky"], "defaults": {"sky": "clear"}, "aliases": {"w": "wind"},
}  # fmt: skip


@pytest.mark.requirement("3.3-3")
def test_symbols_stand_for_themselves() -> None:
    codec = Codec(counter=len, limits=FrameLimits(body_hard=10_000, total_hard=10_000))
    (frame,) = codec.encode(message("req", churn="+3.2%", rev="-12%")).frames
    assert "{churn:+3.2%|rev:-12%}" in serialize_frame(frame)


@pytest.mark.requirement("3.5-1", "3.5-2", "3.5-4")
@pytest.mark.parametrize("intent", ["req", "qry", "sync", "comp", "ack", "ping"])
def test_every_frame_that_is_sent_has_an_id_a_number_and_the_time(intent: str) -> None:
    payload = {"version": 1, "delta": {"k": 1}} if intent == "sync" else {}
    operation = "state" if intent == "sync" else "op"
    (frame,) = frames(agent("a").send(message(intent, operation, **payload), NOW))
    assert re.fullmatch("[0-9a-f]{12}", frame.envelope.msg_id or "")
    assert (frame.envelope.sequence, frame.envelope.timestamp) == (1, NOW)


@pytest.mark.requirement("3.5-2", "3.5-3")
def test_ids_are_unique_and_numbers_rise_one_by_one() -> None:
    sender = agent("a")
    sent = [frame.envelope for n in range(20) for frame in frames(sender.send(message("req", n=n), NOW))]
    assert len({envelope.msg_id for envelope in sent}) == 20
    assert [envelope.sequence for envelope in sent] == list(range(1, 21))


@pytest.mark.requirement("3.5-4")
def test_a_frame_without_time_that_can_expire_is_refused() -> None:
    assert codes(agent("a").receive("@b>req:op{}[mid:m,seq:1,ttl:9]", NOW)) == ["E1001"]


@pytest.mark.requirement("9-3")
@pytest.mark.parametrize("text", ["@b>req:op{k:1", "@b>req:op{k:1|}[mid:m]", "@b>req:op{k:1}[mid:m,seq:1]x", ""])
def test_a_malformed_frame_changes_nothing_in_the_session(text: str) -> None:
    receiver = agent("a")
    events = receiver.receive(text, NOW)
    assert codes(events) == ["E1001"]
    assert of(MessageReceived, events) == []
    assert codes(receiver.receive(wire(), NOW)) == []


@pytest.mark.requirement("9-4")
@pytest.mark.parametrize("ref", ["cold.s2.abc", "cold.s2_x2e_.abc", "cold..abc", "cold.s2.cold.abc"])
def test_no_spelling_of_a_reference_leaves_the_session(ref: str) -> None:
    events = agent("a").receive(wire(f"k:${ref}"), NOW)
    needed = [key for event in of(RefsNeeded, events) for key in event.keys]
    assert all(key.session_id == "s1" for key in needed)


@pytest.mark.requirement("9-1")
def test_debug_mode_logs_each_frame_that_a_session_sends_and_receives(caplog: pytest.LogCaptureFixture) -> None:
    sender, receiver = agent("a", observe=DebugLog()), agent("b", observe=DebugLog())
    with caplog.at_level(logging.DEBUG, "accp"):
        deliver(sender.send(message("req", "schedule", schema="TA", task="x", password="hunter2"), NOW), receiver)
        receiver.receive("no frame", NOW)
    said = [record.getMessage() for record in caplog.records]
    assert said[0].startswith('sent in s1: Request by a: schedule(task="x", password=[redacted])')
    assert said[1].startswith('received in s1: Request by a: schedule(task="x", password=[redacted]')
    assert "priority: filled in, the frame leaves it to the schema's default" in said[1]
    assert any(line.startswith("received in s1: no frame") and "refused: E1001" in line for line in said)
    assert "hunter2" not in "".join(said)


@pytest.mark.requirement("9-1")
def test_debug_mode_knows_the_aliases_of_schemas_that_were_registered(caplog: pytest.LogCaptureFixture) -> None:
    sender = agent("a", observe=DebugLog())
    sender.register_schema("weather", WEATHER)
    with caplog.at_level(logging.DEBUG, "accp"):
        sender.send(message("req", schema="WE", wind=3, sky="clear"), NOW)
    (record,) = caplog.records
    assert vars(record)["accp"]["differences"] == ["sky: omitted, it equals the schema's default"]


@pytest.mark.requirement("9-1")
def test_debug_mode_counts_each_frame_of_a_message_that_was_split(caplog: pytest.LogCaptureFixture) -> None:
    sender = agent("a", observe=DebugLog())
    with caplog.at_level(logging.DEBUG, "accp"):
        texts = sender.send(message("req", report="words " * 400), NOW)
        deliver(texts, agent("b", observe=DebugLog()))
    events = [vars(record)["accp"] for record in caplog.records]
    counts = [len(text) // 4 for text in texts]
    assert [event["tokens"] for event in events] == [*counts, *counts, None]
    assert events[-1]["readable"].startswith('a message of several frames(report="words words')
