"""Natural wordings of all steps get their packet without a model; what is nearly one never does."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from tests.core.aacp.wordings import FILE, FRESH, HALVES, STEPS, load_wordings, outcome


@pytest.mark.requirement("aacp:6.3-2")
@pytest.mark.parametrize("half", HALVES)
def test_most_natural_wordings_need_no_model_and_none_gets_a_wrong_packet(half: str) -> None:
    found = outcome(half)
    assert found.wrong == ()
    assert found.served >= 0.85 * found.wordings
    assert found.served + len(found.missed) == found.wordings


@pytest.mark.requirement("aacp:6.3-2")
@pytest.mark.parametrize("half", HALVES)
def test_no_near_miss_is_served(half: str) -> None:
    assert outcome(half).taken == ()


@pytest.mark.requirement("aacp:6.3-2")
def test_fresh_wordings_are_understood_and_no_near_miss_is_taken() -> None:
    found = outcome(FRESH)
    assert (found.wrong, found.taken) == ((), ())
    assert (found.wordings, found.near_misses) == (60, 60)
    assert found.served >= 48, f"{found.served} of {found.wordings} are understood; not: {found.missed}"


@pytest.mark.requirement("aacp:6.3-2")
def test_below_a_threshold_of_1_a_near_miss_may_be_taken_so_1_is_the_default() -> None:
    found = outcome("tuned", 0.8)
    assert (found.wrong, bool(found.taken)) == ((), True)


@pytest.mark.requirement("aacp:6.3-2")
def test_there_are_wordings_of_every_step_in_both_halves() -> None:
    data = json.loads(FILE.read_text(encoding="utf-8"))
    for kind in ("wordings", "near_misses"):
        assert len(data[kind]) >= 200
        for half in HALVES:
            counts = Counter(vector["step"] for vector in load_wordings(kind, half))
            assert set(counts) == set(STEPS)
            assert min(counts.values()) >= 5
        texts = [vector["text"] for vector in data[kind]]
        assert len(texts) == len(set(texts))
