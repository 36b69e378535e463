"""What a connection reports (ACP transport 0.3)."""

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
    "ReplyReceived",
    "UnknownReceived",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CardReceived:
    """The peer said who it is."""

    card: AgentCard


@dataclass(frozen=True, slots=True, kw_only=True)
class AcpMessageReceived:
    """A message that was not here before."""

    message: AcpMessage
    awaits_reply: bool
    """Whether the peer waits: answer with `Connection.reply`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyReceived:
    """The answer to a message of ours that waited for it."""

    reply: AcpReply


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateDropped:
    """A message that was here before."""

    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorReceived:
    """The peer reports an error, such as "invalid_token"."""

    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownReceived:
    """A message of a type that we do not know, or a reply that nobody waits for; it is no reason to stop."""

    message: UnknownMessage | AcpReply


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A text that says nothing; it is no reason to stop."""

    code: str
    reason: str


AcpEvent: TypeAlias = (
    "CardReceived | AcpMessageReceived | ReplyReceived | DuplicateDropped | ErrorReceived | UnknownReceived | Refused"
)
