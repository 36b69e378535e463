"""Figures over paired answers: a difference with its interval, and whether chance explains it."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["Difference", "difference", "mcnemar"]

_RESAMPLES: Final = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What an arm has minus what the baseline has, such as right answers, in points of 100."""

    points: float
    """The difference."""
    low: float
    """The lower end of its interval."""
    high: float
    """The upper end."""


def difference(pairs: Mapping[str, Sequence[tuple[float, float]]], *, seed: int = 0, tail: float = 0.025) -> Difference:
    """Return the paired difference with the interval of a bootstrap over documents.

    Questions about one document are not independent of each other, so whole documents are drawn.

    Args:
        pairs: The name of a document to (baseline, form) of each question, such as whether it was right; not empty.
        seed: Of the draws; the same seed gives the same interval.
        tail: The share of draws on each side of the interval; 0.025: it is one of 95 %.
    """
    sums = [(sum(after - before for before, after in each), len(each)) for each in pairs.values() if each]
    chance = random.Random(seed)
    drawn = sorted(_points(chance.choices(sums, k=len(sums))) for _ in range(_RESAMPLES))
    beyond = round(_RESAMPLES * tail)
    return Difference(points=_points(sums), low=drawn[beyond], high=drawn[-1 - beyond])


def _points(sums: Sequence[tuple[float, int]]) -> float:
    return 100 * sum(gain for gain, _ in sums) / sum(count for _, count in sums)


def mcnemar(pairs: Sequence[tuple[bool, bool]]) -> float:
    """Return the probability that chance alone gives so uneven a split of the questions that only one form got right.

    The exact test, two-sided: a binomial distribution with 0.5; 1.0 where no question differs.
    """
    only_before = sum(before and not after for before, after in pairs)
    only_after = sum(after and not before for before, after in pairs)
    trials, fewer = only_before + only_after, min(only_before, only_after)
    return min(1.0, 2 * sum(math.comb(trials, hits) for hits in range(fewer + 1)) / 2.0**trials)
