"""Contexts in frames: delivered, updated by deltas, returned; through the codec and through two sessions."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from accp_adapters.tokens import o200k_base
from accp_core import Codec, Message, Session, serialize_frame
from accp_core.accp import PRACTICAL_LIMITS, Intent, MessageReceived, Ref, StateChanged
from accp_core.aci import ItemState, KeyInformation, accept_reply
from accp_core.bridges.aci_in_accp import (
    apply_update,
    completion_message,
    delivery_message,
    read_context,
    update_message,
)
from accp_core.errors import ProtocolError
from tests.core.aci.plans import subtask

CODEC = Codec(counter=o200k_base(), limits=PRACTICAL_LIMITS)
SENT = subtask("s1", "s0", items=2, context=("pays yearly", {"n": 1.5}), context_uri=("$cold.c9523506b4bd",))
DONE = replace(
    SENT,
    item_state_updates=(ItemState("1", 1), ItemState("2", 0)),
    key_information=(KeyInformation("1", "6 of 40: basic"),),
)


def through(message: Message) -> tuple[Message, str]:
    """Return a message as its receiver reads it, and its text."""
    (frame,) = CODEC.encode(message).frames
    text = serialize_frame(frame)
    read = CODEC.decode(text)
    assert isinstance(read, Message)
    return read, text


def test_an_update_says_what_changed_to_who_has_the_version_before() -> None:
    message, text = through(update_message(SENT, DONE, sender="crm", correlation_id="c1", version=2))
    assert text == '@crm>sync:state{v:2|delta:{info_1:"6_of_40\\:_basic",state_1:1,state_2:0}}[cid:c1]'
    assert apply_update(SENT, 1, message) == DONE
    assert apply_update(SENT, 0, message) is None
    assert apply_update(SENT, 2, message) is None


def test_references_travel_in_updates_too() -> None:
    more = replace(SENT, context_uri=(*SENT.context_uri, "$cold.b", "https://example.com/x"))
    message, text = through(update_message(SENT, more, sender="crm", correlation_id="c1", version=2))
    assert r"\$cold.b" in text
    assert apply_update(SENT, 1, message) == more
    message, _ = through(
        update_message(more, replace(more, context_uri=()), sender="crm", correlation_id="c1", version=3)
    )
    assert apply_update(more, 2, message) == replace(more, context_uri=())


def test_who_lacks_a_version_is_told_all_of_it() -> None:
    message, _ = through(update_message(None, DONE, sender="crm", correlation_id="c1", version=9))
    assert apply_update(SENT, 1, message) == DONE


def test_a_completion_names_what_the_agent_stored() -> None:
    stored = replace(DONE, context_uri=(*SENT.context_uri, "accp://cold/b"))
    message, _ = through(completion_message(stored, sent=SENT, sender="crm", correlation_id="c1"))
    assert accept_reply(SENT, read_context(message)[0], stored=["$cold.b"]) == stored


def test_a_reference_that_a_peer_wrote_as_one_is_read() -> None:
    message = delivery_message(SENT, sender="master", correlation_id="c1")
    refs = replace(message, payload={**message.payload, "refs": [Ref("cold.c9523506b4bd")]})
    assert read_context(refs)[0] == SENT


def test_two_sessions_carry_a_delivery_progress_and_the_result_without_opening_its_references() -> None:
    master, crm = (Session("s", name, codec=CODEC, new_id=counted(name)) for name in ("master", "crm"))
    request = deliver_to(crm, master.send(delivery_message(SENT, sender="master", correlation_id="c1"), 1))
    assert read_context(request)[0] == SENT
    changed = [
        event
        for text in crm.send(update_message(None, DONE, sender="crm", correlation_id="c1", version=1), 2)
        for event in master.receive(text, 2)
        if isinstance(event, StateChanged)
    ]
    assert changed[0].version == 1
    answer = deliver_to(master, crm.send(completion_message(DONE, sent=SENT, sender="crm", correlation_id="c1"), 3))
    assert accept_reply(SENT, read_context(answer)[0]) == DONE


def counted(name: str) -> Callable[[], str]:
    ids: Iterator[str] = (f"{name}{number}" for number in range(100))
    return lambda: next(ids)


def deliver_to(session: Session, texts: list[str]) -> Message:
    events = [event for text in texts for event in session.receive(text, 3)]
    (message,) = [event.message for event in events if isinstance(event, MessageReceived)]
    return message


def message_of(intent: Intent, operation: str, **payload: Any) -> Message:
    return Message(sender="a", intent=intent, operation=operation, payload=payload)


@pytest.mark.parametrize(
    "message",
    [
        message_of(Intent.SYNCHRONIZE, "execute", agent="a", subtask="s"),
        message_of(Intent.REQUEST, "plan", agent="a", subtask="s"),
        message_of(Intent.REQUEST, "execute", subtask="s"),
        message_of(Intent.REQUEST, "execute", agent="a", subtask="s", version=0),
        message_of(Intent.REQUEST, "execute", agent="a", subtask="s", version=True),
    ],
)
def test_other_messages_carry_no_context(message: Message) -> None:
    with pytest.raises(ProtocolError, match="E1004"):
        read_context(message)


@pytest.mark.parametrize(
    "message",
    [
        message_of(Intent.REQUEST, "state", version=2, delta={}),
        message_of(Intent.SYNCHRONIZE, "registry", version=2, delta={}),
        message_of(Intent.SYNCHRONIZE, "state", delta={}),
        message_of(Intent.SYNCHRONIZE, "state", version="2", delta={}),
        message_of(Intent.SYNCHRONIZE, "state", version=2),
        message_of(Intent.SYNCHRONIZE, "state", version=2, delta="all"),
        message_of(Intent.SYNCHRONIZE, "state", version=2, context="all"),
        message_of(Intent.SYNCHRONIZE, "state", version=2, delta={"state_1": 2}),
    ],
)
def test_other_messages_are_no_update(message: Message) -> None:
    with pytest.raises(ProtocolError, match="E1004"):
        apply_update(SENT, 1, message)
