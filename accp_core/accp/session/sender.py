"""From a message of ours to its frames, in order, also over another connection (ACCP sections 3.5, 3.7 and 7.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from accp_core.accp.budget import TokenBudget
from accp_core.accp.codec import Encoded
from accp_core.accp.debug import Direction
from accp_core.accp.frame import ACKNOWLEDGED, RESUME_OPERATION, Envelope, Frame, Intent, Message
from accp_core.accp.grammar import UNSIGNED
from accp_core.accp.profiles import ErrorReport, check_outgoing, error_message
from accp_core.accp.session.delivery import SPARE_FRAMES, FrameText, LinkMove, LinkState, SequenceScope
from accp_core.accp.session.events import NO_EFFECTS, Acknowledged, Effects, ResumeImpossible, Writable
from accp_core.accp.session.exchanges import Exchange
from accp_core.accp.session.parts import SessionParts
from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError, LocalProtocolError, ProtocolError, WindowFull

__all__ = ["Resumption", "Sender", "is_greeting", "read_target"]


_MAX_REASON_CHARS: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class _OutgoingMessage:
    """A message with its numbered frames."""

    message: Message
    """With the envelope of its last frame."""
    encoded: Encoded
    texts: tuple[FrameText, ...]
    """The frames, serialized."""


class Sender:
    """Numbers our frames and serializes them."""

    def __init__(self, parts: SessionParts, new_id: Callable[[], str]) -> None:
        """Start with sequence number 1; `new_id` returns a msg_id that was never used."""
        self._parts = parts
        self._new_id = new_id
        self.last = 0
        """The sequence number of the last frame sent."""
        self.frames = 0
        """Number of frames sent."""
        self.tokens = 0
        """Tokens of those frames."""

    def send(self, message: Message) -> Effects:
        """Return the frames of a message, and what sending it means for its exchange and for hot state.

        Raises:
            LocalProtocolError: E1002, the message is not allowed where its request stands, or its chain was cancelled;
                E1004, the version of a shared context is not the next one; E2003 (`WindowFull`), the peer has to
                acknowledge frames first; E3003, the session cannot be resumed; or as `check_outgoing`. Nothing has
                changed.
            EncodeError: as `Codec.encode`; E2003, the message is larger than the window. Nothing has changed.
        """
        outgoing = self._encode(message)
        try:
            self._check_window(outgoing)
            after = self._check_allowed(outgoing.message)
            check_outgoing(outgoing.message, self._parts.transactions)
            effects = self._apply(outgoing.message, after)
        except (LocalProtocolError, EncodeError):
            raise
        except ProtocolError as error:
            raise LocalProtocolError(error.reason, code=error.code) from None
        return effects + self._commit(outgoing) + self._remember(outgoing)

    def _remember(self, outgoing: _OutgoingMessage) -> Effects:
        """Put a message into hot state."""
        if outgoing.message.intent is Intent.SYNCHRONIZE:
            return NO_EFFECTS
        return self._parts.remember(outgoing.message, *outgoing.encoded.whole)

    def _check_window(self, outgoing: _OutgoingMessage) -> None:
        """Refuse a message for which the window has no room, where the caller reports its connections."""
        parts, frames = self._parts, outgoing.texts
        if not parts.link.is_tracked:
            parts.outbox.keep(len(frames))
            return
        if parts.link.state is LinkState.BROKEN:
            raise LocalProtocolError("expected a session that can be resumed", code=ErrorCode.SEQUENCE_GAP)
        if sum(map(len, frames)) > parts.options.sent_characters:
            reason = f"expected a message of at most {parts.options.sent_characters} characters, found a longer one"
            raise EncodeError(reason, code=ErrorCode.BUDGET_EXCEEDED)
        if not parts.outbox.has_room(len(frames)):
            parts.link.is_blocked = True
            reason = f"expected an acknowledgement first: {len(parts.outbox)} frames wait for one"
            raise WindowFull(reason, code=ErrorCode.BUDGET_EXCEEDED)
        parts.outbox.make_room(len(frames))

    def budget(self) -> TokenBudget:
        """Return the tokens that the session has used."""
        state = self._parts.context.state
        return TokenBudget(
            hot_used=state.hot_tokens,
            hot_limit=state.limits.hot,
            warm_used=state.warm_tokens,
            warm_limit=state.limits.warm_entry,
            frames=self.frames,
            tokens=self.tokens,
        )

    def retry(self) -> Effects:
        """Send again the requests that are due, and give up those without retries."""
        effects, chains = NO_EFFECTS, self._parts.chains
        retries, expired = chains.pending.take_due(self._parts.now)
        for chain, message in retries:
            envelope = Envelope(correlation_id=chain, causation_id=message.envelope.causation_id)
            try:
                effects += self.send(replace(message, envelope=envelope))
            except WindowFull:
                chains.pending.start(chain, message, self._parts.now)
            except ProtocolError:
                expired.append(chain)
        for chain in expired:
            effects += chains.give_up(chain, self._parts.now)
        return effects

    def send_error(self, error: ProtocolError, frame: Frame | None) -> Effects:
        """Return the error frame that refuses a frame of a peer, no frame where it cannot be encoded."""
        mid = frame.envelope.msg_id if frame else None
        detail = self._missing(error, frame)
        reason = error.reason[:_MAX_REASON_CHARS]
        code = ErrorCode(error.code)
        return self._send_own(error_message(self._parts.agent_id, code, reason, correlation_id=mid, detail=detail))

    def send_control(
        self, intent: Intent, operation: str, payload: Mapping[str, Any], correlation_id: str | None = None
    ) -> Effects:
        """Return the frames of a message of the session itself, such as `ping`; none where it cannot be encoded."""
        return self._send_own(
            Message(
                sender=self._parts.agent_id,
                intent=intent,
                operation=operation,
                payload=payload,
                envelope=Envelope(correlation_id=correlation_id),
            )
        )

    # "Heartbeat: ping/pong intent frames" (section 11.2); the pong acknowledges every frame up to the ping.
    def send_ping(self, operation: str, payload: Mapping[str, Any] | None = None) -> Effects:
        """Return the frame of a `ping`, whose answer acknowledges what was sent before it."""
        ping = self.send_control(Intent.PING, operation, payload or {})
        for text in ping.frames:
            self._parts.link.pings.put(text.envelope.msg_id or "", self.last)
        return ping

    def send_greeting(self) -> Effects:
        """Return the first frame of another connection: `ping:resume`."""
        greeting = self.send_ping(RESUME_OPERATION, {"from": self._parts.outbox.oldest})
        self._parts.link.greeting = self.last
        return greeting

    def request_acknowledgement(self) -> Effects:
        """Return a `ping` where half of the window was sent since the last one, else nothing."""
        link, outbox = self._parts.link, self._parts.outbox
        if not link.is_tracked:
            return NO_EFFECTS
        known = max(outbox.acknowledged, next(reversed(link.pings.values()), 0))
        return self.send_ping("ack") if outbox.is_half_full(self.last - known) else NO_EFFECTS

    def _send_own(self, message: Message) -> Effects:
        """Return the frames of a message that moves no exchange and is not remembered."""
        try:
            outgoing = self._encode(message)
        except ProtocolError:
            return NO_EFFECTS
        return self._commit(outgoing)

    def _missing(self, error: ProtocolError, frame: Frame | None) -> dict[str, int] | None:
        """Return the detail that names the first frame to send again; None where no earlier frame is missing."""
        if frame is None or error.code != ErrorCode.SEQUENCE_GAP or frame.envelope.sequence is None:
            return None
        expected = self._parts.inbox.expected(frame.sender)
        return {"expected": expected} if expected is not None and frame.envelope.sequence > expected else None

    def _encode(self, message: Message) -> _OutgoingMessage:
        """Return a message with its frames, which have ids and sequence numbers; nothing is counted yet."""
        parts, first = self._parts, max(self.last, self._parts.inbox.last_shared()) + 1
        addressed = self._address(message, first)
        encoded = parts.codec.encode(addressed)
        texts = [FrameText("".join(encoded.parts[0]), encoded.frames[0].envelope)]
        for number, frame in enumerate(encoded.frames[1:], first + 1):
            envelope = replace(frame.envelope, msg_id=self._new_id(), sequence=number)
            body, _ = encoded.parts[number - first]
            texts.append(FrameText(parts.codec.complete(body, envelope), envelope))
        if len(texts) > 1:
            addressed = replace(addressed, envelope=texts[-1].envelope)
        return _OutgoingMessage(message=addressed, encoded=encoded, texts=tuple(texts))

    def _address(self, message: Message, number: int) -> Message:
        """Return a message with our name, an id, its number, the time, its lifetime and the session's name."""
        options, envelope = self._parts.options, message.envelope
        return Message(
            sender=self._parts.agent_id,
            intent=_known_intent(message.intent),
            operation=message.operation,
            payload=message.payload,
            schema=message.schema,
            envelope=Envelope(
                msg_id=self._new_id(),
                sequence=number,
                timestamp=self._parts.now,
                correlation_id=envelope.correlation_id,
                causation_id=envelope.causation_id,
                session_id=self._parts.session_id if options.name_session else envelope.session_id,
                ttl=options.ttl if envelope.ttl is None else envelope.ttl,
                extra=self._acknowledge(envelope.extra),
            ),
        )

    def _acknowledge(self, extra: Mapping[str, str]) -> Mapping[str, str]:
        """Return the other metadata with the number of the last frame that was processed, where the peer uses it."""
        if not self._parts.link.is_tracked:
            return extra
        return {**extra, ACKNOWLEDGED: str((self._parts.inbox.expected("") or 1) - 1)}

    def _check_allowed(self, message: Message) -> Exchange | None:
        """Return the exchange after a message of ours, None where it moves none; refuse what is not allowed."""
        chains = self._parts.chains
        if message.intent is Intent.CANCEL:
            read_target(message)
            return None
        if chains.exchanges.is_stopped(chains.chain_of(message), message.intent):
            raise LocalProtocolError("expected a live request, found a cancelled one", code=ErrorCode.INVALID_INTENT)
        is_final = message.schema == "ST" and message.payload.get("is_final") is True
        return chains.next_exchange(message, final=is_final)

    def _apply(self, message: Message, after: Exchange | None) -> Effects:
        """Change our state in the way in which the message will change the peer's."""
        parts = self._parts
        if message.intent is Intent.CANCEL:
            return parts.chains.cancel(read_target(message), parts.agent_id, parts.now)
        if message.intent is Intent.SYNCHRONIZE and message.operation == "state":
            parts.context.send_context(message.payload)
        return parts.chains.update(after, message, parts.now, ours=True)

    def _commit(self, outgoing: _OutgoingMessage) -> Effects:
        """Count the frames of a message, which is now certain to be sent."""
        parts, encoded = self._parts, outgoing.encoded
        for frame, text in zip(encoded.frames, outgoing.texts, strict=True):
            self.last = text.envelope.sequence or 0
            parts.inbox.count_sent(self.last)
            parts.outbox.add(text)
            if parts.observe is not None:
                numbered = replace(frame, envelope=text.envelope)
                parts.notify(Direction.SENT, numbered, text, payload=outgoing.message.payload, notes=encoded.notes)
        self.frames += len(outgoing.texts)
        self.tokens += encoded.tokens
        return Effects(frames=outgoing.texts, stored=encoded.stored)


def _known_intent(intent: object) -> Intent:
    """Return an intent, which may be given as its code, such as "req"."""
    try:
        return Intent(intent)  # type: ignore[arg-type]  # any value is looked up
    except ValueError:
        known = ", ".join(Intent)
        raise LocalProtocolError(
            f"expected an intent ({known}), found {intent!r}", code=ErrorCode.INVALID_INTENT
        ) from None


def read_target(message: Message) -> str:
    """Return what a `cancel` aborts: the correlation_id in its metadata or in its payload.

    Raises:
        ProtocolError: E1001, it names none.
    """
    names = message.envelope.correlation_id, message.payload.get("correlation_id"), message.payload.get("cid")
    for name in names:
        if isinstance(name, str) and name:
            return name
    raise ProtocolError("expected a cancel with a correlation_id, found none", code=ErrorCode.PARSE_ERROR)


# One session over one connection after the other: what each end still misses, and what it has processed.

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
