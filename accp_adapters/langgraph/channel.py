"""The channel for a state definition: `messages: Annotated[list[AnyMessage], CompressedMessages()]`.

LangGraph calls `from_checkpoint` before every run (with nothing where there is no checkpoint), `update` once a step
with all writes of that step, and again with the same writes after a crash, on resume and for `get_state`, `get` several
times a step, and `checkpoint` after each step. A channel has no config and no store, and runs on the event loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from langchain_core.messages import AnyMessage, BaseMessage, RemoveMessage, ToolMessage
from langgraph.channels import BinaryOperatorAggregate
from langgraph.channels.base import BaseChannel
from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages

from accp_adapters.langchain import program_calls, to_records
from accp_adapters.langgraph.conversation import find_request
from accp_adapters.langgraph.node import compressed_message, stored_units
from accp_adapters.policy import Policy
from accp_core.projection import Projector

__all__ = ["CompressedMessages"]


class CompressedMessages(BaseChannel[Any, Any, Any]):
    """Stores messages as `add_messages` does, each new tool result as its view.

    Use it where the state definition is all that you can change; elsewhere `AccpMiddleware` or `CompressNode` do more.
    Its limits:

    - No previews and no references, because these need a session: every result is shown whole, whatever `inline_limit`.
    - LangGraph saves a node's write before the channel sees it: with a checkpointer the raw result is among the
      pending writes of that step until the saver drops them. The state holds the view only.
    - Rendering runs on the event loop: a megabyte of JSON blocks it for about half a second.
    - A message that is in the state already never changes, nor does one that replaces it under its id.
    - With a Pydantic state a node gets a plain list of messages, as with any channel.

    Writes are merged by `add_messages`, with its rules for ids and `RemoveMessage`, but for one: a message that a
    parallel task appends beside a `REMOVE_ALL_MESSAGES` stays, because the task that removes all had not seen it. The
    same writes give the same texts. A thread may change from `add_messages` or a `DeltaChannel` to this channel, whose
    messages stay as they are, and back.
    """

    __slots__ = ("_merged", "_policy")

    def __init__(self, policy: Policy | str | None = None) -> None:
        """Render by `policy`: its counter and excluded tools.

        Raises:
            TypeError: LangGraph was given the class itself; it must be an instance, `CompressedMessages()`.
        """
        if not isinstance(policy, Policy | str | None):
            raise TypeError(f"expected a Policy, found {policy!r}: write CompressedMessages() with its brackets")
        super().__init__(list[AnyMessage])
        self._policy: Final = Policy.of(policy).without_previews()
        self._merged: BinaryOperatorAggregate[Any] = BinaryOperatorAggregate(list, add_messages)

    def __eq__(self, other: object) -> bool:
        """Return whether `other` has the same policy: several schemas of a graph have the same key."""
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
        """Return a channel with the messages that this one, `add_messages` or a `DeltaChannel` saved."""
        new = CompressedMessages(self._policy)
        new.key = self.key
        # A DeltaChannel saves an object with the list as its value.
        saved = checkpoint if isinstance(checkpoint, list) else getattr(checkpoint, "value", checkpoint)
        new._merged = self._merged.from_checkpoint(saved)
        return new

    def copy(self) -> CompressedMessages:
        """Return a channel that holds the same messages."""
        return self.from_checkpoint(self.checkpoint())

    def checkpoint(self) -> Any:
        """Return the list of messages to save, which any other channel of messages reads."""
        return self._merged.checkpoint()

    def get(self) -> list[AnyMessage]:
        """Return the messages, an empty list at first."""
        messages: list[AnyMessage] = self._merged.get()
        return messages

    def is_available(self) -> bool:
        """Return whether `get` has a value."""
        return self._merged.is_available()

    def update(self, values: Sequence[Any]) -> bool:
        """Merge the writes of one step and render the new tool results; return whether anything changed."""
        before = {message.id for message in self._merged.get()}
        # A write that removes everything comes first; the order of the others stays.
        if not self._merged.update(sorted(values, key=lambda value: not _removes_all(value))):
            return False
        messages = self._merged.get()
        shown = [message if message.id in before else self._rendered(message, messages) for message in messages]
        self._merged = self._merged.from_checkpoint(shown)
        return True

    def _rendered(self, message: BaseMessage, messages: Sequence[BaseMessage]) -> BaseMessage:
        if not isinstance(message, ToolMessage):
            return message
        # The result of a tool that returns a Command may have no name: its call says whose result it is.
        name = message.name
        if asked := find_request(messages, message.tool_call_id):
            if message.tool_call_id in program_calls(asked):
                return message
            names = [call["name"] for call in asked.tool_calls if call["id"] == message.tool_call_id]
            name = next(iter(names), name)
        (record,) = to_records([message], stored=stored_units)
        shown = Projector(self._policy.rules).compress(replace(record, name=name))
        return compressed_message(message, shown)[0]


def _removes_all(value: Any) -> bool:
    messages = value if isinstance(value, list) else [value]
    return any(isinstance(message, RemoveMessage) and message.id == REMOVE_ALL_MESSAGES for message in messages)
