"""One end of a session, and two ends that talk: what the stories do not tell."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from accp_core import Ref, parse_frame
from accp_core.accp.budget import PRACTICAL_LIMITS, TokenBudget
from accp_core.accp.codec import Codec
from accp_core.accp.debug import FrameSeen
from accp_core.accp.frame import Envelope, Intent, Message, json_to_value
from accp_core.accp.profiles import error_message
from accp_core.accp.session.delivery import SequenceScope
from accp_core.accp.session.events import (
    CheckpointTaken,
    Event,
    ExchangeClosed,
    ExchangeOpened,
    FrameDropped,
    FrameHeld,
    FrameRefused,
    MessageReceived,
    RefsNeeded,
    RegistryAgreed,
    RegistryUpdated,
    SessionOptions,
    StateChanged,
)
from accp_core.accp.session.session import Session
from accp_core.accp.state.checkpoint import CheckpointTrigger
from accp_core.accp.state.context_state import ColdKey, ContextState, foreign_ref
from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError, LocalProtocolError, ProtocolError

NOW = 1_714_000_000
CODEC = Codec(counter=len, limits=PRACTICAL_LIMITS)


def session(agent: str = "me", codec: Codec = CODEC, *, observe: Any = None, **options: Any) -> Session:
    numbers = count(1)
    own = {name: options.pop(name) for name in ("grants", "tools", "state", "summarizer") if name in options}
    return Session(
        "s1",
        agent,
        codec=codec,
        new_id=lambda: f"{agent}{next(numbers):06x}",
        options=SessionOptions(**options) if options else None,
        observe=observe,
        **own,
    )


def message(intent: str = "req", operation: str = "op", *, cid: str | None = None, **fields: Any) -> Message:
    schema, envelope = fields.pop("schema", None), fields.pop("envelope", Envelope(correlation_id=cid))
    return Message(
        sender="", intent=Intent(intent), operation=operation, payload=fields, schema=schema, envelope=envelope
    )


def hand_over(texts: list[str], to: Session, now: int = NOW) -> list[Event]:
    return [event for text in texts for event in to.receive(text, now)]


def settle(one: Session, other: Session) -> list[Event]:
    """Let both ends say what they have to say until they are silent; return what they report."""
    events: list[Event] = []
    for _ in range(20):
        events += hand_over(one.frames_to_send(), other) + hand_over(other.frames_to_send(), one)
    assert not one.frames_to_send() + other.frames_to_send()
    return events


def only(events: list[Event], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def refused_locally(code: str, action: Callable[[], object]) -> None:
    with pytest.raises(LocalProtocolError) as refusal:
        action()
    assert refusal.value.code == code


@pytest.mark.requirement("3.5-7", "3.5-8")
def test_the_session_sets_sender_id_number_time_ttl_and_its_name() -> None:
    end = session(ttl=60, name_session=True)
    (text,) = end.send(message(envelope=Envelope(causation_id="x")), NOW)
    (later,) = end.send(message(envelope=Envelope(ttl=5, sequence=77, msg_id="mine")), NOW + 1)
    assert parse_frame(text).envelope == Envelope(
        msg_id="me000001", sequence=1, timestamp=NOW, causation_id="x", session_id="s1", ttl=60
    )
    assert parse_frame(later).envelope.ttl == 5
    assert (parse_frame(later).envelope.sequence, parse_frame(later).sender) == (2, "me")


def test_an_answer_that_the_exchange_does_not_allow_is_refused_locally_with_e1002() -> None:
    one, other = session("one"), session("other")
    hand_over(one.send(message(), NOW), other)
    other.send(message("done", cid="one000001"), NOW)
    size, budget = other.size(), other.get_budget()
    refused_locally("E1002", lambda: other.send(message("done", cid="one000001"), NOW))
    assert (other.size(), other.get_budget()) == (size, budget)


def test_nothing_is_sent_on_a_cancelled_chain_but_another_cancel() -> None:
    one, other = session("one"), session("other")
    hand_over(one.send(message(), NOW), other)
    texts = one.send(message("cancel", cid="one000001"), NOW)
    assert only(one.handle_timer(NOW), ExchangeClosed) == [ExchangeClosed(chain="one000001", cancelled=True)]
    assert one.get_timer() is None
    refused_locally("E1002", lambda: one.send(message(cid="one000001"), NOW))
    (closed,) = hand_over(texts, other)
    assert closed == ExchangeClosed(chain="one000001", cancelled=True)
    refused_locally("E1002", lambda: other.send(message("done", cid="one000001"), NOW))
    assert one.send(message("cancel", cid="one000001"), NOW)
    refused_locally("E1001", lambda: one.send(message("cancel"), NOW))


def test_too_many_open_requests_are_refused_locally_with_e2003() -> None:
    end = session(exchanges=1)
    end.send(message(), NOW)
    refused_locally("E2003", lambda: end.send(message(), NOW))
    assert end.frames_to_send() == []


def test_what_a_profile_forbids_is_refused_locally_with_its_code() -> None:
    refused_locally("E1001", lambda: session().send(message("done", schema="TC", tool_name="x"), NOW))
    with pytest.raises(EncodeError, match="E1004"):
        session().send(message(schema="TX", transaction_id="t", amount="10"), NOW)


def test_a_tools_failure_keeps_its_code_and_its_request() -> None:
    one, other = session("one"), session("other")
    hand_over(one.send(message(), NOW), other)
    texts = other.send(error_message("", ErrorCode.TOOL_EXEC_FAILED, "timed out", correlation_id="one000001"), NOW)
    assert only(hand_over(texts, one), ExchangeClosed) == [ExchangeClosed(chain="one000001", code="E4002")]


@pytest.mark.requirement("8.3-3")
def test_a_message_over_the_limits_travels_in_pieces_and_arrives_whole() -> None:
    draft = Codec(counter=len)
    one, other = session("one", draft), session("other", draft)
    texts = one.send(message(data="word " * 200), NOW)
    assert len(texts) > 3
    events = hand_over(texts, other)
    (received,) = only(events, MessageReceived)
    assert received.message.payload == {"data": "word " * 200}
    chain = received.message.envelope.correlation_id
    assert only(events, ExchangeOpened) == [ExchangeOpened(chain=chain)]
    events = hand_over(other.send(message("done", cid=chain), NOW), one)
    assert only(events, ExchangeClosed) == [ExchangeClosed(chain=chain)]
    assert one.get_budget().frames == len(texts)


def test_pieces_of_a_cancelled_frame_are_dropped() -> None:
    draft = Codec(counter=len)
    one, other = session("one", draft), session("other", draft)
    texts = one.send(message(data="word " * 200, cid="job"), NOW)
    hand_over(texts[:2], other)
    other.send(message("cancel", cid="job"), NOW)
    events = hand_over(texts[2:], other)
    assert {event.reason for event in only(events, FrameDropped)} == {"cancelled"}
    assert not only(events, MessageReceived)


def test_a_piece_that_cannot_be_joined_is_refused() -> None:
    text = "@a>stream:frame{idx:0|tot:1|d:x|done:true|schema:ST}[mid:m1,seq:1,ts:1,cid:c]"
    (refused,) = session().receive(text, NOW)
    assert isinstance(refused, FrameRefused)
    assert refused.code == "E1001"


def test_a_long_value_is_externalised_and_asked_for_at_the_other_end() -> None:
    shared = Codec(counter=len, limits=PRACTICAL_LIMITS, shared_store=True)
    one, other = session("one", shared), session("other", shared)
    texts = one.send(message(report="long " * 30), NOW)
    store = {ColdKey(one.session_id, stored.key): stored.text for stored in one.texts_to_store()}
    assert one.texts_to_store() == []
    (needed,) = hand_over(texts, other)
    assert isinstance(needed, RefsNeeded)
    events = other.resolve({key: store[key] for key in needed.keys}, NOW)
    assert only(events, MessageReceived)[0].message.payload == {"report": "long " * 30}
    assert json_to_value(store[needed.keys[0]]) == "long " * 30


def test_another_text_than_the_one_of_the_key_is_refused_with_e2001() -> None:
    shared = Codec(counter=len, limits=PRACTICAL_LIMITS, shared_store=True)
    one, other = session("one", shared), session("other", shared)
    (needed,) = hand_over(one.send(message(report="long " * 30), NOW), other)
    assert isinstance(needed, RefsNeeded)
    (refused,) = other.resolve(dict.fromkeys(needed.keys, '"forged"'), NOW)
    assert isinstance(refused, FrameRefused)
    assert refused.code == "E2001"


def test_what_cannot_be_remembered_is_refused_and_not_delivered() -> None:
    def count(text: str) -> int:
        if text == "@a>req:op{k:1}":
            raise RuntimeError(text)
        return len(text)

    (refused,) = session(codec=replace(CODEC, counter=count)).receive("@a>req:op{k:1}[mid:m1,seq:1,ts:1]", NOW)
    assert isinstance(refused, FrameRefused)
    assert refused.code == "E9999"


def test_encode_and_decode_change_nothing_but_what_must_be_stored() -> None:
    shared = Codec(counter=len, limits=PRACTICAL_LIMITS, shared_store=True)
    end = session(codec=shared, state=ContextState(session_id="s1").with_context(1, {"db": "h1", "r": Ref("ctx.db")}))
    (frame,) = end.encode(message(report="long " * 30, source=Ref("ctx.db")))
    assert frame.sender == "me"
    (stored,) = end.texts_to_store()
    assert end.decode("@a>req:op{src:$ctx.r|k:1}").payload == {"source": "h1", "k": 1}
    assert end.decode("@a>req:op{k:1}").payload == {"k": 1}
    with pytest.raises(ProtocolError, match="E2001"):
        end.decode(f"@a>req:op{{k:${stored.key}}}")
    with pytest.raises(ProtocolError, match="E5002"):
        end.decode(f"@a>req:op{{k:${foreign_ref(ColdKey('s2', 'cold.x')).key}}}")
    assert end.get_budget().frames == 0


def test_references_that_lead_to_each_other_are_refused_with_e2001() -> None:
    end = session(state=ContextState(session_id="s1").with_context(1, {"a": Ref("ctx.b"), "b": Ref("ctx.a")}))
    with pytest.raises(ProtocolError, match="E2001"):
        end.decode("@a>req:op{k:$ctx.a}")


def test_a_fault_of_ours_is_answered_with_e9999_and_reported_with_its_cause() -> None:
    fault = RuntimeError("of ours")

    def fail(seen: FrameSeen) -> None:
        if seen.code is None and seen.direction == "received":
            raise fault

    end = session(observe=fail)
    (refused,) = end.receive("@a>req:op{}[mid:m1,seq:1,ts:1]", NOW)
    assert isinstance(refused, FrameRefused)
    assert (refused.code, refused.cause) == ("E9999", fault)
    assert "code:E9999" in f"{refused.reply}"
    assert "retry:true" in f"{refused.reply}"


def test_an_error_that_has_no_frame_is_reported_without_a_reply() -> None:
    tiny = Codec(counter=len, limits=replace(PRACTICAL_LIMITS, total_hard=1), split=False)
    (refused,) = session(codec=tiny).receive("@a>req:op{", NOW)
    assert isinstance(refused, FrameRefused)
    assert (refused.code, refused.reply) == ("E1001", None)


def test_a_held_failure_is_not_answered() -> None:
    end = session(reorder=4)
    end.receive("@a>req:op{}[mid:m1,seq:1,ts:1]", NOW)
    (held,) = end.receive("@a>fail:op{}[mid:m3,seq:3,ts:1]", NOW)
    assert held == FrameHeld(msg_id="m3", expected=2, reply=None)


def test_the_observer_sees_every_frame_both_ways_and_why_one_was_not_taken() -> None:
    seen: list[FrameSeen] = []
    one, other = session("one", observe=seen.append), session("other", observe=seen.append)
    texts = one.send(message(query="q"), NOW)
    hand_over(texts, other)
    hand_over(texts, other)
    other.receive(f"@one>req:op{{}}[mid:m9,seq:2,ts:{NOW - 9},ttl:1]", NOW)
    told = [(each.direction.value, each.session_id, each.code, each.reason) for each in seen]
    assert told == [
        ("sent", "s1", None, ""),
        ("received", "s1", None, ""),
        ("sent", "s1", None, ""),
        ("received", "s1", "E3002", "this msg_id was seen before"),
        ("received", "s1", None, "expired"),
    ]
    assert seen[0].payload == seen[1].payload == {"query": "q"}
    assert seen[0].tokens


def test_a_checkpoint_at_a_phase_boundary_is_the_harness_own() -> None:
    end = session(cold_lifetime=10)
    end.send(message(k=1), NOW)
    taken = end.checkpoint(now=NOW + 5)
    assert (taken.trigger, taken.id) == (CheckpointTrigger.PHASE, "ckpt_1")
    assert end.texts_to_store() == list(taken.stored)
    assert taken.stored[0].expires_at == NOW + 15
    assert end.checkpoint(CheckpointTrigger.REQUESTED).id == "ckpt_2"


def test_a_summarizer_writes_the_summaries_of_the_session() -> None:
    end = session(summarizer=lambda raw, limit: "in short")
    end.send(message("done", cid="x"), NOW)
    (taken,) = only(end.handle_timer(NOW), CheckpointTaken)
    assert taken.checkpoint.summary == "in short"


@pytest.mark.requirement("7.1-4")
def test_the_budget_counts_what_was_sent_and_what_is_kept() -> None:
    end = session()
    assert end.get_budget() == TokenBudget(hot_used=0, hot_limit=500, warm_used=0, warm_limit=200, frames=0, tokens=0)
    end.send(message(k=1), NOW)
    used = end.get_budget()
    assert (used.frames, used.hot_used) == (1, len("@me>req:op{k:1}"))
    assert used.tokens > used.hot_used


@pytest.mark.requirement("8.3-2", "11.2-3")
def test_two_ends_open_a_session_with_their_registries() -> None:
    one, other = session("one", registry_first=True), session("other", registry_first=True)
    events = hand_over(one.open(NOW), other)
    assert only(events, RegistryAgreed)
    assert only(settle(one, other), RegistryAgreed)
    assert only(hand_over(one.send(message(), NOW), other), MessageReceived)


@pytest.mark.requirement("11.2-3")
def test_our_registry_leaves_before_the_first_message_where_it_comes_first() -> None:
    one = session("one", registry_first=True)
    first, second = one.send(message(), NOW)
    assert first.startswith("@one>sync:registry{v:1|hash:")
    assert second.startswith("@one>req:op{}")
    assert len(one.send(message(), NOW)) == 1


def test_a_schema_that_one_end_registers_is_known_at_the_other() -> None:
    one, other = session("one"), session("other")
    one.register_schema("note", {"code": "NO", "version": 1, "fields": ["text"], "defaults": {"text": "empty"}})
    assert one.frames_to_send() == []
    hand_over(one.open(NOW), other)
    events = settle(one, other)
    assert only(events, RegistryUpdated)
    assert other.codec.registry.get("NO").name == "note"
    other.register_schema("memo", {"code": "ME", "version": 1, "fields": ["text"]})
    assert only(settle(one, other), RegistryUpdated)
    assert one.codec.registry.hash == other.codec.registry.hash
    other.register_schema("memo", {"code": "ME", "version": 1, "fields": ["text"]})
    assert other.frames_to_send() == []
    (received,) = only(hand_over(one.send(message(schema="NO", text="empty"), NOW), other), MessageReceived)
    assert received.message.defaulted == {"text"}


@pytest.mark.requirement("5.4-1")
def test_a_shared_context_is_told_by_what_changed() -> None:
    one, other = session("one"), session("other")
    hand_over(one.share({"a": 1, "b": None}, NOW), other)
    (text,) = one.share({"a": 1, "c": [True]}, NOW)
    assert "delta:{b:~,c:[true]}" in text
    (changed,) = hand_over([text], other)
    assert isinstance(changed, StateChanged)
    assert other.state.context == one.state.context == {"a": 1, "c": [True]}
    assert one.share({"a": 1, "c": [True]}, NOW) == []
    refused_locally("E1004", lambda: one.send(message("sync", "state", version=9, delta={}), NOW))


def test_a_lost_delta_is_made_good_by_the_whole_context() -> None:
    one, other = session("one"), session("other", scope=SequenceScope.RECEIVED)
    hand_over(one.share({"a": 1}, NOW), other)
    (lost,) = one.share({"a": 2}, NOW)
    assert "sync:state" in lost
    other.receive(lost.replace("v:2", "v:7"), NOW)
    settle(one, other)
    assert other.state.context == one.state.context == {"a": 2}
    assert other.state.version == one.state.version == 2


def test_a_stream_without_the_schema_is_a_message_like_others() -> None:
    end = session()
    (received,) = only(end.receive("@a>stream:op{k:1}[mid:m1,seq:1,ts:1,cid:c]", NOW), MessageReceived)
    assert received.message.payload == {"k": 1}
    assert end.exchange("c").state == "streaming"


def test_a_synchronisation_of_something_else_is_a_message_like_others() -> None:
    (received,) = session().receive("@a>sync:clock{k:1}[mid:m1,seq:1,ts:1]", NOW)
    assert isinstance(received, MessageReceived)


def test_a_query_for_the_context_without_a_version_is_answered() -> None:
    end = session()
    end.receive("@a>qry:state{}[mid:m1,seq:1,ts:1]", NOW)
    assert "sync:state{v:0|ctx:{}}" in end.frames_to_send()[0]


@pytest.mark.parametrize("reorder", [0, 8])
def test_ends_that_lack_frames_in_both_directions_come_together_again(reorder: int) -> None:
    one, other = session("one", reorder=reorder), session("other", reorder=reorder)
    for end, peer in ((one, other), (other, one)):
        hand_over(end.send(message("ack"), NOW), peer)
        end.send(message("ack", k="lost"), NOW)
    events = hand_over(one.send(message("ack", k="late"), NOW), other)
    events += hand_over(other.send(message("ack", k="late"), NOW), one)
    events += settle(one, other)
    payloads = [event.message.payload for event in only(events, MessageReceived) if event.message.intent == "ack"]
    assert sorted(payload["k"] for payload in payloads) == ["late", "late", "lost", "lost"]


def test_a_failure_before_its_turn_that_asks_for_nothing_is_refused_like_any_other() -> None:
    end = session()
    end.receive("@a>req:op{}[mid:m1,seq:1,ts:1]", NOW)
    for number, schema in ((2, "|code:E4002|schema:ER"), (3, "|r:$x")):
        text = f"@a>fail:error{{msg:m{schema}}}[mid:m{number},seq:{number + 7},ts:1]"
        (refused,) = end.receive(text, NOW)
        assert isinstance(refused, FrameRefused)
        assert (refused.code, refused.reply) == ("E3003", None)


def test_a_gap_that_says_nothing_of_use_sends_nothing_again() -> None:
    end = session()
    end.send(message(), NOW)
    for number, detail in enumerate(("x", "{expected:x}", "{}"), 1):
        text = (
            f"@a>fail:error{{code:E3003|msg:gap|retry:true|detail:{detail}|schema:ER}}[mid:m{number},seq:{number},ts:1]"
        )
        end.receive(text, NOW)
    assert end.frames_to_send() == []
    assert end.exchange("me000001").is_live


def test_a_retry_that_may_not_be_sent_ends_the_request_with_e3001() -> None:
    end = session(timeout=5, retries=1)
    end.send(message(), NOW)
    end.receive("@b>stream:op{k:1}[mid:m1,seq:1,ts:1,cid:me000001]", NOW)
    events = end.handle_timer(NOW + 5)
    assert only(events, ExchangeClosed) == [ExchangeClosed(chain="me000001", code="E3001")]
    assert end.get_timer() is None


def test_a_retry_after_an_error_that_may_not_be_sent_is_given_up() -> None:
    end = session(retries=1, exchanges=1)
    end.send(message(), NOW)
    end.receive("@b>fail:error{code:E4002|msg:m|retry:true|schema:ER}[mid:m1,seq:1,ts:1,cid:me000001]", NOW)
    end.send(message(), NOW)
    events = end.handle_timer(NOW + 1)
    assert only(events, ExchangeClosed)[-1] == ExchangeClosed(chain="me000001", code="E3001")


def test_a_timer_is_wanted_only_when_something_is_due() -> None:
    end = session(timeout=None, heartbeat=30)
    assert end.get_timer() is None
    end.send(message(), NOW)
    assert end.get_timer() == NOW
    assert end.handle_timer(NOW)
    assert end.get_timer() == NOW + 30
    assert session().get_timer() is None


@pytest.mark.requirement("10.3-1")
def test_a_transaction_keeps_its_id_over_retries_or_is_refused_with_e5001() -> None:
    end = session()
    first = f"@a>req:pay{{txn:t1|amt:1.5|schema:TX}}[mid:m1,seq:1,ts:{NOW},cid:job]"
    assert only(end.receive(first, NOW), MessageReceived)
    (refused,) = end.receive(first.replace("t1", "t2").replace("mid:m1,seq:1", "mid:m2,seq:2"), NOW)
    assert isinstance(refused, FrameRefused)
    assert refused.code == "E5001"


def test_an_answer_to_what_nobody_asked_without_a_correlation_id_moves_nothing() -> None:
    end = session()
    events = end.receive("@a>fail:op{k:1}[mid:m1,seq:1,ts:1]", NOW)
    assert [type(event) for event in events] == [MessageReceived]
    assert end.exchange("m1").state == "idle"


def test_after_thousands_of_frames_a_session_keeps_no_more_than_its_options_say() -> None:
    small: dict[str, Any] = {"remembered": 50, "exchanges": 20, "sent_frames": 10, "reorder": 4, "timeout": None}
    one, other = session("one", **small), session("other", **small)
    sizes = []
    for number in range(400):
        chain = f"job{number}"
        hand_over(one.send(message(k=number, cid=chain), NOW), other)
        answer = "cancel" if number % 7 == 0 else "done"
        hand_over(other.send(message(answer, cid=chain), NOW), one)
        other.receive(f"@x>req:op{{}}[mid:m{number},seq:{number + 9_999},ts:1]", NOW)
        hand_over(other.frames_to_send(), one)
        for end in (one, other):
            end.frames_to_send()
            end.texts_to_store()
            end.handle_timer(NOW)
        sizes.append(max(one.size(), other.size()))
    assert max(sizes[:200]) == max(sizes) < 50 + 3 * 20 + 20 + 10 + 4 + 64 + 10


def test_before_the_first_frame_a_session_may_take_another_count() -> None:
    one, other = session("one"), session("other", scope=SequenceScope.SHARED)
    one.send(message(), NOW)
    one.expect_numbers(SessionOptions(scope=SequenceScope.SHARED))
    (text,) = other.send(message(cid="c1"), NOW)
    number = parse_frame(text).envelope.sequence
    assert number == 1
    assert only(hand_over([text.replace("seq:1", "seq:2")], one), MessageReceived)
    assert one.is_shared
