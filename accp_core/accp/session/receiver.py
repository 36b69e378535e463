"""From the text of a frame to what it means for the session, check after check (ACCP sections 3.7, 7.3 and 9).

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
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, TypeVar

from accp_core.accp.codec.chunking import is_piece
from accp_core.accp.debug import Direction
from accp_core.accp.frame import Envelope, Frame, Ref, Value
from accp_core.accp.message import Message
from accp_core.accp.parser import parse_frame
from accp_core.accp.profiles import ErrorReport, check_incoming, check_tool_call, read_error
from accp_core.accp.session.delivery import has_expired
from accp_core.accp.session.events import (
    FrameDropped,
    FrameHeld,
    FrameRefused,
    MessageReceived,
    RefsNeeded,
    ResyncRequested,
    StreamChunkReceived,
    StreamEnded,
)
from accp_core.accp.session.parts import Conversation
from accp_core.accp.session.sender import Sender, read_target
from accp_core.accp.state.context_state import ColdKey
from accp_core.accp.values import read_cold
from accp_core.accp.vocabulary import Intent
from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError, ProtocolError

__all__ = ["Receiver"]

_T = TypeVar("_T")

_FAILURE: Final = re.compile(r"@[A-Za-z0-9_-]++>fail:")
# What these say was processed already, or is asked for again: the request they name goes on.
_STILL_OPEN: Final = frozenset({ErrorCode.DUPLICATE, ErrorCode.SEQUENCE_GAP})


@dataclass(slots=True)
class _Arrival:
    """A frame whose turn it is, and what its references stand for so far."""

    frame: Frame
    """The frame; of one that came in pieces, the last of them."""
    pieces: tuple[Message, ...] = ()
    """All pieces, of a frame that came so."""
    resolved: dict[Ref, Value] = field(default_factory=dict)
    """What was found."""
    wanted: dict[Ref, ColdKey] = field(default_factory=dict)
    """What must be read from the cold store."""


class Receiver:
    """Takes frames in their order and tells what they mean."""

    def __init__(self, conversation: Conversation, sender: Sender) -> None:
        """Begin with no frame; `sender` queues the answers."""
        self._shared = conversation
        self._sender = sender
        self._ready: deque[Frame] = deque()
        self._blocked: _Arrival | None = None

    def __len__(self) -> int:
        """Return how many frames wait for a text of the cold store."""
        return len(self._ready) + (self._blocked is not None)

    def receive(self, text: str) -> None:
        """Take the text of a frame; whatever is wrong with it is refused and reported, and never raised."""
        codec = self._shared.codec
        try:
            frame = parse_frame(text, strict=codec.strict, decimal_type=codec.decimal_type, limits=codec.grammar)
        except DecodeError as error:
            self._refuse(None, error, silent=_FAILURE.match(text) is not None)
        else:
            self._guard(frame, self._admit, frame)
            self._work()

    def resolve(self, texts: Mapping[ColdKey, str | None]) -> None:
        """Go on with the frame that waits for `texts`; None for a text that the store has not."""
        arrival, self._blocked = self._blocked, None
        if arrival is not None:
            self._guard(arrival.frame, partial(self._fill, arrival), texts)
            self._work()

    def _work(self) -> None:
        """Process what is ready, until a frame has to wait for the cold store."""
        while self._ready and self._blocked is None:
            frame = self._ready.popleft()
            self._guard(frame, self._process, frame)

    def _guard(self, frame: Frame, step: Callable[[_T], None], subject: _T) -> None:
        """Do one step for a frame; refuse the frame when it cannot be done."""
        try:
            step(subject)
        except ProtocolError as error:
            self._refuse(frame, error)
        except Exception as cause:  # a fault of ours must not end a session: the peer is told, and so is the caller
            self._refuse(frame, ProtocolError("internal error", code=ErrorCode.INTERNAL_ERROR), cause=cause)

    # A `fail` is never answered by a `fail`: two agents would refuse each other for ever.
    def _refuse(
        self, frame: Frame | None, error: ProtocolError, *, silent: bool = False, cause: Exception | None = None
    ) -> None:
        silent = silent or (frame is not None and frame.intent is Intent.FAILURE)
        reply = None if silent else self._sender.send_error(error, frame)
        refused = FrameRefused(code=error.code, reason=error.reason, frame=frame, reply=reply, cause=cause)
        self._shared.events.append(refused)
        self._shared.see(Direction.RECEIVED, frame, code=error.code, reason=error.reason)

    def _drop(self, frame: Frame, reason: str) -> None:
        self._shared.events.append(FrameDropped(frame=frame, reason=reason))
        self._shared.see(Direction.RECEIVED, frame, reason=reason)

    def _admit(self, frame: Frame) -> None:
        """Look at the metadata, the age, the id and the number of a frame, and queue what may be processed."""
        shared = self._shared
        check_envelope(frame.envelope, shared.session_id)
        if has_expired(frame.envelope, shared.now, shared.options.skew):
            self._drop(frame, "expired")
            self._ready += shared.inbox.skip(frame)
            return
        if len(self._ready) >= shared.options.backlog:
            raise ProtocolError("frames before this one still wait", code=ErrorCode.SEQUENCE_GAP)
        self._heed(frame)
        admitted = shared.inbox.admit(frame)
        if admitted is None:
            self._hold(frame)
        else:
            self._ready += admitted

    # Where frames are missing in both directions, each end's word for it is behind a gap of the other's. It is heeded
    # all the same: the frames that it asks for leave unchanged, and it is processed when its turn comes.
    def _heed(self, frame: Frame) -> None:
        """Send again what a peer lacks, as an error frame says that came before its turn."""
        expected = self._shared.inbox.expected(frame.sender)
        if frame.intent is not Intent.FAILURE or expected is None or (frame.envelope.sequence or 0) <= expected:
            return
        message = self._shared.codec.decode(frame, keep_refs=True)
        error = read_error(message) if isinstance(message, Message) else None
        if error is not None and error.code == ErrorCode.SEQUENCE_GAP:
            self._send_again(error)

    def _hold(self, frame: Frame) -> None:
        expected, mid = self._shared.inbox.expected(frame.sender), frame.envelope.msg_id
        gap = ProtocolError("an earlier frame is missing", code=ErrorCode.SEQUENCE_GAP)
        reply = None if frame.intent is Intent.FAILURE else self._sender.send_error(gap, frame)
        self._shared.events.append(FrameHeld(msg_id=f"{mid}", expected=expected or 0, reply=reply))

    def _process(self, frame: Frame) -> None:
        """Process a frame whose turn it is."""
        shared = self._shared
        stopped = shared.exchanges.is_stopped(shared.chain_of(frame), frame.intent)
        if stopped and frame.intent is not Intent.CANCEL:
            self._drop(frame, "cancelled")
            return
        # "At session start, agents MUST exchange registry versions" (section 6.4)
        if shared.options.registry_first and not (shared.negotiation.heard or may_come_first(frame)):
            raise ProtocolError("the registry comes first", code=ErrorCode.POLICY_DENIED)
        self._decode(_Arrival(frame))

    def _decode(self, arrival: _Arrival) -> None:
        """Read a frame with all that it refers to, or wait for what is in the cold store."""
        codec, resolved = self._shared.codec, arrival.resolved
        result = codec.join(arrival.pieces, resolved) if arrival.pieces else codec.decode(arrival.frame, resolved)
        if isinstance(result, Message):
            self._deliver(result, arrival)
            return
        for ref in result.refs:
            found = self._shared.look_up(ref)
            if isinstance(found, ColdKey):
                arrival.wanted[ref] = found
            else:
                resolved[ref] = found
        self._wait(arrival)

    def _wait(self, arrival: _Arrival) -> None:
        """Ask for what is still wanted, or go on when nothing is."""
        self._blocked = arrival if arrival.wanted else None
        if arrival.wanted:
            keys = tuple(dict.fromkeys(arrival.wanted.values()))
            self._shared.events.append(RefsNeeded(keys=keys))
        else:
            self._decode(arrival)

    def _fill(self, arrival: _Arrival, texts: Mapping[ColdKey, str | None]) -> None:
        """Take the texts that came; a text that the store has not refuses the frame."""
        for ref, key in list(arrival.wanted.items()):
            text = texts.get(key, "")
            if text is None:
                raise ProtocolError(f"nothing is stored as ${ref.key}", code=ErrorCode.REF_NOT_FOUND)
            if key in texts:
                arrival.resolved[ref] = read_cold(text)
                del arrival.wanted[ref]
        self._wait(arrival)

    def _deliver(self, message: Message, arrival: _Arrival) -> None:
        """Do what a message says, and report it."""
        shared = self._shared
        if is_piece(message):
            shared.see(Direction.RECEIVED, arrival.frame)
            pieces = shared.joiner.add(message)
            if pieces is not None:
                self._decode(_Arrival(arrival.frame, pieces))
            return
        check_incoming(message, shared.transactions)
        if shared.tools is not None and message.schema == "TC" and message.intent is Intent.REQUEST:
            check_tool_call(message, shared.tools)
        frame = None if arrival.pieces else arrival.frame
        shared.see(Direction.RECEIVED, frame, payload=message.payload, defaulted=message.defaulted)
        action = _ACTIONS.get((message.intent, message.operation)) or _ACTIONS.get((message.intent, ""))
        (action or Receiver._move)(self, message, arrival)

    def _move(self, message: Message, arrival: _Arrival) -> None:
        """Move the message's exchange, and report the message."""
        shared, error = self._shared, read_error(message)
        if error is not None and error.code in _STILL_OPEN:
            self._send_again(error)
        else:
            shared.keep(shared.moved(message), message, ours=False)
        notes = () if message.envelope.timestamp is not None else ("the frame has no timestamp",)
        shared.events.append(MessageReceived(message=message, notes=notes))
        shared.remember(message, None if arrival.pieces else arrival.frame)

    def _send_again(self, error: ErrorReport) -> None:
        """Send the frames again that a peer lacks, unchanged."""
        expected = error.detail.get("expected") if isinstance(error.detail, Mapping) else None
        if type(expected) is int:
            self._shared.outgoing += self._shared.outbox.since(expected)

    def _take_chunk(self, message: Message, arrival: _Arrival) -> None:
        """Report the chunks whose turn it is; the exchange ends with the last one."""
        shared, chain = self._shared, self._shared.chain_of(message)
        if message.schema != "ST":
            self._move(message, arrival)
            return
        going_on = shared.moved(message) or shared.exchanges.get(chain)
        shared.exchanges.check(going_on)
        ready, complete = shared.streams.add(chain, message)
        shared.events += [StreamChunkReceived(chain=chain, message=chunk) for chunk in ready]
        shared.keep(shared.moved(message, final=True) if complete else going_on, message, ours=False)
        if complete:
            shared.events.append(StreamEnded(chain=chain))

    def _end_stream(self, message: Message, arrival: _Arrival) -> None:
        """End a stream; a chunk that is missing is refused."""
        chain = self._shared.chain_of(message)
        if self._shared.streams.close(chain):
            self._shared.events.append(StreamEnded(chain=chain))
        self._move(message, arrival)

    def _cancel(self, message: Message, _: _Arrival) -> None:
        target = read_target(message)
        self._shared.cancel(self._shared.exchanges.find(target), message.sender)

    def _answer_ping(self, message: Message, _: _Arrival) -> None:
        self._sender.say(Intent.PONG, message.operation, {}, message.envelope.msg_id)

    def _take_pong(self, message: Message, _: _Arrival) -> None:
        """That something was heard is all that a pong says."""

    def _negotiate(self, message: Message, _: _Arrival) -> None:
        shared = self._shared
        events, answer = shared.negotiation.receive(message.payload)
        shared.events += events
        shared.codec = replace(shared.codec, registry=shared.negotiation.registry)
        if answer is not None:
            self._sender.say(Intent.SYNCHRONIZE, "registry", answer)

    def _take_context(self, message: Message, _: _Arrival) -> None:
        shared = self._shared
        happened = shared.memory.receive_context(message, shared.agent_id)
        if isinstance(happened, ResyncRequested):
            self._sender.say(Intent.QUERY, "state", {"version": happened.version})
        if happened is not None:
            shared.events.append(happened)

    def _give_context(self, message: Message, _: _Arrival) -> None:
        """Answer a peer that lacks a delta with the whole context."""
        state, version = self._shared.memory.state, message.payload.get("version")
        payload = {"version": state.version, "context": dict(state.context)}
        self._sender.say(Intent.SYNCHRONIZE, "state", payload, message.envelope.msg_id)
        known = version if isinstance(version, int) else 0
        self._shared.events.append(ResyncRequested(sender=message.sender, version=known))


_ACTIONS: Final[Mapping[tuple[Intent, str], Callable[[Receiver, Message, _Arrival], None]]] = {
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


# "Frames missing "mid" or "seq" MUST be rejected." (section 3.5)
def check_envelope(envelope: Envelope, session_id: str) -> None:
    """Refuse a frame without what delivery stands on, and one of another session."""
    if envelope.msg_id is None or envelope.sequence is None:
        raise ProtocolError("a frame has a mid and a seq", code=ErrorCode.PARSE_ERROR)
    if envelope.ttl and envelope.timestamp is None:
        raise ProtocolError("a frame with a ttl has a ts", code=ErrorCode.PARSE_ERROR)
    if envelope.session_id not in (None, session_id):
        raise ProtocolError("the frame is of another session", code=ErrorCode.POLICY_DENIED)


def may_come_first(frame: Frame) -> bool:
    """Return whether a frame may come before the registry."""
    says_registry = frame.intent is Intent.SYNCHRONIZE and frame.operation == "registry"
    return says_registry or frame.intent is Intent.FAILURE
