"""Hostile inputs end as they must, after bounded work and in bounded memory (ACCP section 9).

No clock is asked here: work is counted in calls of functions, of which a quadratic reader makes too many.
"""

import tracemalloc
from typing import Any

import pytest

from accp_core import DecodeError, parse_frame
from accp_core.accp import GrammarLimits
from accp_core.errors import ProtocolError
from tests.hostile import ATTACKS, Attack
from tests.work import count_calls

hostile = pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)


def length(source: object) -> int:
    """Return the characters of the input; what is no text is counted as none."""
    return len(source) if isinstance(source, str) else 0


def outcome(attack: Attack, source: Any) -> str:
    """Return the code of the refusal, or "read"."""
    try:
        attack.read(source)
    except ProtocolError as refusal:
        return refusal.code
    return "read"


@pytest.mark.requirement("9-6", "9-7")
@hostile
def test_a_hostile_input_ends_as_it_must_after_bounded_work(attack: Attack) -> None:
    source = attack.build()
    ends: list[str] = []
    calls = count_calls(lambda: ends.append(outcome(attack, source)))
    assert ends == [attack.ends]
    assert calls < attack.calls + 4 * length(source)


@pytest.mark.requirement("9-7")
@pytest.mark.slow
@hostile
def test_a_hostile_input_takes_memory_in_proportion(attack: Attack) -> None:
    source = attack.build()
    tracemalloc.start()
    try:
        outcome(attack, source)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < attack.memory + 32 * length(source)


def test_a_refusal_does_not_repeat_the_input() -> None:
    with pytest.raises(DecodeError) as refusal:
        parse_frame("@a>req:op{k:" + "[" * 1_000_000)
    assert len(str(refusal.value)) < 200


@pytest.mark.parametrize("members", [100, 10_000])
def test_the_work_grows_with_the_members_and_not_with_their_square(members: int) -> None:
    text = f"@a>req:op{{k:[{','.join(['1'] * (members - 1))}]}}"
    assert count_calls(lambda: parse_frame(text)) < 20 * members


@pytest.mark.parametrize(
    "limits", [GrammarLimits(members=3), GrammarLimits(digits=3), GrammarLimits(depth=1), GrammarLimits(frame_bytes=20)]
)
def test_every_bound_can_be_tightened(limits: GrammarLimits) -> None:
    with pytest.raises(DecodeError, match="at most"):
        parse_frame("@a>req:op{a:[1,[2,[3]]]|b:12345}", limits=limits)


def test_keys_are_strings_whose_hashes_no_peer_knows() -> None:
    frame = parse_frame(r"@a>req:op{k:{1:a,true:b,_x_:c}|j:=\{" + r'"1"\:1\}}')
    assert all(type(key) is str for value in frame.params.values() for key in value)  # type: ignore[union-attr]
