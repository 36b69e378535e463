"""OpenAI Agents SDK: a `call_model_input_filter` that projects each request, and the tool that opens references.

The items of the run stay whole; the filter changes one request at a time
(https://openai.github.io/openai-agents-python/ref/run_config).
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Final, cast

from agents import FunctionTool
from agents.run import CallModelData, ModelInputData
from agents.tool_context import ToolContext

from accp_adapters.fetching import FETCH_DESCRIPTION, FETCH_NAME, FETCH_PARAMETERS
from accp_adapters.messages import Layout, Projection, project_messages
from accp_adapters.policy import Policy

__all__ = ["AccpInputFilter"]


class AccpInputFilter:
    """The filter of a `RunConfig`, whose `tool` belongs to the tools of each agent that may see references.

    `Runner.run(agent, question, run_config=RunConfig(call_model_input_filter=accp))`, with `tools=[…, accp.tool]`. An
    agent without this tool gets views and repeat markers, but no previews. One object serves any number of runs: a
    reference opens in the run whose request showed it, from the items of that request.
    """

    def __init__(self, policy: Policy | None = None) -> None:
        """Make the filter; `policy` None: the defaults."""
        self._policy: Final = policy or Policy()
        self._shown: Final[ContextVar[Projection]] = ContextVar("accp_shown")
        self.tool: Final = FunctionTool(
            name=FETCH_NAME,
            description=FETCH_DESCRIPTION,
            params_json_schema=dict(FETCH_PARAMETERS),
            on_invoke_tool=self._open,
            strict_json_schema=False,
        )

    def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        """Return the input with its outputs projected; the instructions stay."""
        # One of the same name, such as that of another filter, would not open what is shown here.
        has_tool = any(tool is self.tool for tool in data.agent.tools)
        items = cast("list[dict[str, Any]]", data.model_data.input)
        policy = self._policy if has_tool else self._policy.without_previews()
        shown = project_messages(items, policy=policy, layout=Layout.OPENAI_RESPONSES, agent=data.agent.name)
        self._shown.set(shown)
        return ModelInputData(input=cast("Any", shown.messages), instructions=data.model_data.instructions)

    async def _open(self, context: ToolContext[Any], arguments: str) -> str:
        """Answer a call of the tool; a refusal is an answer that the model reads."""
        shown = self._shown.get(None) or project_messages([], layout=Layout.OPENAI_RESPONSES)
        call = {"call_id": context.tool_call_id, "name": FETCH_NAME, "arguments": arguments}
        answer = cast("dict[str, Any]", shown.open(call))
        return str(answer["output"])
