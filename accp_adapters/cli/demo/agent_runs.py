"""One run of the demonstration's job, with its conversation and the figures of each model call."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelRequest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, SystemMessage, ToolMessage, messages_to_dict
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from accp_adapters.cli.demo.scripted_model import INSTRUCTIONS, JOB
from accp_adapters.cli.demo.snapshot import FolderSnapshot
from accp_adapters.cli.demo.tool_answers import last_reference
from accp_adapters.cli.demo.tools import folder_tools
from accp_adapters.langgraph import AccpMiddleware
from accp_adapters.policy import Policy
from accp_adapters.replay import CallFigures, Run, SentMessage, Strategy, parse_runs, replay
from accp_adapters.replay.strategies import policy_strategy
from accp_adapters.replay.visibility import NeededValue, OneFetch, VisibilityCheck
from accp_core.strict_json import compact_json

__all__ = ["AgentRun", "compare_needed_values", "run_job"]

_MAX_STEPS: Final = 100
"""Steps after which LangGraph stops a run."""


@dataclass(frozen=True, slots=True)
class AgentRun:
    """One run of the job."""

    messages: tuple[BaseMessage, ...]
    """The whole conversation as the state has it, instructions first."""
    sent: tuple[BaseMessage, ...]
    """What the last model call was sent of it."""
    run: Run
    """The conversation as a recorded run."""
    calls: tuple[CallFigures, ...]
    """The figures of each model call."""

    @property
    def answer(self) -> str:
        """The final answer."""
        return self.messages[-1].text

    @property
    def tokens(self) -> int:
        """Tokens of all prompts."""
        return sum(call.charge.tokens for call in self.calls)

    @property
    def cost(self) -> float:
        """Cache-weighted tokens of all prompts."""
        return sum(call.charge.cost for call in self.calls)

    def conversation(self) -> tuple[BaseMessage, ...]:
        """Return the conversation as the model was sent it: instructions, the last prompt, the final answer."""
        return self.messages[0], *self.sent, self.messages[-1]

    def results(self) -> list[ToolMessage]:
        """Return the results of tools in the last prompt."""
        return [message for message in self.sent if isinstance(message, ToolMessage)]

    def call_names(self) -> list[str]:
        """Return the name of each model call: the tools that its output calls, or "the final answer"."""
        names = (", ".join(self.run.messages[position].tool for position in call.output) for call in self.run.calls)
        return [name or "the final answer" for name in names]


def run_job(model: BaseChatModel, snapshot: FolderSnapshot, middleware: AccpMiddleware | None) -> AgentRun:
    """Let an agent do the job.

    Args:
        model: The agent's chat model.
        snapshot: The files of the folder.
        middleware: The middleware of the agent; None: none.
    """
    tools = folder_tools(snapshot)
    last_request = _LastRequest()
    chain = [middleware, last_request] if middleware else [last_request]
    agent: Any = create_agent(model, tools, system_prompt=INSTRUCTIONS, middleware=chain)
    state = agent.invoke({"messages": JOB}, {"recursion_limit": _MAX_STEPS})
    messages = (SystemMessage(INSTRUCTIONS), *state["messages"])
    conversation = {"messages": messages_to_dict(messages), "tools": _definitions(tools)}
    (run,) = parse_runs(json.dumps(conversation), path="demo")
    fetch_tool = _definitions(middleware.tools) if middleware else []
    return AgentRun(
        messages, last_request.messages, run, replay(run, _as_sent(last_request.messages, fetch_tool)).calls
    )


class _LastRequest(AgentMiddleware[Any, Any, Any]):
    """Keeps the messages of the last model call; innermost, so that it has what the model is sent."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: tuple[BaseMessage, ...] = ()

    def wrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], Any]) -> Any:
        self.messages = tuple(request.messages)
        return handler(request)


def compare_needed_values(without: AgentRun, with_us: AgentRun) -> list[NeededValue]:
    """Return the values that the run without the middleware needed, and where the other run shows them.

    Tool results are matched by the id of their call, so both models must make the same calls.
    """
    results = {message.tool_call_id: message for message in with_us.results()}
    sent = {
        position: _sent_message(results.get(message.call_id), message.text)
        for position, message in enumerate(without.run.messages)
    }
    check = VisibilityCheck(without.run)
    one_fetch = OneFetch(policy_strategy("default", Policy()).fetch)
    return [value for call in without.run.calls for value in check.needed_values(call, sent, one_fetch)]


def _definitions(tools: Sequence[BaseTool]) -> list[dict[str, Any]]:
    return [convert_to_openai_tool(tool) for tool in tools]


def _as_sent(messages: Sequence[BaseMessage], fetch_tool: list[dict[str, Any]]) -> Strategy:
    """Return the strategy that sends what the run sent, and the fetch tool where the middleware offered it."""
    results = {message.tool_call_id: message for message in messages if isinstance(message, ToolMessage)}
    return Strategy(
        name="as sent",
        rewrite=lambda message: _sent_message(results.get(message.call_id), message.text),
        fetch_tool=",".join(map(compact_json, fetch_tool)),
    )


def _sent_message(result: ToolMessage | None, recorded: str) -> SentMessage:
    if result is None:
        return SentMessage(text=recorded)
    return SentMessage(text=result.text, reference=last_reference(result.text))
