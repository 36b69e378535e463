"""The state of a session: hot messages and their checkpoints, and the context shared with peers (ACCP section 5)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from accp_core.accp.frame import Value
from accp_core.accp.message import Message
from accp_core.accp.session.effects import NO_EFFECTS, Effects
from accp_core.accp.session.events import CheckpointTaken, ResyncRequested, StateChanged
from accp_core.accp.state.checkpoint import Checkpoint, CheckpointTrigger, due_trigger, take_checkpoint
from accp_core.accp.state.context_state import ContextState, Entry
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.packing.delta import diff
from accp_core.ports import Summarizer, TokenCounter

__all__ = ["ContextTracker"]


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
    def remember(self, key: str, message: Message, text: str, now: int, tokens: int | None = None) -> Effects:
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
            tokens=self._counter(text) if tokens is None else tokens,
            text=text,
            entity=f"{message.sender}.{message.operation}",
        )
        effects = NO_EFFECTS
        limits = self._state.limits
        if self._hot and self._hot_tokens + entry.tokens > limits.hot:
            effects += self._take(CheckpointTrigger.HOT_LIMIT, now)
        # An entry that is too big for the tier by itself stays only until the checkpoint that it makes due.
        before = self._hot.get(key)
        self._hot[key], self._is_newer = entry, True
        self._hot_tokens += entry.tokens - (before.tokens if before else 0)
        trigger = due_trigger(self._hot_tokens, limits, message.intent, self._triggers)
        return effects if trigger is None else effects + self._take(trigger, now)

    def checkpoint(self, trigger: CheckpointTrigger, now: int) -> Checkpoint:
        """Take a checkpoint; the caller stores `Checkpoint.stored`."""
        self.state, taken = take_checkpoint(
            self.state, trigger, now, self._counter, self._summarizer, lifetime=self._lifetime
        )
        return taken

    def _take(self, trigger: CheckpointTrigger, now: int) -> Effects:
        taken = self.checkpoint(trigger, now)
        return Effects(events=(CheckpointTaken(checkpoint=taken),), stored=taken.stored)

    def receive_context(self, message: Message, agent_id: str) -> StateChanged | ResyncRequested | None:
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
            return StateChanged(version=changed.version, changes=diff(before.context, changed.context))
        if isinstance(version, int) and version <= before.version and agent_id < message.sender:
            return None
        self._resync = True
        return ResyncRequested(sender=agent_id, version=before.version)

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
