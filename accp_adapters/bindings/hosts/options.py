"""How much a session host takes, and how its sessions behave (ACCP sections 3.7 and 11)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from accp_core.accp.codec import Codec
from accp_core.accp.session.delivery import SequenceScope
from accp_core.accp.session.options import SessionOptions
from accp_core.ports import ColdStore

__all__ = ["HOST_SESSION", "HostLimits", "SessionKind"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLimits:
    """The limits and times of a host; times are in seconds."""

    sessions: int = 10_000
    """Sessions in the log that a worker knows of; for another one, the principal that has most loses its oldest."""
    sessions_each: int = 1_000
    """Sessions of one principal; for another one it loses its oldest, or is refused (E2003) where all are in use."""
    characters: int = 128 << 20
    """Characters that all sessions take in the memory of a worker, those of a log in memory among them; beyond, as
    `sessions`. With another log they are read from it again."""
    characters_each: int = 32 << 20
    """The same for the sessions of one principal."""
    replicas: int = 1_000
    """Sessions that a worker keeps in memory; the others are read from the log when they are used again."""
    answers: int = 128
    """Frames of a session whose answers are kept for a peer that sends the same frame again."""
    answer_characters: int = 1 << 22
    """Characters of the answers of a session that are kept; beyond them the oldest are forgotten, but never the last.
    A snapshot of the session holds them."""
    handlers: int = 256
    """Requests that a worker handles at once; more wait."""
    handler_time: float = 600.0
    """How long a handler may take, then E3001."""
    answer_wait: float = 660.0
    """How long `frames` waits for the answer to a request, then E3001; the answer is recorded all the same."""
    lease: float = 5.0
    """After how long without a sign of life a worker's work is taken over."""
    lease_wait: float = 15.0
    """How long a frame waits for a session that another worker holds, then E3001; more than `lease`."""
    snapshot_every: int = 64
    """Steps of a session after which a snapshot replaces its log."""
    snapshot_age: float = 3_600.0
    """Age of the first step after a snapshot at which another snapshot is taken; far below the `ttl` of the log."""
    poll: float = 0.02
    """Time between two looks at the log while another worker handles a request that is waited for here."""
    idle_poll: float = 1.0
    """Time between two looks at the log for an attached session in which nothing happens."""


HOST_SESSION: Final = SessionOptions(
    first=1,
    reorder=64,
    gap_delay=2,
    remembered=256,
    exchanges=128,
    name_session=True,
    timeout=None,
)
"""The options of a host's sessions: frames that overtake each other in parallel HTTP requests are put in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionKind:
    """What the sessions of a host have in common."""

    agent: str
    """The agent at our end."""
    codec: Codec
    """Encodes and decodes at the start of a session."""
    options: SessionOptions
    """Limits and times."""
    secret: bytes
    """The key of the msg_ids."""
    answers: int
    """Received frames whose answers are kept."""
    answer_characters: int
    """Characters of these answers."""
    store: ColdStore
    """Where cold texts are."""
    sequence: SequenceScope = SequenceScope.RECOGNIZED
    """How peers count that have said nothing of resuming."""
