"""A model's message: its calls, its thoughts, its tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.tool import ToolCall

from accp_adapters.langchain.messages import program_calls
from accp_core.errors import EncodeError
from accp_core.ports import TokenCounter
from accp_core.strict_json import compact_json

__all__ = ["as_json", "count_tokens", "find_request", "has_thoughts", "without_thoughts"]

_SIGNED: Final = frozenset({"thinking", "redacted_thinking"})
_THOUGHTS: Final = _SIGNED | {"reasoning"}


def find_request(messages: Sequence[BaseMessage], call_id: str | None) -> tuple[AIMessage, ...]:
    """Return the last message that makes the tool call `call_id`; empty where none does."""
    for message in reversed(messages):
        if isinstance(message, AIMessage) and any(call["id"] == call_id for call in message.tool_calls):
            return (message,)
    return ()


def has_thoughts(message: BaseMessage) -> bool:
    """Return whether `message` holds a model's signed thoughts, which a provider binds to the messages before."""
    if not isinstance(message, AIMessage) or isinstance(message.content, str):
        return False
    return any(isinstance(block, dict) and block.get("type") in _THOUGHTS for block in message.content)


def without_thoughts(message: AIMessage, calls: Sequence[ToolCall] | None = None) -> AIMessage:
    """Return `message` as its text and `calls` (None: its own), without anything bound to the messages before.

    Signed thoughts and raw calls are in content blocks and in fields of the provider: none of these is kept, nor is
    a count of tokens, which is true of the whole message only. A message with calls of a program keeps all but the
    signed thoughts: its blocks say that the program reads the results.
    """
    if calls is None and program_calls(message):
        content = [block for block in message.content if not (isinstance(block, dict) and block.get("type") in _SIGNED)]
        return message.model_copy(update={"content": content, "usage_metadata": None})
    kept = message.tool_calls if calls is None else calls
    return AIMessage(content=message.text, tool_calls=list(kept), name=message.name, id=message.id)


def count_tokens(message: BaseMessage, counter: TokenCounter) -> int:
    """Return the tokens that a model reads of `message`: its text, and its calls as compact JSON."""
    calls = [{"name": call["name"], "arguments": call["args"]} for call in getattr(message, "tool_calls", ())]
    return counter(message.text) + (counter(as_json(calls)) if calls else 0)


def as_json(value: Any) -> str:
    """Return `value` as compact JSON; what JSON cannot hold (a date, NaN in arguments) as Python prints it."""
    try:
        return compact_json(value, default=str)
    except EncodeError:
        return str(value)
