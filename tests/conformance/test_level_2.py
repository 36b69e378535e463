"""Level 2: state, checkpoints, the schema registry and the profiles of its schemas (sections 5, 6, 9 and 10)."""

from dataclasses import replace
from typing import Any

import pytest

from accp_core import Ref
from accp_core.accp.budget import DRAFT_LIMITS
from accp_core.accp.codec import Codec
from accp_core.accp.profiles import BUILT_IN, tool_error
from accp_core.accp.schema import Schema, SchemaRegistry
from accp_core.accp.session.events import CheckpointTaken, MessageReceived, RefsNeeded, RegistryUpdated
from accp_core.accp.session.options import SessionOptions
from accp_core.accp.session.session import Session
from accp_core.accp.state.checkpoint import CheckpointTrigger
from accp_core.accp.state.context_state import ColdKey, ContextState, Entry, Tier, foreign_ref
from accp_core.errors import EncodeError, LocalProtocolError, ProtocolError
from tests.conformance.agents import NOW, agent, codes, deliver, frames, message, of, wire

requirement = pytest.mark.requirement

WEATHER = Schema(name="weather", code="WE", version=1, fields=("wind", "sky"), defaults={"sky": "clear"})


def triggers(session: Session, events: list[Any]) -> list[CheckpointTrigger]:
    """Return why checkpoints were taken."""
    return [event.checkpoint.trigger for event in of(CheckpointTaken, events)]


@requirement("5.2-1", "5.2-3", "5.2-5", "8.2-2")
@pytest.mark.parametrize(
    "trigger", [CheckpointTrigger.TASK_DONE, CheckpointTrigger.HANDOFF, CheckpointTrigger.REQUESTED]
)
def test_a_frame_of_that_intent_triggers_a_checkpoint(trigger: CheckpointTrigger) -> None:
    receiver = agent("a")
    events = deliver([wire("k:1"), wire(mid="m2", seq=2, head=f"@b>{trigger}:op", more="cid:m1")], receiver)
    assert triggers(receiver, events) == [trigger]


@requirement("5.2-1", "5.2-3", "5.2-5")
@pytest.mark.parametrize("intent", ["done", "esc", "comp"])
def test_a_frame_of_our_own_triggers_one_too(intent: str) -> None:
    sender = agent("a")
    sender.receive(wire("k:1"), NOW)
    sender.send(message(intent, cid="m1"), NOW)
    assert triggers(sender, sender.handle_timer(NOW)) == [CheckpointTrigger(intent)]


@requirement("5.2-1", "5.2-2")
@pytest.mark.parametrize("intent", ["req", "wait", "ack", "ping"])
def test_other_frames_trigger_none_while_hot_state_is_small(intent: str) -> None:
    receiver = agent("a")
    assert triggers(receiver, receiver.receive(wire("k:1", head=f"@b>{intent}:op", more="cid:m0"), NOW)) == []


@requirement("5.2-2", "8.2-2")
def test_hot_state_of_over_400_tokens_triggers_a_checkpoint() -> None:
    receiver = agent("a")
    taken: list[CheckpointTrigger] = []
    for number in range(1, 8):
        assert receiver.state.hot_tokens <= 400
        taken += triggers(receiver, receiver.receive(wire(f"k:{'x' * 300}", mid=f"m{number}", seq=number), NOW))
    assert taken == [CheckpointTrigger.HOT_LIMIT]


@requirement("5.2-4", "7.1-3", "8.2-2")
def test_a_phase_boundary_moves_the_summary_to_warm_and_the_raw_data_to_cold() -> None:
    session = agent("a")
    session.receive(wire("task:impl_auth"), NOW)
    taken = session.checkpoint(CheckpointTrigger.PHASE, NOW)
    assert taken.trigger is CheckpointTrigger.PHASE
    assert taken.tokens <= 100
    assert any("impl_auth" in write.text for write in session.texts_to_store())
    assert session.state.resolve(Ref(f"warm.{taken.id}"), NOW)
    assert "impl_auth" in str(taken.facts)
    assert session.state.hot_tokens < 400


@requirement("8.2-1")
def test_a_reference_leads_to_the_tier_that_it_names() -> None:
    state = ContextState(session_id="s1", context={"plan": "x"})
    state = state.put_hot("task", Entry(value="h", tokens=1)).put_warm("ckpt_1", Entry(value={"a": "w"}, tokens=1))
    assert state.resolve(Ref("hot.task"), NOW) == "h"
    assert state.resolve(Ref("warm.ckpt_1.a"), NOW) == "w"
    assert state.resolve(Ref("ctx.plan"), NOW) == "x"
    assert state.resolve(Ref("cold.abc"), NOW) == ColdKey("s1", "cold.abc")
    assert {tier.value for tier in Tier} == {"hot", "warm", "cold", "ctx"}


@requirement("8.2-1")
@pytest.mark.parametrize(("tokens", "tier"), [(501, "hot"), (201, "warm")])
def test_a_tier_keeps_its_budget(tokens: int, tier: str) -> None:
    state, entry = ContextState(session_id="s1"), Entry(value="x", tokens=tokens)
    with pytest.raises(ProtocolError, match="E2003"):
        state.put_hot("k", entry) if tier == "hot" else state.put_warm("k", entry)


@requirement("8.2-1")
def test_a_frame_that_cites_state_is_delivered_with_what_the_store_has() -> None:
    receiver = agent("a")
    (needed,) = of(RefsNeeded, receiver.receive(wire("k:$cold.abc"), NOW))
    events = receiver.resolve({needed.keys[0]: '"stored"'}, NOW)
    assert [event.message.payload for event in of(MessageReceived, events)] == [{"k": "stored"}]


@requirement("9-4")
def test_a_cold_reference_is_looked_up_in_its_own_session() -> None:
    (needed,) = of(RefsNeeded, agent("a").receive(wire("k:$cold.abc"), NOW))
    assert needed.keys == (ColdKey("s1", "cold.abc"),)


@requirement("9-4")
def test_another_sessions_text_opens_only_with_a_grant() -> None:
    key = ColdKey("s2", "cold.abc")
    text = wire(f"k:${foreign_ref(key).key}")
    assert codes(agent("a").receive(text, NOW)) == ["E5002"]
    (needed,) = of(RefsNeeded, agent("a", grants=[key]).receive(text, NOW))
    assert needed.keys == (key,)


@requirement("9-4")
@pytest.mark.parametrize("ref", ["cold.s2.abc", "cold.s2_x2e_.abc", "cold..abc", "cold.s2.cold.abc"])
def test_no_spelling_of_a_reference_leaves_the_session(ref: str) -> None:
    events = agent("a").receive(wire(f"k:${ref}"), NOW)
    needed = [key for event in of(RefsNeeded, events) for key in event.keys]
    assert all(key.session_id == "s1" for key in needed)


@requirement("7.1-5", "8.2-3")
def test_a_registered_schema_is_compacted_and_expanded() -> None:
    sender, receiver = agent("a"), agent("b")
    for session in (sender, receiver):
        session.register_schema("weather", WEATHER)
    (text,) = sender.send(message("req", schema="WE", wind=3, sky="clear"), NOW)
    assert "{wind:3|schema:WE}" in text
    (event,) = of(MessageReceived, deliver([text], receiver))
    assert (event.message.payload, event.message.defaulted) == ({"wind": 3, "sky": "clear"}, {"sky"})


@requirement("7.1-5")
def test_a_schema_can_be_registered_as_json() -> None:
    session = agent("a")
    session.register_schema("weather", WEATHER.to_json())
    assert session.codec.registry.get("WE") == WEATHER


@requirement("8.2-3")
def test_an_unknown_schema_is_refused() -> None:
    assert codes(agent("a").receive(wire("schema:ZZ"), NOW)) == ["E1003"]


@requirement("8.2-3")
@pytest.mark.parametrize("code", ["SR", "TA", "CH", "TC", "TX", "ST", "ER"])
def test_the_schemas_of_the_draft_are_there(code: str) -> None:
    assert BUILT_IN.get(code).code == code


@requirement("9-5")
def test_a_registry_that_was_changed_on_its_way_is_refused() -> None:
    offer = BUILT_IN.register(WEATHER).offer()
    assert SchemaRegistry.from_offer(offer).get("WE") == WEATHER
    offer["schemas"] = {**offer["schemas"], "weather": replace(WEATHER, defaults={"sky": "red"}).to_json()}
    with pytest.raises(ProtocolError, match="E5001"):
        SchemaRegistry.from_offer(offer)


@requirement("9-5")
def test_a_session_refuses_a_registry_that_is_not_the_announced_one() -> None:
    receiver = agent("a")
    offer = {**BUILT_IN.register(WEATHER).offer(), "hash": "0" * 12}
    peer = Codec(counter=len, limits=replace(DRAFT_LIMITS, body_hard=10**6, total_hard=10**6))
    (frame,) = peer.encode(replace(message("sync", "registry", **offer), sender="b")).frames
    text = peer.write(replace(frame, envelope=replace(frame.envelope, msg_id="m1", sequence=1)))
    events = receiver.receive(text, NOW)
    assert codes(events) == ["E5001"]
    assert of(RegistryUpdated, events) == []


def calling() -> Session:
    """Return an agent that was asked for a tool by the frame m1."""
    session = agent("a")
    session.receive(wire("tool:search|args:{q:x}|schema:TC", head="@b>req:tool"), NOW)
    return session


@requirement("10.2-1")
def test_a_tools_answer_without_correlation_is_neither_sent_nor_accepted() -> None:
    with pytest.raises(LocalProtocolError, match="E1001: expected a correlation_id"):
        calling().send(message("done", "tool", schema="TC", tool_name="search", result=1), NOW)
    assert codes(agent("a").receive(wire("tool:search|res:1|schema:TC", head="@b>done:tool"), NOW)) == ["E1001"]


@requirement("10.2-1")
def test_a_tools_answer_says_which_request_it_answers() -> None:
    (text,) = calling().send(message("done", "tool", schema="TC", cid="m1", tool_name="search", result=1), NOW)
    assert frames([text])[0].envelope.correlation_id == "m1"


@requirement("10.2-2")
def test_a_tools_failure_is_an_error_frame_with_the_code_of_one() -> None:
    session = calling()
    request = replace(message("req", "tool"), envelope=frames([wire()])[0].envelope)
    (frame,) = frames(session.send(tool_error("a", request, "out of paper"), NOW))
    assert (frame.intent, frame.operation) == ("fail", "error")
    assert (frame.params["schema"], frame.params["code"], frame.params["retry"]) == ("ER", "E4002", True)
    assert frame.envelope.correlation_id == "m1"


@requirement("10.2-2")
def test_a_tools_failure_of_its_own_schema_is_not_sent() -> None:
    with pytest.raises(LocalProtocolError, match="E4003"):
        calling().send(message("fail", "tool", schema="TC", cid="m1", tool_name="search"), NOW)


PAYMENT = {"transaction_id": "txn_001", "amount": 142.5, "account": "acct_9876"}


@requirement("10.3-1", "10.3-4")
def test_a_payment_is_retried_with_its_transaction_and_another_id() -> None:
    sender = agent("a", options=SessionOptions(timeout=10, retries=1))
    (first,) = frames(sender.send(message("req", "transaction", schema="TX", **PAYMENT), NOW))
    sender.handle_timer(NOW + 10)
    (again,) = frames(sender.frames_to_send())
    assert again.params["txn"] == first.params["txn"] == "txn_001"
    assert again.envelope.msg_id != first.envelope.msg_id


@requirement("10.3-1")
def test_a_retry_of_another_transaction_is_refused() -> None:
    receiver = agent("a")
    texts = [
        wire("txn:t1|amt:1.5|schema:TX", more="cid:c1", head="@b>req:transaction"),
        wire("txn:t2|amt:1.5|schema:TX", mid="m2", seq=2, more="cid:c1", head="@b>req:transaction"),
    ]
    assert codes(deliver(texts, receiver)) == ["E5001"]


@requirement("10.3-4")
def test_a_retry_under_its_old_id_is_refused() -> None:
    receiver = agent("a")
    texts = [wire("txn:t1|schema:TX", seq=number, head="@b>req:transaction") for number in (1, 2)]
    assert codes(deliver(texts, receiver)) == ["E3002"]


@requirement("10.3-2")
@pytest.mark.parametrize(("amount", "written"), [(142.5, "142.5"), (142.0, "142.0"), (0.1234567, "=0.1234567")])
def test_an_amount_is_written_as_a_decimal(amount: float, written: str) -> None:
    (text,) = agent("a").send(message("req", schema="TX", transaction_id="t", amount=amount), NOW)
    assert f"amt:{written}|" in text


@requirement("10.3-2")
def test_an_amount_that_is_text_is_neither_sent_nor_accepted() -> None:
    with pytest.raises(EncodeError, match="E1004"):
        agent("a").send(message("req", schema="TX", transaction_id="t", amount="142.5"), NOW)
    assert codes(agent("a").receive(wire('txn:t|amt:"142.5"|schema:TX'), NOW)) == ["E1004"]


@requirement("10.3-3")
def test_the_currency_of_a_payment_is_a_code_of_iso_4217_by_default() -> None:
    (event,) = of(MessageReceived, agent("a").receive(wire("txn:t|amt:1.5|schema:TX"), NOW))
    assert event.message.payload["currency"] == "USD"
