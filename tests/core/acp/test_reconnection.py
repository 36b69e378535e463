"""One peer over one connection after the other, replies with deadlines, several peers."""

import random

import pytest

from accp_core.acp import AcpMessageReceived, CardReceived, ReplyReceived, TextPart
from tests.core.acp.test_handshake import NOW, agent, connected, hello, said, written


class Wire:
    """Two agents and the texts between them; a cut loses these."""

    def __init__(self) -> None:
        self.ends = {"host": agent("Host"), "guest": agent("Guest")}
        self.under_way = {name: [end.opened(NOW), *written(end)] for name, end in self.ends.items()}
        self.taken: list[str] = []

    def send(self, content: str) -> None:
        self.ends["host"].send(hello(content), NOW)
        self.under_way["host"] += written(self.ends["host"])

    def deliver(self, sender: str) -> None:
        if not self.under_way[sender]:
            return
        name = "guest" if sender == "host" else "host"
        event = self.ends[name].receive(self.under_way[sender].pop(0))
        if isinstance(event, AcpMessageReceived):
            self.taken += [part.content for part in event.message.parts if isinstance(part, TextPart)]
        self.under_way[name] += written(self.ends[name])

    def cut(self, *, say: str = "") -> None:
        for end in self.ends.values():
            end.closed()
        if say:
            assert said(self.ends["host"], hello(say)) == ""
        self.under_way = {name: [end.opened(NOW), *written(end)] for name, end in self.ends.items()}


@pytest.mark.parametrize("seed", range(3))
def test_over_twenty_aborts_each_message_arrives_once_and_in_order(seed: int) -> None:
    chance, wire = random.Random(seed), Wire()
    for number in range(400):
        wire.send(str(number))
        for _ in range(chance.randrange(4)):
            wire.deliver(chance.choice(["host", "guest"]))
        if number % 20 == 19:
            wire.cut(say=f"offline {number}")
    while any(wire.under_way.values()):
        wire.deliver("host")
        wire.deliver("guest")
    said = [[str(number)] + [f"offline {number}"] * (number % 20 == 19) for number in range(400)]
    assert wire.taken == [text for texts in said for text in texts]


def test_of_what_the_peer_misses_the_last_is_sent_again() -> None:
    host, guest = agent("Host", max_waiting=3), agent("Guest")
    host.opened(NOW)
    for number in range(5):
        assert said(host, hello(str(number)))
    host.closed()
    host.opened(NOW)
    event = host.receive(guest.opened(NOW))
    assert isinstance(event, CardReceived)
    assert len(written(host)) == 3
    assert [number for number, _ in host.log.after(3)] == [4, 5]
    assert [number for number, _ in host.log.after(0, 1)] == [3]


def test_a_card_that_says_nothing_of_use_is_a_card() -> None:
    for cursor in ('"x"', "-1", "99", "null"):
        host = agent("Host")
        host.opened(NOW)
        assert said(host, hello())
        host.closed()
        host.opened(NOW)
        text = f'{{"type":"acp.agent_card","card":{{"name":"G"}},"last_server_seq":{cursor}}}'
        event = host.receive(text)
        assert isinstance(event, CardReceived)
        assert written(host) == []


def test_a_peer_without_a_card_is_waited_for_until_it_says_anything() -> None:
    host = agent("Host")
    host.opened(NOW)
    host.closed()
    host.opened(NOW)
    assert said(host, hello()) == ""
    host.receive('{"type":"acp.message","text":"hi","server_seq":7}')
    assert len(written(host)) == 1
    host.closed()
    assert '"last_server_seq":7' in host.opened(NOW)


def test_a_reply_survives_the_connection() -> None:
    host, guest = connected()
    event = guest.receive(said(host, hello(), awaits_reply=True))
    assert isinstance(event, AcpMessageReceived)
    guest.reply(event.message, (TextPart(content="lost"),), NOW)
    assert len(written(guest)) == 1
    for end in (host, guest):
        end.closed()
    card = host.opened(NOW)
    guest.opened(NOW)
    guest.receive(card)
    (again,) = written(guest)
    assert isinstance(host.receive(again), ReplyReceived)
