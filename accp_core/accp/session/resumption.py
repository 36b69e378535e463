"""One session over one connection after the other: what each end still misses, and what it has processed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from accp_core.accp.frame import Frame
from accp_core.accp.grammar import UNSIGNED
from accp_core.accp.message import Message
from accp_core.accp.profiles import ErrorReport
from accp_core.accp.session.delivery import FrameText, LinkMove, LinkState, SequenceScope
from accp_core.accp.session.delivery.outbox import SPARE_FRAMES
from accp_core.accp.session.effects import NO_EFFECTS, Effects
from accp_core.accp.session.events import Acknowledged, ResumeImpossible, Writable
from accp_core.accp.session.parts import SessionParts
from accp_core.accp.session.sender import Sender
from accp_core.accp.vocabulary import ACKNOWLEDGED, RESUME_OPERATION, Intent

__all__ = ["Resumption", "is_greeting"]

_MAX_DIGITS: Final = 18


class Resumption:
    """Tells the peer what we have processed, and sends again what it has not."""

    def __init__(self, parts: SessionParts, sender: Sender) -> None:
        """Start without a connection; `sender` makes the frames."""
        self._parts = parts
        self._sender = sender

    def connect(self) -> tuple[FrameText, ...]:
        """Take a new connection; return its first frame, none for the first connection.

        Raises:
            ValueError: the senders have counts of their own, so that one number does not say what was processed.
        """
        parts, link = self._parts, self._parts.link
        if parts.options.scope is SequenceScope.SENDER:
            raise ValueError(f"expected another scope than {parts.options.scope.value!r} to resume")
        parts.outbox.reserve(parts.options.sent_frames + SPARE_FRAMES)
        is_first = self._sender.last == 0 and parts.inbox.expected("") in (None, parts.options.first)
        link.move(LinkMove.OPENED if is_first else LinkMove.CONNECTED)
        link.next = parts.outbox.last + 1
        if link.state is not LinkState.RESUMING:
            return ()
        # A peer that refuses the last one as a duplicate is better than a frame that is lost for another one.
        return parts.outbox.since(parts.outbox.last) if parts.outbox.is_full() else self._sender.send_greeting().frames

    def disconnect(self) -> None:
        """Report the loss of the connection: frames wait from now on."""
        self._parts.link.move(LinkMove.DISCONNECTED)

    def read(self, frame: Frame) -> Effects:
        """Take from a frame, whose turn it may not be yet, what the peer has processed and whether it resumes."""
        processed = _acknowledged(frame)
        if not self._parts.link.is_tracked or processed is None:
            return self._begin(frame)
        return self._acknowledge(processed) + self._begin(frame) + self._greet(frame, processed)

    def _begin(self, frame: Frame) -> Effects:
        """Take the number of the peer's first frame from its first greeting; refuse to resume where we miss others."""
        first = frame.params.get("from") if is_greeting(frame) else None
        if type(first) is not int:
            return NO_EFFECTS
        inbox = self._parts.inbox
        inbox.begin(frame.sender, first)
        expected = inbox.expected(frame.sender) or first
        return self._break(expected, first) if first > expected else NO_EFFECTS

    def _greet(self, frame: Frame, processed: int) -> Effects:
        """Answer the first frame of a connection of the peer: send again what it misses, name what we miss."""
        link, number = self._parts.link, frame.envelope.sequence or 0
        # The greetings of lost connections are sent again as well, after the one that opens this connection.
        if not is_greeting(frame) or number <= link.peer_greeting:
            return NO_EFFECTS
        link.peer_greeting = number
        effects = self._send_again(processed + 1)
        misses_frames = number > (self._parts.inbox.expected(frame.sender) or 0)
        if misses_frames and not link.greeting:
            effects += self._sender.send_greeting()
        return effects

    def take_pong(self, message: Message) -> Effects:
        """Take the answer to a `ping`: every frame up to the ping was processed."""
        link = self._parts.link
        number = link.pings.pop(message.envelope.correlation_id or "", None)
        if number is None:
            return NO_EFFECTS
        effects = self._acknowledge(number)
        return effects + self._send_again(number + 1) if link.state is LinkState.RESUMING else effects

    def take_gap(self, error: ErrorReport, refused: str | None) -> Effects:
        """Send again what the peer misses, by its E3003.

        Args:
            error: The content of the error frame.
            refused: The msg_id of the frame that came before its turn.
        """
        parts, link = self._parts, self._parts.link
        expected = error.detail.get("expected") if isinstance(error.detail, Mapping) else None
        if type(expected) is not int:
            # A peer of another library does not name the frame that it misses.
            return self._send_again(parts.outbox.oldest) if link.state is LinkState.RESUMING else NO_EFFECTS
        if not parts.outbox.acknowledged < expected <= parts.outbox.last:
            return NO_EFFECTS
        acknowledged = self._acknowledge(expected - 1)
        number = parts.outbox.number_of(refused)
        # One lost frame makes the peer refuse all that follow it; they were sent again after the first refusal.
        if link.resent[0] == expected and number is not None and number <= link.resent[1]:
            return acknowledged
        link.resent = expected, parts.outbox.last
        return acknowledged + self._send_again(expected)

    def _send_again(self, first: int) -> Effects:
        """Send the frames from number `first` on."""
        parts, link = self._parts, self._parts.link
        if first < parts.outbox.oldest:
            return self._break(first, parts.outbox.oldest)
        # A greeting that is next in turn is on its way already.
        link.next = first + 1 if first == link.greeting else first
        link.move(LinkMove.CAUGHT_UP)
        return NO_EFFECTS if link.is_tracked else Effects(frames=parts.outbox.since(first))

    def _acknowledge(self, number: int) -> Effects:
        """Forget the frames that the peer has processed."""
        outbox, link = self._parts.outbox, self._parts.link
        if number > outbox.last:
            return self._break(number + 1, outbox.last + 1)
        if not outbox.acknowledge(number) or not link.is_tracked:
            return NO_EFFECTS
        effects = Effects(events=(Acknowledged(sequence=number),))
        if link.is_blocked and outbox.has_room():
            link.is_blocked = False
            effects += Effects(events=(Writable(),))
        return effects

    def _break(self, expected: int, oldest: int) -> Effects:
        """Report, once, that a frame is lost."""
        if self._parts.link.state is LinkState.BROKEN:
            return NO_EFFECTS
        self._parts.link.move(LinkMove.LOST)
        return Effects(events=(ResumeImpossible(expected=expected, oldest=oldest),))


def is_greeting(frame: Frame) -> bool:
    """Return whether a frame is the first one of another connection of the session."""
    return frame.intent is Intent.PING and frame.operation == RESUME_OPERATION


def _acknowledged(frame: Frame) -> int | None:
    """Return the number that the metadata of a frame acknowledges; None for none, or for another peer's field `ack`."""
    text = frame.envelope.extra.get(ACKNOWLEDGED)
    if text is None:
        return None
    return int(text) if len(text) <= _MAX_DIGITS and UNSIGNED.fullmatch(text) else None
