"""What the middleware does to a recorded run: the adapter's own functions, on messages as LangChain has them."""

from __future__ import annotations

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from accp_adapters.langgraph.fetch import fetch_tool
from accp_adapters.langgraph.messages import MARK, compact_message
from accp_adapters.langgraph.policy import Policy
from accp_adapters.langgraph.projection import Reading, prompt_of
from accp_adapters.replay.recorded_run import RecordedMessage, Role
from accp_adapters.replay.strategy import IncomingMessage, SentMessage, Strategy
from accp_core.strict_json import compact_json

__all__ = ["policy_strategy"]

_SESSION = "replay"


def policy_strategy(name: str, policy: Policy) -> Strategy:
    """Return what `AccpMiddleware(policy)` does, each agent of a run being one with a name and a state of its own."""
    definition = compact_json(convert_to_openai_tool(fetch_tool(policy))) if policy.previews else ""
    return Strategy(
        name=name, new_rewriter=lambda agent, tools: _Reader(policy, agent, tools).read, fetch_tool=definition
    )


class _Reader:
    """One agent's state and what its model reads of it."""

    def __init__(self, policy: Policy, agent: str, tools: str) -> None:
        self._policy = policy
        self._agent = agent
        self._state: list[BaseMessage] = []
        self._reading = Reading(policy, _SESSION, agent=agent)
        self._tokens = policy.counter(tools)
        """What a provider would have counted so far."""

    def read(self, incoming: IncomingMessage) -> SentMessage:
        """Return the next message as the model reads it."""
        born = self._born(incoming)
        self._state.append(born)
        shown = self._reading.show(born)
        self._tokens += self._policy.counter(shown.text)
        refs = shown.additional_kwargs.get(MARK, {}).get("refs", ())
        return SentMessage(text=shown.text, reference=f"${refs[0]}" if refs else "")

    def _born(self, incoming: IncomingMessage) -> BaseMessage:
        message = incoming.message
        if message.role is not Role.TOOL:
            return self._said(message)
        small, _ = compact_message(
            ToolMessage(message.text, name=message.tool, tool_call_id=message.call_id),
            self._policy,
            _SESSION,
            limits=self._policy.limits(incoming.results_in_turn),
            request=incoming.request,
            prompt=prompt_of(self._state, self._agent),
        )
        return small

    def _said(self, message: RecordedMessage) -> BaseMessage:
        if message.role is Role.INSTRUCTIONS:
            return SystemMessage(message.text)
        if message.role is not Role.AGENT:
            return HumanMessage(message.text)
        said = AIMessage(message.text, name=message.sender)
        if message.sender == self._agent and message.by_model:
            output = self._policy.counter(message.text)
            said.usage_metadata = {
                "input_tokens": self._tokens,
                "output_tokens": output,
                "total_tokens": self._tokens + output,
            }
        return said
