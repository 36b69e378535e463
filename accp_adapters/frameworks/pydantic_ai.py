"""Pydantic AI: a capability that projects each request, and offers the tool that opens references.

The history of the run stays whole; `before_model_request` changes one request at a time
(https://ai.pydantic.dev/capabilities).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from pydantic_ai import RunContext, Tool, ToolDefinition
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.messages import ModelMessage, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.toolsets import AbstractToolset, FunctionToolset

from accp_adapters.fetching import FETCH_DESCRIPTION, FETCH_NAME, FETCH_PARAMETERS
from accp_adapters.messages import Layout, Projection, project_messages
from accp_adapters.policy import Policy

__all__ = ["AccpCapability"]

_Shown: TypeAlias = tuple[int, int, dict[str, Any]]
"""The index of a message, that of one of its parts, and the part as JSON of OpenAI's Chat."""


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
        messages = list(request_context.messages)
        before = list(_parts(messages))
        for (index, number, old), new in zip(before, self._project(messages).messages, strict=True):
            if new["content"] != old["content"]:
                message: Any = messages[index]
                parts = list(message.parts)
                parts[number] = replace(parts[number], content=new["content"])
                messages[index] = replace(message, parts=parts)
        return replace(request_context, messages=messages)

    def get_toolset(self) -> AbstractToolset[Any]:
        """Return the fetch tool, which a request has once a reference is shown."""
        tool = Tool.from_schema(self._open, FETCH_NAME, FETCH_DESCRIPTION, dict(FETCH_PARAMETERS), takes_ctx=True)
        tool.prepare = self._prepare
        return FunctionToolset([tool])

    async def _prepare(self, ctx: RunContext[Any], tool: ToolDefinition) -> ToolDefinition | None:
        return tool if self._project(ctx.messages).tools else None

    async def _open(self, ctx: RunContext[Any], **arguments: Any) -> str:
        """Answer a call of the tool; a refusal is an answer that the model reads."""
        call = {"id": ctx.tool_call_id, "function": {"name": FETCH_NAME, "arguments": arguments}}
        answer = self._project(ctx.messages).open(call)
        return str((answer or {})["content"])

    def _project(self, messages: Sequence[ModelMessage]) -> Projection:
        return project_messages([item for *_, item in _parts(messages)], policy=self.policy, layout=Layout.OPENAI_CHAT)


def _parts(messages: Sequence[ModelMessage]) -> Iterator[_Shown]:
    """Yield what of a history a projection reads: words, calls, results that are text; errors and files stay."""
    for index, message in enumerate(messages):
        for number, part in enumerate(message.parts):
            if (item := _item(part)) is not None:
                yield index, number, item


def _item(part: Any) -> dict[str, Any] | None:
    match part:
        case ToolReturnPart(outcome="success", files=[]):
            return {"role": "tool", "tool_call_id": part.tool_call_id, "content": part.model_response_str()}
        case ToolCallPart():
            function = {"name": part.tool_name, "arguments": part.args}
            return {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": part.tool_call_id, "function": function}],
            }
        case UserPromptPart(content=str()):
            return {"role": "user", "content": part.content}
        case TextPart():
            return {"role": "assistant", "content": part.content}
    return None
