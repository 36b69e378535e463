"""What goes in and comes out of a session: options, events, the effects of a step (ACCP sections 3.7, 5, 6.4, 7.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Final, TypeAlias

from accp_core.accp.frame import Frame, Message, Value
from accp_core.accp.session.delivery import FrameText, SequenceScope
from accp_core.accp.session.exchanges import StreamLimits
from accp_core.accp.state.checkpoint import Checkpoint, CheckpointTrigger
from accp_core.accp.state.context_state import ColdKey
from accp_core.references import StoredText

__all__ = [
    "NO_EFFECTS", "Acknowledged", "CheckpointTaken", "Effects", "Event", "EventsDropped", "ExchangeClosed",
    "ExchangeOpened", "FrameDropped", "FrameHeld", "FrameRefused", "HeartbeatMissed", "MessageReceived",
    "RefsNeeded", "RegistryAgreed", "RegistryUpdated", "ResumeImpossible", "ResyncRequested", "SessionOptions",
    "StateChanged", "StreamChunkReceived", "StreamEnded", "Writable", "whole_seconds",
]  # fmt: skip


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


# What one step of a session leads to: events, frames and texts to store (ACCP section 3.7).


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """What one step leads to, each part in its order; `+` adds what the next step leads to.

    The parts of a session return their effects and keep none: only the session collects them for its caller.
    """

    events: tuple[Event, ...] = ()
    """Events to report."""
    frames: tuple[FrameText, ...] = ()
    """Serialized frames to send."""
    stored: tuple[StoredText, ...] = ()
    """Texts that must be in the store before any of the frames is sent."""

    def __add__(self, later: Effects) -> Effects:
        # Most steps lead to nothing; a sum for each of them would cost a few percent of a session's time.
        if later is NO_EFFECTS:
            return self
        if self is NO_EFFECTS:
            return later
        return Effects(
            events=self.events + later.events, frames=self.frames + later.frames, stored=self.stored + later.stored
        )

    @staticmethod
    def all(steps: Iterable[Effects]) -> Effects:
        """Return what all steps lead to, in their order."""
        return sum(steps, start=NO_EFFECTS)


NO_EFFECTS: Final = Effects()
"""Nothing to report, to send or to store."""


# How a session behaves (ACCP sections 3.7 and 7.1).


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """The limits and times of a session; times are in seconds."""

    scope: SequenceScope = SequenceScope.RECEIVED
    """Which frames share a count of sequence numbers."""
    first: int | None = None
    """The sequence number of the first received frame; sessions of this library start with 1. None: that of the frame
    that comes first, so that a frame lost before it is not noticed."""
    reorder: int = 0
    """How many numbers ahead of its turn a frame may come and be held; 0: it is refused with E3003."""
    gap_delay: int = 0
    """How long a frame is held before E3003 names the missing one, for frames that overtake each other; 0: at once."""
    remembered: int = 1_024
    """Ids of received frames that are remembered; older frames are recognized by their numbers."""
    senders: int = 64
    """Senders that may have a count of their own."""
    exchanges: int = 1_024
    """Requests that may be open at once; as many finished and as many cancelled ones are remembered."""
    backlog: int = 64
    """Frames that may wait while an earlier one waits for a text of the cold store."""
    sent_frames: int = 256
    """Sent frames that are kept for a peer that misses one. Once the caller reports its connections, this is the
    window: so many frames may be unacknowledged, and the next message is refused by `WindowFull`. A message of more
    frames than are left is sent where half of the window is free."""
    sent_characters: int = 1 << 21
    """Characters of the sent frames that are kept, or of the window: room for the longest frame, which pieces with
    their own headers carry."""
    waiting: int = 1_024
    """Events, and texts for the store, that may wait to be taken. Of more events the oldest are dropped and counted;
    with more texts nothing is sent."""
    checkpoints: frozenset[CheckpointTrigger] = frozenset(CheckpointTrigger)
    """When a checkpoint is taken: by section 5.2 at all five conditions, so at each `done`. Beyond 400 hot tokens
    one is always taken. Each costs about as much time as a request and its answer."""
    ttl: int | None = None
    """The ttl of a message that has none of its own."""
    name_session: bool = False
    """Whether each frame names its session; "SHOULD" where the transport does not."""
    timeout: int | None = 300
    """How long a request waits for an answer or a sign of work, then E3001; None: without end."""
    retries: int = 0
    """How often a request is sent again after a timeout or a retryable error."""
    retry_delay: int = 1
    """Time between a retryable error and the retry."""
    heartbeat: int | None = None
    """Time between two `ping` frames, 30 by section 11.2; None: no heartbeat, as the transport notices a lost peer."""
    registry_first: bool = False
    """Whether the peer's `sync:registry` must come before its other frames, and ours is sent before our others."""
    cold_lifetime: int | None = None
    """How long the raw data of a checkpoint may be read; None: as long as the store keeps it."""
    streams: StreamLimits = field(default_factory=StreamLimits)
    """How much of unfinished streams is kept."""


def whole_seconds(now: float) -> int:
    """Return a time, such as `time.time()`, in whole seconds of the Unix epoch, as frames write it.

    Raises:
        TypeError: it is not a number.
        ValueError: it is not finite, or before 1970.
    """
    if type(now) is int and now >= 0:
        return now
    if isinstance(now, bool) or not isinstance(now, int | float):
        raise TypeError(f"expected seconds of the Unix epoch as now, found {now!r}")
    if not isfinite(now) or now < 0:
        raise ValueError(f"expected seconds of the Unix epoch as now, found {now!r}")
    return int(now)
