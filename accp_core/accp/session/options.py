"""How a session behaves (ACCP sections 3.7 and 7.1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite

from accp_core.accp.session.delivery import SequenceScope
from accp_core.accp.session.streams import StreamLimits
from accp_core.accp.state.checkpoint import CheckpointTrigger

__all__ = ["SessionOptions", "whole_seconds"]


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
