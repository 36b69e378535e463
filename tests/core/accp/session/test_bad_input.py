"""What a caller or a peer gets wrong: a clear error, and nothing is lost."""

import math
from dataclasses import replace
from typing import Any

import pytest

from accp_core import parse_frame
from accp_core.accp.budget import PRACTICAL_LIMITS
from accp_core.accp.codec import Codec
from accp_core.accp.frame import Envelope, Message, Ref
from accp_core.accp.session.events import EventsDropped, ExchangeOpened, FrameRefused, MessageReceived
from accp_core.accp.session.parts import Peer
from accp_core.accp.session.session import Session
from accp_core.accp.state.checkpoint import CheckpointTrigger
from accp_core.errors import DecodeError, LocalProtocolError
from tests.core.accp.session.test_session import CODEC, NOW, message, only, session


def refused(end: Session, text: str, **given: Any) -> FrameRefused:
    (event,) = end.receive(text, NOW, **given)
    assert isinstance(event, FrameRefused)
    return event


@pytest.mark.parametrize("field", ["mid", "cid", "aid", "sid"])
@pytest.mark.parametrize("hidden", ["\u3000", "\u2028", "\u200b", "\ue000"])
def test_an_id_that_could_never_be_answered_is_refused_with_e1001(field: str, hidden: str) -> None:
    text = f"@a>req:op{{}}[mid:m1,seq:1,{field}:x{hidden}]".replace("[mid:m1,seq:1,mid:", "[seq:1,mid:")
    with pytest.raises(DecodeError, match=r"E1001: expected printable characters in \w+, found") as refusal:
        parse_frame(text)
    assert refusal.value.position == text.index(hidden)
    assert refused(session(), text).code == "E1001"


def test_ids_are_in_ascii_where_the_answers_are() -> None:
    text = "@a>req:op{k:é}[mid:é,seq:1]"
    assert only(session().receive(text, NOW), MessageReceived)
    assert refused(session(codec=replace(CODEC, ascii_only=True)), text).code == "E1001"


def test_the_time_may_have_a_fraction() -> None:
    one, other = session("one"), session("other")
    (text,) = one.send(message(), NOW + 0.75)
    assert parse_frame(text).envelope.timestamp == NOW
    assert only(other.receive(text, NOW + 0.999), MessageReceived)
    other.receive("@x>ping:hb{}[mid:x1,seq:2]", NOW + 1.5)
    (pong,) = other.frames_to_send()
    assert parse_frame(pong).envelope.timestamp == NOW + 1


@pytest.mark.parametrize(
    ("now", "kind"),
    [
        (math.nan, ValueError),
        (math.inf, ValueError),
        (-1, ValueError),
        (True, TypeError),
        ("1", TypeError),
        (None, TypeError),
    ],
)
def test_a_time_that_is_none_is_refused_and_named(now: Any, kind: type[Exception]) -> None:
    end = session()
    for action in (
        lambda: end.receive("@a>req:op{}", now),
        lambda: end.send(message(), now),
        lambda: end.handle_timer(now),
    ):
        with pytest.raises(kind, match=f"expected seconds of the Unix epoch as now, found {now!r}"):
            action()
    assert end.size() == 0


def test_what_is_no_text_and_no_message_is_refused_and_named() -> None:
    end = session()
    for text in (b"@a>req:op{}", None, 1.5):
        with pytest.raises(TypeError, match="expected the text of a frame, found "):
            end.receive(text, NOW)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected a Message, found None"):
        end.send(None, NOW)  # type: ignore[arg-type]


def test_an_intent_may_be_given_by_its_code_and_an_unknown_one_is_refused() -> None:
    end = session()
    (text,) = end.send(Message(sender="", intent="req", operation="op"), NOW)  # type: ignore[arg-type]
    assert text.startswith("@me>req:op{}")
    assert end.exchange("me000001").is_live
    with pytest.raises(LocalProtocolError, match=r"E1002: expected an intent .*, found 'ask'"):
        end.send(Message(sender="", intent="ask", operation="op"), NOW)  # type: ignore[arg-type]


def test_events_that_nobody_takes_are_bounded_and_a_timer_asks_to_take_them() -> None:
    end = session(waiting=10, timeout=None)
    for _ in range(15):
        end.send(message(), NOW)
    assert end.get_timer() == NOW
    events = end.handle_timer(NOW)
    assert events[0] == EventsDropped(count=5)
    assert [type(event) for event in events[1:]] == [ExchangeOpened] * 10
    assert (end.handle_timer(NOW), end.get_timer()) == ([], None)


def test_nothing_is_sent_while_too_many_texts_wait_for_the_store() -> None:
    end = session(waiting=2)
    for number in range(3):
        end.send(message("done", cid=f"c{number}"), NOW)
    with pytest.raises(LocalProtocolError, match="E2003: expected a call of texts_to_store: 3 texts wait"):
        end.send(message(), NOW)
    assert len(end.texts_to_store()) == 3
    assert end.send(message(), NOW)


def test_a_checkpoint_is_taken_when_the_options_say_so_and_always_when_hot_state_is_full() -> None:
    end = session(checkpoints=frozenset({CheckpointTrigger.HANDOFF}))
    end.send(message("done", cid="c"), NOW)
    assert end.texts_to_store() == []
    end.send(message("esc", cid="d"), NOW)
    assert len(end.texts_to_store()) == 1
    end.send(message("ack", text="word " * 90), NOW)
    assert len(end.texts_to_store()) == 1


PEER = Peer(principal="crm@example.org", agents=frozenset({"ann", "bob"}))


@pytest.mark.parametrize("name", ["mallory", "me"])
def test_a_frame_in_the_name_of_another_than_the_peers_agents_is_refused_with_e5001(name: str) -> None:
    end = session()
    refusal = refused(end, f"@{name}>req:pay{{}}[mid:m1,seq:1]", peer=PEER)
    assert (refusal.code, refusal.reason) == (
        "E5001",
        f"expected a frame of an agent of 'crm@example.org', found @{name}",
    )
    assert only(end.receive("@ann>req:pay{}[mid:m1,seq:1]", NOW, peer=PEER), MessageReceived)
    assert only(end.receive("@bob>req:pay{}[mid:m2,seq:2]", NOW, peer=PEER), MessageReceived)


def test_a_frame_in_our_own_name_is_refused_with_e5001_without_a_known_peer_too() -> None:
    assert refused(session(), "@me>sync:state{v:1|delta:{a:1}}[mid:m1,seq:1]").code == "E5001"


def pay(number: int, payload: str = "txn:t1|amt:1.5", operation: str = "pay") -> str:
    return f"@a>req:{operation}{{{payload}|schema:TX}}[mid:m{number},seq:{number},ts:{NOW}]"


def test_a_transaction_keeps_its_amount_currency_and_account_over_retries() -> None:
    end = session()
    assert only(end.receive(pay(1), NOW), MessageReceived)
    assert only(end.receive(pay(2, "txn:t1|amt:=1.500|currency:USD"), NOW), MessageReceived)
    for number, payload in ((3, "txn:t1|amt:15"), (4, "txn:t1|amt:1.5|currency:EUR"), (5, "txn:t1|amt:1.5|acc:x")):
        assert refused(end, pay(number, payload)).code == "E5001"
    assert only(end.receive(pay(6, "txn:t1|amt:3", "refund"), NOW), MessageReceived)


@pytest.mark.parametrize("payload", ["amt:1.5", 'txn:""|amt:1.5'])
def test_a_transaction_without_an_id_is_refused_with_e1001(payload: str) -> None:
    assert refused(session(), pay(1, payload)).code == "E1001"


def test_a_transaction_id_may_be_a_reference_where_it_is_sent() -> None:
    (text,) = session().send(message(schema="TX", transaction_id=Ref("ctx.t"), amount=2, currency="EUR"), NOW)
    assert "txn:$ctx.t" in text


def test_a_failed_tool_without_the_error_schema_is_refused_with_e4003() -> None:
    refusal = refused(session(), "@a>fail:tool{tool:x|schema:TC}[mid:m1,seq:1,cid:c]")
    assert (refusal.code, refusal.reply) == ("E4003", None)


def test_the_tokens_of_a_refused_frame_are_not_counted() -> None:
    seen: list[Any] = []
    end = session(codec=Codec(counter=len, limits=PRACTICAL_LIMITS), observe=seen.append)
    end.receive("@a>req:op{}[mid:m1,seq:1]", NOW)
    end.receive("@a>req:op{}[mid:m1,seq:1]", NOW)
    assert [each.tokens for each in seen if each.direction == "received"] == [25, None]
    assert end.send(message(envelope=Envelope(ttl=1)), NOW)
