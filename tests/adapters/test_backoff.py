"""Delays between attempts."""

from accp_adapters.backoff import Backoff


def test_delays_double_up_to_the_longest() -> None:
    backoff = Backoff(first=2.0, longest=60.0, chance=lambda: 1.0)
    assert [backoff.delay(failures) for failures in (1, 2, 5, 6, 10_000)] == [2.0, 4.0, 32.0, 60.0, 60.0]
    assert [backoff.delay(1, at_least) for at_least in (1.0, 7.0, 99.0)] == [2.0, 7.0, 60.0]


def test_those_that_were_cut_off_together_do_not_come_back_together() -> None:
    delays = [Backoff(first=4.0, chance=lambda part=part: part).delay(1) for part in (0.0, 0.5, 1.0)]  # type: ignore[misc]
    assert delays == [2.0, 3.0, 4.0]
