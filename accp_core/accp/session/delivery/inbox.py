"""Which frame may be processed now, at most once and in order (ACCP section 3.7)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, Protocol, TypeVar

from accp_core.accp.frame import Envelope
from accp_core.bounded import BoundedDict
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["Inbox", "Numbered", "SequenceCount", "SequenceScope", "has_expired"]


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
