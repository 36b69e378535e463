"""What belongs together in a transcript: a model's turn with calls, and the results of those calls."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.messages.tool import ToolCall

from accp_core.ports import TokenCounter

__all__ = ["Turn", "compact_json", "in_words", "thinks", "tokens_of", "turns_of"]

_THOUGHTS: Final = frozenset({"thinking", "redacted_thinking", "reasoning"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A message that makes calls, with all their results directly behind it; one is never shown without the other."""

    start: int
    """Where it begins in its list of messages."""
    said: AIMessage
    results: tuple[ToolMessage, ...]

    @property
    def end(self) -> int:
        """Where the next message stands."""
        return self.start + 1 + len(self.results)

    @property
    def messages(self) -> tuple[BaseMessage, ...]:
        """All of it."""
        return (self.said, *self.results)


def turns_of(messages: Sequence[BaseMessage]) -> Iterator[Turn]:
    """Yield the turns of `messages` whose calls are all answered, each once."""
    for start, message in enumerate(messages):
        if isinstance(message, AIMessage) and message.tool_calls:
            results = tuple(_results_from(messages, start + 1))
            if sorted(str(call["id"]) for call in message.tool_calls) == sorted(r.tool_call_id for r in results):
                yield Turn(start=start, said=message, results=results)


def _results_from(messages: Sequence[BaseMessage], position: int) -> Iterator[ToolMessage]:
    for message in messages[position:]:
        if not isinstance(message, ToolMessage):
            return
        yield message


def thinks(message: BaseMessage) -> bool:
    """Tell whether a model's signed thoughts stand in `message`; a provider binds them to what went before."""
    if not isinstance(message, AIMessage) or isinstance(message.content, str):
        return False
    return any(isinstance(block, dict) and block.get("type") in _THOUGHTS for block in message.content)


def in_words(said: AIMessage, calls: Sequence[ToolCall] | None = None) -> AIMessage:
    """Return `said` as its words and `calls` (None: its own), without what a provider binds to what went before.

    Raw calls and signed thoughts stand in content blocks and in provider fields, too: none of them is kept, and a
    count of tokens that was true elsewhere is not, either.
    """
    kept = said.tool_calls if calls is None else calls
    return AIMessage(content=said.text, tool_calls=list(kept), name=said.name, id=said.id)


def tokens_of(message: BaseMessage, counter: TokenCounter) -> int:
    """Return what a model reads of `message`: its words, and its calls as compact JSON."""
    calls = [{"name": call["name"], "arguments": call["args"]} for call in getattr(message, "tool_calls", ())]
    return counter(message.text) + (counter(compact_json(calls)) if calls else 0)


def compact_json(value: Any) -> str:
    """Return `value` as JSON without blanks; what JSON cannot say stands there in words."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
