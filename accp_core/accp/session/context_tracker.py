"""What a session keeps of what was said, and the context that it shares with its peers (ACCP section 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from accp_core.accp.frame import Value
from accp_core.accp.message import Message
from accp_core.accp.session.events import CheckpointTaken, ResyncRequested, StateChanged
from accp_core.accp.state.checkpoint import CheckpointTrigger, due_trigger, take_checkpoint
from accp_core.accp.state.context_state import ContextState, Entry
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.packing.delta import diff
from accp_core.ports import Summarizer, TokenCounter
from accp_core.references import StoredText

__all__ = ["Memory"]


class Memory:
    """The state of one session, and the checkpoints that keep it small."""

    def __init__(
        self, state: ContextState, counter: TokenCounter, *, summarizer: Summarizer | None, lifetime: int | None
    ) -> None:
        """Begin with `state`; raw data of checkpoints lives `lifetime` seconds, with None as long as its store."""
        self.state = state
        self._counter = counter
        self._summarizer = summarizer
        self._lifetime = lifetime
        self._resync = False
        self.stored: list[StoredText] = []
        """What must be stored before the next text leaves."""

    # "Tier 1: HOT STATE (in-context)  Current frame + immediate parent frames."
    def remember(self, key: str, message: Message, text: str, now: int) -> list[CheckpointTaken]:
        """Put a message, and its frame's text without metadata, into hot state; return the checkpoints this took."""
        entry = Entry(
            value={"intent": message.intent.value, **message.payload},
            tokens=self._counter(text),
            text=text,
            entity=f"{message.sender}.{message.operation}",
        )
        before = (
            [] if self._has_room(entry) or not self.state.hot else [self.checkpoint(CheckpointTrigger.HOT_LIMIT, now)]
        )
        # What is too big for the tier by itself is in it only until the checkpoint that it makes due.
        self.state = replace(self.state, hot={**self.state.hot, key: entry})
        trigger = due_trigger(self.state, message.intent)
        return before if trigger is None else [*before, self.checkpoint(trigger, now)]

    def checkpoint(self, trigger: CheckpointTrigger, now: int) -> CheckpointTaken:
        """Take a checkpoint now."""
        self.state, taken = take_checkpoint(
            self.state, trigger, now, self._counter, self._summarizer, lifetime=self._lifetime
        )
        self.stored += taken.stored
        return CheckpointTaken(checkpoint=taken)

    def _has_room(self, entry: Entry) -> bool:
        return self.state.hot_tokens + entry.tokens <= self.state.limits.hot

    def receive_context(self, message: Message, agent_id: str) -> StateChanged | ResyncRequested | None:
        """Apply a peer's `sync:state`; return what changed, a resync to ask for, or None where it comes too late.

        Two agents may change one version at the same time. Then the one whose agent-id comes first keeps its
        change, and the other one asks for it.

        Raises: ProtocolError: E1004 for a message that says no version or neither delta nor context, E2003 for
            too many keys.
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

    def send_context(self, payload: Mapping[str, Value]) -> ContextState:
        """Return the state after a `sync:state` of our own.

        Raises: ProtocolError E1004 for a version that is not the next one, or neither delta nor context.
        """
        if "delta" not in payload:
            return self.state.with_context(payload.get("version"), payload.get("context"))
        changed = self.state.apply_delta(payload.get("version"), payload["delta"])
        if changed is None:
            raise ProtocolError(f"the next version is {self.state.version + 1}", code=ErrorCode.INVALID_TYPE)
        return changed
