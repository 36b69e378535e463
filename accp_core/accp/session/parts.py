"""The parts of one session, which its sender and its receiver share (ACCP section 3.7)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from accp_core.accp.budget import FrameLimits
from accp_core.accp.codec import Codec
from accp_core.accp.debug import Direction, FrameSeen, Observer
from accp_core.accp.frame import Envelope, Frame, Ref, Value
from accp_core.accp.message import Message
from accp_core.accp.profiles import ToolSignature, Transactions
from accp_core.accp.schema import SchemaRegistry
from accp_core.accp.session.chains import RequestChains
from accp_core.accp.session.context_tracker import ContextTracker
from accp_core.accp.session.delivery import Inbox, Outbox
from accp_core.accp.session.effects import Effects
from accp_core.accp.session.negotiation import Negotiation
from accp_core.accp.session.options import SessionOptions
from accp_core.accp.state.context_state import ColdKey
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["SessionParts"]

_MAX_REF_HOPS: Final = 8
_NO_TOKEN_LIMIT: Final = FrameLimits(body_hard=1 << 40, total_hard=1 << 40)


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
    inbox: Inbox = field(init=False)
    outbox: Outbox = field(init=False)
    chains: RequestChains = field(init=False)
    negotiation: Negotiation = field(init=False)
    transactions: Transactions = field(default_factory=Transactions)

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
        self.chains = RequestChains(options)
        self.negotiation = Negotiation(self.codec.registry)

    def use_registry(self, registry: SchemaRegistry) -> None:
        """Encode and decode with another registry from now on."""
        self.codec = replace(self.codec, registry=registry)

    def remember(self, message: Message, frame: Frame | None) -> Effects:
        """Put a message with a msg_id into hot state.

        Args:
            message: The message.
            frame: Its frame; None for a message that came in chunks.
        """
        text = self._frame_text(message, frame)
        return self.context.remember(f"{message.envelope.msg_id}", message, text, self.now)

    # Not all that can be read can be written again: a reference at the last level, a text that grows by its escapes.
    def _frame_text(self, message: Message, frame: Frame | None) -> str:
        """Return the frame without metadata, or the payload in words where it cannot be written as a frame."""
        try:
            if frame is None:
                frame = replace(self.codec, limits=_NO_TOKEN_LIMIT, shared_store=False).encode(message).frames[0]
            return self.codec.write(replace(frame, envelope=Envelope()))
        except ProtocolError:
            return f"@{message.sender}>{message.intent}:{message.operation} {dict(message.payload)}"

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

    def notify(self, direction: Direction, frame: Frame | None, **details: Any) -> None:
        """Call the observer, if there is one; tokens are counted for it only."""
        if self.observe is not None:
            seen = FrameSeen(direction=direction, session_id=self.session_id, frame=frame, **details)
            self.observe(replace(seen, registry=self.codec.registry, tokens=self._count(frame)))

    def _count(self, frame: Frame | None) -> int | None:
        try:
            return None if frame is None else self.codec.counter(self.codec.write(frame))
        except ProtocolError:
            return None
