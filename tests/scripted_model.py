"""A chat model that follows a script, remembers exactly what it was sent, and refuses what a provider would."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field, PrivateAttr

from tests.adapters.langgraph.transcripts import check

Step: TypeAlias = AIMessage | str | Callable[[list[BaseMessage]], AIMessage]


def call(name: str, call_id: str = "c1", **args: Any) -> dict[str, Any]:
    """Return one tool call as an AIMessage holds it."""
    return {"name": name, "args": args, "id": call_id, "type": "tool_call"}


def calls(*tool_calls: dict[str, Any]) -> AIMessage:
    """Return a model turn that makes `tool_calls`."""
    return AIMessage(content="", tool_calls=list(tool_calls))


class ScriptedModel(BaseChatModel):
    """Answers with the next step of `script`: a message, a text, or a function of the messages received."""

    script: list[Any] = Field(default_factory=list)
    received: list[list[BaseMessage]] = Field(default_factory=list)
    """The messages of each call, copied as they were."""
    tool_names: list[list[str]] = Field(default_factory=list)
    """The names of the tools bound at each `bind_tools`."""
    strict: bool = True
    """Whether a request that OpenAI or Anthropic would refuse fails the test."""
    _next: int = PrivateAttr(default=0)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        """Note the tools and go on unbound."""
        self.tool_names.append([convert_to_openai_tool(tool)["function"]["name"] for tool in tools])
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        if self.strict:
            check(messages)
        self.received.append([message.model_copy(deep=True) for message in messages])
        step = self.script[min(self._next, len(self.script) - 1)]
        self._next += 1
        answer = step(messages) if callable(step) else step
        message = AIMessage(content=answer) if isinstance(answer, str) else answer.model_copy(deep=True)
        return ChatResult(generations=[ChatGeneration(message=message)])
