"""Google ADK: a plugin that projects each request, and adds the tool that opens references once one is shown.

The events of the session stay whole; `before_model_callback` changes one request at a time
(https://google.github.io/adk-docs/callbacks).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final
from weakref import WeakKeyDictionary

from accp_adapters.extras import needs

with needs("google-adk"):
    from google.adk.models import LlmRequest
    from google.adk.plugins.base_plugin import BasePlugin
    from google.adk.tools.agent_tool import AgentTool

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.frameworks.adk_fetch import FetchTool
from accp_adapters.frameworks.adk_parts import OTHER_AGENT, read_parts, with_parts
from accp_adapters.frameworks.adk_results import asker_of, session_texts
from accp_adapters.frameworks.parts import Projected, carried, joined, project_parts
from accp_adapters.messages import Projection
from accp_adapters.policy import Policy
from accp_core.references import find_references

__all__ = ["AccpPlugin"]


class AccpPlugin(BasePlugin):
    """`Runner(plugins=[AccpPlugin()], …)` for all agents, or `Agent(before_model_callback=accp.before_model_callback)`.

    Results become views and previews, and so does what an agent is told of another one. A reference opens in the step
    whose request showed it, from the contents of that request. An agent that has a tool of that name itself gets views
    and repeat markers, but no previews. What a question to an `AgentTool` cites goes with it, what its answer cites
    comes back.
    """

    def __init__(self, policy: Policy | str | None = None) -> None:
        """Make the plugin; `policy` None: the defaults."""
        super().__init__(name="accp")
        chosen = Policy.of(policy)
        self._policy: Final = replace(chosen, agent_names=chosen.agent_names | {OTHER_AGENT})
        self._answering: Final[WeakKeyDictionary[Any, Projection]] = WeakKeyDictionary()
        """What the agent that answers a call was shown, by the context of the call."""

    async def before_model_callback(self, *, callback_context: Any, llm_request: LlmRequest) -> None:
        """Project the contents of the request, which are copied where they change."""
        if isinstance(llm_request.contents, Projected):
            return
        parts = list(read_parts(llm_request.contents, callback_context.session.events))
        has_other_tool = FETCH_NAME in llm_request.tools_dict
        policy = self._policy.without_previews() if has_other_tool else self._policy
        llm_request.contents, shown = project_parts(llm_request.contents, parts, policy, with_parts)
        if (asker := asker_of(callback_context)) is not None:
            self._answering[asker] = shown
        if shown.tools and not has_other_tool:
            llm_request.append_tools([FetchTool(shown)])

    async def before_tool_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any) -> None:
        """Put the texts that a question to another agent cites behind the question."""
        question = tool_args.get("request")
        if isinstance(tool, AgentTool) and tool.include_plugins and find_references(str(question)):
            tool_args["request"] = joined(carried(str(question), session_texts(tool_context.session.events)))

    async def after_tool_callback(
        self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any, result: Any
    ) -> dict[str, Any] | None:
        """Return the answer of another agent with the texts that it cites."""
        shown = self._answering.pop(tool_context, None)
        if shown is None or not isinstance(result, str):
            return None
        answer = carried(result, shown)
        return None if isinstance(answer, str) else {"result": joined(answer)}
