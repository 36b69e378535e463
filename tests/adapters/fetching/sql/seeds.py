"""Seeds of the random queries: a quarter of them in each run, the others among the slow cases."""

from __future__ import annotations

import pytest

__all__ = ["seeds"]


def seeds(count: int) -> pytest.MarkDecorator:
    """Return the parameter `seed` with so many values."""
    rest = (pytest.param(seed, marks=pytest.mark.slow) for seed in range(count // 4, count))
    return pytest.mark.parametrize("seed", [*range(count // 4), *rest])
