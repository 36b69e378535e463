"""The events that a session reports (ACCP sections 3.7, 5 and 6.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from accp_core.accp.frame import Frame, Value
from accp_core.accp.message import Message
from accp_core.accp.state.checkpoint import Checkpoint
from accp_core.accp.state.context_state import ColdKey

__all__ = [
    "Acknowledged",
    "CheckpointTaken",
    "Event",
    "EventsDropped",
    "ExchangeClosed",
    "ExchangeOpened",
    "FrameDropped",
    "FrameHeld",
    "FrameRefused",
    "HeartbeatMissed",
    "MessageReceived",
    "RefsNeeded",
    "RegistryAgreed",
    "RegistryUpdated",
    "ResumeImpossible",
    "ResyncRequested",
    "StateChanged",
    "StreamChunkReceived",
    "StreamEnded",
    "Writable",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageReceived:
    """A message was received, in order and for the first time."""

    message: Message
    """The message, with references resolved and defaults filled in."""
    notes: tuple[str, ...] = ()
    """Warnings, such as a missing timestamp."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeOpened:
    """A request was sent or received, for the first time or again."""

    chain: str
    """The correlation_id of its answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeClosed:
    """A request was answered, aborted, or got no answer in time."""

    chain: str
    """The correlation_id of its frames."""
    code: str | None = None
    """The error code: that of an error frame, or E3001 for no answer in time; None where there is none."""
    cancelled: bool = False
    """Whether a `cancel` closed it; no more messages of this chain are delivered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamChunkReceived:
    """The next chunk of a stream, in the order of `chunk_index`."""

    chain: str
    """The correlation_id of the stream."""
    message: Message
    """The chunk, of schema ST."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamEnded:
    """The last chunk of a stream was reported."""

    chain: str
    """The correlation_id of the stream."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointTaken:
    """Hot state became a summary; its raw data is among `texts_to_store`."""

    checkpoint: Checkpoint
    """The result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryAgreed:
    """Both ends know the same schemas."""

    version: int
    """The version of the registry."""
    hash: str
    """The first 12 hexadecimal digits of its hash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryUpdated:
    """Schemas of the peer were added to our registry."""

    version: int
    """The version of the registry now."""
    hash: str
    """The first 12 hexadecimal digits of its hash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateChanged:
    """A peer changed the shared context, by a delta or by sending it whole."""

    version: int
    """The version of the context now."""
    changes: Mapping[str, Value]
    """The changed keys with their new values; REMOVED for a key that was removed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResyncRequested:
    """A delta is missing, so the whole context was requested."""

    sender: str
    """The agent that requested it: this one, or a peer, which is already answered."""
    version: int
    """The version that this agent has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefsNeeded:
    """A frame refers to texts of the cold store; it and all later frames wait for `Session.resolve`."""

    keys: tuple[ColdKey, ...]
    """The texts to read, each once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameHeld:
    """A frame came before its turn and is kept; an error frame names the missing one to its sender."""

    msg_id: str
    """The msg_id of the frame."""
    expected: int
    """The sequence number that is missing."""
    reply: str | None
    """That error frame, which is also among `frames_to_send`; None where none may be sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameRefused:
    """A frame was refused as a whole."""

    code: str
    """The error code (Table 6)."""
    reason: str
    """The reason, in words."""
    frame: Frame | None
    """The frame; None for a text that is not a frame."""
    reply: str | None
    """The error frame to the sender, which is also among `frames_to_send`; None where none may be sent."""
    cause: Exception | None = None
    """The exception behind E9999."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameDropped:
    """A frame was not processed and no error is sent: it expired, or its chain was cancelled."""

    frame: Frame
    """The frame."""
    reason: str
    """The reason, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatMissed:
    """Nothing was received from the peer for two heartbeats."""

    since: int
    """When something was received last, in seconds of the Unix epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledged:
    """The peer has processed our frames; they will not be sent again."""

    sequence: int
    """The number of the last of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Writable:
    """A message that was refused by `WindowFull` may be sent now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeImpossible:
    """One end misses a frame that the other end does not keep any more: the session is over, nothing else is sent."""

    expected: int
    """The sequence number of the missing frame."""
    oldest: int
    """The first sequence number that can be sent again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsDropped:
    """The oldest events were dropped, because nobody took them for too long."""

    count: int
    """Their number."""


Event: TypeAlias = (
    MessageReceived
    | ExchangeOpened
    | ExchangeClosed
    | StreamChunkReceived
    | StreamEnded
    | CheckpointTaken
    | RegistryAgreed
    | RegistryUpdated
    | StateChanged
    | ResyncRequested
    | RefsNeeded
    | FrameHeld
    | FrameRefused
    | FrameDropped
    | HeartbeatMissed
    | Acknowledged
    | Writable
    | ResumeImpossible
    | EventsDropped
)
"""Any event of a session."""
