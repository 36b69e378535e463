"""OpenAI Agents SDK: a `call_model_input_filter` that projects each request, and the tool that opens references.

The items of the run stay whole; the filter changes one request at a time
(https://openai.github.io/openai-agents-python/ref/run_config).
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Final, cast

from accp_adapters.extras import needs
from accp_adapters.fetching import FETCH_DESCRIPTION, FETCH_NAME, FETCH_PARAMETERS
from accp_adapters.frameworks.parts import Projected, carried
from accp_adapters.messages import Layout, Projection, project_messages
from accp_adapters.policy import Policy

with needs("openai-agents"):
    from agents import Agent, FunctionTool, ToolOutputText
    from agents.agent_tool_input import default_tool_input_builder
    from agents.run import CallModelData, ModelInputData
    from agents.tool_context import ToolContext

__all__ = ["AccpInputFilter", "answer", "question"]


# What goes from one agent of the OpenAI Agents SDK to another one that is its tool, and back.


def question(given: Any, shown: Projection) -> Any:
    """Return what an agent is asked, with the texts of the asker's conversation that it cites.

    Args:
        given: The parameters of the call and their schema, as an `input_builder` is given them.
        shown: What the asker's model was sent.
    """
    params = given["params"]
    parts = carried(params["input"] if params.keys() == {"input"} else default_tool_input_builder(given), shown)
    content = [{"type": "input_text", "text": text} for text in parts]
    return parts if isinstance(parts, str) else [{"role": "user", "content": content}]


async def answer(done: Any) -> Any:
    """Return the final output of a run, with the texts of its conversation that it cites."""
    shown = project_messages(done.to_input_list(), layout=Layout.OPENAI_RESPONSES)
    parts = carried(str(done.final_output), shown)
    return done.final_output if isinstance(parts, str) else [ToolOutputText(text=text) for text in parts]


_NOTHING: Final = project_messages([], layout=Layout.OPENAI_RESPONSES)


class AccpInputFilter:
    """The filter of a `RunConfig`, whose `tool` belongs to the tools of each agent that may see references.

    `Runner.run(agent, question, run_config=RunConfig(call_model_input_filter=accp))`, with `tools=[…, accp.tool]`. An
    agent without this tool gets views and repeat markers, but no previews. One object serves any number of runs: a
    reference opens in the run whose request showed it, from the items of that request.
    """

    def __init__(self, policy: Policy | str | None = None) -> None:
        """Make the filter; `policy` None: the defaults."""
        self._policy: Final = Policy.of(policy)
        # The filter is not told which run it serves, but a run and its tools share the context of their task.
        self._shown: Final[ContextVar[Projection]] = ContextVar("accp_shown", default=_NOTHING)
        self.tool: Final = FunctionTool(
            name=FETCH_NAME,
            description=FETCH_DESCRIPTION,
            params_json_schema=dict(FETCH_PARAMETERS),
            on_invoke_tool=self._open,
            strict_json_schema=False,
        )

    def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        """Return the input with its outputs projected; the instructions stay."""
        if isinstance(data.model_data.input, Projected):
            return data.model_data
        # One of the same name, such as that of another filter, would not open what is shown here.
        has_tool = any(tool is self.tool for tool in data.agent.tools)
        items = cast("list[dict[str, Any]]", data.model_data.input)
        policy = self._policy if has_tool else self._policy.without_previews()
        shown = project_messages(items, policy=policy, layout=Layout.OPENAI_RESPONSES, agent=data.agent.name)
        self._shown.set(shown)
        return ModelInputData(input=cast("Any", Projected(shown.messages)), instructions=data.model_data.instructions)

    def as_tool(
        self, agent: Agent[Any], name: str | None = None, description: str | None = None, **options: Any
    ) -> Any:
        """Return another agent as a tool, as `agent.as_tool` does, that opens what its question cites.

        The texts that the question cites go with it, and those that the answer cites come back with it. `options` are
        those of `agent.as_tool`; an `input_builder` or a `custom_output_extractor` replaces the one of its direction.
        A tool that needs approval is given the words only: when it is resumed, no request shows what it may open.
        """
        carry: dict[str, Any] = {"custom_output_extractor": answer}
        if not options.get("needs_approval"):
            carry["input_builder"] = lambda given: question(given, self._shown.get())
        return agent.as_tool(name, description, **{**carry, **options})

    async def _open(self, context: ToolContext[Any], arguments: str) -> str:
        return self._shown.get().answer(arguments)
