"""How a session behaves (ACCP sections 3.7 and 7.1)."""

from __future__ import annotations

from dataclasses import dataclass, field

from accp_core.accp.session.delivery import SequenceScope
from accp_core.accp.session.streams import StreamLimits

__all__ = ["SessionOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """How a session behaves; times are in seconds."""

    scope: SequenceScope = SequenceScope.RECEIVED
    """Which frames count together."""
    first: int | None = None
    """The number of the first frame; None takes whichever comes first, and cannot notice that one before it was lost.
    Sessions of this library begin with 1."""
    reorder: int = 0
    """How far ahead of its turn a frame may come and be held; 0 refuses it with E3003."""
    remembered: int = 1_024
    """Ids of received frames that are remembered; older ones are known by their numbers."""
    senders: int = 64
    """Senders that have a count of their own."""
    exchanges: int = 1_024
    """Requests that may be open at once; so many finished and so many cancelled ones are remembered besides."""
    backlog: int = 64
    """Frames that may wait for a text of the cold store which an earlier one cites."""
    sent_frames: int = 256
    """Sent frames that are kept for a peer which lacks one."""
    sent_characters: int = 1 << 20
    """Characters of those, at most."""
    skew: int = 0
    """How much longer than its ttl a frame is accepted, because clocks differ."""
    ttl: int | None = None
    """The ttl of a message that has none of its own."""
    name_session: bool = False
    """Whether each frame says its session; "SHOULD" where the transport does not."""
    timeout: int | None = 300
    """How long a request waits for a sign of life, then E3001; None for ever."""
    retries: int = 0
    """How often a request is sent again by itself, after a timeout or a retryable error."""
    retry_delay: int = 1
    """How long after such an error."""
    heartbeat: int | None = None
    """How often a `ping` is sent; 30 by section 11.2. None for transports that notice by themselves."""
    registry_first: bool = False
    """Whether nothing passes before the peer's `sync:registry`, and ours leaves before anything else."""
    cold_lifetime: int | None = None
    """How long the raw data of a checkpoint may be read; None as long as its store keeps it."""
    streams: StreamLimits = field(default_factory=StreamLimits)
    """How much of unfinished streams is kept."""
