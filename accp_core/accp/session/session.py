"""One session between agents: what is sent, what is received, and when to act (ACCP sections 3.7 and 7.1).

A session does no I/O and has no clock: it is told the time, takes the texts of frames and returns events. Whatever
moves the texts does this, in this order, after each call:

    store what `texts_to_store` gives; send what the call or `frames_to_send` gives; act on the events;
    call `handle_timer` at `get_timer`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sized
from dataclasses import replace
from typing import Any, cast

from accp_core.accp.budget import TokenBudget
from accp_core.accp.codec import Codec
from accp_core.accp.debug import Observer
from accp_core.accp.frame import Envelope, Frame, Ref, Value
from accp_core.accp.message import Message
from accp_core.accp.profiles import ToolSignature
from accp_core.accp.schema import Schema
from accp_core.accp.session.context_tracker import Memory
from accp_core.accp.session.events import Event, ExchangeClosed, HeartbeatMissed
from accp_core.accp.session.exchanges import Exchange
from accp_core.accp.session.options import SessionOptions
from accp_core.accp.session.parts import Conversation
from accp_core.accp.session.receiver import Receiver
from accp_core.accp.session.sender import Sender
from accp_core.accp.state.checkpoint import Checkpoint, CheckpointTrigger
from accp_core.accp.state.context_state import ColdKey, ContextState
from accp_core.accp.vocabulary import Intent
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.ports import Summarizer
from accp_core.references import StoredText

__all__ = ["Session"]


class Session:
    """One agent's end of a session."""

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
        """Begin a session in which nothing was said.

        `new_id` gives msg_ids that nobody gave before, such as `lambda: secrets.token_hex(6)`. `grants` are the
        texts of other sessions that this one may read. With `tools`, calls of others are refused. `observe` is
        told of each frame.
        """
        chosen = options or SessionOptions()
        known = state or ContextState(session_id=session_id)
        self._shared = Conversation(
            session_id=session_id,
            agent_id=agent_id,
            options=chosen,
            codec=codec,
            memory=Memory(known, codec.counter, summarizer=summarizer, lifetime=chosen.cold_lifetime),
            grants=frozenset(grants),
            tools=tools,
            observe=observe,
        )
        self._sender = Sender(self._shared, new_id)
        self._receiver = Receiver(self._shared, self._sender)
        self._started = False
        self._heard = 0
        self._pinged = 0
        self._missed = False

    @property
    def session_id(self) -> str:
        """The id of the session."""
        return self._shared.session_id

    @property
    def agent_id(self) -> str:
        """The agent at this end."""
        return self._shared.agent_id

    @property
    def codec(self) -> Codec:
        """The codec, with the schemas that are known by now."""
        return self._shared.codec

    @property
    def state(self) -> ContextState:
        """The state as it is now."""
        return self._shared.memory.state

    def exchange(self, correlation_id: str) -> Exchange:
        """Return where a request stands; an unknown one is idle."""
        return self._shared.exchanges.get(self._shared.exchanges.find(correlation_id))

    def size(self) -> int:
        """Return how many things the session keeps; it has a bound that no traffic moves."""
        shared, state = self._shared, self.state
        parts = (shared.inbox, shared.outbox, shared.exchanges, shared.requests, shared.streams, self._receiver)
        kept = (state.hot, state.warm, state.lifetimes, state.context)
        waiting = (shared.events, shared.outgoing, shared.memory.stored)
        everything: tuple[Sized, ...] = (*parts, *kept, *waiting)
        return sum(map(len, everything))

    # "Encode(message, session) -> Frame" (section 7.1)
    def encode(self, message: Message) -> list[Frame]:
        """Return the frames that say a message, without numbers; nothing is sent.

        Raises: as `Codec.encode`.
        """
        encoded = self.codec.encode(replace(message, sender=self.agent_id))
        self._shared.memory.stored += encoded.stored
        return list(encoded.frames)

    # "Decode(frame, session) -> Message" (section 7.1)
    def decode(self, frame: Frame | str) -> Message:
        """Return the message that a frame says, with what its references stand for; nothing else happens.

        Raises: as `Codec.decode`; ProtocolError: E2001, E2002, E5002 as `ContextState.resolve`, E2001 also for
            what is in the cold store, which `receive` asks for and this does not.
        """
        result = self.codec.decode(frame)
        if isinstance(result, Message):
            return result
        found = {ref: self._shared.look_up(ref) for ref in result.refs}
        resolved: dict[Ref, Value] = {}
        for ref, value in found.items():
            if isinstance(value, ColdKey):
                raise ProtocolError(f"${ref.key} is in the cold store", code=ErrorCode.REF_NOT_FOUND)
            resolved[ref] = value
        return cast(Message, self.codec.decode(frame, resolved))  # nothing is missing now

    # "Checkpoint(session) -> CheckpointResult  Trigger a compression checkpoint" (section 7.1)
    def checkpoint(self, trigger: CheckpointTrigger = CheckpointTrigger.PHASE, now: int | None = None) -> Checkpoint:
        """Take a checkpoint, as at a phase boundary; store what `texts_to_store` gives."""
        self._tell(self._shared.now if now is None else now)
        return self._shared.memory.checkpoint(trigger, self._shared.now).checkpoint

    # "GetBudget(session) -> TokenBudget  Get current token budget usage" (section 7.1)
    def get_budget(self) -> TokenBudget:
        """Return what the session has used of its tokens."""
        return TokenBudget(
            hot_used=self.state.hot_tokens,
            hot_limit=self.state.limits.hot,
            warm_used=self.state.warm_tokens,
            warm_limit=self.state.limits.warm_entry,
            frames=self._sender.frames,
            tokens=self._sender.tokens,
        )

    # "RegisterSchema(name, schema)  Register a custom schema" (section 7.1)
    def register_schema(self, name: str, schema: Schema | Mapping[str, Any]) -> None:
        """Know one more schema; a peer that was told what we know is told again.

        Raises: as `Codec.register_schema`.
        """
        shared = self._shared
        told = shared.negotiation.announced
        shared.codec = shared.codec.register_schema(name, schema)
        shared.negotiation.change(shared.codec.registry)
        if told and not shared.negotiation.announced:
            self._announce()

    def open(self, now: int) -> list[str]:
        """Return the texts that begin the session: what we know, "@orchestrator>sync:registry{v:3|hash:a7f2c1}"."""
        self._tell(now)
        self._announce()
        return self.frames_to_send()

    def send(self, message: Message, now: int) -> list[str]:
        """Return the texts that must leave now, in this order: what was queued, and then this message.

        The session sets sender, msg_id, sequence and timestamp; an answer names its request by the correlation_id
        of its envelope. What it means for checkpoints and exchanges is reported by the next call that returns
        events.

        Raises: as `Sender.send`; then nothing has changed.
        """
        self._tell(now)
        if self._shared.options.registry_first and not self._shared.negotiation.announced:
            self._announce()
        self._sender.send(message)
        return self.frames_to_send()

    def share(self, context: Mapping[str, Value], now: int) -> list[str]:
        """Return the texts that make `context` the shared map, as a delta to what it was; none when it is that."""
        version, delta = self.state.delta_to(context)
        if not delta:
            return []
        payload: dict[str, Value] = {"version": version, "delta": delta}
        message = Message(sender=self.agent_id, intent=Intent.SYNCHRONIZE, operation="state", payload=payload)
        return self.send(message, now)

    def receive(self, text: str, now: int) -> list[Event]:
        """Take the text of one frame, whatever it is, and return what happened; never raises."""
        self._tell(now)
        self._heard, self._missed = now, False
        self._receiver.receive(text)
        return self._report()

    def resolve(self, texts: Mapping[ColdKey, str | None], now: int) -> list[Event]:
        """Go on with the frame that waits for what `RefsNeeded` names; None for what the store has not."""
        self._tell(now)
        self._receiver.resolve(texts)
        return self._report()

    def frames_to_send(self) -> list[str]:
        """Return the texts that must leave, each once, in this order."""
        texts, self._shared.outgoing = self._shared.outgoing, []
        return texts

    def texts_to_store(self) -> list[StoredText]:
        """Return what must be in the store, under `session_id`, before any frame leaves; each once."""
        texts, self._shared.memory.stored = self._shared.memory.stored, []
        return texts

    def get_timer(self) -> int | None:
        """Return when to call `handle_timer`, in seconds of the Unix epoch; None: not until something happens."""
        times = [self._shared.requests.deadline()]
        beat = self._shared.options.heartbeat
        if beat is not None and self._started:
            times += [self._pinged + beat, None if self._missed else self._heard + 2 * beat]
        return min((time for time in times if time is not None), default=None)

    def handle_timer(self, now: int) -> list[Event]:
        """Send again what got no answer, give up what got none too often, keep the heart beating."""
        self._tell(now)
        self._retry()
        if self._shared.options.heartbeat is not None:
            self._beat(now, self._shared.options.heartbeat)
        return self._report()

    def _tell(self, now: int) -> None:
        self._shared.now = now
        if not self._started:
            self._started, self._heard, self._pinged = True, now, now

    def _report(self) -> list[Event]:
        events, self._shared.events = self._shared.events, []
        return events

    def _announce(self) -> None:
        self._sender.say(Intent.SYNCHRONIZE, "registry", self._shared.negotiation.announce())

    def _retry(self) -> None:
        again, late = self._shared.requests.due(self._shared.now)
        for chain, message in again:
            envelope = Envelope(correlation_id=chain, causation_id=message.envelope.causation_id)
            try:
                self._sender.send(replace(message, envelope=envelope))
            except ProtocolError:
                late.append(chain)
        for chain in late:
            self._shared.requests.answered(chain, self._shared.now)
            if self.exchange(chain).is_live:
                self._shared.exchanges.put(self.exchange(chain).moved(Intent.FAILURE))
            self._shared.events.append(ExchangeClosed(chain=chain, code=ErrorCode.TIMEOUT))

    # "Heartbeat: ping/pong intent frames every 30 seconds" (section 11.2)
    def _beat(self, now: int, beat: int) -> None:
        if now >= self._pinged + beat:
            self._pinged = now
            self._sender.say(Intent.PING, "hb", {})
        if not self._missed and now >= self._heard + 2 * beat:
            self._missed = True
            self._shared.events.append(HeartbeatMissed(since=self._heard))
