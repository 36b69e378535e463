"""The middleware that people put beside `AccpMiddleware`, each made anew for one run."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from langchain.agents.middleware import (
    AgentMiddleware,
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    HumanInTheLoopMiddleware,
    LLMToolSelectorMiddleware,
    ModelFallbackMiddleware,
    ModelRequest,
    PIIMiddleware,
    SummarizationMiddleware,
    TodoListMiddleware,
    ToolRetryMiddleware,
)
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableLambda

from accp_core.references import find_references, reference_to
from tests.adapters.langgraph.composition.harness import Beside, Model, Script

__all__ = ["EMAIL", "NEIGHBOURS", "Redactor", "Selection", "summarize"]

EMAIL: Final = re.compile(r"[\w.]+@[\w.]+\.com")


def summarize(messages: Sequence[BaseMessage]) -> str:
    """Return a summary that repeats each reference which the messages name, in their texts or in their calls."""
    written = " ".join(f"{message.text} {getattr(message, 'tool_calls', '')}" for message in messages)
    return " ".join(["What was found is at", *map(reference_to, find_references(written)), "."])


class Selection(BaseChatModel):
    """The model of a tool selector and of a summarization: it always selects `crm`, and summarizes what it is sent."""

    @property
    def _llm_type(self) -> str:
        return "selection"

    def with_structured_output(self, schema: Any, **kwargs: Any) -> Runnable[Any, Any]:
        """Return what selects."""
        return RunnableLambda(lambda asked: {"tools": ["crm"]})

    def _generate(self, messages: Sequence[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage(summarize(messages)))])


class Trimming(AgentMiddleware[Any, Any, Any]):
    """Removes from the state what stands before the last question but one."""

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Remove the oldest turns."""
        messages = state["messages"]
        questions = [at for at, message in enumerate(messages) if isinstance(message, HumanMessage)]
        if len(questions) < 2:
            return None
        return {"messages": [RemoveMessage(message.id) for message in messages[: questions[-2]]]}


class JsonReader(AgentMiddleware[Any, Any, Any]):
    """Reads the results of the JSON tools in the state, as a program does."""

    def before_model(self, state: Any, runtime: Any) -> None:
        """Parse them."""
        for message in state["messages"]:
            if isinstance(message, ToolMessage) and message.name in {"crm", "mixed"}:
                json.loads(message.text)


class Redactor(AgentMiddleware[Any, Any, Any]):
    """Redacts e-mail addresses in what the model is sent; the state keeps them."""

    def wrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], Any]) -> Any:
        """Redact and go on."""
        return handler(_redacted(request))

    async def awrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[Any]]) -> Any:
        """Redact and go on."""
        return await handler(_redacted(request))


def _redacted(request: ModelRequest) -> ModelRequest:
    return request.override(messages=[_redact(message) for message in request.messages])


def _redact(message: BaseMessage) -> Any:
    if isinstance(message.content, str):
        return message.model_copy(update={"content": EMAIL.sub("[mail]", message.content)})
    blocks = [
        {**block, "text": EMAIL.sub("[mail]", block["text"])} if isinstance(block, dict) and "text" in block else block
        for block in message.content
    ]
    return message.model_copy(update={"content": blocks})


class Window(AgentMiddleware[Any, Any, Any]):
    """Sends the last two turns of the user; the state keeps all."""

    def wrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], Any]) -> Any:
        """Leave out the oldest turns and go on."""
        return handler(_latest(request))

    async def awrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[Any]]) -> Any:
        """Leave out the oldest turns and go on."""
        return await handler(_latest(request))


def _latest(request: ModelRequest) -> ModelRequest:
    questions = [at for at, message in enumerate(request.messages) if isinstance(message, HumanMessage)]
    return request.override(messages=request.messages[questions[max(len(questions) - 2, 0)] :])


def _summarization(script: Script) -> AgentMiddleware[Any, Any, Any]:
    return SummarizationMiddleware(
        Selection(), trigger=("messages", 7), keep=("messages", 3), trim_tokens_to_summarize=None
    )


def _retry(script: Script) -> AgentMiddleware[Any, Any, Any]:
    return ToolRetryMiddleware(max_retries=1, initial_delay=0, jitter=False, tools=["logs"])


def _alone(make: Callable[[Script], AgentMiddleware[Any, Any, Any]], **options: Any) -> Beside:
    return lambda script: ([make(script)], options)


def _everything(script: Script) -> tuple[list[AgentMiddleware[Any, Any, Any]], dict[str, Any]]:
    """Make most of them at once; what is not here, such as a trimming, would leave nothing for the others to do."""
    names = ("context editing", "tool selector", "human in the loop", "fallback", "todo list", "retry", "redactor")
    made = [NEIGHBOURS[name](script) for name in names]
    return [each for middleware, _ in made for each in middleware], {"failures": 1, "falters": True}


NEIGHBOURS: Final[dict[str, Beside]] = {
    "summarization": _alone(_summarization),
    "context editing": _alone(
        lambda script: ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=600, keep=1, clear_at_least=0)])
    ),
    "tool selector": _alone(lambda script: LLMToolSelectorMiddleware(model=Selection())),
    "PII": _alone(lambda script: PIIMiddleware("email", strategy="redact", apply_to_tool_results=True)),
    "human in the loop": _alone(
        lambda script: HumanInTheLoopMiddleware(interrupt_on={"crm": True, "logs": True, "prose": True})
    ),
    "trimming": _alone(lambda script: Trimming()),
    "window": _alone(lambda script: Window()),
    "fallback": _alone(lambda script: ModelFallbackMiddleware(Model(script=script)), falters=True),
    "todo list": _alone(lambda script: TodoListMiddleware()),
    "retry": _alone(_retry, failures=1),
    "redactor": _alone(lambda script: Redactor()),
    "JSON reader": _alone(lambda script: JsonReader()),
    "seven of these": _everything,
}
"""Name, and what makes the middleware."""
