"""Level 3: deltas, registry negotiation, token budgets, streams (sections 5.4, 6.4, 7.1, 8.3 and 10.4)."""

from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from accp_core.accp import REMOVED
from accp_core.accp.budget import DRAFT_LIMITS
from accp_core.accp.codec import Codec
from accp_core.accp.schema import Schema
from accp_core.accp.session.events import (
    MessageReceived,
    RegistryAgreed,
    RegistryUpdated,
    ResyncRequested,
    StateChanged,
    StreamChunkReceived,
    StreamEnded,
)
from accp_core.accp.session.options import SessionOptions
from accp_core.accp.session.session import Session
from accp_core.errors import EncodeError
from tests.conformance.agents import NOW, agent, codes, deliver, frames, message, of, wire

requirement = pytest.mark.requirement

WEATHER = Schema(name="weather", code="WE", version=1, fields=("wind", "sky"), defaults={"sky": "clear"})


def converse(one: Session, other: Session, texts: list[str]) -> list[Any]:
    """Return all that happens until nobody has anything to say; `texts` are for `other`."""
    events = []
    for _ in range(20):
        events += deliver(texts, other)
        texts, one, other = other.frames_to_send(), other, one
        if not texts and not other.frames_to_send():
            return events
    raise AssertionError("they talk for ever")


@requirement("5.4-1", "8.3-1")
def test_after_the_first_state_only_changes_are_sent() -> None:
    sender, receiver = agent("a"), agent("b")
    first = {"task_3": "wip", "task_4": "wip", "budget": 42.3}
    deliver(sender.share(first, NOW), receiver)
    (text,) = sender.share({**first, "task_3": "done"}, NOW)
    assert "{v:2|delta:{task_3:done}}" in text
    deliver([text], receiver)
    assert receiver.state.context == sender.state.context == {**first, "task_3": "done"}


@requirement("5.4-1")
def test_a_context_that_did_not_change_is_not_sent() -> None:
    sender = agent("a")
    sender.share({"k": 1}, NOW)
    assert sender.share({"k": 1}, NOW) == []


@requirement("8.3-1")
@pytest.mark.parametrize(
    ("delta", "context"), [("k:~", {"n": 1}), ("k:=null", {"k": None, "n": 1}), ("k:null", {"n": 1})]
)
def test_a_delta_removes_a_key_or_sets_it_to_null(delta: str, context: dict[str, object]) -> None:
    receiver = agent("a")
    texts = [
        wire("v:1|delta:{k:1,n:1}", head="@b>sync:state"),
        wire(f"v:2|delta:{{{delta}}}", mid="m2", seq=2, head="@b>sync:state"),
    ]
    (_, event) = of(StateChanged, deliver(texts, receiver))
    assert receiver.state.context == context
    assert event.changes == {"k": context.get("k", REMOVED)}


@requirement("8.3-1")
def test_a_missing_delta_is_noticed_and_the_whole_context_asked_for() -> None:
    sender, receiver = agent("a"), agent("b")
    deliver(sender.share({"k": 1}, NOW), receiver)
    other = agent("c")
    other.share({"k": 1}, NOW)
    other.share({"k": 2}, NOW)
    (text,) = other.share({"k": 3}, NOW)
    text = text.replace("seq:3", "seq:2")
    assert len(of(ResyncRequested, deliver([text], receiver))) == 1
    (ask,) = receiver.frames_to_send()
    assert frames([ask])[0].intent == "qry"
    deliver([ask], other)
    (answer,) = other.frames_to_send()
    deliver([answer.replace("seq:4", "seq:3")], receiver)
    assert receiver.state.context == {"k": 3}


@requirement("6.4-1")
def test_a_session_begins_with_the_version_and_hash_of_the_registry() -> None:
    sender = agent("a", options=SessionOptions(registry_first=True))
    first, second = frames(sender.send(message("req"), NOW))
    assert (first.intent, first.operation) == ("sync", "registry")
    assert set(first.params) == {"v", "hash"}
    assert second.intent == "req"


@requirement("6.4-1")
def test_a_frame_before_the_registry_is_refused_where_the_registry_comes_first() -> None:
    receiver = agent("a", options=SessionOptions(registry_first=True))
    assert codes(receiver.receive(wire(), NOW)) == ["E5001"]


@requirement("6.4-1", "8.3-2")
def test_agents_of_one_registry_agree_without_further_exchange() -> None:
    one, other = agent("a"), agent("b")
    events = converse(one, other, one.open(NOW))
    assert len(of(RegistryAgreed, events)) == 2
    assert of(RegistryUpdated, events) == []
    assert one.get_budget().frames == other.get_budget().frames == 1


@requirement("8.3-2")
@pytest.mark.parametrize("who", ["one", "other", "both"])
def test_on_a_mismatch_the_registry_is_sent_once_and_both_know_the_same(who: str) -> None:
    one, other = agent("a"), agent("b")
    if who in {"one", "both"}:
        one.register_schema("weather", WEATHER)
    if who in {"other", "both"}:
        other.register_schema("tide", replace(WEATHER, name="tide", code="TI"))
    events = converse(one, other, one.open(NOW))
    assert codes(events) == []
    assert one.codec.registry.hash == other.codec.registry.hash
    assert {event.hash for event in of(RegistryAgreed, events)} == {one.codec.registry.hash}
    deliver(one.send(message("ack"), NOW), other)
    assert other.frames_to_send() == []


@requirement("7.1-4", "8.3-3")
def test_the_budget_says_what_was_used_and_what_may_be() -> None:
    session = agent("a")
    assert (session.get_budget().hot_limit, session.get_budget().frames) == (500, 0)
    session.send(message("req", task="x"), NOW)
    budget = session.get_budget()
    assert budget.frames == 1
    assert budget.tokens > 0
    assert 0 < budget.hot_used <= budget.hot_limit
    session.checkpoint(now=NOW)
    assert session.get_budget().warm_used > 0


@requirement("8.3-3")
def test_no_frame_that_leaves_is_over_the_hard_limit() -> None:
    sender, receiver = agent("a"), agent("b")
    report = " ".join(f"word{number}" for number in range(500))
    texts = sender.send(message("req", report=report), NOW)
    assert len(texts) > 1
    assert all(len(text) // 4 <= DRAFT_LIMITS.total_hard for text in texts)
    (event,) = of(MessageReceived, deliver(texts, receiver))
    assert event.message.payload == {"report": report}


@requirement("8.3-3")
def test_what_cannot_be_split_is_refused_and_never_cut() -> None:
    codec = Codec(counter=lambda text: len(text) // 4, split=False)
    with pytest.raises(EncodeError, match="E2003"):
        agent("a", codec=codec).send(message("req", report="x" * 2_000), NOW)


def chunks(order: tuple[int, ...], *, final: bool = True) -> list[str]:
    """Return the chunks of one stream in that order of their indices."""
    last = len(order) - 1
    return [
        wire(
            f"idx:{index}|d:part_{index}{'|done:true' if final and index == last else ''}|schema:ST",
            mid=f"c{index}",
            seq=place + 1,
            more="cid:stream_abc",
            head="@b>stream:infer",
        )
        for place, index in enumerate(order)
    ]


@requirement("8.3-4", "10.4-3")
@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_chunks_are_processed_by_their_index_and_not_by_their_arrival(order: tuple[int, ...]) -> None:
    events = deliver(chunks(order), agent("a"))
    received = [event.message.payload["data"] for event in of(StreamChunkReceived, events)]
    assert received == ["part_0", "part_1", "part_2"]
    assert [event.chain for event in of(StreamEnded, events)] == ["stream_abc"]


@requirement("8.3-4", "10.4-2")
def test_the_intent_end_closes_a_stream_too() -> None:
    texts = [*chunks((0, 1), final=False), wire(mid="e", seq=3, more="cid:stream_abc", head="@b>end:infer")]
    assert len(of(StreamEnded, deliver(texts, agent("a")))) == 1


@requirement("10.4-2")
def test_a_stream_without_its_final_chunk_has_not_ended() -> None:
    assert of(StreamEnded, deliver(chunks((0, 1, 2), final=False), agent("a"))) == []


@requirement("10.4-2")
def test_the_final_chunk_of_a_frame_that_was_split_says_so() -> None:
    sent = frames(agent("a").send(message("req", report="words " * 400), NOW))
    assert [frame.params.get("done", False) for frame in sent] == [False] * (len(sent) - 1) + [True]


@requirement("10.4-1")
def test_all_chunks_of_a_frame_that_was_split_share_one_correlation() -> None:
    sent = frames(agent("a").send(message("req", report="words " * 400), NOW))
    assert len({frame.envelope.correlation_id for frame in sent} - {None}) == 1


@requirement("10.4-1")
def test_a_chunk_without_correlation_is_refused() -> None:
    assert codes(agent("a").receive(wire("idx:0|d:x|schema:ST", head="@b>stream:infer"), NOW)) == ["E1001"]


@requirement("10.4-3")
def test_the_chunks_that_wait_for_an_earlier_one_are_bounded() -> None:
    receiver = agent("a")
    texts = chunks(tuple(range(1, 2_000)), final=False)
    assert set(codes(deliver(texts, receiver))) == {"E2003"}
    assert receiver.size() < 5_000
