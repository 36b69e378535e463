"""From the text of a frame to what it means for the session, check by check (ACCP sections 3.7, 7.3 and 9).

| step | check                                              | refused with                                |
|-----:|----------------------------------------------------|---------------------------------------------|
|  1-3 | grammar, intent, types and presence of metadata    | E1001, E1002, E1004; E5001: another session |
|    4 | ttl                                                | nothing: silently                           |
|  5-6 | msg_id seen before, sequence is the next one       | E3002, E3003                                |
|    7 | the request chain was cancelled                    | nothing: dropped                            |
| 8-11 | schema, keys, references, types of fields          | E1003, E1001, E2001, E2002, E5002, E1004    |
|   12 | the profile's rules, the tool                      | E1001, E4001, E4003, E5001                  |
|   13 | the message is allowed where its request stands    | E1002, E2003; chunks: E3002, E3003, E1004   |
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from accp_core.accp.codec.chunking import is_frame_chunk
from accp_core.accp.debug import Direction
from accp_core.accp.frame import Envelope, Frame, Ref, Value
from accp_core.accp.message import Message
from accp_core.accp.profiles import ErrorReport, check_incoming, check_tool_call, read_error
from accp_core.accp.session.delivery import has_expired
from accp_core.accp.session.effects import NO_EFFECTS, Effects
from accp_core.accp.session.events import (
    FrameDropped,
    FrameHeld,
    FrameRefused,
    MessageReceived,
    RefsNeeded,
    ResyncRequested,
)
from accp_core.accp.session.parts import SessionParts
from accp_core.accp.session.sender import Sender, read_target
from accp_core.accp.state.context_state import ColdKey
from accp_core.accp.values import json_to_value
from accp_core.accp.vocabulary import Intent
from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError, ProtocolError
from accp_core.references import checked_text

__all__ = ["Receiver"]

_FAILURE: Final = re.compile(r"@[A-Za-z0-9_-]++>fail:")
# The request that these errors name goes on: it was processed already, or its frame is sent again.
_STILL_OPEN: Final = frozenset({ErrorCode.DUPLICATE, ErrorCode.SEQUENCE_GAP})


@dataclass(slots=True)
class _IncomingFrame:
    """A frame that is being processed, and the values of its references so far."""

    frame: Frame
    """The frame; of one that came in chunks, the last chunk."""
    chunks: tuple[Message, ...] = ()
    """All chunks of a frame that came in chunks."""
    resolved: dict[Ref, Value] = field(default_factory=dict)
    """References with their values."""
    missing: dict[Ref, ColdKey] = field(default_factory=dict)
    """References whose texts must be read from the cold store."""


class Receiver:
    """Takes frames in their order and returns what they lead to."""

    def __init__(self, parts: SessionParts, sender: Sender) -> None:
        """Start without frames; `sender` makes the replies."""
        self._parts = parts
        self._sender = sender
        self._ready: deque[Frame] = deque()
        self._blocked: _IncomingFrame | None = None

    def __len__(self) -> int:
        """Return the number of frames that wait for a text of the cold store."""
        return len(self._ready) + (self._blocked is not None)

    def receive(self, text: str) -> Effects:
        """Take the text of a frame; whatever is wrong with it is refused and reported, never raised."""
        try:
            frame = self._parts.codec.read(text)
        except DecodeError as error:
            return self._refuse(None, error, silent=_FAILURE.match(text) is not None)
        return self._guard(frame, partial(self._admit, frame)) + self._process_ready()

    def resolve(self, texts: Mapping[ColdKey, str | None]) -> Effects:
        """Continue with the frame that waits for `texts`; None for a text that the store does not have."""
        blocked, self._blocked = self._blocked, None
        if blocked is None:
            return NO_EFFECTS
        return self._guard(blocked.frame, partial(self._fill, blocked, texts)) + self._process_ready()

    def _process_ready(self) -> Effects:
        """Process the admitted frames, until one has to wait for the cold store."""
        effects = NO_EFFECTS
        while self._ready and self._blocked is None:
            frame = self._ready.popleft()
            effects += self._guard(frame, partial(self._process, frame))
        return effects

    def _guard(self, frame: Frame, step: Callable[[], Effects]) -> Effects:
        """Return what a step for a frame leads to; refuse the frame where the step fails."""
        try:
            return step()
        except ProtocolError as error:
            return self._refuse(frame, error)
        except Exception as cause:  # a fault of ours must not end a session: the peer and the caller are told
            internal = ProtocolError("internal error", code=ErrorCode.INTERNAL_ERROR)
            return self._refuse(frame, internal, cause=cause)

    # A `fail` is never answered by a `fail`: two agents would refuse each other for ever.
    def _refuse(
        self, frame: Frame | None, error: ProtocolError, *, silent: bool = False, cause: Exception | None = None
    ) -> Effects:
        reply = NO_EFFECTS if silent or _is_failure(frame) else self._sender.send_error(error, frame)
        event = FrameRefused(code=error.code, reason=error.reason, frame=frame, reply=_last_frame(reply), cause=cause)
        self._parts.notify(Direction.RECEIVED, frame, code=error.code, reason=error.reason)
        return reply + Effects(events=(event,))

    def _drop(self, frame: Frame, reason: str) -> Effects:
        self._parts.notify(Direction.RECEIVED, frame, reason=reason)
        return Effects(events=(FrameDropped(frame=frame, reason=reason),))

    def _admit(self, frame: Frame) -> Effects:
        """Check metadata, age, id and sequence number of a frame; queue the frames that may be processed now."""
        parts = self._parts
        check_envelope(frame.envelope, parts.session_id)
        if has_expired(frame.envelope, parts.now, parts.options.skew):
            self._ready += parts.inbox.skip(frame)
            return self._drop(frame, "expired")
        if len(self._ready) >= parts.options.backlog:
            raise ProtocolError("earlier frames are still waiting", code=ErrorCode.SEQUENCE_GAP)
        resent = self._resend_early(frame)
        try:
            admitted = parts.inbox.admit(frame)
        except ProtocolError as error:
            return resent + self._refuse(frame, error)
        if admitted is None:
            return resent + self._hold(frame)
        self._ready += admitted
        return resent

    # Where frames are missing in both directions, the error frame of each end is itself behind a gap. It has its effect
    # all the same: the frames that it asks for are sent again, and it is processed when its turn comes.
    def _resend_early(self, frame: Frame) -> Effects:
        """Send again what the peer misses, where an error frame that came before its turn asks for it."""
        expected = self._parts.inbox.expected(frame.sender)
        if not _is_failure(frame) or expected is None or (frame.envelope.sequence or 0) <= expected:
            return NO_EFFECTS
        message = self._parts.codec.decode(frame, keep_refs=True)
        error = read_error(message) if isinstance(message, Message) else None
        return self._resend(error) if error is not None and error.code == ErrorCode.SEQUENCE_GAP else NO_EFFECTS

    def _resend(self, error: ErrorReport) -> Effects:
        """Send the frames again that the peer misses, unchanged."""
        expected = error.detail.get("expected") if isinstance(error.detail, Mapping) else None
        return Effects(frames=tuple(self._parts.outbox.since(expected))) if type(expected) is int else NO_EFFECTS

    def _hold(self, frame: Frame) -> Effects:
        """Report a frame that is kept until its turn; name the missing one to the sender."""
        expected, mid = self._parts.inbox.expected(frame.sender), frame.envelope.msg_id
        gap = ProtocolError("an earlier frame is missing", code=ErrorCode.SEQUENCE_GAP)
        reply = NO_EFFECTS if _is_failure(frame) else self._sender.send_error(gap, frame)
        held = FrameHeld(msg_id=f"{mid}", expected=expected or 0, reply=_last_frame(reply))
        return reply + Effects(events=(held,))

    def _process(self, frame: Frame) -> Effects:
        """Process a frame whose turn it is."""
        parts = self._parts
        is_stopped = parts.chains.exchanges.is_stopped(parts.chains.chain_of(frame), frame.intent)
        if is_stopped and frame.intent is not Intent.CANCEL:
            return self._drop(frame, "cancelled")
        # "At session start, agents MUST exchange registry versions" (section 6.4)
        if parts.options.registry_first and not (parts.negotiation.is_peer_known or may_come_first(frame)):
            raise ProtocolError("expected the registry before any other frame", code=ErrorCode.POLICY_DENIED)
        return self._decode(_IncomingFrame(frame))

    def _decode(self, incoming: _IncomingFrame) -> Effects:
        """Decode a frame with the values of its references, or wait for those in the cold store."""
        codec, resolved = self._parts.codec, incoming.resolved
        result = codec.join(incoming.chunks, resolved) if incoming.chunks else codec.decode(incoming.frame, resolved)
        if isinstance(result, Message):
            return self._deliver(result, incoming)
        for ref in result.refs:
            value = self._parts.look_up(ref)
            if isinstance(value, ColdKey):
                incoming.missing[ref] = value
            else:
                resolved[ref] = value
        return self._wait(incoming)

    def _wait(self, incoming: _IncomingFrame) -> Effects:
        """Ask for the texts that are missing, or continue where none is."""
        self._blocked = incoming if incoming.missing else None
        if not incoming.missing:
            return self._decode(incoming)
        return Effects(events=(RefsNeeded(keys=tuple(dict.fromkeys(incoming.missing.values()))),))

    def _fill(self, incoming: _IncomingFrame, texts: Mapping[ColdKey, str | None]) -> Effects:
        """Take the texts that were read; refuse the frame where one is not in the store or is another text."""
        for ref, key in list(incoming.missing.items()):
            if key in texts:
                incoming.resolved[ref] = json_to_value(checked_text(key.key, texts[key]))
                del incoming.missing[ref]
        return self._wait(incoming)

    def _deliver(self, message: Message, incoming: _IncomingFrame) -> Effects:
        """Do what a message asks of the session, and report it."""
        parts = self._parts
        if is_frame_chunk(message):
            parts.notify(Direction.RECEIVED, incoming.frame)
            chunks = parts.chains.joiner.add(message)
            return NO_EFFECTS if chunks is None else self._decode(_IncomingFrame(incoming.frame, chunks))
        check_incoming(message, parts.transactions)
        if parts.tools is not None and message.schema == "TC" and message.intent is Intent.REQUEST:
            check_tool_call(message, parts.tools)
        frame = None if incoming.chunks else incoming.frame
        parts.notify(Direction.RECEIVED, frame, payload=message.payload, defaulted=message.defaulted)
        handle = _HANDLERS.get((message.intent, message.operation)) or _HANDLERS.get((message.intent, ""))
        return (handle or Receiver._report)(self, message, frame)

    def _report(self, message: Message, frame: Frame | None) -> Effects:
        """Move the exchange of a message, and report the message."""
        parts, error = self._parts, read_error(message)
        if error is not None and error.code in _STILL_OPEN:
            effects = self._resend(error)
        else:
            effects = parts.chains.update(parts.chains.next_exchange(message), message, parts.now, ours=False)
        notes = () if message.envelope.timestamp is not None else ("the frame has no timestamp",)
        received = Effects(events=(MessageReceived(message=message, notes=notes),))
        return effects + received + parts.remember(message, frame)

    def _take_chunk(self, message: Message, frame: Frame | None) -> Effects:
        if message.schema != "ST":
            return self._report(message, frame)
        return self._parts.chains.add_chunk(message, self._parts.now)

    def _end_stream(self, message: Message, frame: Frame | None) -> Effects:
        return self._parts.chains.close_stream(message) + self._report(message, frame)

    def _cancel(self, message: Message, _: Frame | None) -> Effects:
        return self._parts.chains.cancel(read_target(message), message.sender, self._parts.now)

    def _answer_ping(self, message: Message, _: Frame | None) -> Effects:
        return self._sender.send_control(Intent.PONG, message.operation, {}, message.envelope.msg_id)

    def _take_pong(self, message: Message, _: Frame | None) -> Effects:
        """Do nothing: the heartbeat has recorded the frame already."""
        return NO_EFFECTS

    def _negotiate(self, message: Message, _: Frame | None) -> Effects:
        parts = self._parts
        events, answer = parts.negotiation.receive(message.payload)
        parts.use_registry(parts.negotiation.registry)
        reply = NO_EFFECTS if answer is None else self._sender.send_control(Intent.SYNCHRONIZE, "registry", answer)
        return Effects(events=tuple(events)) + reply

    def _take_context(self, message: Message, _: Frame | None) -> Effects:
        event = self._parts.context.receive_context(message, self._parts.agent_id)
        if event is None:
            return NO_EFFECTS
        query = NO_EFFECTS
        if isinstance(event, ResyncRequested):
            query = self._sender.send_control(Intent.QUERY, "state", {"version": event.version})
        return query + Effects(events=(event,))

    def _give_context(self, message: Message, _: Frame | None) -> Effects:
        """Answer a peer that misses a delta with the whole context."""
        state, version = self._parts.context.state, message.payload.get("version")
        payload = {"version": state.version, "context": dict(state.context)}
        reply = self._sender.send_control(Intent.SYNCHRONIZE, "state", payload, message.envelope.msg_id)
        known = version if isinstance(version, int) else 0
        return reply + Effects(events=(ResyncRequested(sender=message.sender, version=known),))


_HANDLERS: Final[Mapping[tuple[Intent, str], Callable[[Receiver, Message, Frame | None], Effects]]] = {
    (Intent.SYNCHRONIZE, "registry"): Receiver._negotiate,
    (Intent.SYNCHRONIZE, "state"): Receiver._take_context,
    (Intent.QUERY, "state"): Receiver._give_context,
    (Intent.STREAM, ""): Receiver._take_chunk,
    (Intent.END_STREAM, ""): Receiver._end_stream,
    (Intent.CANCEL, ""): Receiver._cancel,
    (Intent.PING, ""): Receiver._answer_ping,
    (Intent.PONG, ""): Receiver._take_pong,
}
"""What the session does by itself, by intent and operation; any other message moves its exchange and is reported."""


def _is_failure(frame: Frame | None) -> bool:
    return frame is not None and frame.intent is Intent.FAILURE


def _last_frame(effects: Effects) -> str | None:
    return effects.frames[-1] if effects.frames else None


# "Frames missing "mid" or "seq" MUST be rejected." (section 3.5)
def check_envelope(envelope: Envelope, session_id: str) -> None:
    """Refuse a frame without the metadata that delivery needs, and a frame of another session.

    Raises:
        ProtocolError: E1001, a field is missing; E5001, the frame is of another session.
    """
    if envelope.msg_id is None or envelope.sequence is None:
        raise ProtocolError("expected a frame with mid and seq", code=ErrorCode.PARSE_ERROR)
    if envelope.ttl and envelope.timestamp is None:
        raise ProtocolError("expected a ts in a frame with a ttl", code=ErrorCode.PARSE_ERROR)
    if envelope.session_id not in (None, session_id):
        raise ProtocolError("expected a frame of this session, found one of another", code=ErrorCode.POLICY_DENIED)


def may_come_first(frame: Frame) -> bool:
    """Return whether a frame may come before the registry."""
    is_registry = frame.intent is Intent.SYNCHRONIZE and frame.operation == "registry"
    return is_registry or frame.intent is Intent.FAILURE
