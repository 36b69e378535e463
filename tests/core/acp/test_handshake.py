"""Two agents that talk: cards, messages once, replies, loss and a carrier that repeats."""

import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest

from accp_core import acp
from accp_core.bridges.accp_in_acp import CarriedKind, read_parts, text_to_part
from accp_core.errors import EncodeError, LocalProtocolError

NOW = 1773975060


def ids(prefix: str) -> Callable[[], str]:
    numbers = itertools.count(1)
    return lambda: f"{prefix}{next(numbers):011}"


def agent(name: str, **options: Any) -> acp.Connection:
    card = acp.AgentCard(
        name=name, bindings=(acp.Binding.WS_P2P,), link="acp://h:1/tok_aaaaaa", skills=({"name": "add"},)
    )
    return acp.Connection(card, new_id=ids(name[0].lower()), **options)


def connected() -> tuple[acp.Connection, acp.Connection]:
    host, guest = agent("Host"), agent("Guest")
    to_guest, to_host = host.opened(NOW), guest.opened(NOW)
    assert isinstance(guest.receive(to_guest), acp.CardReceived)
    assert isinstance(host.receive(to_host), acp.CardReceived)
    return host, guest


def written(end: acp.Connection) -> list[str]:
    """Return the texts that wait, as their owner writes them."""
    texts = end.waiting()
    end.mark_written(texts[-1][0] if texts else 0)
    acknowledgement = end.acknowledgement()
    return [*([acknowledgement] if acknowledgement else []), *(text for _, text in texts)]


def said(end: acp.Connection, message: acp.AcpMessage, **options: Any) -> str:
    """Return the text of a message that is sent and written at once; empty where it waits, or was sent before."""
    end.send(message, NOW, **options)
    return next(reversed(written(end)), "")


def hello(content: str = "hi", message_id: str | None = None) -> acp.AcpMessage:
    return acp.AcpMessage(message_id=message_id, parts=(acp.TextPart(content=content),))


@pytest.mark.requirement("acp:1-1")
def test_each_side_learns_who_the_other_is() -> None:
    host, guest = connected()
    assert guest.peer is not None
    assert (guest.peer.name, guest.peer.bindings, guest.peer.link) == (
        "Host",
        (acp.Binding.WS_P2P,),
        "acp://h:1/tok_aaaaaa",
    )
    assert guest.peer.capabilities["max_msg_bytes"] == 1 << 20
    assert guest.peer.skills == ({"name": "add"},)
    assert host.peer is not None
    assert host.peer.name == "Guest"


def test_a_message_arrives_once_with_id_time_sender_and_number() -> None:
    host, guest = connected()
    text = said(host, hello())
    event = guest.receive(text)
    assert isinstance(event, acp.AcpMessageReceived)
    found = event.message
    assert (found.message_id, found.ts, found.sender, found.server_seq) == (
        "msg_h00000000003",
        "2026-03-20T02:51:00Z",
        "Host",
        1,
    )
    assert guest.receive(text) == acp.DuplicateDropped(message_id="msg_h00000000003", number=1)


def test_what_the_sender_filled_in_stays() -> None:
    host, guest = connected()
    own = acp.AcpMessage(
        message_id="m", parts=(acp.TextPart(content=""),), ts="then", sender="Other", correlation_id="c"
    )
    event = guest.receive(said(host, own))
    assert isinstance(event, acp.AcpMessageReceived)
    assert (event.message.ts, event.message.sender, event.message.correlation_id) == ("then", "Other", "c")


def test_an_id_is_sent_once_and_keeps_its_number() -> None:
    host, _ = connected()
    first = host.send(hello(message_id="m"), NOW)
    host.send(hello(), NOW)
    again = host.send(hello(message_id="m"), NOW)
    assert (first.server_seq, again.server_seq, len(written(host))) == (1, 1, 2)


def test_a_message_without_id_is_taken_each_time() -> None:
    _, guest = connected()
    text = '{"type":"acp.message","role":"user","text":"hi"}'
    assert [type(guest.receive(text)) for _ in range(2)] == [acp.AcpMessageReceived, acp.AcpMessageReceived]


def test_a_request_gets_its_reply_and_no_other() -> None:
    host, guest = connected()
    event = guest.receive(said(host, hello("2+2"), awaits_reply=True))
    assert isinstance(event, acp.AcpMessageReceived)
    guest.reply(event.message, (acp.TextPart(content="4"),), NOW)
    (answer,) = written(guest)
    replied = host.receive(answer)
    assert isinstance(replied, acp.ReplyReceived)
    assert replied.reply.correlation_id == event.message.message_id
    assert isinstance(host.receive(answer), acp.DuplicateDropped)


def test_what_is_sent_while_offline_leaves_with_the_next_connection_in_order() -> None:
    host, guest = agent("Host", max_waiting=2), agent("Guest")
    assert [said(host, hello(str(number))) for number in range(2)] == ["", ""]
    assert host.log.characters > 0
    with pytest.raises(LocalProtocolError, match="ERR_NOT_CONNECTED"):
        host.send(hello("2"), NOW)
    events = [guest.receive(text) for text in (host.opened(NOW), *written(host))]
    assert [type(event) for event in events] == [acp.CardReceived, acp.AcpMessageReceived, acp.AcpMessageReceived]
    assert [event.message.server_seq for event in events if isinstance(event, acp.AcpMessageReceived)] == [1, 2]
    host.opened(NOW)
    assert written(host) == []
    host.closed()
    assert said(host, hello("3")) == ""
    assert not host.connected


def test_what_cannot_be_written_takes_no_number() -> None:
    host, _ = connected()
    with pytest.raises(EncodeError):
        host.send(hello("x" * (1 << 20), message_id="m"), NOW)
    assert host.send(hello(message_id="m"), NOW).server_seq == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON",
        '{"type":3}',
        '{"type":"acp.agent_card","card":{}}',
        '{"type":"acp.agent_card","card":{"name":"A","capabilities":[]}}',
        '{"type":"acp.agent_card","card":{"name":"A","endpoints":{"send":3}}}',
    ],
)
def test_what_says_nothing_is_no_reason_to_stop(text: str) -> None:
    host, _ = connected()
    event = host.receive(text)
    assert isinstance(event, acp.Refused)
    assert (event.code, bool(event.reason)) == ("ERR_INVALID_REQUEST", True)


def test_what_is_too_long_is_refused_with_its_code() -> None:
    host, _ = connected()
    event = host.receive("x" * ((1 << 20) + 1))
    assert isinstance(event, acp.Refused)
    assert event.code == "ERR_MSG_TOO_LARGE"


def test_errors_and_unknown_messages_are_reported() -> None:
    host, _ = connected()
    assert host.receive('{"type":"error","code":"invalid_token"}') == acp.ErrorReceived(code="invalid_token")
    assert isinstance(host.receive('{"type":"task.updated"}'), acp.UnknownReceived)


def test_a_peer_does_not_fill_the_memory() -> None:
    guest = agent("Guest", max_ids=2)
    texts = [f'{{"type":"acp.message","message_id":"m{number}","text":"a"}}' for number in range(3)]
    for text in texts:
        guest.receive(text)
    assert [type(guest.receive(text)) for text in (texts[2], texts[0])] == [
        acp.DuplicateDropped,
        acp.AcpMessageReceived,
    ]


@pytest.mark.requirement("acp:1-1")
def test_a_card_is_flat_says_what_is_on_and_is_read_wrapped_as_well() -> None:
    card = acp.AgentCard(
        name="A", version="3", bindings=(acp.Binding.HTTP_SSE, acp.Binding.STDIO), capabilities={"x": 1}
    )
    data = card.to_json()
    assert (data["protocol"], data["acp_version"], data["transport_version"]) == ("acp", "1.0", "0.3")
    assert data["capabilities"]["bindings"] == ["http-sse", "stdio"]
    assert data["capabilities"]["streaming"] is True
    assert data["endpoints"]["send"] == "/message:send"
    assert "link" not in data
    read = acp.AgentCard.from_json({"self": json.loads(json.dumps(data)), "peer": None})
    assert (read.name, read.version, set(read.bindings)) == ("A", "3", set(card.bindings))
    assert acp.AgentCard.from_json({"name": "A", "capabilities": {"bindings": "x"}, "skills": 3}).bindings == ()
    with pytest.raises(ValueError, match="expected an AgentCard, found 3"):
        acp.AgentCard.from_json(3)


def test_other_protocols_go_through_untouched() -> None:
    host, guest = connected()
    frame, packet = r"@a>req:op{k:\$x|u:naïve}", "FETCH|HR|return:A|p:1|aacp:1.1"
    parts = (
        text_to_part(CarriedKind.FRAME, frame),
        acp.TextPart(content="see"),
        text_to_part(CarriedKind.PACKET, packet),
    )
    event = guest.receive(
        said(host, acp.AcpMessage(parts=(*parts, acp.DataPart(content=3, media_type="application/accp"))))
    )
    assert isinstance(event, acp.AcpMessageReceived)
    assert read_parts(event.message, CarriedKind.FRAME) == [frame]
    assert read_parts(event.message, CarriedKind.PACKET) == [packet]
    assert read_parts(event.message, CarriedKind.CONTEXT) == []
