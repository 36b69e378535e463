"""Where and when to connect again."""

import pytest

from accp_core.acp import Binding, next_attempt, parse_link

DIRECT = parse_link("acp://host:7801/tok_ba366fcab78d4d61")
RELAY = parse_link("acp+wss://relay.example/acp/tok_another0000000")


def test_three_failures_lead_to_the_relay_with_the_same_token() -> None:
    attempts = [next_attempt(DIRECT, failures, chance=lambda: 1.0, relay=RELAY) for failures in range(1, 6)]
    assert [attempt.delay for attempt in attempts] == [2.0, 4.0, 2.0, 4.0, 8.0]
    assert [attempt.link for attempt in attempts[:2]] == [DIRECT, DIRECT]
    for attempt in attempts[2:]:
        link = attempt.link
        assert (link.binding, link.host, link.token) == (Binding.HTTP_RELAY, "relay.example", DIRECT.token)


def test_without_a_relay_the_link_is_tried_on_with_bounded_delays() -> None:
    attempts = [next_attempt(DIRECT, failures, chance=lambda: 1.0) for failures in (3, 7, 8, 9, 10_000)]
    assert [attempt.delay for attempt in attempts] == [2.0, 32.0, 60.0, 60.0, 60.0]
    assert {attempt.link for attempt in attempts} == {DIRECT}
    assert next_attempt(RELAY, 9, chance=lambda: 1.0, relay=RELAY).link is RELAY


def test_peers_that_were_cut_off_together_do_not_come_back_together() -> None:
    delays = [next_attempt(DIRECT, 2, chance=lambda part=part: part).delay for part in (0.0, 0.5, 1.0)]  # type: ignore[misc]
    assert delays == [2.0, 3.0, 4.0]


@pytest.mark.parametrize("failures", [0, -1])
def test_an_attempt_after_no_failure_is_refused(failures: int) -> None:
    with pytest.raises(ValueError, match=f"expected at least one failure, found {failures}"):
        next_attempt(DIRECT, failures, chance=lambda: 0.0)
