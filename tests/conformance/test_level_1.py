"""Level 1: frames, their envelope and delivery, intents, abbreviations, debug mode (sections 3, 4, 7.1, 8.1 and 9)."""

import logging
import re
from dataclasses import replace

import pytest

from accp_core import DecodeError, Envelope, parse_frame, serialize_frame
from accp_core.accp import Intent
from accp_core.accp.budget import DRAFT_LIMITS
from accp_core.accp.codec import Codec
from accp_core.accp.debug import DebugLog
from accp_core.accp.message import Message
from accp_core.accp.session.events import ExchangeClosed, FrameDropped, MessageReceived
from accp_core.accp.session.options import SessionOptions
from accp_core.accp.vocabulary import ABBREVIATIONS
from tests.conformance.agents import NOW, agent, codes, deliver, frames, message, of, wire

requirement = pytest.mark.requirement

PLAIN = Codec(counter=len, limits=replace(DRAFT_LIMITS, body_hard=10_000, total_hard=10_000))


@requirement("3.3-2", "8.1-3")
@pytest.mark.parametrize(("short", "full"), ABBREVIATIONS.items())
def test_a_key_of_table_8_is_written_short_and_read_in_full(short: str, full: str) -> None:
    (frame,) = PLAIN.encode(message("req", **{full: 1})).frames
    assert dict(frame.params) == {short: 1}
    decoded = PLAIN.decode(f"@a>req:op{{{short}:1}}")
    assert isinstance(decoded, Message)
    assert dict(decoded.payload) == {full: 1}


@requirement("3.3-3")
def test_symbols_stand_for_themselves() -> None:
    (frame,) = PLAIN.encode(message("req", churn="+3.2%", rev="-12%")).frames
    assert "{churn:+3.2%|rev:-12%}" in serialize_frame(frame)


@requirement("3.3-4")
@pytest.mark.parametrize(("characters", "stored"), [(50, False), (51, True)])
def test_a_value_of_over_50_characters_is_a_reference_where_a_store_is_shared(characters: int, stored: bool) -> None:
    encoded = replace(PLAIN, shared_store=True).encode(message("req", report="x" * characters))
    assert bool(encoded.stored) is stored
    assert ("report:$cold." in serialize_frame(encoded.frames[0])) is stored


@requirement("3.3-4")
def test_without_a_shared_store_a_long_value_stays() -> None:
    encoded = PLAIN.encode(message("req", report="x" * 51))
    assert not encoded.stored
    assert "x" * 51 in serialize_frame(encoded.frames[0])


@requirement("3.3-5")
def test_what_the_schema_says_anyhow_is_not_encoded() -> None:
    (frame,) = PLAIN.encode(message("req", schema="TA", task="x", priority="medium", deps=[])).frames
    assert dict(frame.params) == {"task": "x", "schema": "TA"}


@requirement("3.4-1")
def test_a_frame_over_the_hard_limit_is_split_into_frames_within_it() -> None:
    codec = Codec(counter=lambda text: len(text) // 4)
    encoded = codec.encode(message("done", report="words " * 400))
    assert len(encoded.frames) > 1
    assert all(codec.limits.fits(codec.count(frame)) for frame in encoded.frames)


@requirement("3.5-1", "3.5-2", "3.5-4")
@pytest.mark.parametrize("intent", ["req", "qry", "sync", "comp", "ack", "ping"])
def test_every_frame_that_is_sent_has_id_number_and_time(intent: str) -> None:
    payload = {"version": 1, "delta": {"k": 1}} if intent == "sync" else {}
    operation = "state" if intent == "sync" else "op"
    (frame,) = frames(agent("a").send(message(intent, operation, **payload), NOW))
    assert re.fullmatch("[0-9a-f]{12}", frame.envelope.msg_id or "")
    assert (frame.envelope.sequence, frame.envelope.timestamp) == (1, NOW)


@requirement("3.5-2")
def test_no_two_frames_have_one_id() -> None:
    sender = agent("a")
    texts = [text for number in range(20) for text in sender.send(message("req", number=number), NOW)]
    assert len({frame.envelope.msg_id for frame in frames(texts)}) == 20


@requirement("3.5-3")
def test_the_sequence_numbers_of_a_session_rise_one_by_one() -> None:
    sender = agent("a")
    texts = [text for _ in range(5) for text in sender.send(message("ack"), NOW)]
    assert [frame.envelope.sequence for frame in frames(texts)] == [1, 2, 3, 4, 5]


@requirement("3.5-4")
@pytest.mark.parametrize(
    ("text", "refused"), [("@b>req:op{}[mid:m,seq:1]", []), ("@b>req:op{}[mid:m,seq:1,ttl:9]", ["E1001"])]
)
def test_a_frame_without_time_is_accepted_unless_it_can_expire(text: str, refused: list[str]) -> None:
    assert codes(agent("a").receive(text, NOW)) == refused


@requirement("3.5-5")
def test_a_refusal_is_correlated_with_what_it_refuses() -> None:
    receiver = agent("a")
    receiver.receive(wire(mid="m7", head="@b>req:op", payload="schema:ZZ"), NOW)
    (reply,) = frames(receiver.frames_to_send())
    assert reply.envelope.correlation_id == "m7"


@requirement("3.5-7")
@pytest.mark.parametrize("named", [True, False])
def test_the_session_is_named_where_that_is_asked_for(named: bool) -> None:
    sender = agent("a", options=SessionOptions(name_session=named))
    (frame,) = frames(sender.send(message("ack"), NOW))
    assert frame.envelope.session_id == ("s1" if named else None)


@requirement("3.5-7")
def test_a_frame_of_another_session_is_refused() -> None:
    assert codes(agent("a").receive(wire(more="sid:s2"), NOW)) == ["E5001"]
    assert codes(agent("a").receive(wire(more="sid:s1"), NOW)) == []


@requirement("3.5-8")
def test_a_ttl_is_sent_where_it_is_set() -> None:
    sender = agent("a", options=SessionOptions(ttl=30))
    (frame,) = frames(sender.send(message("ack"), NOW))
    assert frame.envelope.ttl == 30


@requirement("3.5-8", "3.5-9", "3.7-7")
@pytest.mark.parametrize(("ttl", "later", "accepted"), [(40, 40, True), (40, 41, False), (0, 10**6, True)])
def test_a_frame_is_accepted_until_its_ttl_has_elapsed(ttl: int, later: int, accepted: bool) -> None:
    receiver = agent("a")
    events = receiver.receive(wire(more=f"ttl:{ttl}"), NOW + later)
    assert bool(of(MessageReceived, events)) is accepted
    assert bool(of(FrameDropped, events)) is not accepted


@requirement("3.7-7")
def test_an_expired_frame_is_rejected_without_a_word_and_the_next_one_is_no_gap() -> None:
    receiver = agent("a")
    receiver.receive(wire(mid="m1", seq=1, more="ttl:1"), NOW + 2)
    assert receiver.frames_to_send() == []
    assert codes(receiver.receive(wire(mid="m2", seq=2), NOW + 2)) == []


@requirement("3.5-10")
@pytest.mark.parametrize("missing", ["mid", "seq"])
def test_a_frame_without_id_or_number_is_rejected(missing: str) -> None:
    text = wire(mid=None if missing == "mid" else "m1", seq=None if missing == "seq" else 1)
    assert codes(agent("a").receive(text, NOW)) == ["E1001"]


@requirement("3.7-1", "3.7-2")
def test_a_frame_is_processed_once_however_often_it_comes() -> None:
    receiver = agent("a")
    events = deliver([wire()] * 5, receiver)
    assert len(of(MessageReceived, events)) == 1
    assert codes(events) == ["E3002"] * 4
    assert [frame.params["code"] for frame in frames(receiver.frames_to_send())] == ["E3002"] * 4


@requirement("3.7-1")
def test_the_ids_that_are_remembered_are_bounded_and_an_older_frame_is_refused_all_the_same() -> None:
    receiver = agent("a", options=SessionOptions(remembered=3))
    texts = [wire(mid=f"m{number}", seq=number, head="@b>ack:op") for number in range(1, 11)]
    assert codes(deliver(texts, receiver)) == []
    assert codes(deliver(texts[:1], receiver)) == ["E3002"]


@requirement("3.7-3")
@pytest.mark.parametrize("order", [(1, 3, 2), (1, 4, 3, 2)])
def test_frames_that_come_out_of_order_are_processed_in_ascending_order(order: tuple[int, ...]) -> None:
    receiver = agent("a", options=SessionOptions(reorder=8))
    events = deliver([wire(mid=f"m{number}", seq=number) for number in order], receiver)
    processed = [event.message.envelope.sequence for event in of(MessageReceived, events)]
    assert processed == sorted(order)


@requirement("3.7-4")
@pytest.mark.parametrize("reorder", [0, 8])
def test_a_gap_is_answered_with_the_code_of_a_gap(reorder: int) -> None:
    receiver = agent("a", options=SessionOptions(reorder=reorder))
    events = deliver([wire(mid="m1", seq=1), wire(mid="m3", seq=3)], receiver)
    assert len(of(MessageReceived, events)) == 1
    (reply,) = frames(receiver.frames_to_send())
    assert (reply.intent, reply.operation, reply.params["code"]) == ("fail", "error", "E3003")
    assert reply.params["retry"] is True


@requirement("3.7-4")
def test_what_was_refused_for_a_gap_is_accepted_when_it_comes_again_in_its_turn() -> None:
    receiver = agent("a")
    late = wire(mid="m3", seq=3)
    events = deliver([wire(mid="m1", seq=1), late, wire(mid="m2", seq=2), late], receiver)
    assert codes(events) == ["E3003"]
    assert [event.message.envelope.msg_id for event in of(MessageReceived, events)] == ["m1", "m2", "m3"]


@requirement("3.7-5")
def test_a_request_is_sent_again_with_the_same_correlation_and_another_id_and_number() -> None:
    sender = agent("a", options=SessionOptions(timeout=10, retries=1))
    (first,) = frames(sender.send(message("req", task="x"), NOW))
    sender.handle_timer(NOW + 10)
    (again,) = frames(sender.frames_to_send())
    assert again.params == first.params
    assert again.envelope.correlation_id in {first.envelope.correlation_id, first.envelope.msg_id}
    assert again.envelope.msg_id != first.envelope.msg_id
    assert again.envelope.sequence == 2


@requirement("3.7-6")
@pytest.mark.parametrize("named", ["cid", "payload"])
def test_after_a_cancel_nothing_of_that_chain_is_processed_any_more(named: str) -> None:
    receiver = agent("a")
    cancel = wire(
        mid="m2",
        seq=2,
        head="@b>cancel:op",
        payload="" if named == "cid" else "cid:m1",
        more="cid:m1" if named == "cid" else "",
    )
    events = deliver([wire(), cancel, wire(mid="m3", seq=3, head="@b>done:op", more="cid:m1")], receiver)
    assert [event.chain for event in of(ExchangeClosed, events) if event.cancelled] == ["m1"]
    assert [event.reason for event in of(FrameDropped, events)] == ["cancelled"]
    assert len(of(MessageReceived, events)) == 1
    assert receiver.frames_to_send() == []


@requirement("4.3-1")
def test_an_operation_can_be_registered_and_another_one_is_accepted_all_the_same() -> None:
    registry = PLAIN.registry.register_operation("translate")
    assert registry.has_operation("translate")
    assert not registry.has_operation("zzz")
    assert isinstance(replace(PLAIN, registry=registry).decode("@a>req:zzz{}"), Message)


@requirement("7.1-1", "7.1-2")
@pytest.mark.parametrize("payload", [{"task": "a b", "deps": [1, {"x": None}]}, {}, {"amount": 1.5, "d": "own"}])
def test_a_session_encodes_a_message_and_decodes_its_frame(payload: dict[str, object]) -> None:
    (frame,) = agent("a").encode(message("req", **payload))
    decoded = agent("b").decode(frame)
    assert (dict(decoded.payload), decoded.intent, decoded.sender) == (payload, Intent.REQUEST, "a")


@requirement("8.1-2")
@pytest.mark.parametrize("intent", Intent)
def test_a_frame_of_every_intent_is_written_and_read(intent: Intent) -> None:
    text = serialize_frame(parse_frame(f"@a>{intent}:op{{k:1}}", strict=True))
    assert text == f"@a>{intent}:op{{k:1}}"


@requirement("9-1")
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


@requirement("9-1")
def test_debug_mode_is_off_unless_it_is_switched_on(caplog: pytest.LogCaptureFixture) -> None:
    deliver(agent("a", observe=DebugLog()).send(message("req"), NOW), agent("b"))
    assert not caplog.records


@requirement("9-2", "9-3")
@pytest.mark.parametrize("text", ["@b>req:op{k:1", "@b>req:op{k:1|}[mid:m,seq:1]", "@b>req:op{k:1}[mid:m,seq:1]x", ""])
def test_a_malformed_frame_changes_nothing_in_the_session(text: str) -> None:
    receiver = agent("a")
    events = receiver.receive(text, NOW)
    assert codes(events) == ["E1001"]
    assert of(MessageReceived, events) == []
    assert codes(receiver.receive(wire(), NOW)) == []


@requirement("9-6", "9-7")
@pytest.mark.parametrize("text", ["@b>req:op{k:" + "[" * 10**6, "@b>req:op{k:" + "7" * 10**7, wire("k:[[[[[[1]]]]]]")])
def test_a_session_refuses_what_nests_too_deep_or_is_too_long(text: str) -> None:
    assert codes(agent("a").receive(text, NOW)) == ["E1001"]


@requirement("9-6")
def test_five_levels_are_read_and_six_are_not() -> None:
    assert parse_frame("@a>req:op{k:[[[[[1]]]]]}", strict=True)
    with pytest.raises(DecodeError, match="at most 5 deep"):
        parse_frame("@a>req:op{k:[[[[[[1]]]]]]}", strict=True)


@requirement("3.5-6")
def test_what_caused_a_message_is_kept_on_its_way() -> None:
    cause = replace(message("req"), envelope=Envelope(causation_id="m0"))
    events = deliver(agent("a").send(cause, NOW), agent("b"))
    assert [event.message.envelope.causation_id for event in of(MessageReceived, events)] == ["m0"]


@requirement("9-1")
def test_debug_mode_knows_the_aliases_of_schemas_that_were_registered(caplog: pytest.LogCaptureFixture) -> None:
    sender = agent("a", observe=DebugLog())
    schema = {
        "code": "WE",
        "version": 1,
        "fields": ["wind", "sky"],
        "defaults": {"sky": "clear"},
        "aliases": {"w": "wind"},
    }
    sender.register_schema("weather", schema)
    with caplog.at_level(logging.DEBUG, "accp"):
        sender.send(message("req", schema="WE", wind=3, sky="clear"), NOW)
    (record,) = caplog.records
    assert vars(record)["accp"]["differences"] == ["sky: omitted, it equals the schema's default"]


@requirement("9-1")
def test_debug_mode_counts_each_frame_of_a_message_that_was_split(caplog: pytest.LogCaptureFixture) -> None:
    sender = agent("a", observe=DebugLog())
    with caplog.at_level(logging.DEBUG, "accp"):
        texts = sender.send(message("req", report="words " * 400), NOW)
        deliver(texts, agent("b", observe=DebugLog()))
    events = [vars(record)["accp"] for record in caplog.records]
    counts = [len(text) // 4 for text in texts]
    assert [event["tokens"] for event in events] == [*counts, *counts, None]
    assert [event.get("operation") for event in events] == ["frame"] * 2 * len(texts) + [None]
    assert events[-1]["readable"].startswith('a message of several frames(report="words words')


@requirement("9-1")
def test_debug_mode_says_what_came_and_cannot_be_written_again(caplog: pytest.LogCaptureFixture) -> None:
    receiver = agent("a", observe=DebugLog())
    with caplog.at_level(logging.DEBUG, "accp"):
        deliver([wire("k:1"), wire("k:[[[[[$hot.m1]]]]]", mid="m2", seq=2)], receiver)
    assert [vars(record)["accp"]["tokens"] is None for record in caplog.records] == [False, False]
