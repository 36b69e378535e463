"""The events that a connection reports (ACP transport 0.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from accp_core.acp.card import AgentCard
from accp_core.acp.envelope import AcpMessage, AcpReply, UnknownMessage

__all__ = [
    "AcpEvent",
    "AcpMessageReceived",
    "CardReceived",
    "DuplicateDropped",
    "ErrorReceived",
    "Refused",
    "ReplyMissed",
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyReceived:
    """The peer replied to a message of ours that awaits a reply."""

    reply: AcpReply
    """The reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyMissed:
    """No reply to a message of ours came in time (ERR_TIMEOUT)."""

    message_id: str
    """The id of our message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateDropped:
    """The peer sent a message again."""

    message_id: str
    """The id of the message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorReceived:
    """The peer reported an error."""

    code: str
    """A code such as "invalid_token"."""


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
    "CardReceived | AcpMessageReceived | ReplyReceived | ReplyMissed | DuplicateDropped | ErrorReceived"
    " | UnknownReceived | Refused"
)
