"""Whether the session has a connection, and what was said on it; the resuming is ours, ACCP has none.

A caller that reports its connections (`Session.connected`, `Session.disconnected`) has sessions that outlive them. The
first frame of a new connection is `ping:resume`; the metadata of this and of every other frame then has `ack`, the
number of the last frame that its sender has processed. So each end sends exactly what the other one misses:

we   @ann>ping:resume{from:3}[mid:…,seq:9,ts:…,ack:4]     everything up to your 4 was processed; mine begin with 3
peer @bob>ping:resume{from:5}[mid:…,seq:7,ts:…,ack:5]     everything up to your 5 was processed; mine begin with 5
we   6, 7, 8 and 9 again                                  peer   5, 6 and 7 again

A peer that does not know this answers the `ping` by a `pong`, or by E3003, which names what it misses.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from accp_core.bounded import BoundedDict

__all__ = ["TRANSITIONS", "LinkMove", "LinkState", "SessionLink"]


class LinkState(StrEnum):
    """The state of the connection."""

    UNTRACKED = "untracked"
    """The caller does not report connections: each frame is handed out when it is made."""
    UP = "up"
    """Connected; each frame is handed out when it is made."""
    RESUMING = "resuming"
    """Connected, but what the peer has processed is not known yet: frames wait."""
    DOWN = "down"
    """Not connected: frames wait."""
    BROKEN = "broken"
    """A frame that the peer misses is not kept any more: the session is over."""


class LinkMove(StrEnum):
    """What changes the state of the connection."""

    OPENED = "opened"
    """The first connection: nothing was sent or received before it."""
    CONNECTED = "connected"
    """Another connection."""
    DISCONNECTED = "disconnected"
    """The connection is lost."""
    CAUGHT_UP = "caught up"
    """The peer said what it has processed, and the rest was sent again."""
    LOST = "lost"
    """The peer misses a frame that is not kept any more."""


_TABLE: Final[Mapping[LinkState, Mapping[LinkMove, LinkState]]] = {
    LinkState.UNTRACKED: {
        LinkMove.OPENED: LinkState.UP,
        LinkMove.CONNECTED: LinkState.RESUMING,
        LinkMove.DISCONNECTED: LinkState.DOWN,
    },
    LinkState.UP: {
        LinkMove.OPENED: LinkState.UP,
        LinkMove.CONNECTED: LinkState.RESUMING,
        LinkMove.DISCONNECTED: LinkState.DOWN,
        LinkMove.LOST: LinkState.BROKEN,
    },
    LinkState.RESUMING: {
        LinkMove.CONNECTED: LinkState.RESUMING,
        LinkMove.DISCONNECTED: LinkState.DOWN,
        LinkMove.CAUGHT_UP: LinkState.UP,
        LinkMove.LOST: LinkState.BROKEN,
    },
    LinkState.DOWN: {
        LinkMove.OPENED: LinkState.UP,
        LinkMove.CONNECTED: LinkState.RESUMING,
        LinkMove.LOST: LinkState.BROKEN,
    },
    LinkState.BROKEN: {},
}

TRANSITIONS: Final[Mapping[tuple[LinkState, LinkMove], LinkState]] = MappingProxyType(
    {(state, move): after for state, moves in _TABLE.items() for move, after in moves.items()}
)
"""State and move to the next state; an absent pair changes nothing."""

_MAX_PINGS: Final = 16


class SessionLink:
    """The connection of a session, and what was said on it."""

    def __init__(self) -> None:
        """Start without knowledge of any connection."""
        self.state = LinkState.UNTRACKED
        """Its state; only `move` changes it."""
        self.greeting = 0
        """The number of our `ping:resume` on this connection; 0 where we sent none."""
        self.peer_greeting = 0
        """The number of the peer's last `ping:resume`; those up to it are sent again and are not the first frame."""
        self.next = 1
        """The number of the first frame that was not handed out on this connection."""
        self.resent: tuple[int, int] = (0, 0)
        """The first and the last number of what was sent again last."""
        self.pings: BoundedDict[str, int] = BoundedDict(_MAX_PINGS)
        """The msg_id of each of our last pings to its number."""
        self.is_blocked = False
        """Whether a message was refused because the window is full, so that room in it is news."""

    @property
    def is_tracked(self) -> bool:
        """Whether the caller reports connections."""
        return self.state is not LinkState.UNTRACKED

    @property
    def emits(self) -> bool:
        """Whether frames are handed out when they are made."""
        return self.state not in (LinkState.RESUMING, LinkState.DOWN)

    def move(self, move: LinkMove) -> None:
        """Take the next state; what was said on another connection is forgotten."""
        self.state = TRANSITIONS.get((self.state, move), self.state)
        if move in (LinkMove.CONNECTED, LinkMove.OPENED, LinkMove.DISCONNECTED):
            self.greeting, self.resent = 0, (0, 0)
