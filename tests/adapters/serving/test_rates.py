"""A rate is a burst and then one by one, for each name alone."""

from __future__ import annotations

import pytest

from accp_adapters.serving.rates import RateLimit
from accp_adapters.serving.shares import TooMany


def test_a_rate_is_a_burst_and_then_one_by_one() -> None:
    now = 100.0
    rate = RateLimit(10, 20, clock=lambda: now)
    assert [rate.take("ann") for _ in range(20)] == [0] * 20
    assert rate.delay("ann") == rate.take("ann") == pytest.approx(0.1)
    assert rate.take("bob") == 0
    with pytest.raises(TooMany, match="E2003") as refused:
        rate.check("ann")
    assert refused.value.is_own and refused.value.retry_after == pytest.approx(0.1)
    now = 100.125
    assert rate.take("ann") == 0 < rate.take("ann")
