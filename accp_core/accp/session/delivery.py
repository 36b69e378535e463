"""Which frame may be processed now: at most once, in order; and what may have to be sent again (ACCP section 3.7).

All of it is bounded: what a peer sends, how often it sends it and how long a session lives change nothing of that.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from accp_core.accp.frame import Envelope, Frame
from accp_core.accp.message import Message
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["Inbox", "Outbox", "Requests", "SequenceScope", "has_expired"]


class SequenceScope(StrEnum):
    """Who counts together in `seq`, which is "monotonically increasing per session" (Table 4)."""

    RECEIVED = "received"
    """All frames that are received, whoever sent them; what is sent has a count of its own."""
    SENDER = "sender"
    """Each agent-id has its own count: for senders that do not hear each other."""
    SHARED = "shared"
    """One count for what is sent and received, as in the examples of section 10.5: for turns that alternate."""


# "Frames received after their TTL has elapsed MUST be rejected silently" (section 3.7, item 5)
def has_expired(envelope: Envelope, now: int, skew: int = 0) -> bool:
    """Return whether the frame is past its ttl; its last second still counts, and `skew` more."""
    if not envelope.ttl or envelope.timestamp is None:
        return False
    return envelope.timestamp + envelope.ttl + skew < now


@dataclass(slots=True)
class _Line:
    """The frames that count together."""

    last: int | None = None
    """The sequence number that was processed last; None before the first frame."""
    forgotten: int = -1
    """Up to this number, ids are not remembered; all of them were used."""
    held: dict[int, Frame] = field(default_factory=dict)
    """Frames that came before their turn, by their number."""


class Inbox:
    """Lets each frame pass once and in order (Idempotent Receiver, Resequencer).

    Frames have a msg_id and a sequence here. A refused frame leaves everything as it was.
    """

    def __init__(
        self, scope: SequenceScope, *, remembered: int, reorder: int, senders: int, first: int | None = None
    ) -> None:
        """Remember so many ids, hold so many frames of a sender that come too early, know so many senders.

        The first frame has the number `first`; with None, whichever comes first sets it.
        """
        self._scope = scope
        self._before_first = None if first is None else first - 1
        self._remembered = remembered
        self._reorder = reorder
        self._senders = senders
        self._seen: OrderedDict[str, tuple[str, int]] = OrderedDict()
        self._lines: dict[str, _Line] = {}

    def __len__(self) -> int:
        """Return how many ids, frames and senders are kept."""
        return len(self._seen) + len(self._lines) + sum(len(line.held) for line in self._lines.values())

    def expected(self, sender: str) -> int | None:
        """Return the sequence number whose turn it is; None before the first frame, which may have any."""
        last = self._line(sender).last
        return None if last is None else last + 1

    # "Frames with a previously seen "msg_id" MUST be rejected with error E3002 DUPLICATE."
    # "A gap in sequence numbers MUST trigger error E3003 SEQUENCE_GAP."
    def admit(self, frame: Frame) -> tuple[Frame, ...] | None:
        """Return the frames whose turn it is, this one first; None when this one is held until its turn.

        Raises: ProtocolError E3002 for an id that was seen before, or whose number says so; E3003 for a number
            that is not the next one.
        """
        line, mid, number = self._line(frame.sender), *_identity(frame)
        self._check(line, mid, number)
        if line.last is not None and number != line.last + 1:
            line.held[number] = frame
            return None
        return tuple(self._release(line, frame))

    # An expired frame was sent in its turn: without it, every later one would be a gap.
    def skip(self, frame: Frame) -> tuple[Frame, ...]:
        """Count an expired frame if it is its turn; return the held frames whose turn it is then."""
        try:
            line, mid, number = self._line(frame.sender), *_identity(frame)
        except ProtocolError:
            return ()
        if mid in self._seen or line.last not in (None, number - 1):
            return ()
        return tuple(self._release(line, frame))[1:]

    def last_shared(self) -> int:
        """Return the number that a frame of our own must be above: 0 where directions count by themselves."""
        return (self._line("").last or 0) if self._scope is SequenceScope.SHARED else 0

    def count_sent(self, number: int) -> None:
        """Take note of a frame of our own, where both directions count together."""
        if self._scope is SequenceScope.SHARED:
            line = self._line("")
            line.last = number if line.last is None else max(line.last, number)

    def _line(self, sender: str) -> _Line:
        name = sender if self._scope is SequenceScope.SENDER else ""
        if name not in self._lines:
            if len(self._lines) >= self._senders:
                raise ProtocolError(f"at most {self._senders} senders", code=ErrorCode.BUDGET_EXCEEDED)
            self._lines[name] = _Line(last=self._before_first)
        return self._lines[name]

    def _check(self, line: _Line, mid: str, number: int) -> None:
        if mid in self._seen or any(_identity(held)[0] == mid for held in line.held.values()):
            raise ProtocolError("this msg_id was seen before", code=ErrorCode.DUPLICATE)
        if line.last is None or number == line.last + 1:
            return
        # Its id is not remembered any more, but its number tells that it was here.
        if number <= line.forgotten:
            raise ProtocolError("this sequence number was seen before", code=ErrorCode.DUPLICATE)
        if number in line.held or not line.last < number <= line.last + self._reorder:
            raise ProtocolError(f"sequence {number} instead of {line.last + 1}", code=ErrorCode.SEQUENCE_GAP)

    def _release(self, line: _Line, frame: Frame) -> Iterator[Frame]:
        next_one: Frame | None = frame
        while next_one is not None:
            mid, number = _identity(next_one)
            line.last = number
            self._remember(mid, next_one.sender, number)
            yield next_one
            next_one = line.held.pop(number + 1, None)

    def _remember(self, mid: str, sender: str, number: int) -> None:
        self._seen[mid] = sender, number
        if len(self._seen) > self._remembered:
            _, (forgotten_sender, forgotten) = self._seen.popitem(last=False)
            line = self._line(forgotten_sender)
            line.forgotten = max(line.forgotten, forgotten)


def _identity(frame: Frame) -> tuple[str, int]:
    """Return msg_id and sequence, which the receiver made sure of."""
    mid, number = frame.envelope.msg_id, frame.envelope.sequence
    if mid is None or number is None:
        raise ProtocolError("a frame has a msg_id and a sequence", code=ErrorCode.PARSE_ERROR)
    return mid, number


class Outbox:
    """The last frames that were sent, for a peer that lacks one of them."""

    def __init__(self, *, frames: int, characters: int) -> None:
        """Keep so many frames, and so many characters, at most."""
        self._limits = frames, characters
        self._sent: deque[tuple[int, str]] = deque()
        self._characters = 0

    def __len__(self) -> int:
        return len(self._sent)

    def add(self, number: int, text: str) -> None:
        """Keep the text of a frame with that sequence number."""
        self._sent.append((number, text))
        self._characters += len(text)
        frames, characters = self._limits
        while len(self._sent) > frames or self._characters > characters:
            self._characters -= len(self._sent.popleft()[1])

    def since(self, number: int) -> list[str]:
        """Return the texts from that number on, unchanged; none when it is not kept any more."""
        if not self._sent or not self._sent[0][0] <= number:
            return []
        return [text for each, text in self._sent if each >= number]


@dataclass(slots=True)
class _Request:
    """A request of ours."""

    message: Message
    deadline: int | None
    """When to act if nothing came; None while the peer awaits something itself."""
    retries: int
    """How often it may still be sent again."""
    failed: bool = False
    """Whether it was answered by a retryable error, so that only the retry is left."""


class Requests:
    """The requests of ours that nobody answered yet; as many as there are open exchanges."""

    def __init__(self, *, timeout: int | None, retries: int, delay: int) -> None:
        """Wait `timeout` seconds for an answer, None for ever; send again so often, after an error `delay` later."""
        self._timeout = timeout
        self._retries = retries
        self._delay = delay
        self._open: dict[str, _Request] = {}

    def __len__(self) -> int:
        return len(self._open)

    def deadline(self) -> int | None:
        """Return when the next one is due."""
        return min((each.deadline for each in self._open.values() if each.deadline is not None), default=None)

    def opened(self, chain: str, message: Message, now: int) -> None:
        """Wait for the answer to `message`; sent again, it has one retry less."""
        known = self._open.get(chain)
        retries = known.retries if known else self._retries
        self._open[chain] = _Request(message, self._after(now, self._timeout), retries)

    def heard(self, chain: str, now: int, *, waiting: bool = False) -> None:
        """Take note that the peer is at work on it, or awaits something from outside."""
        if chain in self._open:
            self._open[chain].deadline = None if waiting else self._after(now, self._timeout)

    def answered(self, chain: str, now: int, *, retryable: bool = False) -> None:
        """Take note of the answer; after an error that is `retryable` the request is sent again, if it may be."""
        request = self._open.get(chain)
        if request is not None and retryable and request.retries > 0:
            request.deadline, request.failed = now + self._delay, True
        else:
            self._open.pop(chain, None)

    # "Frames with retryable error codes MAY be retransmitted with the same "correlation_id" and a new "msg_id" and
    # "seq"." (section 3.7, item 3)
    def due(self, now: int) -> tuple[list[tuple[str, Message]], list[str]]:
        """Return what is to be sent again, and the chains that are given up."""
        again: list[tuple[str, Message]] = []
        late: list[str] = []
        for chain, request in list(self._open.items()):
            if request.deadline is None or now < request.deadline:
                continue
            if request.retries > 0:
                request.retries -= 1
                again.append((chain, request.message))
            else:
                del self._open[chain]
                late.append(chain)
        return again, late

    @staticmethod
    def _after(now: int, seconds: int | None) -> int | None:
        return None if seconds is None else now + seconds
