"""Google ADK: a plugin that projects each request, and adds the tool that opens references once one is shown.

The events of the session stay whole; `before_model_callback` changes one request at a time
(https://google.github.io/adk-docs/callbacks).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, cast

from google.adk.models import LlmRequest
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools import BaseTool
from google.genai.types import FunctionDeclaration

from accp_adapters.fetching import FETCH_DESCRIPTION, FETCH_NAME, FETCH_PARAMETERS
from accp_adapters.frameworks.adk_parts import OTHER_AGENT, read_parts
from accp_adapters.messages import Layout, Projection, project_messages
from accp_adapters.policy import Policy

__all__ = ["AccpPlugin"]


class AccpPlugin(BasePlugin):
    """`Runner(plugins=[AccpPlugin()], …)` for all agents, or `Agent(before_model_callback=accp.before_model_callback)`.

    Results become views and previews, and so does what an agent is told of another one. A reference opens in the step
    whose request showed it, from the contents of that request. An agent that has a tool of that name itself gets views
    and repeat markers, but no previews.
    """

    def __init__(self, policy: Policy | None = None) -> None:
        """Make the plugin; `policy` None: the defaults."""
        super().__init__(name="accp")
        chosen = policy or Policy()
        self._policy: Final = replace(chosen, agent_names=chosen.agent_names | {OTHER_AGENT})

    async def before_model_callback(self, *, callback_context: Any, llm_request: LlmRequest) -> None:
        """Project the contents of the request, which are copied where they change."""
        parts = list(read_parts(llm_request.contents, callback_context.session.events))
        has_other_tool = FETCH_NAME in llm_request.tools_dict
        policy = self._policy.without_previews() if has_other_tool else self._policy
        shown = project_messages([part.item for part in parts], policy=policy, layout=Layout.OPENAI_CHAT)
        contents = list(llm_request.contents)
        for part, new in zip(parts, shown.messages, strict=True):
            if new["content"] != part.item["content"]:
                inside = list(contents[part.content].parts or ())
                inside[part.number] = part.with_text(new["content"])
                contents[part.content] = contents[part.content].model_copy(update={"parts": inside})
        llm_request.contents = contents
        if shown.tools and not has_other_tool:
            llm_request.append_tools([_FetchTool(shown)])


class _FetchTool(BaseTool):
    """The fetch tool of one request: it opens what that request shows."""

    def __init__(self, shown: Projection) -> None:
        super().__init__(name=FETCH_NAME, description=FETCH_DESCRIPTION)
        self._shown: Final = shown

    def _get_declaration(self) -> FunctionDeclaration:
        parameters = dict(FETCH_PARAMETERS)
        return FunctionDeclaration(name=self.name, description=self.description, parameters_json_schema=parameters)

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> str:
        """Answer a call; a refusal is an answer that the model reads."""
        answer = self._shown.open({"id": "", "function": {"name": FETCH_NAME, "arguments": args}})
        return str(cast("dict[str, Any]", answer)["content"])
