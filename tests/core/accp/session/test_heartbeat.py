"""When a ping is due and a peer is silent."""

import pytest

from accp_core.accp.session.delivery import Heartbeat


@pytest.mark.requirement("11.2-4")
def test_a_ping_is_due_once_in_each_interval() -> None:
    heartbeat = Heartbeat(30)
    heartbeat.start(100)
    heartbeat.start(125)
    assert heartbeat.next_deadline() == 130
    assert [heartbeat.take_ping(now) for now in (129, 130, 131, 160)] == [False, True, False, True]
    assert heartbeat.next_deadline() == 160


def test_silence_is_reported_once_until_something_is_received() -> None:
    heartbeat = Heartbeat(30)
    heartbeat.start(100)
    assert [heartbeat.take_silence(now) for now in (159, 160, 190)] == [None, 100, None]
    assert heartbeat.next_deadline() == 130
    heartbeat.record_frame(200)
    assert [heartbeat.take_silence(now) for now in (201, 260)] == [None, 200]


def test_without_an_interval_or_a_start_nothing_is_due() -> None:
    none = Heartbeat(None)
    none.start(100)
    assert (none.next_deadline(), none.take_ping(10**9), none.take_silence(10**9)) == (None, False, None)
    assert Heartbeat(30).next_deadline() is None
