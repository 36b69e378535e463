"""The parts of a history of Pydantic AI that a projection reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic_ai.messages import ModelMessage, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart

from accp_adapters.frameworks.parts import ShownPart, cites, made_call, result, texts_of, words

__all__ = ["read_parts", "with_parts"]


def read_parts(messages: Sequence[ModelMessage]) -> Iterator[ShownPart]:
    """Yield words, calls and results that are text; errors and files stay as they are."""
    for index, message in enumerate(messages):
        for number, part in enumerate(message.parts):
            if (item := _item(part)) is not None:
                yield ShownPart(message=index, number=number, item=item, write=partial(_with_content, part))


def _with_content(part: Any, content: Any) -> Any:
    return replace(part, content=texts_of(content))


def _item(part: Any) -> dict[str, Any] | None:
    content: Any = getattr(part, "content", None)
    match part:
        case ToolReturnPart(outcome="success", files=[]):
            return result(part.tool_call_id, content if cites(content) else part.model_response_str())
        case ToolCallPart():
            return made_call(part.tool_call_id, part.tool_name, part.args)
        case UserPromptPart() if isinstance(content, str) or cites(content):
            return words("user", content)
        case TextPart():
            return words("assistant", content)
    return None


def with_parts(message: Any, parts: list[Any]) -> Any:
    """Return a message with other parts; the message itself belongs to the history."""
    return replace(message, parts=parts)
