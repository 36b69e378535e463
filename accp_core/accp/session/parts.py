"""The parts of one session, which its sender and its receiver share (ACCP section 3.7)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from accp_core.accp.codec import Codec
from accp_core.accp.debug import Direction, FrameSeen, Observer
from accp_core.accp.frame import Envelope, Frame, Ref, Value
from accp_core.accp.message import Message
from accp_core.accp.profiles import ToolSignature, Transactions
from accp_core.accp.schema import SchemaRegistry
from accp_core.accp.session.chains import RequestChains
from accp_core.accp.session.context_tracker import ContextTracker
from accp_core.accp.session.delivery import Inbox, Outbox, SessionLink
from accp_core.accp.session.effects import Effects
from accp_core.accp.session.negotiation import Negotiation
from accp_core.accp.session.options import SessionOptions
from accp_core.accp.state.context_state import ColdKey
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["Arrival", "Peer", "SessionParts"]

_MAX_REF_HOPS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """Whom the transport has authenticated at the other end of a session."""

    principal: str
    """Its name, for logs and errors."""
    agents: frozenset[str]
    """The agents in whose names it may send."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A received frame and its text, which is not parsed or serialized a second time."""

    frame: Frame
    text: str

    @property
    def sender(self) -> str:
        """The sending agent."""
        return self.frame.sender

    @property
    def envelope(self) -> Envelope:
        """The metadata."""
        return self.frame.envelope


@dataclass(slots=True, kw_only=True)
class SessionParts:
    """The parts of one session."""

    session_id: str
    agent_id: str
    options: SessionOptions
    codec: Codec
    """With the schemas that are known now."""
    context: ContextTracker
    grants: Collection[ColdKey] = ()
    """Texts of other sessions that this one may read."""
    tools: Mapping[str, ToolSignature] | None = None
    """The tools that a peer may call; None: calls are not checked."""
    observe: Observer | None = None
    now: int = 0
    """The current time, in seconds of the Unix epoch."""
    link: SessionLink = field(default_factory=SessionLink)
    inbox: Inbox[Arrival] = field(init=False)
    outbox: Outbox = field(init=False)
    chains: RequestChains = field(init=False)
    negotiation: Negotiation = field(init=False)
    transactions: Transactions = field(default_factory=Transactions)

    def __post_init__(self) -> None:
        options = self.options
        self.inbox = _new_inbox(options)
        self.outbox = Outbox(frames=options.sent_frames, characters=options.sent_characters)
        self.chains = RequestChains(options)
        self.negotiation = Negotiation(self.codec.registry)

    def expect_numbers(self, options: SessionOptions) -> None:
        """Take other options, where no frame was received."""
        self.options, sent = options, self.inbox.sent
        self.inbox = _new_inbox(options)
        self.inbox.sent = sent

    def use_registry(self, registry: SchemaRegistry) -> None:
        """Encode and decode with another registry from now on."""
        self.codec = replace(self.codec, registry=registry)

    def remember(self, message: Message, body: str, tokens: int | None = None) -> Effects:
        """Put a message with a msg_id into hot state.

        Args:
            message: The message.
            body: Header and body of its frame, serialized.
            tokens: The tokens of `body`, where they are known.
        """
        return self.context.remember(f"{message.envelope.msg_id}", message, body, self.now, tokens)

    def look_up(self, ref: Ref) -> Value | ColdKey:
        """Return the value of a reference, following references to references.

        Raises:
            ProtocolError: E2001, the references lead to each other; or as `ContextState.resolve`.
        """
        value: Value | ColdKey = ref
        for _ in range(_MAX_REF_HOPS):
            if not isinstance(value, Ref):
                return value
            value = self.context.state.resolve(value, self.now, self.grants)
        raise ProtocolError(
            f"expected ${ref.key} to lead to a value within {_MAX_REF_HOPS} references", code=ErrorCode.REF_NOT_FOUND
        )

    def look_up_here(self, ref: Ref) -> Value:
        """Return the value of a reference in the state.

        Raises:
            ProtocolError: E2001, it is in the cold store; or as `look_up`.
        """
        value = self.look_up(ref)
        if isinstance(value, ColdKey):
            reason = f"expected a value in the state, found ${ref.key} in the cold store"
            raise ProtocolError(reason, code=ErrorCode.REF_NOT_FOUND)
        return value

    def notify(self, direction: Direction, frame: Frame | None, text: str | None = None, **details: Any) -> None:
        """Call the observer, if there is one; the tokens of `text` are counted for it only."""
        if self.observe is not None:
            tokens = None if text is None else self.codec.counter(text)
            seen = FrameSeen(direction=direction, session_id=self.session_id, frame=frame, tokens=tokens, **details)
            self.observe(replace(seen, registry=self.codec.registry))


def _new_inbox(options: SessionOptions) -> Inbox[Arrival]:
    """Return an inbox without frames, as the options say."""
    return Inbox(
        options.scope,
        remembered=options.remembered,
        reorder=options.reorder,
        senders=options.senders,
        first=options.first,
    )
