"""What a session reports: one frozen value for each thing that happened (ACCP sections 3.7, 5 and 6.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from accp_core.accp.frame import Frame, Value
from accp_core.accp.message import Message
from accp_core.accp.state.checkpoint import Checkpoint
from accp_core.accp.state.context_state import ColdKey

__all__ = [
    "CheckpointTaken",
    "Event",
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
    "ResyncRequested",
    "StateChanged",
    "StreamChunkReceived",
    "StreamEnded",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageReceived:
    """A message came, the next one in its order and for the first time."""

    message: Message
    """All of it, references resolved and defaults filled in."""
    notes: tuple[str, ...] = ()
    """What is worth a warning, such as a missing timestamp."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeOpened:
    """A request was sent or received, or sent again."""

    chain: str
    """The correlation_id that its answers will have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeClosed:
    """A request was answered, aborted, or nobody answered in time."""

    chain: str
    """The correlation_id of its frames."""
    code: str | None = None
    """Why it failed: the code of an error frame, E3001 for no answer in time; None where there is none."""
    cancelled: bool = False
    """Whether a `cancel` closed it; nothing of this chain will be delivered any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamChunkReceived:
    """The next chunk of a stream, by its `chunk_index` and not by its arrival."""

    chain: str
    """The correlation_id of the stream."""
    message: Message
    """The chunk, of schema ST."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamEnded:
    """All chunks of a stream were reported."""

    chain: str
    """The correlation_id of the stream."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointTaken:
    """Hot state became a summary; what `texts_to_store` gives must be stored before anything cites it."""

    checkpoint: Checkpoint
    """What it came to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryAgreed:
    """Both ends know the same schemas."""

    version: int
    """Of the registry."""
    hash: str
    """Its first 12 hex digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryUpdated:
    """The peer had schemas that we had not; now we have them."""

    version: int
    """Of the registry as it is now."""
    hash: str
    """Its first 12 hex digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateChanged:
    """A peer changed the shared context, by a delta or as a whole."""

    version: int
    """Of the context as it is now."""
    changes: Mapping[str, Value]
    """What changed; REMOVED for a key that went."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResyncRequested:
    """A delta is missing between two versions, so the whole context was asked for."""

    sender: str
    """Who asked: we, or the peer that is answered already."""
    version: int
    """What the one who asked has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefsNeeded:
    """A frame cites texts of the cold store; it and all after it wait for `Session.resolve`."""

    keys: tuple[ColdKey, ...]
    """What to read, each once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameHeld:
    """A frame came before its turn and is kept; the sender was told which one is missing."""

    msg_id: str
    """The frame's id."""
    expected: int
    """The sequence number that is missing."""
    reply: str | None
    """The error frame that says so; also among `frames_to_send`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameRefused:
    """A frame was refused as a whole."""

    code: str
    """Why, by Table 6."""
    reason: str
    """Why, in words."""
    frame: Frame | None
    """What was refused; None for a text that is no frame."""
    reply: str | None
    """The error frame that says so, also among `frames_to_send`; None where none may be sent."""
    cause: Exception | None = None
    """What went wrong on our side, for E9999."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameDropped:
    """A frame was not processed and its sender is not told: it expired, or its chain was cancelled."""

    frame: Frame
    """What was dropped."""
    reason: str
    """Why, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatMissed:
    """Nothing was heard from the peer for two heartbeats."""

    since: int
    """When it was heard last, in seconds of the Unix epoch."""


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
)
"""Any of them."""
