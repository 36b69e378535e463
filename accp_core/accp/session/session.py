"""One session between agents: what is sent, what is received, and when to act (ACCP sections 3.7 and 7.1).

A session does no I/O and has no clock: its caller tells it the time, hands it the texts of received frames, and after
each call, in this order, stores what `texts_to_store` returns, sends what the call or `frames_to_send` returns, acts on
the events, and calls `handle_timer` at `get_timer`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Mapping, Sized
from dataclasses import replace
from typing import Any, cast

from accp_core.accp.budget import TokenBudget
from accp_core.accp.codec import Codec
from accp_core.accp.debug import Observer
from accp_core.accp.frame import Frame, Intent, Message, Value
from accp_core.accp.profiles import ToolSignature
from accp_core.accp.schema import Schema
from accp_core.accp.session.delivery import FrameText, Heartbeat
from accp_core.accp.session.events import (
    NO_EFFECTS,
    Effects,
    Event,
    EventsDropped,
    HeartbeatMissed,
    SessionOptions,
    whole_seconds,
)
from accp_core.accp.session.exchanges import Exchange
from accp_core.accp.session.parts import ContextTracker, Peer, SessionParts
from accp_core.accp.session.receiver import Receiver
from accp_core.accp.session.sender import Sender
from accp_core.accp.session.snapshots import Reading, read_snapshot, write_snapshot
from accp_core.accp.state.checkpoint import Checkpoint, CheckpointTrigger
from accp_core.accp.state.context_state import ColdKey, ContextState
from accp_core.error_codes import ErrorCode
from accp_core.errors import LocalProtocolError, WouldRound
from accp_core.ports import Summarizer
from accp_core.references import StoredText

__all__ = ["Session"]


class Session:
    """One agent's end of a session.

    Args:
        session_id: The id of the session, and the namespace of its texts in the store.
        agent_id: The agent at this end.
        codec: Encodes our messages and decodes the peer's frames.
        new_id: Returns a msg_id that was never used, such as `lambda: secrets.token_hex(6)`.
        options: Limits and times.
        state: The state to continue with; None: an empty one.
        grants: Texts of other sessions that this one may read.
        tools: The tools that a peer may call, by name; None: calls are not checked.
        summarizer: Writes the summaries of checkpoints; None: they are made by rule.
        observe: Called with each frame that is sent or received.
    """

    def __init__(
        self,
        session_id: str,
        agent_id: str,
        *,
        codec: Codec,
        new_id: Callable[[], str],
        options: SessionOptions | None = None,
        state: ContextState | None = None,
        grants: Collection[ColdKey] = (),
        tools: Mapping[str, ToolSignature] | None = None,
        summarizer: Summarizer | None = None,
        observe: Observer | None = None,
    ) -> None:
        """Start a session in which nothing was sent or received."""
        chosen = options or SessionOptions()
        context = ContextTracker(
            state or ContextState(session_id=session_id),
            codec.counter,
            summarizer=summarizer,
            lifetime=chosen.cold_lifetime,
            triggers=chosen.checkpoints,
        )
        self._parts = SessionParts(
            session_id=session_id,
            agent_id=agent_id,
            options=chosen,
            codec=codec,
            context=context,
            grants=frozenset(grants),
            tools=tools,
            observe=observe,
        )
        self._sender = Sender(self._parts, new_id)
        self._receiver = Receiver(self._parts, self._sender)
        self._heartbeat = Heartbeat(chosen.heartbeat)
        self._events: deque[Event] = deque()
        self._dropped = 0
        self._frames: list[FrameText] = []
        self._stored: list[StoredText] = []

    @classmethod
    def restore(
        cls,
        snapshot: bytes,
        *,
        codec: Codec,
        new_id: Callable[[], str],
        options: SessionOptions | None = None,
        grants: Collection[ColdKey] = (),
        tools: Mapping[str, ToolSignature] | None = None,
        summarizer: Summarizer | None = None,
        observe: Observer | None = None,
    ) -> Session:
        """Return the session that `snapshot` wrote, in this or another process; it goes on where that one was.

        The other arguments are those of that session. The registry of `codec` is not used; `new_id` repeats no id.

        Raises:
            ValueError: the bytes are no snapshot of this version, or over a limit of the options; it says where.
        """
        reading = Reading(codec, options or SessionOptions())
        found = read_snapshot(snapshot, reading)
        session = cls(
            found.session_id,
            found.agent_id,
            codec=codec,
            new_id=new_id,
            options=reading.options,
            grants=grants,
            tools=tools,
            summarizer=summarizer,
            observe=observe,
        )
        found.fill(session, reading)
        return session

    def snapshot(self) -> bytes:
        """Return the session as bytes, for `restore`, between any two calls; nothing changes.

        It holds the messages and frames that are not acknowledged, answered or taken yet: it is as secret as they are.

        Raises:
            EncodeError: E1004, a value of its state is no JSON value; E2003, it would be too large.
        """
        return write_snapshot(self.session_id, self.agent_id, self._parts.inbox.scope, self)

    @property
    def session_id(self) -> str:
        """The id of the session."""
        return self._parts.session_id

    @property
    def agent_id(self) -> str:
        """The agent at this end."""
        return self._parts.agent_id

    @property
    def codec(self) -> Codec:
        """The codec, with the schemas that are known now."""
        return self._parts.codec

    @property
    def state(self) -> ContextState:
        """The current state."""
        return self._parts.context.state

    @property
    def received(self) -> int:
        """The sequence number of the received frame that was processed last; 0 before the first one."""
        return (self._parts.inbox.expected("") or 1) - 1

    @property
    def is_shared(self) -> bool:
        """Whether sent and received frames are known to share one count of sequence numbers."""
        return self._parts.inbox.is_shared

    def expect_numbers(self, options: SessionOptions) -> None:
        """Behave by other options from now on: before the first received frame, the peer has said how it counts."""
        self._parts.expect_numbers(options)

    def encode_with(self, change: Callable[[Codec], Codec]) -> None:
        """Encode by what `change` makes of the codec from now on, once the peer has said what it reads."""
        self._parts.codec = change(self._parts.codec)

    def exchange(self, correlation_id: str) -> Exchange:
        """Return the exchange of a request; an unknown one is idle."""
        exchanges = self._parts.chains.exchanges
        return exchanges.get(exchanges.find(correlation_id))

    def size(self) -> int:
        """Return the number of things that the session keeps; the options bound it, whatever the traffic."""
        parts, state = self._parts, self.state
        kept: tuple[Sized, ...] = (parts.inbox, parts.outbox, parts.chains, self._receiver)
        tiers: tuple[Sized, ...] = (state.hot, state.warm, state.lifetimes, state.context)
        waiting: tuple[Sized, ...] = (self._events, self._frames, self._stored)
        return sum(map(len, (*kept, *tiers, *waiting)))

    # "Encode(message, session) -> Frame" (section 7.1)
    def encode(self, message: Message) -> list[Frame]:
        """Return the frames of a message, without sequence numbers; nothing is sent.

        Raises:
            EncodeError: as `Codec.encode`.
            ProtocolError: as `Codec.encode`.
        """
        encoded = self.codec.encode(replace(message, sender=self.agent_id))
        self._collect(Effects(stored=encoded.stored))
        return list(encoded.frames)

    # "Decode(frame, session) -> Message" (section 7.1)
    def decode(self, frame: Frame | str) -> Message:
        """Return the message of a frame, with the values of its references; nothing else happens.

        Raises:
            DecodeError: as `Codec.decode`.
            ProtocolError: as `Codec.decode` and `ContextState.resolve`; E2001 also for a text in the cold store, which
                `receive` asks for and this method does not.
        """
        result = self.codec.decode(frame)
        if not isinstance(result, Message):
            resolved = {ref: self._parts.look_up_here(ref) for ref in result.refs}
            result = self.codec.decode(frame, resolved)
        return cast(Message, result)  # no reference is missing now

    # "Checkpoint(session) -> CheckpointResult  Trigger a compression checkpoint" (section 7.1)
    def checkpoint(self, trigger: CheckpointTrigger = CheckpointTrigger.PHASE, now: float | None = None) -> Checkpoint:
        """Take a checkpoint, as at a phase boundary; `texts_to_store` then returns its raw data."""
        self._set_time(self._parts.now if now is None else now)
        taken = self._parts.context.checkpoint(trigger, self._parts.now)
        self._collect(Effects(stored=taken.stored))
        return taken

    # "GetBudget(session) -> TokenBudget  Get current token budget usage" (section 7.1)
    def get_budget(self) -> TokenBudget:
        """Return the tokens that the session has used."""
        return self._sender.budget()

    # "RegisterSchema(name, schema)  Register a custom schema" (section 7.1)
    def register_schema(self, name: str, schema: Schema | Mapping[str, Any]) -> None:
        """Register a schema; a peer to which the registry was announced gets another announcement.

        Raises:
            ProtocolError: as `Codec.register_schema`.
        """
        parts = self._parts
        was_announced = parts.negotiation.announced
        parts.codec = parts.codec.register_schema(name, schema)
        parts.negotiation.change(parts.codec.registry)
        if was_announced and not parts.negotiation.announced:
            self._collect(self._announce())

    def open(self, now: float) -> list[FrameText]:
        """Return the frames that open the session: our registry, "@orchestrator>sync:registry{v:3|hash:a7f2c1}"."""
        self._set_time(now)
        self._collect(self._announce())
        return self.frames_to_send()

    def connected(self, now: float) -> list[FrameText]:
        """Report a connection; return the frames to send first, before anything was received on it.

        From now on the session outlives its connections: frames wait while there is none, each frame names the last one
        that was processed, and a new connection sends what the peer misses. Where that is not kept any more,
        `ResumeImpossible` is reported. The registry is announced once, not for each connection.

        Raises:
            ValueError: the options give the senders counts of their own.
        """
        self._set_time(now)
        first = self._receiver.resumption.connect()
        if self._parts.options.registry_first and not self._parts.negotiation.announced:
            self._collect(self._announce())
        return [*first, *self.frames_to_send()]

    def disconnected(self, now: float) -> None:
        """Report the loss of the connection: frames wait for the next one."""
        self._set_time(now)
        self._receiver.resumption.disconnect()

    def send(self, message: Message, now: float) -> list[FrameText]:
        """Return the serialized frames to send now, in this order: those that were waiting, then the message.

        The session sets sender, msg_id, sequence and timestamp; an answer names its request by the correlation_id of
        its envelope. Each text is a `FrameText` with its metadata. Events, such as `ExchangeOpened`, are returned by
        the next call that returns events.

        Raises:
            LocalProtocolError: as `Sender.send`; E2003, `texts_to_store` was not called for too long. Nothing has
                changed.
            WindowFull: E2003, the peer has to acknowledge frames first; `Writable` is reported then.
            EncodeError: as `Codec.encode`; nothing has changed.
            TypeError: `message` is no `Message`, or `now` no number.
        """
        if not isinstance(message, Message):
            raise TypeError(f"expected a Message, found {message!r}")
        self._set_time(now)
        if len(self._stored) > self._parts.options.waiting:
            reason = f"expected a call of texts_to_store: {len(self._stored)} texts wait"
            raise LocalProtocolError(reason, code=ErrorCode.BUDGET_EXCEEDED)
        if self._parts.options.registry_first and not self._parts.negotiation.announced:
            self._collect(self._announce())
        self._collect(self._sender.send(message))
        self._collect(self._sender.request_acknowledgement())
        return self.frames_to_send()

    # "Decimal values MUST be serialized with up to 6 decimal places" (section 3.1.1)
    def send_literal(self, message: Message, now: float, tell: Callable[[str], None]) -> list[FrameText]:
        """Send as `send` to a peer that reads the draft alone; `tell` is called where a decimal is rounded for it."""
        self.encode_with(lambda codec: replace(codec, decimal="refuse"))
        try:
            return self.send(message, now)
        except WouldRound as error:
            tell(f"a decimal is rounded, as the peer reads no more than the draft: {error.reason}")
        finally:
            self.encode_with(lambda codec: replace(codec, decimal="round6"))
        return self.send(message, now)

    def share(self, context: Mapping[str, Value], now: float) -> list[FrameText]:
        """Return the frames that change the shared context to `context`, none where nothing changes."""
        version, delta = self.state.delta_to(context)
        if not delta:
            return []
        payload: dict[str, Value] = {"version": version, "delta": delta}
        message = Message(sender=self.agent_id, intent=Intent.SYNCHRONIZE, operation="state", payload=payload)
        return self.send(message, now)

    def receive(self, text: str, now: float, *, peer: Peer | None = None) -> list[Event]:
        """Take any text as a received frame and return the events; no text is raised for.

        Args:
            text: The text.
            now: The current time, in seconds of the Unix epoch.
            peer: Whom the transport has authenticated: a frame in another agent's name is refused with E5001. None: any
                name but our own is believed.

        Raises:
            TypeError: `text` is no string, or `now` no number.
            ValueError: `now` is not finite or before 1970.
        """
        if not isinstance(text, str):
            raise TypeError(f"expected the text of a frame, found {text!r}")
        self._set_time(now)
        self._heartbeat.record_frame(self._parts.now)
        self._collect(self._receiver.receive(text, peer))
        return self._take_events()

    def resolve(self, texts: Mapping[ColdKey, str | None], now: float) -> list[Event]:
        """Continue with the frame for which `RefsNeeded` was reported.

        Args:
            texts: The texts of the store, None for one that the store does not have.
            now: The current time, in seconds of the Unix epoch.
        """
        self._set_time(now)
        self._collect(self._receiver.resolve(texts))
        return self._take_events()

    def frames_to_send(self) -> list[FrameText]:
        """Return the serialized frames waiting to be sent, each once, in order; none while there is no connection."""
        frames, self._frames = self._frames, []
        link, outbox = self._parts.link, self._parts.outbox
        if link.is_tracked and link.emits:
            frames += outbox.since(max(link.next, outbox.oldest))
            link.next = outbox.last + 1
        return frames

    def texts_to_store(self) -> list[StoredText]:
        """Return what must be in the store, under `session_id`, before any frame is sent; each once."""
        stored, self._stored = self._stored, []
        return stored

    def get_timer(self) -> int | None:
        """Return when to call `handle_timer`, in seconds of the Unix epoch: now while events wait to be taken; None:
        not before the next call."""
        deadlines = (
            self._parts.chains.pending.next_deadline(),
            self._heartbeat.next_deadline(),
            self._receiver.gap_at,
            self._parts.now if self._events else None,
        )
        return min((deadline for deadline in deadlines if deadline is not None), default=None)

    def handle_timer(self, now: float) -> list[Event]:
        """Send again the requests that are due, give up those without retries, and keep up the heartbeat."""
        self._set_time(now)
        self._collect(self._sender.retry())
        self._collect(self._receiver.handle_timer())
        self._collect(self._beat())
        return self._take_events()

    def _collect(self, effects: Effects) -> None:
        self._events += effects.events
        self._stored += effects.stored
        if not self._parts.link.is_tracked:  # else the outbox knows what was handed out
            self._frames += effects.frames
        while len(self._events) > self._parts.options.waiting:
            self._events.popleft()
            self._dropped += 1

    def _take_events(self) -> list[Event]:
        events: list[Event] = [EventsDropped(count=self._dropped)] if self._dropped else []
        events += self._events
        self._events.clear()
        self._dropped = 0
        return events

    def _set_time(self, now: float) -> None:
        self._parts.now = whole_seconds(now)
        self._heartbeat.start(self._parts.now)

    def _announce(self) -> Effects:
        return self._sender.send_control(Intent.SYNCHRONIZE, "registry", self._parts.negotiation.announce())

    def _beat(self) -> Effects:
        heartbeat, now = self._heartbeat, self._parts.now
        is_ping_due, last_heard = heartbeat.take_ping(now), heartbeat.take_silence(now)
        ping = self._sender.send_ping("hb") if is_ping_due and self._parts.link.emits else NO_EFFECTS
        return ping if last_heard is None else ping + Effects(events=(HeartbeatMissed(since=last_heard),))
