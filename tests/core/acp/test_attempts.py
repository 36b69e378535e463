"""Where to connect again."""

import pytest

from accp_core.acp import Binding, next_link, parse_link

DIRECT = parse_link("acp://host:7801/tok_ba366fcab78d4d61")
RELAY = parse_link("acp+wss://relay.example/acp/tok_another0000000")


@pytest.mark.requirement("acp:3.6-2", "acp:5.1-2")
def test_three_failures_lead_to_the_relay_with_the_same_token() -> None:
    assert [next_link(DIRECT, failures, RELAY) for failures in range(3)] == [DIRECT] * 3
    for failures in (3, 4, 10_000):
        link = next_link(DIRECT, failures, RELAY)
        assert (link.binding, link.host, link.token) == (Binding.HTTP_RELAY, "relay.example", DIRECT.token)


def test_without_a_relay_the_link_is_tried_on() -> None:
    assert {next_link(DIRECT, failures) for failures in (3, 10_000)} == {DIRECT}
    assert next_link(RELAY, 9, RELAY) is RELAY
