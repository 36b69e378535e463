"""Intervals and chances of paired answers."""

from __future__ import annotations

import pytest

from accp_adapters.statistics import difference, mcnemar

BOTH, BEFORE, AFTER, NEITHER = (True, True), (True, False), (False, True), (False, False)


def test_no_difference_has_an_interval_of_nothing() -> None:
    gap = difference({"a": [BOTH, NEITHER], "b": [BOTH]})
    assert (gap.points, gap.low, gap.high) == (0, 0, 0)


def test_the_difference_is_in_points_of_a_hundred_questions() -> None:
    gap = difference({str(number): [BEFORE if number < 10 else BOTH] for number in range(100)})
    assert gap.points == -10
    # The interval of 100 independent draws with 10 % is 10 ± 1.96 · √(0.1 · 0.9 / 100) · 100 = 4.1 to 15.9.
    assert gap.low == pytest.approx(-16, abs=1.5)
    assert gap.high == pytest.approx(-4, abs=1.5)


def test_questions_about_one_document_count_as_one_draw() -> None:
    spread = {str(number): [BEFORE if number < 10 else BOTH] for number in range(100)}
    crowded = {"a": [BEFORE] * 10, **{str(number): [BOTH] * 10 for number in range(9)}}
    assert difference(crowded).low < difference(spread).low


def test_the_same_seed_gives_the_same_interval() -> None:
    pairs = {str(number): [BEFORE, AFTER, BOTH][number % 3 :] for number in range(9)}
    assert difference(pairs, seed=3) == difference(pairs, seed=3)


@pytest.mark.parametrize(
    ("pairs", "chance"),
    [([], 1.0), ([BOTH, NEITHER], 1.0), ([BEFORE], 1.0), ([BEFORE] * 5, 0.0625), ([BEFORE] * 9 + [AFTER], 22 / 1024)],
)
def test_mcnemar_is_the_binomial_test_of_what_differs(pairs: list[tuple[bool, bool]], chance: float) -> None:
    assert mcnemar(pairs) == pytest.approx(chance)
