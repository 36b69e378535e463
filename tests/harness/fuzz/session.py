"""Whatever lines come: no message passes twice, out of order, expired or cancelled, and what is kept stays bounded."""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from accp_core import parse_frame
from accp_core.accp.codec import Codec
from accp_core.accp.debug import FrameSeen, to_event
from accp_core.accp.session.events import (
    Event,
    ExchangeClosed,
    ExchangeOpened,
    FrameRefused,
    MessageReceived,
    RefsNeeded,
    SessionOptions,
)
from accp_core.accp.session.exchanges import UNMOVED, StreamLimits
from accp_core.accp.session.session import Session
from tests.harness.fuzz.choices import choose

__all__ = ["check", "check_all"]

START = 1_714_000_000
OPTIONS = SessionOptions(
    reorder=3, remembered=8, senders=4, exchanges=8, backlog=4, sent_frames=8, streams=StreamLimits(ahead=4, streams=2)
)
SIZE = 400
"""What a session of these options may keep at most, the shared context of 64 KB of input included."""


def observe(seen: FrameSeen) -> None:
    """Describe each frame: that must not fail either."""
    assert "\n" not in str(to_event(seen)["reason"])


def begin(observer: Callable[[FrameSeen], None] | None) -> Session:
    """Return an agent that hears lines."""
    numbers = count(1)
    codec = Codec(counter=len)
    return Session("s1", "z", codec=codec, new_id=lambda: f"{next(numbers):012x}", options=OPTIONS, observe=observer)


def check(data: bytes) -> None:
    """Hold one input to the invariant; every fourth is described, too, which takes half of the time."""
    check_lines(data, choose(data, (None, None, None, observe)))


def check_all(data: bytes) -> None:
    """Hold one input, which is described, to the invariant."""
    check_lines(data, observe)


def check_lines(data: bytes, observer: Callable[[FrameSeen], None] | None) -> None:
    """Hold one input to the invariant: a line is a frame; one that is `+N` lets N seconds pass."""
    session, now, seen = begin(observer), START, Seen()
    for line in data.decode("utf-8", "surrogateescape").split("\n"):
        if line[:1] == "+" and line[1:6].isdecimal() and line[1:6].isascii():
            now += int(line[1:6])
            seen.take(session.handle_timer(now), now)
        else:
            seen.take(session.receive(line, now), now)
        seen.take(answered(session, seen, now), now)
        for text in session.frames_to_send():
            parse_frame(text, strict=True)
        session.texts_to_store()
    assert session.size() < SIZE + len(data), session.size()


def answered(session: Session, seen: "Seen", now: int) -> Iterator[Event]:
    """Give the session what it wants to read, until it wants nothing."""
    for _ in range(100):
        if not seen.wanted:
            return
        keys, seen.wanted = seen.wanted, ()
        yield from session.resolve(dict.fromkeys(keys, '{"stored":1}'), now)


class Seen:
    """What was processed so far."""

    def __init__(self) -> None:
        self.ids: set[str] = set()
        self.last = -1
        self.cancelled: set[str] = set()
        self.wanted: tuple[Any, ...] = ()

    def take(self, events: Any, now: int) -> None:
        """Hold the events of one call to the invariant."""
        events = list(events)
        passed = {event.message.envelope.msg_id for event in events if isinstance(event, MessageReceived)}
        refused = {event.frame.envelope.msg_id for event in events if isinstance(event, FrameRefused) and event.frame}
        assert not passed & refused, "delivered and refused"
        for event in events:
            if isinstance(event, MessageReceived):
                self.message(event, now)
            elif isinstance(event, ExchangeClosed) and event.cancelled:
                self.cancelled.add(event.chain)
            elif isinstance(event, ExchangeOpened):
                self.cancelled.discard(event.chain)
            elif isinstance(event, RefsNeeded):
                self.wanted = event.keys
            elif isinstance(event, FrameRefused):
                assert event.cause is None, repr(event.cause)
                assert event.code != "E9999", event

    def message(self, event: MessageReceived, now: int) -> None:
        """Hold one message to it."""
        envelope = event.message.envelope
        assert envelope.msg_id is not None
        assert envelope.sequence is not None
        assert envelope.msg_id not in self.ids, "twice"
        assert envelope.sequence > self.last, "out of order"
        assert not envelope.ttl or (envelope.timestamp or 0) + envelope.ttl >= now, "expired"
        assert event.message.intent in UNMOVED or envelope.correlation_id not in self.cancelled, "cancelled"
        self.ids.add(envelope.msg_id)
        self.last = envelope.sequence
