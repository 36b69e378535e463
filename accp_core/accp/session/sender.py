"""From a message of ours to the texts that leave, in their order (ACCP sections 3.5, 3.7 and 7.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from accp_core.accp.codec import Encoded
from accp_core.accp.debug import Direction
from accp_core.accp.frame import Envelope, Frame
from accp_core.accp.message import Message
from accp_core.accp.profiles import check_outgoing, error_message
from accp_core.accp.session.exchanges import Exchange
from accp_core.accp.session.parts import Conversation
from accp_core.accp.vocabulary import Intent
from accp_core.error_codes import ErrorCode
from accp_core.errors import LocalProtocolError, ProtocolError

__all__ = ["Sender", "read_target"]

_REASON_CHARS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class _Leaving:
    """A message that is ready to leave."""

    message: Message
    """With the envelope of its last frame."""
    encoded: Encoded
    frames: tuple[Frame, ...]
    texts: list[str]


class Sender:
    """Numbers our frames and queues their texts."""

    def __init__(self, conversation: Conversation, new_id: Callable[[], str]) -> None:
        """Begin with number 1."""
        self._shared = conversation
        self._new_id = new_id
        self._last = 0
        self.frames = 0
        """How many were sent."""
        self.tokens = 0
        """What they took."""

    def send(self, message: Message) -> None:
        """Queue the frames of a message; nothing has changed when it is refused.

        Raises: LocalProtocolError: E1002 for what is no answer to where its request stands, and for anything on
            a cancelled chain, E1004 for a context whose version is not the next one, else as `check_outgoing`;
            EncodeError as `Codec.encode`.
        """
        leaving = self._encode(message)
        try:
            after = self._allow(leaving.message)
            check_outgoing(leaving.message, self._shared.transactions)
            self._take_effect(leaving.message, after)
        except LocalProtocolError:
            raise
        except ProtocolError as error:
            raise LocalProtocolError(error.reason, code=error.code) from None
        self._queue(leaving)
        if message.intent is not Intent.SYNCHRONIZE:
            whole = leaving.frames[0] if len(leaving.frames) == 1 else None
            self._shared.remember(leaving.message, whole)

    def send_error(self, error: ProtocolError, frame: Frame | None) -> str | None:
        """Queue the error frame that refuses a peer's frame, and return its text; None where it has none."""
        mid = frame.envelope.msg_id if frame else None
        detail = self._missing(error, frame)
        reason = error.reason[:_REASON_CHARS]
        message = error_message(self._shared.agent_id, ErrorCode(error.code), reason, correlation_id=mid, detail=detail)
        return self.answer(message)

    def answer(self, message: Message) -> str | None:
        """Queue a message of the session's own; return its last text, None for one that has no frames."""
        try:
            leaving = self._encode(message)
        except ProtocolError:
            return None
        self._queue(leaving)
        return leaving.texts[-1]

    def say(self, intent: Intent, operation: str, payload: Mapping[str, Any], cid: str | None = None) -> str | None:
        """Queue such a message of the session's own."""
        envelope = Envelope(correlation_id=cid)
        sender = self._shared.agent_id
        return self.answer(
            Message(sender=sender, intent=intent, operation=operation, payload=payload, envelope=envelope)
        )

    def _missing(self, error: ProtocolError, frame: Frame | None) -> dict[str, int] | None:
        """Return what the peer has to send again, where a later frame came."""
        if frame is None or error.code != ErrorCode.SEQUENCE_GAP or frame.envelope.sequence is None:
            return None
        expected = self._shared.inbox.expected(frame.sender)
        return {"expected": expected} if expected is not None and frame.envelope.sequence > expected else None

    def _encode(self, message: Message) -> _Leaving:
        """Return the message as it leaves: frames with ids and numbers of their own, and their texts."""
        shared, addressed = self._shared, self._address(message)
        encoded = shared.codec.encode(addressed)
        first = max(self._last, shared.inbox.last_shared()) + 1
        frames = tuple(
            replace(frame, envelope=replace(frame.envelope, msg_id=self._new_id(), sequence=number))
            for number, frame in enumerate(encoded.frames, first)
        )
        return _Leaving(
            message=replace(addressed, envelope=frames[-1].envelope),
            encoded=encoded,
            frames=frames,
            texts=[shared.codec.write(frame) for frame in frames],
        )

    def _address(self, message: Message) -> Message:
        options, envelope = self._shared.options, message.envelope
        envelope = replace(
            envelope,
            timestamp=self._shared.now,
            ttl=options.ttl if envelope.ttl is None else envelope.ttl,
            session_id=self._shared.session_id if options.name_session else envelope.session_id,
        )
        return replace(message, sender=self._shared.agent_id, envelope=envelope)

    def _allow(self, message: Message) -> Exchange | None:
        """Return the exchange as the message leaves it; refuse what it does not allow."""
        shared = self._shared
        if message.intent is Intent.CANCEL:
            read_target(message)
            return None
        if shared.exchanges.is_stopped(shared.chain_of(message), message.intent):
            raise LocalProtocolError("this request was cancelled", code=ErrorCode.INVALID_INTENT)
        final = message.schema == "ST" and message.payload.get("is_final") is True
        return shared.moved(message, final)

    def _take_effect(self, message: Message, after: Exchange | None) -> None:
        """Do with our own message what the peer will do with it."""
        shared = self._shared
        if message.intent is Intent.CANCEL:
            shared.cancel(shared.exchanges.find(read_target(message)), shared.agent_id)
        if message.intent is Intent.SYNCHRONIZE and message.operation == "state":
            shared.memory.state = shared.memory.send_context(message.payload)
        shared.keep(after, message, ours=True)

    def _queue(self, leaving: _Leaving) -> None:
        shared, encoded = self._shared, leaving.encoded
        for frame, text in zip(leaving.frames, leaving.texts, strict=True):
            self._last = frame.envelope.sequence or 0
            shared.inbox.count_sent(self._last)
            shared.outbox.add(self._last, text)
            shared.see(Direction.SENT, frame, payload=leaving.message.payload, notes=encoded.notes)
        shared.memory.stored += encoded.stored
        shared.outgoing += leaving.texts
        self.frames += len(leaving.frames)
        self.tokens += encoded.tokens


def read_target(message: Message) -> str:
    """Return what a `cancel` aborts: its correlation_id, in the metadata or in the payload.

    Raises: ProtocolError E1001 when it names none.
    """
    named = message.envelope.correlation_id, message.payload.get("correlation_id"), message.payload.get("cid")
    for name in named:
        if isinstance(name, str) and name:
            return name
    raise ProtocolError("a cancel names a correlation_id", code=ErrorCode.PARSE_ERROR)
