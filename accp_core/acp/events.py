"""The events that a connection reports (ACP transport 0.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from accp_core.acp.card import AgentCard
from accp_core.acp.envelope import AcpMessage, AcpReply, UnknownMessage

__all__ = [
    "Acknowledged",
    "AcpEvent",
    "AcpMessageReceived",
    "CardReceived",
    "DuplicateDropped",
    "ErrorReceived",
    "Refused",
    "ReplyReceived",
    "UnknownReceived",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CardReceived:
    """The peer sent its card."""

    card: AgentCard
    """The card."""
    lost: int = 0
    """Messages that the peer has not received and that are not kept any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AcpMessageReceived:
    """The peer sent a new message."""

    message: AcpMessage
    """The message."""
    awaits_reply: bool
    """Whether the peer awaits a reply: send it with `Connection.reply`."""
    number: int
    """How many messages the peer has sent up to this one, repeated ones not counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyReceived:
    """The peer replied to a message of ours that awaits a reply."""

    reply: AcpReply
    """The reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateDropped:
    """The peer sent a message again."""

    message_id: str
    """The id of the message."""
    number: int
    """The number that the message had when it was new, see `AcpMessageReceived`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledged:
    """The peer has our messages up to a number."""

    server_seq: int
    """That number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorReceived:
    """The peer reported an error; the message that it names awaits no reply any more."""

    code: str
    """A code such as "invalid_token"."""
    reason: str = ""
    """What the peer expected and found; empty where it does not say so."""
    correlation_id: str | None = None
    """The message_id of the message that it is about, None where it names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownReceived:
    """The peer sent a message of an unknown type, or a reply that is not awaited; the connection goes on."""

    message: UnknownMessage | AcpReply
    """The message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The peer sent a text that is no envelope; the connection goes on."""

    code: str
    """The code to answer with, see `AcpError`."""
    reason: str
    """What was expected and found."""


AcpEvent: TypeAlias = (
    "CardReceived | AcpMessageReceived | ReplyReceived | DuplicateDropped | Acknowledged"
    " | ErrorReceived | UnknownReceived | Refused"
)
