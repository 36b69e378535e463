"""Cases of queries, and the seeds of random ones: a quarter of them in each run, the others among the slow cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

__all__ = ["CASES", "seeds"]

CASES: dict[str, list[Any]] = json.loads((Path(__file__).parent / "cases.json").read_text(encoding="utf-8"))


def seeds(count: int) -> pytest.MarkDecorator:
    """Return the parameter `seed` with so many values."""
    rest = (pytest.param(seed, marks=pytest.mark.slow) for seed in range(count // 4, count))
    return pytest.mark.parametrize("seed", [*range(count // 4), *rest])
