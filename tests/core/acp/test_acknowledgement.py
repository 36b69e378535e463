"""What peers tell each other of their logs: acknowledgements, restarts, room, errors about one message."""

import json

import pytest

from accp_core.acp import (
    Acknowledged,
    AcpMessageReceived,
    CardReceived,
    DuplicateDropped,
    ErrorReceived,
    UnknownReceived,
)
from accp_core.acp.connection import Outgoing
from accp_core.errors import LocalProtocolError
from tests.core.acp.test_handshake import NOW, agent, connected, hello, said, written


def contents(texts: list[str]) -> list[str]:
    return [json.loads(text)["parts"][0]["content"] for text in texts]


def test_a_full_window_waits_for_an_acknowledgement() -> None:
    guest, small = agent("Guest"), agent("Small", max_waiting=4)
    card = small.opened(NOW)
    small.receive(guest.opened(NOW))
    guest.receive(card)
    texts = [said(small, hello(str(number))) for number in range(4)]
    assert not small.log.has_room()
    assert small.log.in_flight == 4
    with pytest.raises(LocalProtocolError, match="ERR_NOT_CONNECTED: expected at most 4 messages"):
        small.send(hello(), NOW)
    assert isinstance(guest.receive(texts[0]), AcpMessageReceived)
    (acknowledgement,) = written(guest)
    assert written(guest) == []
    assert small.receive(acknowledgement) == Acknowledged(server_seq=1)
    assert small.log.has_room()
    assert said(small, hello())


@pytest.mark.parametrize(
    "text",
    [
        '{"type":"acp.ack","last_server_seq":1,"log":"another"}',
        '{"type":"acp.ack","last_server_seq":"1","log":"h00000000001"}',
        '{"type":"acp.other","last_server_seq":1,"log":"h00000000001"}',
    ],
)
def test_an_acknowledgement_of_something_else_has_no_effect(text: str) -> None:
    host, _ = connected()
    assert host.log_id == "h00000000001"
    assert isinstance(host.receive(text), UnknownReceived)


def test_a_peer_that_has_forgotten_everything_gets_what_is_open_again() -> None:
    host, guest = connected()
    for text in [said(host, hello("asked"), awaits_reply=True), said(host, hello("said"))]:
        guest.receive(text)
    host.closed()
    host.receive(f"{guest.acknowledgement(at_once=True)}")
    host.opened(NOW)
    assert said(host, hello("new")) == ""
    assert isinstance(host.receive(agent("Fresh").opened(NOW)), CardReceived)
    assert contents(written(host)) == ["asked", "new"]


@pytest.mark.parametrize("resume", ["{}", '{"log":1,"window":4}', '{"log":"x","window":0}', '{"log":"x"}', "7"])
def test_a_card_whose_resumption_is_malformed_is_a_card(resume: str) -> None:
    host = agent("Host")
    host.opened(NOW)
    event = host.receive(f'{{"type":"acp.agent_card","card":{{"name":"G"}},"resume":{resume}}}')
    assert isinstance(event, CardReceived)
    assert host.peer_log is None
    assert said(host, hello())
    assert host.log.in_flight == 0


def test_the_owner_may_take_the_messages_one_by_one() -> None:
    host = agent("Host")
    assert host.waiting() == []
    host.opened(NOW)
    host.send(hello("one"), NOW)
    host.send(hello("two"), NOW)
    ((number, text),) = host.waiting(1)
    assert (number, contents([text])) == (1, ["one"])
    host.closed()
    host.opened(NOW)
    host.receive('{"type":"acp.agent_card","card":{"name":"G"}}')
    assert [number for number, _ in host.waiting()] == [1, 2]
    host.mark_written(1)
    assert [number for number, _ in host.waiting()] == [2]
    host.log.acknowledge(1)
    assert (host.log.last, host.log.written, host.log.acknowledged, host.log.in_flight) == (2, 1, 1, 0)


def test_a_message_has_the_number_of_its_first_arrival() -> None:
    host, _ = connected()
    events = [host.receive(f'{{"type":"acp.message","text":"x","message_id":"{name}"}}') for name in "aba"]
    assert [event.number for event in events if isinstance(event, (AcpMessageReceived, DuplicateDropped))] == [1, 2, 1]


def test_the_error_for_a_message_ends_the_wait_for_its_reply() -> None:
    host, guest = connected()
    event = guest.receive(said(host, hello(), awaits_reply=True))
    assert isinstance(event, AcpMessageReceived)
    guest.fail(event.message, "ERR_INTERNAL", "broken")
    guest.fail(hello(), "ERR_INTERNAL", "broken")
    failed, nameless = map(host.receive, written(guest))
    assert failed == ErrorReceived(code="ERR_INTERNAL", reason="broken", correlation_id=event.message.message_id)
    assert nameless == ErrorReceived(code="ERR_INTERNAL", reason="broken")


def test_what_the_peer_may_not_have_is_never_dropped() -> None:
    outgoing = Outgoing(window=3, characters=10)
    outgoing.acknowledge(0)
    assert outgoing.has_room(99)
    outgoing.append("x" * 6)
    assert (outgoing.has_room(4), outgoing.has_room(5)) == (True, False)
    outgoing.mark_written(1)
    assert not outgoing.has_room(5)
    outgoing.acknowledge(9)
    assert outgoing.has_room(99)
    assert (outgoing.last, outgoing.in_flight) == (1, 0)


def test_the_last_texts_are_kept_within_their_bounds() -> None:
    outgoing = Outgoing(window=3, characters=10)
    assert (outgoing.last, outgoing.after(0)) == (0, [])
    for text in ("a", "b", "c", "d"):
        outgoing.append(text)
    assert outgoing.after(0) == [(2, "b"), (3, "c"), (4, "d")]
    assert outgoing.after(3) == [(4, "d")]
    assert outgoing.after(9) == []
    outgoing.append("x" * 9)
    assert outgoing.after(0) == [(4, "d"), (5, "x" * 9)]
