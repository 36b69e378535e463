"""Each frame once and in order, over one connection after the other; all of it bounded (ACCP sections 3.7 and 11.2).

A heartbeat, an inbox, an outbox, the link to the peer, and the requests that wait for an answer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Generic, Protocol, TypeVar

from accp_core.accp.frame import Envelope, Message
from accp_core.bounded import BoundedDict
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = [
    "SPARE_FRAMES", "TRANSITIONS", "FrameText", "Heartbeat", "Inbox", "LinkMove", "LinkState", "Numbered", "Outbox",
    "PendingRequest", "PendingRequests", "SequenceCount", "SequenceScope", "SessionLink", "has_expired",
]  # fmt: skip


# "Heartbeat: ping/pong intent frames every 30 seconds" (section 11.2)
class Heartbeat:
    """The heartbeat of one session; all times are in seconds of the Unix epoch."""

    def __init__(self, interval: int | None) -> None:
        """Wait for the start; `interval` is the time between two pings in seconds, None: no heartbeat."""
        self._interval = interval
        self._started = False
        self._last_heard = 0
        self._last_ping = 0
        self._reported = False

    def start(self, now: int) -> None:
        """Start to count, at the first call only."""
        if not self._started:
            self._started, self._last_heard, self._last_ping = True, now, now

    def record_frame(self, now: int) -> None:
        """Remember that something was received from the peer."""
        self._last_heard, self._reported = now, False

    def next_deadline(self) -> int | None:
        """Return when to look at the heartbeat again, None where there is none."""
        if self._interval is None or not self._started:
            return None
        ping = self._last_ping + self._interval
        return ping if self._reported else min(ping, self._last_heard + 2 * self._interval)

    def take_ping(self, now: int) -> bool:
        """Return whether a `ping` is due, which is then counted as sent."""
        if self._interval is None or now < self._last_ping + self._interval:
            return False
        self._last_ping = now
        return True

    def take_silence(self, now: int) -> int | None:
        """Return when something was received last, where that is two intervals ago and was not reported; else None."""
        if self._interval is None or self._reported or now < self._last_heard + 2 * self._interval:
            return None
        self._reported = True
        return self._last_heard


# Which frame may be processed now, at most once and in order (ACCP section 3.7).


class SequenceScope(StrEnum):
    """Which frames share one count of `seq`, which is "monotonically increasing per session" (Table 4)."""

    RECEIVED = "received"
    """All received frames, of every sender; sent frames have a count of their own."""
    SENDER = "sender"
    """The frames of each sender: for senders that do not receive each other's frames."""
    SHARED = "shared"
    """All sent and received frames, as in the examples of section 10.5: for agents that take turns."""
    RECOGNIZED = "recognized"
    """RECEIVED or SHARED, as the peer's first numbers show; until then our own numbers fit both."""


# "Frames received after their TTL has elapsed MUST be rejected silently" (section 3.7, item 5)
def has_expired(envelope: Envelope, now: int) -> bool:
    """Return whether a frame with that metadata is past its ttl, whose last second still counts."""
    if not envelope.ttl or envelope.timestamp is None:
        return False
    return envelope.timestamp + envelope.ttl < now


class Numbered(Protocol):
    """A frame, or something that holds one."""

    @property
    def sender(self) -> str:
        """The sending agent."""

    @property
    def envelope(self) -> Envelope:
        """The metadata."""


F = TypeVar("F", bound=Numbered)


@dataclass(slots=True)
class SequenceCount(Generic[F]):
    """One count of sequence numbers."""

    last: int | None = None
    """The sequence number that was processed last; None before the first frame."""
    forgotten: int = -1
    """Up to this number the ids are forgotten; each of these numbers was used."""
    held: dict[int, F] = field(default_factory=dict)
    """Frames that came before their turn, by sequence number."""


class Inbox(Generic[F]):
    """Admits each frame once and in order (Idempotent Receiver, Resequencer).

    Its frames have a msg_id and a sequence. A refused frame changes nothing.
    """

    def __init__(
        self, scope: SequenceScope, *, remembered: int, reorder: int, senders: int, first: int | None = None
    ) -> None:
        """Start without frames.

        Args:
            scope: Which frames share a count.
            remembered: Number of ids that are remembered.
            reorder: How many numbers ahead of its turn a frame is held; 0: such a frame is refused.
            senders: Number of senders that may have a count of their own.
            first: The number of the first frame; None: that of the frame that comes first.
        """
        self.scope = scope
        """Which frames share a count, as far as that is known."""
        self._before_first = None if first is None else first - 1
        self._reorder = reorder
        self._max_senders = senders
        self._seen: BoundedDict[str, tuple[str, int]] = BoundedDict(remembered)
        self._counts: dict[str, SequenceCount[F]] = {}
        self.sent = 0
        """The number of the last sent frame."""

    def __len__(self) -> int:
        """Return the number of ids, held frames and counts that are kept."""
        return len(self._seen) + len(self._counts) + sum(len(count.held) for count in self._counts.values())

    def expected(self, sender: str) -> int | None:
        """Return the sequence number whose turn it is; None before the first frame, which may have any."""
        last = self._count_of(sender).last
        return None if last is None else last + 1

    # "Frames with a previously seen "msg_id" MUST be rejected with error E3002 DUPLICATE."
    # "A gap in sequence numbers MUST trigger error E3003 SEQUENCE_GAP."
    def admit(self, frame: F) -> tuple[F, ...] | None:
        """Return the frames whose turn it is, this one first; None where this one is held until its turn.

        Raises:
            ProtocolError: E3002, the msg_id or the sequence number was seen before; E3003, an earlier frame is missing;
                E2003, too many senders.
        """
        count, mid, number = self._count_of(frame.sender), *_identity(frame)
        self._check(count, mid, number)
        self._recognize(count, number)
        if count.last is not None and number != count.last + 1:
            count.held[number] = frame
            return None
        return tuple(self._release(count, frame))

    # An expired frame was sent in its turn: without it, every later one would be a gap.
    def skip(self, frame: F) -> tuple[F, ...]:
        """Count an expired frame if it is its turn; return the held frames whose turn it is then."""
        try:
            count, mid, number = self._count_of(frame.sender), *_identity(frame)
        except ProtocolError:
            return ()
        if mid in self._seen or not (count.last is None or self._is_turn(count, number)):
            return ()
        self._recognize(count, number)
        return tuple(self._release(count, frame))[1:]

    def first_held(self) -> list[F]:
        """Return the held frame of each count whose turn comes first."""
        return [count.held[min(count.held)] for count in self._counts.values() if count.held]

    # A peer that resumes names its first frame that may still be missing; one that was lost before it is noticed then.
    def begin(self, sender: str, first: int) -> None:
        """Expect `first` as the first sequence number, where no frame was received yet."""
        count = self._count_of(sender)
        if count.last is None:
            count.last = first - 1

    def last_shared(self) -> int:
        """Return the number that a sent frame must exceed: 0 where sent frames have a count of their own."""
        may_share = self.is_shared or self.scope is SequenceScope.RECOGNIZED
        return (self._count_of("").last or 0) if may_share else 0

    def count_sent(self, number: int) -> None:
        """Count a sent frame, where sent and received frames share a count."""
        self.sent = number
        if self.is_shared:
            count = self._count_of("")
            count.last = number if count.last is None else max(count.last, number)

    @property
    def is_shared(self) -> bool:
        """Whether sent and received frames are known to share a count."""
        return self.scope is SequenceScope.SHARED

    def _is_turn(self, count: SequenceCount[F], number: int) -> bool:
        """Return whether a number is the next one of a count that has begun."""
        may_share = self.scope is SequenceScope.RECOGNIZED and self.sent > 0
        return number == (count.last or 0) + 1 or (may_share and number == self.sent + 1)

    def _recognize(self, count: SequenceCount[F], number: int) -> None:
        """Take from the first number after one of ours how the peer counts."""
        if self.scope is not SequenceScope.RECOGNIZED or not self.sent:
            return
        if number == self.sent + 1:
            self.scope, count.last = SequenceScope.SHARED, self.sent
        else:
            self.scope = SequenceScope.RECEIVED

    def _count_of(self, sender: str) -> SequenceCount[F]:
        name = sender if self.scope is SequenceScope.SENDER else ""
        known = self._counts.get(name)
        if known is None:
            if len(self._counts) >= self._max_senders:
                reason = f"expected at most {self._max_senders} senders, found another one"
                raise ProtocolError(reason, code=ErrorCode.BUDGET_EXCEEDED)
            known = self._counts[name] = SequenceCount(last=self._before_first)
        return known

    def _check(self, count: SequenceCount[F], mid: str, number: int) -> None:
        if mid in self._seen or (count.held and any(_identity(held)[0] == mid for held in count.held.values())):
            raise ProtocolError("this msg_id was seen before", code=ErrorCode.DUPLICATE)
        if count.last is None or self._is_turn(count, number):
            return
        # Its id is forgotten, but its number shows that it was received.
        if number <= count.forgotten:
            raise ProtocolError("this sequence number was seen before", code=ErrorCode.DUPLICATE)
        if number in count.held or not count.last < number <= count.last + self._reorder:
            raise ProtocolError(f"expected sequence {count.last + 1}, found {number}", code=ErrorCode.SEQUENCE_GAP)

    def _release(self, count: SequenceCount[F], frame: F) -> Iterator[F]:
        next_frame: F | None = frame
        while next_frame is not None:
            mid, number = _identity(next_frame)
            count.last = number
            self._remember(mid, next_frame.sender, number)
            yield next_frame
            next_frame = count.held.pop(number + 1, None)

    def _remember(self, mid: str, sender: str, number: int) -> None:
        if evicted := self._seen.put(mid, (sender, number)):
            _, (forgotten_sender, forgotten) = evicted
            count = self._count_of(forgotten_sender)
            count.forgotten = max(count.forgotten, forgotten)


def _identity(frame: Numbered) -> tuple[str, int]:
    """Return msg_id and sequence, which the receiver has checked."""
    mid, number = frame.envelope.msg_id, frame.envelope.sequence
    if mid is None or number is None:
        raise ProtocolError("expected a frame with msg_id and sequence", code=ErrorCode.PARSE_ERROR)
    return mid, number


# The frames that the peer has not acknowledged, which may have to be sent again (ACCP section 3.7).

SPARE_FRAMES: Final = 1_024
"""Frames beyond the window, such as a `ping:resume` for each connection that was lost before anything was heard."""


class FrameText(str):
    """The text of a sent frame, with its metadata: whoever stores or routes the frame need not parse it again."""

    __slots__ = ("envelope",)
    envelope: Envelope
    """The metadata; msg_id, sequence and timestamp are set."""

    def __new__(cls, text: str, envelope: Envelope) -> FrameText:
        """Return `text` with its `envelope`."""
        frame = super().__new__(cls, text)
        frame.envelope = envelope
        return frame


class Outbox:
    """The frames that were sent last, in order and without gaps."""

    def __init__(self, *, frames: int, characters: int) -> None:
        """Start empty.

        Args:
            frames: The window: frames that are kept, or may be unacknowledged.
            characters: Characters that these may have together.
        """
        self._limits = frames, characters
        self.spare = 0
        """Frames beyond the window, for those that may not wait, such as `pong`. The oldest frame is dropped for one
        beyond them; a session whose peer misses it cannot be resumed."""
        self._reserved = 0
        """The spare frames that are never given back."""
        self._sent: deque[FrameText] = deque()
        self._characters = 0
        self.last = 0
        """The number of the last frame."""
        self.acknowledged = 0
        """The peer has processed every frame up to this number."""

    def __len__(self) -> int:
        return len(self._sent)

    @property
    def oldest(self) -> int:
        """The number of the first frame that is kept; of the next frame where none is."""
        return _number(self._sent[0]) if self._sent else self.last + 1

    def has_room(self, frames: int = 1) -> bool:
        """Return whether a message of so many frames may be sent now.

        Half of the window has room for any number of them, because only beyond a half the peer is asked for an
        acknowledgement, and without one a longer message would wait for ever.
        """
        window, characters = self._limits
        needed = min(frames, max(1, window // 2))
        return not self._sent or (len(self._sent) + needed <= window and self._characters < characters)

    def is_half_full(self, frames: int) -> bool:
        """Return whether so many frames, or the characters of all that are kept, pass half of the window."""
        window, characters = self._limits
        return frames > window // 2 or (frames > 0 and self._characters > characters // 2)

    def is_full(self) -> bool:
        """Return whether half of the spare frames are used: the rest is for answers, which cannot be avoided."""
        return len(self._sent) >= self._limits[0] + self.spare // 2

    def reserve(self, frames: int) -> None:
        """Have at least so many spare frames as long as the session lasts."""
        self._reserved = max(self._reserved, frames)
        self.spare = max(self.spare, frames)

    def make_room(self, frames: int) -> None:
        """Keep all frames of a message of so many, however many they are: their characters are bounded."""
        self.spare = max(self.spare, 2 * (len(self._sent) + frames))

    def keep(self, frames: int) -> None:
        """Keep at least so many frames: a peer may ask for each frame of a message while the message is on its way."""
        self.spare = max(self.spare, frames - self._limits[0])

    def add(self, text: FrameText) -> None:
        """Keep the text of a frame."""
        number = _number(text)
        self._sent.append(text)
        self._characters += len(text)
        self.last = number
        frames, characters = self._limits
        while len(self._sent) > frames + self.spare or self._characters > characters * (2 if self.spare else 1):
            self._drop()

    def acknowledge(self, number: int) -> bool:
        """Drop the frames up to `number`, which the peer has processed; return whether this is news."""
        if not self.acknowledged < number <= self.last:
            return False
        self.acknowledged = number
        while self._sent and _number(self._sent[0]) <= number:
            self._drop()
        self._give_back()
        return True

    def number_of(self, msg_id: str | None) -> int | None:
        """Return the sequence number of a kept frame."""
        return next((_number(text) for text in reversed(self._sent) if text.envelope.msg_id == msg_id), None)

    def since(self, number: int) -> tuple[FrameText, ...]:
        """Return the texts from sequence number `number` on, none where that one is not kept any more."""
        if number < self.oldest:
            return ()
        return tuple(text for text in self._sent if _number(text) >= number)

    def _give_back(self) -> None:
        """Give back what long messages needed, once the window alone has room for what is left of them."""
        frames, characters = self._limits
        if len(self._sent) <= frames and self._characters <= characters:
            self.spare = self._reserved

    def _drop(self) -> None:
        self._characters -= len(self._sent.popleft())


def _number(text: FrameText) -> int:
    return text.envelope.sequence or 0


# Whether the session has a connection, and what was said on it; the resuming is ours, ACCP has none.
#
# A caller that reports its connections (`Session.connected`, `Session.disconnected`) has sessions that outlive them.
# The first frame of a new connection is `ping:resume`; the metadata of this and of every other frame then has `ack`,
# the number of the last frame that its sender has processed. So each end sends exactly what the other one misses:
#
# we   @ann>ping:resume{from:3}[mid:…,seq:9,ts:…,ack:4]     everything up to your 4 was processed; mine begin with 3
# peer @bob>ping:resume{from:5}[mid:…,seq:7,ts:…,ack:5]     everything up to your 5 was processed; mine begin with 5
# we   6, 7, 8 and 9 again                                  peer   5, 6 and 7 again
#
# A peer that does not know this answers the `ping` by a `pong`, or by E3003, which names what it misses.


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


# Our requests that have no answer yet: when each is sent again or given up (ACCP section 3.7, item 3).


@dataclass(slots=True)
class PendingRequest:
    """A request of ours without an answer."""

    message: Message
    deadline: int | None
    """When to act if nothing arrives; None while the peer itself waits for something."""
    retries: int
    """How often it may still be sent again."""


class PendingRequests:
    """Our requests that have no answer yet; the limit of open exchanges bounds their number."""

    def __init__(self, *, timeout: int | None, retries: int, delay: int) -> None:
        """Start without requests.

        Args:
            timeout: Seconds to wait for an answer; None: without end.
            retries: How often a request is sent again.
            delay: Seconds between a retryable error and the retry.
        """
        self._timeout = timeout
        self._retries = retries
        self._delay = delay
        self._requests: dict[str, PendingRequest] = {}

    def __len__(self) -> int:
        return len(self._requests)

    def next_deadline(self) -> int | None:
        """Return the time at which the next request is due, None where none has a deadline."""
        deadlines = (request.deadline for request in self._requests.values())
        return min((deadline for deadline in deadlines if deadline is not None), default=None)

    def start(self, chain: str, message: Message, now: int) -> None:
        """Wait for the answer to a request that is sent now, or sent again."""
        known = self._requests.get(chain)
        retries = known.retries if known else self._retries
        self._requests[chain] = PendingRequest(message, self._deadline(now), retries)

    def extend(self, chain: str, now: int, *, waiting: bool = False) -> None:
        """Set the deadline again, as the peer is at work; without a deadline where the peer is `waiting` itself."""
        if chain in self._requests:
            self._requests[chain].deadline = None if waiting else self._deadline(now)

    def finish(self, chain: str, now: int, *, retryable: bool = False) -> None:
        """Drop a request that was answered, or schedule its retry after a `retryable` error."""
        request = self._requests.get(chain)
        if request is not None and retryable and request.retries > 0:
            request.deadline = now + self._delay
        else:
            self._requests.pop(chain, None)

    # "Frames with retryable error codes MAY be retransmitted with the same "correlation_id" and a new "msg_id" and
    # "seq"." (section 3.7, item 3)
    def take_due(self, now: int) -> tuple[list[tuple[str, Message]], list[str]]:
        """Return the chains and requests to send again, and the chains to give up."""
        retries: list[tuple[str, Message]] = []
        expired: list[str] = []
        for chain, request in list(self._requests.items()):
            if request.deadline is None or now < request.deadline:
                continue
            if request.retries > 0:
                request.retries -= 1
                retries.append((chain, request.message))
            else:
                del self._requests[chain]
                expired.append(chain)
        return retries, expired

    def _deadline(self, now: int) -> int | None:
        return None if self._timeout is None else now + self._timeout
