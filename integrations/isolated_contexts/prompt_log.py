"""The prompts that LangChain chat models are sent in a live run: their texts, tokens and cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from accp_adapters.replay.replay import PromptCache
from accp_adapters.tokens import o200k_base_encoding
from accp_core.strict_json import compact_json

__all__ = ["PromptLog"]


@dataclass
class PromptLog:
    """The prompts of one run; tokens are o200k_base."""

    calls: int = 0
    """Model calls."""
    message_tokens: int = 0
    """Tokens of the messages, their tool calls included."""
    definition_tokens: int = 0
    """Tokens of the tool definitions."""
    cost: float = 0.0
    """Cache-weighted tokens, with a prompt cache for each agent."""
    prompts: dict[str, list[str]] = field(default_factory=dict)
    """The text of each prompt, by agent."""
    _cache: PromptCache = field(default_factory=PromptCache)

    @property
    def tokens(self) -> int:
        """Tokens of all prompts."""
        return self.message_tokens + self.definition_tokens

    def add(self, agent: str, tools: Sequence[Any], messages: Sequence[BaseMessage]) -> None:
        """Record the next prompt of `agent`."""
        encode = o200k_base_encoding().encode_ordinary
        definitions = [compact_json(convert_to_openai_tool(tool)) for tool in tools]
        texts = [_message_text(message) for message in messages]
        parts = [encode(text) for text in (*definitions, *texts)]
        self.calls += 1
        self.definition_tokens += sum(map(len, parts[: len(definitions)]))
        self.message_tokens += sum(map(len, parts[len(definitions) :]))
        self.cost += self._cache.charge(agent, parts).cost
        self.prompts.setdefault(agent, []).append("\n".join((*definitions, *texts)))


def _message_text(message: BaseMessage) -> str:
    """Return the text of a message and its tool calls, as a provider counts them."""
    tool_calls = getattr(message, "tool_calls", ())
    calls = [compact_json({"name": call["name"], "arguments": call["args"]}) for call in tool_calls]
    return "\n".join([message.text, *calls] if message.text else calls)
