"""Pydantic AI: a capability that projects each request, and offers the tool that opens references.

The history of the run stays whole; `before_model_request` changes one request at a time
(https://ai.pydantic.dev/capabilities).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from accp_adapters.extras import needs
from accp_adapters.fetching import FETCH_DESCRIPTION, FETCH_NAME, FETCH_PARAMETERS
from accp_adapters.frameworks.parts import ShownPart, carried, cites, made_call, project_parts, result, texts_of, words
from accp_adapters.messages import Projection
from accp_adapters.policy import Policy

with needs("pydantic-ai"):
    from pydantic_ai import RunContext, Tool, ToolDefinition
    from pydantic_ai.agent import AbstractAgent
    from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
    from pydantic_ai.messages import ModelMessage, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart
    from pydantic_ai.models import ModelRequestContext
    from pydantic_ai.toolsets import AbstractToolset, FunctionToolset

__all__ = ["AccpCapability", "read_parts", "with_parts"]


# The parts of a history of Pydantic AI that a projection reads.


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


@dataclass
class AccpCapability(AbstractCapability[Any]):
    """`Agent(model, capabilities=[AccpCapability()])`: results as views and previews, and `accp_fetch` for the rest."""

    policy: Policy = field(default_factory=Policy)
    """What the model is sent."""

    def get_ordering(self) -> CapabilityOrdering:
        """Come last: what drops messages after it might leave a repeat marker that names nothing."""
        return CapabilityOrdering(position="innermost")

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Return the request with its results projected; the history of the run stays as it is."""
        return replace(request_context, messages=self._project(request_context.messages)[0])

    def get_toolset(self) -> AbstractToolset[Any]:
        """Return the fetch tool, which a request has once a reference is shown."""
        tool = Tool.from_schema(self._open, FETCH_NAME, FETCH_DESCRIPTION, dict(FETCH_PARAMETERS), takes_ctx=True)
        tool.prepare = self._prepare
        return FunctionToolset([tool])

    async def ask(self, ctx: RunContext[Any], agent: AbstractAgent[Any, Any], question: str, **options: Any) -> Any:
        """Run another agent inside a tool of this one, and return what the tool returns: the answer.

        The texts that the question cites go with it, and those that the answer cites come back with it: a list of the
        answer and these texts. `options` are those of `agent.run`; `deps` and `usage` are those of this run by default.
        """
        settings: dict[str, Any] = {"deps": ctx.deps, "usage": ctx.usage, **options}
        done = await agent.run(carried(question, self._project(ctx.messages)[1]), **settings)
        answer = carried(str(done.output), self._project(done.all_messages())[1])
        return done.output if isinstance(answer, str) else answer

    async def _prepare(self, ctx: RunContext[Any], tool: ToolDefinition) -> ToolDefinition | None:
        return tool if self._project(ctx.messages)[1].tools else None

    async def _open(self, ctx: RunContext[Any], **arguments: Any) -> str:
        return self._project(ctx.messages)[1].answer(arguments)

    def _project(self, messages: Sequence[ModelMessage]) -> tuple[list[ModelMessage], Projection]:
        return project_parts(messages, list(read_parts(messages)), self.policy, with_parts)
