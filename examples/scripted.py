"""The chat model of these examples: it follows a script and records what it was sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field


class Scripted(BaseChatModel):
    """Answers each call with the next step of its script, a function of the messages it was sent."""

    steps: list[Callable[[list[BaseMessage]], AIMessage]]
    sent: list[list[BaseMessage]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Scripted:
        """Return the model itself: the script knows the tools."""
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self.sent.append(messages)
        return ChatResult(generations=[ChatGeneration(message=self.steps[len(self.sent) - 1](messages))])


def call(tool: str, **args: Any) -> AIMessage:
    """Return a model turn that calls `tool`."""
    return AIMessage("", tool_calls=[{"name": tool, "args": args, "id": f"call-{tool}"}])
