"""The parts of one session, which its sender and its receiver share (ACCP sections 3.7, 5, 6.4 and 10.4).

The request chains, the state and shared context, the negotiation of schemas, and `SessionParts`, which holds them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from accp_core.accp.codec import Codec
from accp_core.accp.debug import Direction, FrameSeen, Observer
from accp_core.accp.frame import Envelope, Frame, Intent, Message, Ref, Value
from accp_core.accp.profiles import PINNED, ToolSignature, Transactions, read_error, reply_correlation
from accp_core.accp.schema import SchemaRegistry, read_hash
from accp_core.accp.session import events as session_events
from accp_core.accp.session.delivery import Inbox, Outbox, PendingRequests, SessionLink
from accp_core.accp.session.exchanges import FINISHED, UNMOVED, Exchange, ExchangeMove, Exchanges, FrameJoiner, Streams
from accp_core.accp.state.checkpoint import Checkpoint, CheckpointTrigger, due_trigger, take_checkpoint
from accp_core.accp.state.context_state import ColdKey, ContextState, Entry
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.packing.values import diff
from accp_core.ports import Summarizer, TokenCounter

__all__ = [
    "MAX_BASES", "Arrival", "ContextTracker", "Negotiation", "Peer", "RequestChains", "SessionParts",
    "is_context_query",
]  # fmt: skip


# The request chains of a session: how a message moves one, and what that leads to (ACCP sections 3.7 and 10.4).

_REQUESTS = (Intent.REQUEST, Intent.QUERY)


class RequestChains:
    """The exchanges of a session, our requests that await an answer, and the streams that arrive."""

    def __init__(self, options: session_events.SessionOptions) -> None:
        """Start without any chain."""
        self.exchanges = Exchanges(options.exchanges)
        """The state of each chain."""
        self.pending = PendingRequests(timeout=options.timeout, retries=options.retries, delay=options.retry_delay)
        """Our requests without an answer."""
        self.joiner = FrameJoiner(options.streams)
        """Frames that arrive in chunks."""
        self._streams = Streams(options.streams)

    def __len__(self) -> int:
        """Return the number of exchanges, pending requests and streams."""
        return len(self.exchanges) + len(self.pending) + len(self._streams)

    def chain_of(self, message: Message | Frame) -> str:
        """Return the id of the chain that a message belongs to or starts."""
        return self.exchanges.find(reply_correlation(message.envelope) or "")

    def next_exchange(self, message: Message, *, final: bool = False) -> Exchange | None:
        """Return the exchange of a message after it, None where the message moves none; nothing changes yet.

        Args:
            message: A message with its envelope.
            final: Whether it is the final chunk of a stream.

        Raises:
            ProtocolError: E1002, the message is not allowed in the current state.
        """
        envelope, intent = message.envelope, message.intent
        asks = intent in _REQUESTS
        if intent in UNMOVED or is_context_query(message) or not (asks or envelope.correlation_id):
            return None
        exchange = self.exchanges.get(self.chain_of(message))
        if asks:
            parent = None if envelope.causation_id is None else self.exchanges.find(envelope.causation_id)
            exchange = Exchange(id=exchange.id, state=exchange.state, request_id=envelope.msg_id, parent=parent)
        return exchange.moved(ExchangeMove.FINAL_CHUNK if final else intent)

    def update(self, after: Exchange | None, message: Message, now: int, *, ours: bool) -> session_events.Effects:
        """Store the exchange that `next_exchange` returned for a message.

        Raises:
            ProtocolError: E2003, too many requests are open; nothing changes then.
        """
        if after is None:
            return session_events.NO_EFFECTS
        before = self.exchanges.get(after.id)
        self.exchanges.put(after)
        if message.intent in _REQUESTS:
            if ours:
                self.pending.start(after.id, message, now)
            return session_events.Effects(events=(session_events.ExchangeOpened(chain=after.id),))
        if after.state in FINISHED:
            return self._finish(after, before, message, now)
        self.pending.extend(after.id, now, waiting=message.intent is Intent.WAITING)
        return session_events.NO_EFFECTS

    def _finish(self, after: Exchange, before: Exchange, message: Message, now: int) -> session_events.Effects:
        error = read_error(message)
        self.pending.finish(after.id, now, retryable=error is not None and error.retryable)
        self._streams.drop(after.id)
        if not before.is_live:
            return session_events.NO_EFFECTS
        return session_events.Effects(
            events=(session_events.ExchangeClosed(chain=after.id, code=error.code if error else None),)
        )

    def add_chunk(self, chunk: Message, now: int) -> session_events.Effects:
        """Take a chunk of a stream and report the chunks that are next in order; the last one ends the exchange.

        Raises:
            ProtocolError: E1002 as `next_exchange`; E2003, too many requests are open; or as `Streams.add`.
        """
        chain = self.chain_of(chunk)
        going_on = self.next_exchange(chunk) or self.exchanges.get(chain)
        self.exchanges.check(going_on)
        ready, is_complete = self._streams.add(chain, chunk)
        effects = session_events.Effects(
            events=tuple(session_events.StreamChunkReceived(chain=chain, message=each) for each in ready)
        )
        if not is_complete:
            return effects + self.update(going_on, chunk, now, ours=False)
        ended = self.update(self.next_exchange(chunk, final=True), chunk, now, ours=False)
        return effects + ended + session_events.Effects(events=(session_events.StreamEnded(chain=chain),))

    def close_stream(self, message: Message) -> session_events.Effects:
        """End the stream that an `end` message names, if one is arriving.

        Raises:
            ProtocolError: E3003, a chunk is missing.
        """
        chain = self.chain_of(message)
        return (
            session_events.Effects(events=(session_events.StreamEnded(chain=chain),))
            if self._streams.close(chain)
            else session_events.NO_EFFECTS
        )

    # "A "cancel" intent frame referencing a "correlation_id" MUST stop all processing for that request chain."
    def cancel(self, name: str, sender: str, now: int) -> session_events.Effects:
        """Stop a chain of either end and every chain that it caused.

        Args:
            name: The id of the chain, or the msg_id of its request.
            sender: The agent that cancels; its unfinished frames of the chain are dropped.
            now: The current time, in seconds of the Unix epoch.
        """
        stopped = self.exchanges.cancel(self.exchanges.find(name))
        for chain in stopped:
            self.pending.finish(chain, now)
            self._streams.drop(chain)
            self.joiner.drop(sender, chain)
        return session_events.Effects(
            events=tuple(session_events.ExchangeClosed(chain=chain, cancelled=True) for chain in stopped)
        )

    def give_up(self, chain: str, now: int) -> session_events.Effects:
        """Close a chain of ours that got no answer in time (E3001)."""
        self.pending.finish(chain, now)
        exchange = self.exchanges.get(chain)
        if exchange.is_live:
            self.exchanges.put(exchange.moved(Intent.FAILURE))
        return session_events.Effects(events=(session_events.ExchangeClosed(chain=chain, code=ErrorCode.TIMEOUT),))


def is_context_query(message: Message | Frame) -> bool:
    """Return whether a message asks for the shared context, which a `sync:state` message answers."""
    return message.intent is Intent.QUERY and message.operation == "state"


# The state of a session: hot messages and their checkpoints, and the context shared with peers (ACCP section 5).

_CHARS_OF_TOKEN: Final = 16
"""Characters of a token at most, in nearly all texts."""


class ContextTracker:
    """Keeps the state of one session up to date and small."""

    def __init__(
        self,
        state: ContextState,
        counter: TokenCounter,
        *,
        summarizer: Summarizer | None,
        lifetime: int | None,
        triggers: Collection[CheckpointTrigger] = frozenset(CheckpointTrigger),
    ) -> None:
        """Start with `state`.

        Args:
            state: The state of the session.
            counter: Counts the tokens of what is kept.
            summarizer: Writes the summaries of checkpoints; None: they are made by rule.
            lifetime: Seconds for which the raw data of a checkpoint may be read; None: as long as the store keeps it.
            triggers: When a checkpoint is taken; where hot state is too big, one is always taken.
        """
        self._hot: dict[str, Entry] = {}
        self._hot_tokens = 0
        self._is_newer = False
        self._state = self.state = state
        self._counter = counter
        self._summarizer = summarizer
        self._lifetime = lifetime
        self._triggers = {*triggers, CheckpointTrigger.HOT_LIMIT}
        self._resync = False

    # Each frame adds an entry: a state for each of them would copy all entries and add up their tokens again.
    @property
    def state(self) -> ContextState:
        """The current state; only the tracker replaces it."""
        if self._is_newer:
            self._state, self._is_newer = replace(self._state, hot=dict(self._hot)), False
        return self._state

    @state.setter
    def state(self, state: ContextState) -> None:
        self._state, self._is_newer = state, False
        self._hot, self._hot_tokens = dict(state.hot), state.hot_tokens

    # "Tier 1: HOT STATE (in-context)  Current frame + immediate parent frames."
    def remember(
        self, key: str, message: Message, text: str, now: int, tokens: int | None = None
    ) -> session_events.Effects:
        """Put a message into hot state, and take the checkpoints that this makes due.

        Args:
            key: The key of its entry, such as its msg_id.
            message: The message.
            text: Its frame without metadata, which is counted and becomes the raw data of a checkpoint.
            now: The current time, in seconds of the Unix epoch.
            tokens: The tokens of the text, where they are known.
        """
        entry = Entry(
            value={"intent": message.intent.value, **message.payload},
            tokens=self._count(text) if tokens is None else tokens,
            text=text,
            entity=f"{message.sender}.{message.operation}",
        )
        effects = session_events.NO_EFFECTS
        limits = self._state.limits
        if self._hot and self._hot_tokens + entry.tokens > limits.hot:
            effects += self._take(CheckpointTrigger.HOT_LIMIT, now)
        # An entry that is too big for the tier by itself stays only until the checkpoint that it makes due.
        before = self._hot.get(key)
        self._hot[key], self._is_newer = entry, True
        self._hot_tokens += entry.tokens - (before.tokens if before else 0)
        trigger = due_trigger(self._hot_tokens, limits, message.intent, self._triggers)
        return effects if trigger is None else effects + self._take(trigger, now)

    def _count(self, text: str) -> int:
        """Return the tokens of a text; if its beginning alone is too big for the tier, those of the beginning."""
        most = self._state.limits.hot
        beginning = self._counter(text[: most * _CHARS_OF_TOKEN])
        return beginning if beginning > most or len(text) <= most * _CHARS_OF_TOKEN else self._counter(text)

    def checkpoint(self, trigger: CheckpointTrigger, now: int) -> Checkpoint:
        """Take a checkpoint; the caller stores `Checkpoint.stored`."""
        self.state, taken = take_checkpoint(
            self.state, trigger, now, self._counter, self._summarizer, lifetime=self._lifetime
        )
        return taken

    def _take(self, trigger: CheckpointTrigger, now: int) -> session_events.Effects:
        taken = self.checkpoint(trigger, now)
        return session_events.Effects(events=(session_events.CheckpointTaken(checkpoint=taken),), stored=taken.stored)

    def receive_context(
        self, message: Message, agent_id: str
    ) -> session_events.StateChanged | session_events.ResyncRequested | None:
        """Apply a `sync:state` message of a peer; return what happened, None where the message comes too late.

        Two agents may change one version at the same time. The change of the agent whose id sorts first then holds,
        and the other agent asks for it.

        Args:
            message: The message of the peer.
            agent_id: The agent at this end.

        Raises:
            ProtocolError: E1004, it has no version, or neither delta nor context; E2003, the context gets too big.
        """
        version, before = message.payload.get("version"), self.state
        if "delta" in message.payload:
            changed = before.apply_delta(version, message.payload["delta"])
        else:
            changed = before.with_context(version, message.payload.get("context"))
            if changed.version <= before.version and not self._resync:
                return None
            self._resync = False
        if changed is not None:
            self.state = changed
            return session_events.StateChanged(version=changed.version, changes=diff(before.context, changed.context))
        if isinstance(version, int) and version <= before.version and agent_id < message.sender:
            return None
        self._resync = True
        return session_events.ResyncRequested(sender=agent_id, version=before.version)

    def send_context(self, payload: Mapping[str, Value]) -> None:
        """Apply the payload of a `sync:state` message of our own.

        Raises:
            ProtocolError: E1004, its version is not the next one, or it has neither delta nor context; E2003, the
                context gets too big. Nothing has changed.
        """
        version = payload.get("version")
        if "delta" not in payload:
            self.state = self.state.with_context(version, payload.get("context"))
            return
        changed = self.state.apply_delta(version, payload["delta"])
        if changed is None:
            reason = f"expected version {self.state.version + 1} of the context, found {version!r}"
            raise ProtocolError(reason, code=ErrorCode.INVALID_TYPE)
        self.state = changed


# How two agents agree on their schemas (ACCP section 6.4).
#
# we                                             the peer
# sync:registry{v:3|hash:a7f2c1}         ────►   the same hash: agreed; it announces its own hash once
#                                        ◄────   another hash: its whole registry, once
# both registries merged, as a delta     ────►   which it merges as well: agreed

RegistryEvent: TypeAlias = session_events.RegistryAgreed | session_events.RegistryUpdated

MAX_BASES: Final = 4
"""Our last registries, to any of which a delta of the peer may refer."""


class Negotiation:
    """The negotiation of one session: which registries were announced and sent by both sides."""

    def __init__(self, registry: SchemaRegistry) -> None:
        """Start with our registry; nothing was announced yet."""
        self._registry = registry
        self._bases = deque([registry], maxlen=MAX_BASES)
        # Hashes: of what we announced last, sent in full last, and of the peer's that we answered by our own hash.
        self._announced = ""
        self._offered = ""
        self._differed = ""
        self.is_peer_known = False
        """Whether the peer announced its registry, so that other frames may follow."""

    @property
    def registry(self) -> SchemaRegistry:
        """Our current registry."""
        return self._registry

    @property
    def announced(self) -> bool:
        """Whether our current registry was announced to the peer."""
        return self._announced == self._registry.hash

    def change(self, registry: SchemaRegistry) -> None:
        """Replace our registry."""
        self._registry = registry
        self._bases.append(registry)

    # "At session start, agents MUST exchange registry versions"
    def announce(self) -> dict[str, Any]:
        """Return the payload that announces our registry."""
        self._announced = self._registry.hash
        return self._registry.announcement()

    # "If hashes match, no further exchange is needed. On mismatch, the full registry delta is transmitted once and
    # cached."
    def receive(self, payload: Mapping[str, Any]) -> tuple[list[RegistryEvent], dict[str, Any] | None]:
        """Return the events of the peer's `sync:registry` payload, and the payload of our answer, None for no answer.

        Raises:
            ProtocolError: E1004, the payload announces no registry; E5001, its registry is not the announced one, or
                its schemas conflict with ours.
        """
        announced = read_hash(payload.get("hash"))
        events: list[RegistryEvent] = []
        base = None
        if "schemas" in payload:
            peer = SchemaRegistry.from_offer(payload, self._bases)
            merged = self._registry.merged(peer, pinned=PINNED)
            if merged.hash != self._registry.hash:
                self.change(merged)
                events.append(session_events.RegistryUpdated(version=merged.version, hash=merged.hash))
            announced, base = peer.hash, peer
        self.is_peer_known = True
        if not self._registry.matches(announced):
            return events, self._differ(announced, base)
        events.append(session_events.RegistryAgreed(version=self._registry.version, hash=self._registry.hash))
        return events, None if self.announced else self.announce()

    def _differ(self, announced: str, base: SchemaRegistry | None) -> dict[str, Any] | None:
        """Return our whole registry, once; after that our hash, so that the peer sends its registry; then nothing."""
        if self._offered != self._registry.hash:
            self._offered = self._announced = self._registry.hash
            return self._registry.offer(base)
        if self._differed == announced:
            return None
        self._differed = announced
        return self.announce()


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
    options: session_events.SessionOptions
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

    def expect_numbers(self, options: session_events.SessionOptions) -> None:
        """Take other options, where no frame was received."""
        self.options, sent = options, self.inbox.sent
        self.inbox = _new_inbox(options)
        self.inbox.sent = sent

    def use_registry(self, registry: SchemaRegistry) -> None:
        """Encode and decode with another registry from now on."""
        self.codec = replace(self.codec, registry=registry)

    def remember(self, message: Message, body: str, tokens: int | None = None) -> session_events.Effects:
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


def _new_inbox(options: session_events.SessionOptions) -> Inbox[Arrival]:
    """Return an inbox without frames, as the options say."""
    return Inbox(
        options.scope,
        remembered=options.remembered,
        reorder=options.reorder,
        senders=options.senders,
        first=options.first,
    )
