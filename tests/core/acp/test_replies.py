"""What counts as the reply to a message that awaits one, and what a reply says (ACP transport 0.3, section 8)."""

import json
from dataclasses import replace

import pytest

from accp_core.acp import AcpMessage, AcpMessageReceived, DuplicateDropped, ReplyReceived, TextPart, UnknownReceived
from tests.core.acp.test_handshake import NOW, connected, hello, said


# "correlation_id: Links a reply to its original message" (section 8); messages are `acp.message` (section 3.4).
@pytest.mark.parametrize("kind", ["acp.message", "acp.reply"])
def test_a_message_with_the_correlation_id_of_a_waiting_one_is_its_reply(kind: str) -> None:
    host, guest = connected()
    guest.receive(said(host, hello(message_id="q1"), awaits_reply=True))
    parts = [{"type": "text", "content": "yes"}]
    answer = json.dumps({"type": kind, "message_id": "a1", "role": "agent", "correlation_id": "q1", "parts": parts})
    event = host.receive(answer)
    assert isinstance(event, ReplyReceived)
    assert (event.reply.correlation_id, event.reply.parts) == ("q1", (TextPart(content="yes"),))
    assert not isinstance(host.receive(answer), ReplyReceived)


def test_a_repeated_reply_is_dropped_and_one_to_nobody_is_a_message() -> None:
    host, _ = connected()
    said(host, hello(message_id="q1"), awaits_reply=True)
    parts = (TextPart(content="yes"),)
    answer = AcpMessage(message_id="a1", correlation_id="q1", parts=parts)
    assert isinstance(host.take(answer), ReplyReceived)
    assert isinstance(host.take(answer), DuplicateDropped)
    assert isinstance(host.take(replace(answer, message_id="a2")), AcpMessageReceived)
    assert isinstance(host.take(replace(answer, message_id="a3", is_reply=True)), UnknownReceived)


def test_a_reply_says_task_and_context() -> None:
    host, guest = connected()
    asked = AcpMessage(message_id="q1", parts=(TextPart(content="?"),), task_id="t1", context_id="c1")
    event = guest.receive(said(host, asked, awaits_reply=True))
    assert isinstance(event, AcpMessageReceived)
    guest.reply(event.message, (TextPart(content="yes"),), NOW)
    ((_, text),) = guest.waiting()
    assert {"task_id": "t1", "context_id": "c1"}.items() <= json.loads(text).items()
