"""Tiers, references and versions."""

from dataclasses import replace

import pytest

from accp_core.accp.frame import REMOVED, Ref
from accp_core.accp.state.context_state import ColdKey, ContextState, Entry, StateLimits
from accp_core.errors import ProtocolError
from tests.core.accp.refusals import code_of
from tests.work import count_calls

EMPTY = ContextState(session_id="s1")


def entry(value: object, tokens: int = 1, expires_at: int | None = None) -> Entry:
    return Entry(value=value, tokens=tokens, expires_at=expires_at)  # type: ignore[arg-type]


def refused(code: str, state: ContextState, key: str, now: int = 0, grants: tuple[ColdKey, ...] = ()) -> None:
    assert code_of(state.resolve, Ref(key), now, grants) == code


@pytest.mark.requirement("8.2-1")
def test_hot_state_over_its_budget_is_refused_with_e2003_and_at_its_budget_kept() -> None:
    state = EMPTY.put_hot("a", entry(1, 499)).put_hot("b", entry(2, 1))
    assert state.put_hot("a", entry(1, 400)).hot_tokens == 401
    with pytest.raises(ProtocolError, match="E2003"):
        state.put_hot("c", entry(3, 1))


def test_a_warm_entry_over_its_budget_is_refused_with_e2003() -> None:
    assert EMPTY.put_warm("ckpt_1", entry(1, 200)).warm_tokens == 200
    with pytest.raises(ProtocolError, match="E2003"):
        EMPTY.put_warm("ckpt_1", entry(1, 201))


def test_only_the_newest_warm_entries_are_kept_and_older_ones_are_known_to_be_expired() -> None:
    state = replace(EMPTY, limits=StateLimits(warm_entries=2), checkpoints=3)
    for number in (1, 2, 3):
        state = state.put_warm(f"ckpt_{number}", entry({"status": number}))
    assert list(state.warm) == ["ckpt_2", "ckpt_3"]
    assert state.resolve(Ref("warm.ckpt_2.status"), 0) == 2
    assert state.resolve(Ref("ckpt_3.status"), 0) == 3
    refused("E2002", state, "warm.ckpt_1.status")
    refused("E2002", state, "warm.ckpt_1")
    refused("E2002", state, "ckpt_1")
    refused("E2001", state, "warm.ckpt_4")
    refused("E2001", state, "hot.ckpt_1")


@pytest.mark.requirement("8.2-1")
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("hot.job", {"task": "auth"}),
        ("hot.job.task", "auth"),
        ("job.task", "auth"),
        ("hot.a.b", "dotted"),
        ("a.b", "dotted"),
        ("note", "warm"),
        ("warm.note", "warm"),
        ("ctx.sales_db", "h1"),
        ("ctx.nested.deep.x", None),
    ],
)
def test_a_reference_stands_for_the_value_in_its_tier(key: str, value: object) -> None:
    state = EMPTY.put_hot("job", entry({"task": "auth"})).put_hot("a.b", entry("dotted")).put_hot("a", entry({"b": 1}))
    state = state.put_warm("note", entry("warm")).with_context(1, {"sales_db": "h1", "nested": {"deep": {"x": None}}})
    assert state.resolve(Ref(key), 0) == value


@pytest.mark.parametrize(
    "key", ["vault.x", "x", "hot.x", "warm.x", "ctx.x", "ctx.a.x", "ctx.a.b.x", "42.30", "hot", "hot.", "."]
)
def test_what_is_not_there_is_refused_with_e2001(key: str) -> None:
    refused("E2001", EMPTY.with_context(1, {"a": {"b": 1}}), key)


def test_a_reference_of_any_length_is_refused_quickly() -> None:
    state = EMPTY.put_hot("a", entry(1))
    short, long = "a" + ".a" * 1_000, "a" + ".a" * 20_000
    work = count_calls(lambda: refused("E2001", state, short))
    assert count_calls(lambda: refused("E2001", state, long)) == work


def test_a_session_that_cannot_exist_is_refused_with_e2001() -> None:
    refused("E2001", EMPTY, "cold._x110000_.abc")


def test_a_context_of_too_many_keys_is_refused_with_e2003() -> None:
    state = replace(EMPTY, limits=StateLimits(context_keys=2))
    full = state.apply_delta(1, {"a": 1, "b": 2})
    assert full is not None
    with pytest.raises(ProtocolError, match="E2003"):
        full.apply_delta(2, {"c": 3})
    assert full.apply_delta(2, {"c": 3, "a": REMOVED}) is not None


def test_a_context_of_too_many_characters_is_refused_with_e2003() -> None:
    state = replace(EMPTY, limits=StateLimits(context_chars=40))
    full = state.apply_delta(1, {"a": "x" * 12, "b": ["y"] * 3})
    assert full is not None
    with pytest.raises(ProtocolError, match="E2003"):
        full.apply_delta(2, {"c": "z" * 12})
    assert full.apply_delta(2, {"a": REMOVED, "c": "z" * 12}) is not None
    with pytest.raises(ProtocolError, match="E2003"):
        full.with_context(9, {"a": "x" * 40})
