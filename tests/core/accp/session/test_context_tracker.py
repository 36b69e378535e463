"""Hot state, its checkpoints, and the shared context of one session."""

from typing import Any

import pytest

from accp_core.accp.frame import REMOVED, Intent, Message, Ref
from accp_core.accp.session.events import NO_EFFECTS, CheckpointTaken, Effects, ResyncRequested, StateChanged
from accp_core.accp.session.parts import ContextTracker
from accp_core.accp.state.checkpoint import Checkpoint
from accp_core.accp.state.context_state import ContextState
from accp_core.errors import ProtocolError


def tracker(**options: Any) -> ContextTracker:
    return ContextTracker(ContextState(session_id="s1"), len, **{"summarizer": None, "lifetime": None, **options})


def checkpoints(effects: Effects) -> list[Checkpoint]:
    assert effects.frames == ()
    return [event.checkpoint for event in effects.events if isinstance(event, CheckpointTaken)]


def message(intent: str = "req", sender: str = "a", **payload: Any) -> Message:
    return Message(sender=sender, intent=Intent(intent), operation="state", payload=payload)


def test_messages_stay_hot_until_they_take_over_400_tokens() -> None:
    kept = tracker()
    for number in range(4):
        assert kept.remember(f"m{number}", message(n=number), "x" * 100, 0) == NO_EFFECTS
    assert kept.state.resolve(Ref("hot.m2.n"), 0) == 2
    effects = kept.remember("m4", message(), "x", 0)
    (taken,) = checkpoints(effects)
    assert taken.trigger == "hot"
    assert list(kept.state.hot) == ["checkpoint"]
    assert effects.stored == taken.stored


def test_a_message_that_has_no_room_takes_a_checkpoint_of_what_was_there() -> None:
    kept = tracker()
    kept.remember("m0", message(n=0), "x" * 300, 0)
    (taken,) = checkpoints(kept.remember("m1", message(n=1), "x" * 300, 0))
    assert "n=0" in taken.summary
    assert list(kept.state.hot) == ["checkpoint", "m1"]


def test_a_message_over_the_whole_budget_goes_to_the_cold_store_and_leaves_its_facts() -> None:
    kept = tracker()
    effects = kept.remember("m0", message(n=0), "x" * 9_000, 0)
    (taken,) = checkpoints(effects)
    assert "n=0" in taken.summary
    assert "x" * 9_000 in effects.stored[0].text
    effects = kept.remember("m1", message("done", n=1), "x" * 9_000, 0)
    before, after = checkpoints(effects)
    assert (before.trigger, after.trigger) == ("hot", "done")
    assert effects.stored == before.stored + after.stored
    assert kept.state.hot_tokens <= 500


def test_of_a_message_over_the_whole_budget_only_the_beginning_is_counted() -> None:
    counted = list[int]()
    state = ContextState(session_id="s1")
    kept = ContextTracker(state, lambda text: counted.append(len(text)) or len(text), summarizer=None, lifetime=None)
    assert checkpoints(kept.remember("m0", message(n=0), "x" * 5_000_000, 0))
    assert max(counted) < 10_000


def test_the_raw_data_of_a_checkpoint_has_the_lifetime_of_the_session() -> None:
    kept = tracker(lifetime=60, summarizer=lambda raw, limit: "said")
    (taken,) = checkpoints(kept.remember("m0", message("done"), "x", 100))
    assert (taken.summary, taken.stored[0].expires_at) == ("said", 160)


def test_a_delta_of_a_peer_changes_the_context() -> None:
    kept = tracker()
    event = kept.receive_context(message("sync", version=1, delta={"x": 1}), "me")
    assert event == StateChanged(version=1, changes={"x": 1})
    event = kept.receive_context(message("sync", version=2, delta={"x": REMOVED}), "me")
    assert event == StateChanged(version=2, changes={"x": REMOVED})


def test_a_gap_asks_for_the_whole_and_the_whole_is_taken_then_even_if_it_is_older() -> None:
    kept = tracker()
    kept.receive_context(message("sync", version=1, delta={"x": 1}), "me")
    assert kept.receive_context(message("sync", version=0, context={}), "me") is None
    gap = kept.receive_context(message("sync", version=3, delta={"y": 1}), "me")
    assert gap == ResyncRequested(sender="me", version=1)
    event = kept.receive_context(message("sync", version=1, context={"z": 1}), "me")
    assert event == StateChanged(version=1, changes={"z": 1, "x": REMOVED})


@pytest.mark.parametrize(("sender", "asks"), [("a", True), ("z", False)])
def test_of_two_deltas_of_one_version_that_of_the_first_agent_stays(sender: str, asks: bool) -> None:
    kept = tracker()
    kept.send_context({"version": 1, "delta": {"x": "mine"}})
    event = kept.receive_context(message("sync", sender, version=1, delta={"x": "theirs"}), "me")
    assert isinstance(event, ResyncRequested) is asks
    assert kept.state.context == {"x": "mine"}


def test_our_own_delta_must_be_of_the_next_version_or_is_refused_with_e1004() -> None:
    kept = tracker()
    kept.send_context({"version": 5, "context": {"x": 1}})
    assert kept.state.version == 5
    for payload in ({"version": 2, "delta": {}}, {"version": 1}, {}):
        with pytest.raises(ProtocolError, match="E1004"):
            kept.send_context(payload)
    assert kept.state.context == {"x": 1}


def test_a_synchronisation_that_says_nothing_is_refused_with_e1004() -> None:
    with pytest.raises(ProtocolError, match="E1004"):
        tracker().receive_context(message("sync", version=1), "me")
