"""From a message of ours to its serialized frames, in their order (ACCP sections 3.5, 3.7 and 7.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from accp_core.accp.codec import Encoded
from accp_core.accp.debug import Direction
from accp_core.accp.frame import Envelope, Frame
from accp_core.accp.message import Message
from accp_core.accp.profiles import check_outgoing, error_message
from accp_core.accp.session.effects import NO_EFFECTS, Effects
from accp_core.accp.session.exchanges import Exchange
from accp_core.accp.session.parts import SessionParts
from accp_core.accp.vocabulary import Intent
from accp_core.error_codes import ErrorCode
from accp_core.errors import LocalProtocolError, ProtocolError

__all__ = ["Sender", "read_target"]

_MAX_REASON_CHARS: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class _OutgoingMessage:
    """A message with its numbered frames."""

    message: Message
    """With the envelope of its last frame."""
    encoded: Encoded
    frames: tuple[Frame, ...]
    texts: tuple[str, ...]
    """The frames, serialized."""


class Sender:
    """Numbers our frames and serializes them."""

    def __init__(self, parts: SessionParts, new_id: Callable[[], str]) -> None:
        """Start with sequence number 1; `new_id` returns a msg_id that was never used."""
        self._parts = parts
        self._new_id = new_id
        self._last = 0
        self.frames = 0
        """Number of frames sent."""
        self.tokens = 0
        """Tokens of those frames."""

    def send(self, message: Message) -> Effects:
        """Return the frames of a message, and what sending it means for its exchange and for hot state.

        Raises:
            LocalProtocolError: E1002, the message is not allowed where its request stands, or its chain was cancelled;
                E1004, the version of a shared context is not the next one; or as `check_outgoing`. Nothing has changed.
            EncodeError: as `Codec.encode`; nothing has changed.
        """
        outgoing = self._encode(message)
        try:
            after = self._check_allowed(outgoing.message)
            check_outgoing(outgoing.message, self._parts.transactions)
            effects = self._apply(outgoing.message, after)
        except LocalProtocolError:
            raise
        except ProtocolError as error:
            raise LocalProtocolError(error.reason, code=error.code) from None
        remembered = NO_EFFECTS
        if message.intent is not Intent.SYNCHRONIZE:
            whole = outgoing.frames[0] if len(outgoing.frames) == 1 else None
            remembered = self._parts.remember(outgoing.message, whole)
        return effects + self._commit(outgoing) + remembered

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
        parts, addressed = self._parts, self._address(message)
        encoded = parts.codec.encode(addressed)
        first = max(self._last, parts.inbox.last_shared()) + 1
        frames = tuple(
            replace(frame, envelope=replace(frame.envelope, msg_id=self._new_id(), sequence=number))
            for number, frame in enumerate(encoded.frames, first)
        )
        return _OutgoingMessage(
            message=replace(addressed, envelope=frames[-1].envelope),
            encoded=encoded,
            frames=frames,
            texts=tuple(parts.codec.write(frame) for frame in frames),
        )

    def _address(self, message: Message) -> Message:
        """Return a message with our name, the time, its lifetime and the session's name."""
        options, envelope = self._parts.options, message.envelope
        envelope = replace(
            envelope,
            timestamp=self._parts.now,
            ttl=options.ttl if envelope.ttl is None else envelope.ttl,
            session_id=self._parts.session_id if options.name_session else envelope.session_id,
        )
        return replace(message, sender=self._parts.agent_id, envelope=envelope)

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
        for frame, text in zip(outgoing.frames, outgoing.texts, strict=True):
            self._last = frame.envelope.sequence or 0
            parts.inbox.count_sent(self._last)
            parts.outbox.add(self._last, text)
            parts.notify(Direction.SENT, frame, payload=outgoing.message.payload, notes=encoded.notes)
        self.frames += len(outgoing.frames)
        self.tokens += encoded.tokens
        return Effects(frames=outgoing.texts, stored=encoded.stored)


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
