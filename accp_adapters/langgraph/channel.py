"""The channel for a state definition: `messages: Annotated[list[AnyMessage], CompressedMessages()]`.

LangGraph calls it so: `from_checkpoint` before every run (with nothing where there is no checkpoint), `update` once a
step with all writes of that step, and again with the same writes after a crash, on resume and for `get_state`, `get`
several times a step, `checkpoint` after each step. It has no config and no store, and runs on the event loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from langchain_core.messages import AnyMessage, BaseMessage, RemoveMessage, ToolMessage
from langgraph.channels import BinaryOperatorAggregate
from langgraph.channels.base import BaseChannel
from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages

from accp_adapters.langgraph.messages import compact_message
from accp_adapters.langgraph.policy import Policy
from accp_adapters.langgraph.runtime import call_of

__all__ = ["CompressedMessages"]


class CompressedMessages(BaseChannel[Any, Any, Any]):
    """Stores messages as `add_messages` does, each new tool result as its view; it forgets what is removed.

    Use it where the state definition is all that you can change; elsewhere `AccpMiddleware` or `CompressNode` do more.
    Its limits:

    - No previews and no references, for these need a session: every result is shown whole, whatever `inline_limit`.
    - LangGraph saves a node's write before the channel sees it: with a checkpointer the raw result is among the
      pending writes of that step, until the saver drops them. The state has the view alone.
    - Rendering runs on the event loop: a megabyte of JSON holds it up for about half a second.
    - A message that stood in the state before is never rewritten, nor one that replaces it under its id.
    - With a Pydantic state a node gets a plain list of what the channel holds, as with any channel.

    Writes are merged by `add_messages`, with its rules for ids and `RemoveMessage`. One rule is better: what a parallel
    task appends beside a `REMOVE_ALL_MESSAGES` stays, for who removed all had not seen it. The same writes come to the
    same texts. A thread may come from `add_messages` or a `DeltaChannel`, whose messages stay as they are, and go
    back to them.
    """

    __slots__ = ("_merged", "_policy")

    def __init__(self, policy: Policy | None = None) -> None:
        """Render by `policy`: its counter and excluded tools.

        Raises:
            TypeError: LangGraph was given the class itself; it must be an instance, `CompressedMessages()`.
        """
        if not isinstance(policy, Policy | None):
            raise TypeError(f"expected a Policy, found {policy!r}: write CompressedMessages() with its brackets")
        super().__init__(list[AnyMessage])
        self._policy: Final = replace(policy or Policy(), inline_limit=None)
        self._merged: BinaryOperatorAggregate[Any] = BinaryOperatorAggregate(list, add_messages)

    def __eq__(self, other: object) -> bool:
        """Return whether the other one renders alike: the key stands in several schemas of one graph."""
        return isinstance(other, CompressedMessages) and self._policy == other._policy

    @property
    def ValueType(self) -> Any:
        """A list of messages."""
        return self.typ

    @property
    def UpdateType(self) -> Any:
        """A list of messages."""
        return self.typ

    def from_checkpoint(self, checkpoint: Any) -> CompressedMessages:
        """Return a channel with what was saved by this one, by `add_messages` or by a `DeltaChannel`."""
        new = CompressedMessages(self._policy)
        new.key = self.key
        # What a DeltaChannel saved has the list in it.
        saved = checkpoint if isinstance(checkpoint, list) else getattr(checkpoint, "value", checkpoint)
        new._merged = self._merged.from_checkpoint(saved)
        return new

    def copy(self) -> CompressedMessages:
        """Return a channel that holds the same messages."""
        return self.from_checkpoint(self.checkpoint())

    def checkpoint(self) -> Any:
        """Return what is saved: the list of messages, which any other channel of messages reads."""
        return self._merged.checkpoint()

    def get(self) -> list[AnyMessage]:
        """Return the messages, an empty list at first."""
        found: list[AnyMessage] = self._merged.get()
        return found

    def is_available(self) -> bool:
        """Return that `get` has an answer."""
        return self._merged.is_available()

    def update(self, values: Sequence[Any]) -> bool:
        """Merge the writes of one step; render the tool results among them that are new."""
        before = {message.id for message in self._merged.get()}
        # Sorting keeps the order of the others: whoever removes everything comes first.
        if not self._merged.update(sorted(values, key=lambda value: not _removes_all(value))):
            return False
        messages = self._merged.get()
        shown = [message if message.id in before else self._rendered(message, messages) for message in messages]
        self._merged = self._merged.from_checkpoint(shown)
        return True

    def _rendered(self, message: BaseMessage, messages: Sequence[BaseMessage]) -> BaseMessage:
        if not isinstance(message, ToolMessage):
            return message
        call, _ = call_of(messages, message.tool_call_id)
        if call and call["name"] in self._policy.exclude_tools:
            return message  # a tool that answers with a Command may leave its result without a name
        return compact_message(message, self._policy, "")[0]


def _removes_all(value: Any) -> bool:
    messages = value if isinstance(value, list) else [value]
    return any(isinstance(each, RemoveMessage) and each.id == REMOVE_ALL_MESSAGES for each in messages)
