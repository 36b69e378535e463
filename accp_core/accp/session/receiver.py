"""From the text of a frame to what it means for the session, check by check (ACCP sections 3.7, 7.3 and 9).

| step | check                                              | refused with                                |
|-----:|----------------------------------------------------|---------------------------------------------|
|  1-3 | grammar, intent, types and presence of metadata    | E1001, E1002, E1004                         |
|    - | the session, and the sender is one of the peer     | E5001                                       |
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
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from accp_core.accp.codec import is_frame_chunk, join_chunks
from accp_core.accp.debug import Direction
from accp_core.accp.frame import Envelope, Frame, Intent, Message, Ref, Value, json_to_value
from accp_core.accp.grammar import metadata_start
from accp_core.accp.parser import frame_envelope
from accp_core.accp.profiles import check_incoming, check_tool_call, read_error
from accp_core.accp.session.delivery import has_expired
from accp_core.accp.session.events import (
    NO_EFFECTS,
    Effects,
    FrameDropped,
    FrameHeld,
    FrameRefused,
    MessageReceived,
    RefsNeeded,
    ResyncRequested,
)
from accp_core.accp.session.parts import Arrival, Peer, SessionParts
from accp_core.accp.session.sender import Resumption, Sender, is_greeting, read_target
from accp_core.accp.state.context_state import ColdKey
from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError, ProtocolError
from accp_core.references import checked_text

__all__ = ["IncomingFrame", "Receiver"]

_FAILURE: Final = re.compile(r"@[A-Za-z0-9_-]++>fail:")
# The request that these errors name goes on: it was processed already, or its frame is sent again.
_STILL_OPEN: Final = frozenset({ErrorCode.DUPLICATE, ErrorCode.SEQUENCE_GAP})


@dataclass(slots=True)
class IncomingFrame:
    """A frame that is being processed, and the values of its references so far."""

    arrival: Arrival
    """The frame; of one that came in chunks, the last chunk."""
    chunks: tuple[Message, ...] = ()
    """All chunks of a frame that came in chunks."""
    resolved: dict[Ref, Value] = field(default_factory=dict)
    """References with their values."""
    missing: dict[Ref, ColdKey] = field(default_factory=dict)
    """References whose texts must be read from the cold store."""

    def body(self) -> str:
        """Return header and body as they came."""
        text = join_chunks(self.chunks) if self.chunks else self.arrival.text
        return text[: metadata_start(text)]


class Receiver:
    """Takes frames in their order and returns what they lead to."""

    def __init__(self, parts: SessionParts, sender: Sender) -> None:
        """Start without frames; `sender` makes the replies."""
        self._parts = parts
        self._sender = sender
        self.resumption = Resumption(parts, sender)
        """What a connection after another one needs."""
        self.gap_at: int | None = None
        """When a frame that others wait for counts as missing; None while none is held."""
        self._peer: Peer | None = None
        self._ready: deque[Arrival] = deque()
        self._blocked: IncomingFrame | None = None

    def __len__(self) -> int:
        """Return the number of frames that wait for a text of the cold store."""
        return len(self._ready) + (self._blocked is not None)

    def receive(self, text: str, peer: Peer | None) -> Effects:
        """Take the text of a frame of `peer`; whatever is wrong with it is refused and reported, never raised."""
        self._peer = peer
        try:
            frame = self._parts.codec.read(text)
        except DecodeError as error:
            return self._refuse_unread(text, error)
        return self._guard(frame, partial(self._admit, Arrival(frame, text))) + self._process_ready()

    # "A gap in sequence numbers MUST trigger error E3003" (section 3.7): a frame that came and was refused is no gap.
    def _refuse_unread(self, text: str, error: DecodeError) -> Effects:
        """Refuse a text that is no frame; where its metadata can be read, its number counts and the answer names it."""
        parts, unread = self._parts, None
        with suppress(ProtocolError):
            sender, envelope = frame_envelope(text, limits=parts.codec.grammar)
            unread = Frame(sender=sender, intent=Intent.ACKNOWLEDGE, operation="unread", envelope=envelope)
            check_envelope(envelope, parts.session_id)
            check_sender(sender, parts.agent_id, self._peer)
            self._ready += parts.inbox.skip(Arrival(unread, text))
        silent = _FAILURE.match(text) is not None
        return self._refuse(None, error, silent=silent, unread=unread) + self._process_ready()

    def resolve(self, texts: Mapping[ColdKey, str | None]) -> Effects:
        """Continue with the frame that waits for `texts`; None for a text that the store does not have."""
        blocked, self._blocked = self._blocked, None
        if blocked is None:
            return NO_EFFECTS
        return self._guard(blocked.arrival.frame, partial(self._fill, blocked, texts)) + self._process_ready()

    def _process_ready(self) -> Effects:
        """Process the admitted frames, until one has to wait for the cold store."""
        effects = NO_EFFECTS
        while self._ready and self._blocked is None:
            arrival = self._ready.popleft()
            effects += self._guard(arrival.frame, partial(self._process, arrival))
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
        self,
        frame: Frame | None,
        error: ProtocolError,
        *,
        silent: bool = False,
        cause: Exception | None = None,
        unread: Frame | None = None,
    ) -> Effects:
        is_silent = silent or _is_failure(frame)
        reply = NO_EFFECTS if is_silent else self._sender.send_error(error, frame or unread)
        event = FrameRefused(code=error.code, reason=error.reason, frame=frame, reply=_last_frame(reply), cause=cause)
        self._parts.notify(Direction.RECEIVED, frame, code=error.code, reason=error.reason)
        return reply + Effects(events=(event,))

    def _drop(self, frame: Frame, reason: str) -> Effects:
        self._parts.notify(Direction.RECEIVED, frame, reason=reason)
        return Effects(events=(FrameDropped(frame=frame, reason=reason),))

    def _admit(self, arrival: Arrival) -> Effects:
        """Check metadata, sender, age, id and number of a frame; queue the frames that may be processed now."""
        parts, frame = self._parts, arrival.frame
        check_envelope(frame.envelope, parts.session_id)
        check_sender(frame.sender, parts.agent_id, self._peer)
        early = self.resumption.read(frame)
        if has_expired(frame.envelope, parts.now):
            self._ready += parts.inbox.skip(arrival)
            return early + self._drop(frame, "expired")
        if len(self._ready) >= parts.options.backlog:
            raise ProtocolError("earlier frames are still waiting", code=ErrorCode.SEQUENCE_GAP)
        if self._comes_early(frame):
            if is_greeting(frame) and parts.link.is_tracked:
                return early + self._drop(frame, "before its turn; it has said what it had to say")
            early += self._resend_early(frame)
        try:
            admitted = parts.inbox.admit(arrival)
        except ProtocolError as error:
            return early + self._refuse(frame, error)
        if admitted is None:
            return early + self._hold(frame)
        self._ready += admitted
        return early

    def _comes_early(self, frame: Frame) -> bool:
        expected = self._parts.inbox.expected(frame.sender)
        return expected is not None and (frame.envelope.sequence or 0) > expected

    # Where frames are missing in both directions, the error frame of each end is itself behind a gap. It has its effect
    # all the same: the frames that it asks for are sent again, and it is processed when its turn comes.
    def _resend_early(self, frame: Frame) -> Effects:
        """Send again what the peer misses, where an error frame that came before its turn asks for it."""
        if not _is_failure(frame):
            return NO_EFFECTS
        message = self._parts.codec.decode(frame, keep_refs=True)
        error = read_error(message) if isinstance(message, Message) else None
        if error is None or error.code != ErrorCode.SEQUENCE_GAP:
            return NO_EFFECTS
        return self.resumption.take_gap(error, frame.envelope.correlation_id)

    def _hold(self, frame: Frame) -> Effects:
        """Report a frame that is kept until its turn; name the missing one to the sender, now or after `gap_delay`."""
        parts, mid = self._parts, frame.envelope.msg_id
        expected = parts.inbox.expected(frame.sender) or 0
        if parts.options.gap_delay:
            self.gap_at = self.gap_at or parts.now + parts.options.gap_delay
            return Effects(events=(FrameHeld(msg_id=f"{mid}", expected=expected, reply=None),))
        reply = self._report_gap(frame)
        return reply + Effects(events=(FrameHeld(msg_id=f"{mid}", expected=expected, reply=_last_frame(reply)),))

    def _report_gap(self, frame: Frame) -> Effects:
        """Name the missing frame to the sender of a frame that waits for it."""
        gap = ProtocolError("an earlier frame is missing", code=ErrorCode.SEQUENCE_GAP)
        return NO_EFFECTS if _is_failure(frame) else self._sender.send_error(gap, frame)

    def handle_timer(self) -> Effects:
        """Name the frames that are still missing after `gap_delay`."""
        parts = self._parts
        if self.gap_at is None or parts.now < self.gap_at:
            return NO_EFFECTS
        held = parts.inbox.first_held()
        self.gap_at = parts.now + parts.options.gap_delay if held else None
        return Effects.all(self._report_gap(arrival.frame) for arrival in held)

    def _process(self, arrival: Arrival) -> Effects:
        """Process a frame whose turn it is."""
        parts, frame = self._parts, arrival.frame
        is_stopped = parts.chains.exchanges.is_stopped(parts.chains.chain_of(frame), frame.intent)
        if is_stopped and frame.intent is not Intent.CANCEL:
            return self._drop(frame, "cancelled")
        # "At session start, agents MUST exchange registry versions" (section 6.4)
        if parts.options.registry_first and not (parts.negotiation.is_peer_known or may_come_first(frame)):
            raise ProtocolError("expected the registry before any other frame", code=ErrorCode.POLICY_DENIED)
        return self._decode(IncomingFrame(arrival))

    def _decode(self, incoming: IncomingFrame) -> Effects:
        """Decode a frame with the values of its references, or wait for those in the cold store."""
        codec, resolved = self._parts.codec, incoming.resolved
        result = (
            codec.join(incoming.chunks, resolved) if incoming.chunks else codec.decode(incoming.arrival.frame, resolved)
        )
        if isinstance(result, Message):
            # A frame of chunks came with the one that was missing, which need not be the last of them.
            whole = replace(result, envelope=incoming.arrival.envelope) if incoming.chunks else result
            return self._deliver(whole, incoming)
        for ref in result.refs:
            value = self._parts.look_up(ref)
            if isinstance(value, ColdKey):
                incoming.missing[ref] = value
            else:
                resolved[ref] = value
        return self._wait(incoming)

    def _wait(self, incoming: IncomingFrame) -> Effects:
        """Ask for the texts that are missing, or continue where none is."""
        self._blocked = incoming if incoming.missing else None
        if not incoming.missing:
            return self._decode(incoming)
        return Effects(events=(RefsNeeded(keys=tuple(dict.fromkeys(incoming.missing.values()))),))

    def _fill(self, incoming: IncomingFrame, texts: Mapping[ColdKey, str | None]) -> Effects:
        """Take the texts that were read; refuse the frame where one is not in the store or is another text."""
        for ref, key in list(incoming.missing.items()):
            if key in texts:
                incoming.resolved[ref] = json_to_value(checked_text(key.key, texts[key]))
                del incoming.missing[ref]
        return self._wait(incoming)

    def _deliver(self, message: Message, incoming: IncomingFrame) -> Effects:
        """Do what a message asks of the session, and report it."""
        parts, arrival = self._parts, incoming.arrival
        if is_frame_chunk(message):
            parts.notify(Direction.RECEIVED, arrival.frame, arrival.text)
            chunks = parts.chains.joiner.add(message)
            return NO_EFFECTS if chunks is None else self._decode(IncomingFrame(arrival, chunks))
        check_incoming(message, parts.transactions)
        if parts.tools is not None and message.schema == "TC" and message.intent is Intent.REQUEST:
            check_tool_call(message, parts.tools)
        if parts.observe is not None:
            seen = (None, None) if incoming.chunks else (arrival.frame, arrival.text)
            parts.notify(Direction.RECEIVED, *seen, payload=message.payload, defaulted=message.defaulted)
        handle = _HANDLERS.get((message.intent, message.operation)) or _HANDLERS.get((message.intent, ""))
        return (handle or Receiver._report)(self, message, incoming)

    def _report(self, message: Message, incoming: IncomingFrame) -> Effects:
        """Move the exchange of a message, and report the message."""
        parts, error = self._parts, read_error(message)
        if error is not None and error.code in _STILL_OPEN:
            is_gap = error.code == ErrorCode.SEQUENCE_GAP
            effects = self.resumption.take_gap(error, message.envelope.correlation_id) if is_gap else NO_EFFECTS
        else:
            effects = parts.chains.update(parts.chains.next_exchange(message), message, parts.now, ours=False)
        notes = () if message.envelope.timestamp is not None else ("the frame has no timestamp",)
        received = Effects(events=(MessageReceived(message=message, notes=notes),))
        return effects + received + parts.remember(message, incoming.body())

    def _take_chunk(self, message: Message, incoming: IncomingFrame) -> Effects:
        if message.schema != "ST":
            return self._report(message, incoming)
        return self._parts.chains.add_chunk(message, self._parts.now)

    def _end_stream(self, message: Message, incoming: IncomingFrame) -> Effects:
        return self._parts.chains.close_stream(message) + self._report(message, incoming)

    def _cancel(self, message: Message, _: IncomingFrame) -> Effects:
        return self._parts.chains.cancel(read_target(message), message.sender, self._parts.now)

    def _answer_ping(self, message: Message, _: IncomingFrame) -> Effects:
        return self._sender.send_control(Intent.PONG, message.operation, {}, message.envelope.msg_id)

    def _take_pong(self, message: Message, _: IncomingFrame) -> Effects:
        """Take what a pong acknowledges; the heartbeat has recorded the frame already."""
        return self.resumption.take_pong(message)

    def _negotiate(self, message: Message, _: IncomingFrame) -> Effects:
        parts = self._parts
        events, answer = parts.negotiation.receive(message.payload)
        parts.use_registry(parts.negotiation.registry)
        reply = NO_EFFECTS if answer is None else self._sender.send_control(Intent.SYNCHRONIZE, "registry", answer)
        return Effects(events=tuple(events)) + reply

    def _take_context(self, message: Message, _: IncomingFrame) -> Effects:
        event = self._parts.context.receive_context(message, self._parts.agent_id)
        if event is None:
            return NO_EFFECTS
        query = NO_EFFECTS
        if isinstance(event, ResyncRequested):
            query = self._sender.send_control(Intent.QUERY, "state", {"version": event.version})
        return query + Effects(events=(event,))

    def _give_context(self, message: Message, _: IncomingFrame) -> Effects:
        """Answer a peer that misses a delta with the whole context."""
        state, version = self._parts.context.state, message.payload.get("version")
        payload = {"version": state.version, "context": dict(state.context)}
        reply = self._sender.send_control(Intent.SYNCHRONIZE, "state", payload, message.envelope.msg_id)
        known = version if isinstance(version, int) else 0
        return reply + Effects(events=(ResyncRequested(sender=message.sender, version=known),))


_HANDLERS: Final[Mapping[tuple[Intent, str], Callable[[Receiver, Message, IncomingFrame], Effects]]] = {
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


# Frames are not signed: whom a frame is of is as certain as the transport's word for its sender.
def check_sender(sender: str, agent_id: str, peer: Peer | None) -> None:
    """Refuse a frame in our own name, and one of an agent that does not belong to the peer.

    Raises:
        ProtocolError: E5001.
    """
    if sender == agent_id or (peer is not None and sender not in peer.agents):
        allowed = "another agent than this one" if peer is None else f"an agent of {peer.principal!r}"
        raise ProtocolError(f"expected a frame of {allowed}, found @{sender}", code=ErrorCode.POLICY_DENIED)


def may_come_first(frame: Frame) -> bool:
    """Return whether a frame may come before the registry: a `ping:resume` asks for one that was lost on its way."""
    is_registry = frame.intent is Intent.SYNCHRONIZE and frame.operation == "registry"
    return is_registry or is_greeting(frame) or frame.intent is Intent.FAILURE
