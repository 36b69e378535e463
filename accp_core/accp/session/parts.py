"""What both directions of a session share: its options, its parts, and how a frame moves its exchange (section 3.7)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from accp_core.accp.budget import FrameLimits
from accp_core.accp.codec import Codec
from accp_core.accp.debug import Direction, FrameSeen, Observer
from accp_core.accp.frame import Envelope, Frame, Ref, Value
from accp_core.accp.message import Message
from accp_core.accp.profiles import ToolSignature, Transactions, read_error, reply_correlation
from accp_core.accp.session.context_tracker import Memory
from accp_core.accp.session.delivery import Inbox, Outbox, Requests
from accp_core.accp.session.events import Event, ExchangeClosed, ExchangeOpened
from accp_core.accp.session.exchanges import FINISHED, UNMOVED, Exchange, Exchanges, Move
from accp_core.accp.session.negotiation import Negotiation
from accp_core.accp.session.options import SessionOptions
from accp_core.accp.session.streams import FrameJoiner, Streams
from accp_core.accp.state.context_state import ColdKey
from accp_core.accp.vocabulary import Intent
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["Conversation", "is_context_query"]

_REF_HOPS: Final = 8
_ANY_SIZE: Final = FrameLimits(body_hard=1 << 40, total_hard=1 << 40)


@dataclass(slots=True, kw_only=True)
class Conversation:
    """The parts of one session."""

    session_id: str
    agent_id: str
    options: SessionOptions
    codec: Codec
    memory: Memory
    grants: Collection[ColdKey] = ()
    tools: Mapping[str, ToolSignature] | None = None
    observe: Observer | None = None
    now: int = 0
    """The time that the session was told last."""
    inbox: Inbox = field(init=False)
    outbox: Outbox = field(init=False)
    exchanges: Exchanges = field(init=False)
    requests: Requests = field(init=False)
    streams: Streams = field(init=False)
    joiner: FrameJoiner = field(init=False)
    negotiation: Negotiation = field(init=False)
    transactions: Transactions = field(default_factory=Transactions)
    events: list[Event] = field(default_factory=list)
    """What nobody was told yet."""
    outgoing: list[str] = field(default_factory=list)
    """The texts of frames that nobody sent yet."""

    def __post_init__(self) -> None:
        options = self.options
        self.inbox = Inbox(
            options.scope,
            remembered=options.remembered,
            reorder=options.reorder,
            senders=options.senders,
            first=options.first,
        )
        self.outbox = Outbox(frames=options.sent_frames, characters=options.sent_characters)
        self.exchanges = Exchanges(options.exchanges)
        self.requests = Requests(timeout=options.timeout, retries=options.retries, delay=options.retry_delay)
        self.streams = Streams(options.streams)
        self.joiner = FrameJoiner(options.streams)
        self.negotiation = Negotiation(self.codec.registry)

    def chain_of(self, message: Message | Frame) -> str:
        """Return the chain that a message belongs to, or begins."""
        return self.exchanges.find(reply_correlation(message.envelope) or "")

    def moved(self, message: Message, final: bool = False) -> Exchange | None:
        """Return the exchange as a message leaves it, None where it moves none; nothing is kept yet.

        Raises: ProtocolError E1002 when the message is not allowed now.
        """
        envelope, intent = message.envelope, message.intent
        asks = intent in (Intent.REQUEST, Intent.QUERY)
        if intent in UNMOVED or is_context_query(message) or not (asks or envelope.correlation_id):
            return None
        exchange = self.exchanges.get(self.chain_of(message))
        if asks:
            parent = None if envelope.causation_id is None else self.exchanges.find(envelope.causation_id)
            exchange = replace(exchange, request_id=envelope.msg_id, parent=parent)
        return exchange.moved(Move.FINAL_CHUNK if final else intent)

    def keep(self, after: Exchange | None, message: Message, *, ours: bool) -> None:
        """Keep the exchange that a message moved, if it did, and report what this means.

        Raises: ProtocolError E2003 when too many requests are open; then nothing changed.
        """
        if after is None:
            return
        before = self.exchanges.get(after.id)
        self.exchanges.put(after)
        if message.intent in (Intent.REQUEST, Intent.QUERY):
            self.events.append(ExchangeOpened(chain=after.id))
            if ours:
                self.requests.opened(after.id, message, self.now)
        elif after.state in FINISHED:
            self._finish(after, before, message)
        else:
            self.requests.heard(after.id, self.now, waiting=message.intent is Intent.WAITING)

    def _finish(self, after: Exchange, before: Exchange, message: Message) -> None:
        error = read_error(message)
        self.requests.answered(after.id, self.now, retryable=error is not None and error.retryable)
        self.streams.drop(after.id)
        if before.is_live:
            self.events.append(ExchangeClosed(chain=after.id, code=error.code if error else None))

    # "A "cancel" intent frame referencing a "correlation_id" MUST stop all processing for that request chain."
    def cancel(self, chain: str, sender: str) -> None:
        """Stop a chain and all that it caused, ours or the peer's."""
        for stopped in self.exchanges.cancel(chain):
            self.requests.answered(stopped, self.now)
            self.streams.drop(stopped)
            self.joiner.drop(sender, stopped)
            self.events.append(ExchangeClosed(chain=stopped, cancelled=True))

    def remember(self, message: Message, frame: Frame | None) -> None:
        """Put a message, which has an id here, and its frame into hot state; None for one that came in pieces."""
        text = self._raw(message, frame)
        self.events += self.memory.remember(f"{message.envelope.msg_id}", message, text, self.now)

    # Not all that is read can be written again: a reference at the last level, a text that grows by its escapes.
    def _raw(self, message: Message, frame: Frame | None) -> str:
        """Return the text of the frame without metadata, or the payload in words where it has no such text."""
        try:
            if frame is None:
                frame = replace(self.codec, limits=_ANY_SIZE, shared_store=False).encode(message).frames[0]
            return self.codec.write(replace(frame, envelope=Envelope()))
        except ProtocolError:
            return f"@{message.sender}>{message.intent}:{message.operation} {dict(message.payload)}"

    def look_up(self, ref: Ref) -> Value | ColdKey:
        """Return what a reference stands for, through references that stand for others.

        Raises: ProtocolError as `ContextState.resolve`.
        """
        found: Value | ColdKey = ref
        for _ in range(_REF_HOPS):
            if not isinstance(found, Ref):
                return found
            found = self.memory.state.resolve(found, self.now, self.grants)
        raise ProtocolError(f"${ref.key} leads nowhere", code=ErrorCode.REF_NOT_FOUND)

    def see(self, direction: Direction, frame: Frame | None, **said: Any) -> None:
        """Tell the observer, if there is one; nothing is counted for nobody."""
        if self.observe is not None:
            seen = FrameSeen(direction=direction, session_id=self.session_id, frame=frame, **said)
            self.observe(replace(seen, registry=self.codec.registry, tokens=self._count(frame)))

    def _count(self, frame: Frame | None) -> int | None:
        try:
            return None if frame is None else self.codec.counter(self.codec.write(frame))
        except ProtocolError:
            return None


def is_context_query(message: Message | Frame) -> bool:
    """Return whether a message asks for the shared context; its answer is a `sync:state`."""
    return message.intent is Intent.QUERY and message.operation == "state"
