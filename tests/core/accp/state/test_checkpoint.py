"""Five triggers, six steps, and what is left of a phase."""

import json
import random
from types import MappingProxyType

import pytest

from accp_adapters.tokens import o200k_base
from accp_core.accp.frame import Ref, Value
from accp_core.accp.state.checkpoint import INTENT_TRIGGERS, Checkpoint, CheckpointTrigger, Fact, take_checkpoint
from accp_core.accp.state.context_state import ContextState, Entry
from accp_core.errors import ProtocolError

EMPTY = ContextState(session_id="s1")
PHASE = CheckpointTrigger.PHASE


def hot(*values: Value, state: ContextState = EMPTY) -> ContextState:
    for number, value in enumerate(values):
        state = state.put_hot(f"m{number}", Entry(value=value, tokens=1, entity="analyst.lookup"))
    return state


def take(state: ContextState, summarizer: object = None) -> tuple[ContextState, Checkpoint]:
    return take_checkpoint(state, PHASE, 100, len, summarizer)  # type: ignore[arg-type]


@pytest.mark.requirement("5.2-4")
def test_there_are_five_triggers_and_a_phase_boundary_is_the_harness_own() -> None:
    assert {*INTENT_TRIGGERS.values(), CheckpointTrigger.HOT_LIMIT, PHASE} == set(CheckpointTrigger)
    assert len(CheckpointTrigger) == 5


def test_the_same_state_gives_the_same_checkpoint() -> None:
    state = hot({"b": 1, "a": [1, {"x": 2}]}, {"c": None})
    assert take(state) == take(state)


def test_facts_are_what_the_values_say() -> None:
    _, taken = take(
        hot(
            {"intent": "req", "a": {"b": [1, 2], "c": [{"d": True}, {"e": None}]}, "r": Ref("warm.x"), "t": 1.5},
            {"intent": "done"},
            "bare",
        )
    )
    assert taken.facts == tuple(
        Fact("analyst.lookup", relation, value)
        for relation, value in [
            ("a.b", "[1,2]"), ("a.c.d", "true"), ("a.c.e", "null"), ("r", "$warm.x"), ("t", "1.5"),
            ("intent", "done"), ("is", "bare"),
        ]
    )  # fmt: skip


def test_the_newest_facts_are_kept_and_their_number_is_bounded() -> None:
    _, taken = take(hot({f"k{number}": number for number in range(100)}))
    assert len(taken.facts) == 64
    assert taken.facts[-1].relation == "k99"


def test_a_fact_is_found_by_its_key() -> None:
    state = EMPTY.put_hot("m1", Entry(value={"status": "open", "n": {"a.b": 7}}, tokens=1, entity="ann.plan"))
    state = state.put_hot("m2", Entry(value={"status": "done", "summary": True}, tokens=1, entity="bob.plan"))
    after, _ = take(state)
    found = {
        key: after.resolve(Ref(f"warm.ckpt_1.{key}"), 0)
        for key in ("status", "ann.plan.status", "n.a.b", "bob.plan.summary")
    }
    assert found == {"status": "done", "ann.plan.status": "open", "n.a.b": 7, "bob.plan.summary": True}
    with pytest.raises(ProtocolError, match="E2001"):
        after.resolve(Ref("warm.ckpt_1.status.more"), 0)


def test_the_newest_facts_have_keys_as_far_as_the_entry_has_room() -> None:
    after, _ = take_checkpoint(hot({f"k{number}": "word" for number in range(60)}), PHASE, 0, o200k_base())
    assert after.resolve(Ref("warm.ckpt_1.k59"), 0) == "word"
    with pytest.raises(ProtocolError, match="E2001"):
        after.resolve(Ref("warm.ckpt_1.k0"), 0)


@pytest.mark.requirement("7.1-3")
def test_no_summary_has_over_100_tokens_and_no_warm_entry_over_200() -> None:
    count, source = o200k_base(), random.Random(1)
    words = ["revenue", "日本語", "🎉🎉", "x" * 200, "E3001", "\ud800", "-12%QoQ", 'a"b\\c', "", "naïve café", "\n"]
    for _ in range(60):
        state = EMPTY
        for number in range(source.randrange(1, 12)):
            payload = {
                source.choice(words) + str(place): source.choice([source.choice(words) * 3, 7, None, [1, "x"]])
                for place in range(source.randrange(12))
            }
            state = state.put_hot(f"m{number}", Entry(value=payload, tokens=1, entity=source.choice(words)))
        after, taken = take_checkpoint(state, PHASE, 0, count)
        assert count(taken.summary) <= 100
        assert after.warm["ckpt_1"].tokens == count(after.warm["ckpt_1"].text) == taken.tokens <= 200


def test_a_counter_whose_parts_do_not_add_up_is_obeyed_all_the_same() -> None:
    def odd(text: str) -> int:
        return 1 if len(text) < 40 else len(text)

    after, taken = take_checkpoint(hot({f"k{number}": "word" for number in range(60)}), PHASE, 0, odd)
    assert odd(taken.summary) <= 100
    assert after.warm["ckpt_1"].tokens <= 200


def test_a_summarizer_that_fails_does_not_stop_the_checkpoint() -> None:
    def fail(raw: str, limit: int) -> str:
        raise TimeoutError

    assert take(hot({"k": 1}), fail)[1].by_rule


def test_a_raw_text_is_json_whatever_the_values_are() -> None:
    class Odd:
        def __str__(self) -> str:
            return "odd"

    value = [Ref("warm.x"), MappingProxyType({"k": 1}), Odd()]
    _, taken = take(EMPTY.put_hot("m", Entry(value=value, tokens=1)))  # type: ignore[arg-type]
    assert json.loads(json.loads(taken.stored[0].text)["m"]) == ["$warm.x", {"k": 1}, "odd"]


def test_what_json_cannot_hold_stands_in_the_raw_text_as_text() -> None:
    halves = chr(0xD83D) + chr(0xDE00)
    value = {"n": [float("nan"), 1.5, None, True], halves: [halves], "one": chr(0xD800), "map": MappingProxyType({})}
    _, taken = take(EMPTY.put_hot("m", Entry(value=value, tokens=1)))
    assert json.loads(json.loads(taken.stored[0].text)["m"]) == {
        "n": ["nan", 1.5, None, True], "??": ["??"], "one": "?", "map": {},
    }  # fmt: skip
    assert Fact("m", "one", chr(0xD800)) in taken.facts
    assert taken.tokens
