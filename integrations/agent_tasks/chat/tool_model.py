"""What chat models of our own have in common: they take tools as OpenAI's API writes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool

__all__ = ["ToolModel"]


class ToolModel(BaseChatModel):
    """A chat model whose `_generate` gets the bound tools as `tools`, in the form of OpenAI's API."""

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        """Return the model with tools."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools])
