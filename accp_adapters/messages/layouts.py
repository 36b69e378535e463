"""The layouts of messages, and which of them a conversation has."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final, Protocol, cast

from accp_adapters.messages import anthropic, openai_chat, openai_responses
from accp_adapters.messages.placed import MessageItem, Placed
from accp_core.projection import CallRecord, Projected

__all__ = ["Layout", "LayoutModule", "check_messages", "find_layout", "module_of"]


class Layout(StrEnum):
    """A provider's layout of messages."""

    OPENAI_CHAT = "openai-chat"
    """The `messages` of OpenAI's Chat Completions, which most servers take."""
    OPENAI_RESPONSES = "openai-responses"
    """The `input` of OpenAI's Responses."""
    ANTHROPIC = "anthropic"
    """The `messages` of Anthropic's Messages."""
    LANGCHAIN = "langchain"
    """Messages of LangChain, which are objects."""


class LayoutModule(Protocol):
    """What the module of each layout has."""

    def read_messages(self, messages: Sequence[Any]) -> Iterator[Placed]:
        """Yield the records of the messages with the places of their texts."""
        ...

    def with_projected(
        self, messages: Sequence[Any], placed: Sequence[Placed], projected: Sequence[Projected]
    ) -> list[Any]:
        """Return the messages as the model is sent them; what does not change is the object that was given."""
        ...

    def fetch_tool(self) -> dict[str, Any]:
        """Return the definition of the fetch tool."""
        ...

    def read_call(self, call: MessageItem) -> CallRecord:
        """Return the record of a tool call."""
        ...

    def answer_message(self, call_id: str | None, text: str, *, failed: bool) -> Any:
        """Return the message that answers a tool call."""
        ...


_LAYOUTS: Final[Mapping[Layout, LayoutModule]] = MappingProxyType(
    {
        Layout.OPENAI_CHAT: openai_chat,
        Layout.OPENAI_RESPONSES: openai_responses,
        Layout.ANTHROPIC: anthropic,
    }
)
"""The module of each layout of JSON; that of LangChain's needs its library."""

_BLOCKS: Final = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "document"})
"""Types of content blocks that only Anthropic's messages have."""
_NAMES: Final = ("role", "type", "name", "tool_call_id", "call_id", "tool_use_id")
"""Who wrote a message or a part of it, and which call it answers: texts."""


def module_of(layout: Layout) -> LayoutModule:
    """Return the module of a layout."""
    if layout is Layout.LANGCHAIN:
        return cast(LayoutModule, import_module("accp_adapters.messages.langchain"))
    return _LAYOUTS[layout]


def find_layout(messages: Sequence[Any]) -> Layout:
    """Return the layout that messages have; where they fit several, the result is the same in each.

    Raises:
        ValueError: one is no JSON object with a role or a type, and not all are LangChain's; it names its index.
    """
    if messages and all(map(_is_of_langchain, messages)):
        return Layout.LANGCHAIN
    check_messages(messages)
    if any("role" not in message or message.get("type") == "message" for message in messages):
        return Layout.OPENAI_RESPONSES
    contents = [message.get("content") for message in messages]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    is_anthropic = any(isinstance(block, Mapping) and block.get("type") in _BLOCKS for block in blocks)
    return Layout.ANTHROPIC if is_anthropic else Layout.OPENAI_CHAT


def check_messages(messages: Sequence[Any]) -> None:
    """Refuse what no layout of JSON has.

    Raises:
        ValueError: a message is no JSON object with a role or a type, or one of its ids or names is no text.
    """
    for index, message in enumerate(messages):
        if not isinstance(message, Mapping) or not ("role" in message or "type" in message):
            raise ValueError(f"expected messages with a role or a type, found {message!r:.80} at index {index}")
        parts = message.get("content")
        for item in (message, *(parts if isinstance(parts, list) else ())):
            _check_names(item, index)


def _check_names(item: Any, index: int) -> None:
    for name in _NAMES:
        value = item.get(name) if isinstance(item, Mapping) else None
        if value is not None and not isinstance(value, str):
            raise ValueError(f"expected {name!r} to be a text, found {value!r:.80} at index {index}")


def _is_of_langchain(message: Any) -> bool:
    # A caller with such a message has imported its library; other callers may not have it.
    langchain = sys.modules.get("langchain_core.messages")
    return langchain is not None and isinstance(message, langchain.BaseMessage)
