"""What a message is before anybody says more."""

from dataclasses import FrozenInstanceError

import pytest

from accp_core.accp import Envelope, Intent
from accp_core.accp.message import Message


def test_a_message_needs_neither_payload_nor_schema_nor_envelope() -> None:
    message = Message(sender="a", intent=Intent.REQUEST, operation="op")
    assert (message.payload, message.schema, message.defaulted) == ({}, None, frozenset())
    assert message.envelope == Envelope()


def test_two_messages_share_nothing_and_stay_as_they_are() -> None:
    one, other = (Message(sender="a", intent=Intent.REQUEST, operation="op") for _ in range(2))
    assert one.payload is not other.payload
    with pytest.raises(FrozenInstanceError):
        one.sender = "b"  # type: ignore[misc]  # the type checker knows it too
