"""The job done twice, and what each model call sent, cost and still showed."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelRequest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, SystemMessage, ToolMessage, messages_to_dict
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from accp_adapters.cli.demo.scripted_model import INSTRUCTIONS, JOB
from accp_adapters.cli.demo.snapshot import Snapshot
from accp_adapters.cli.demo.tools import folder_tools
from accp_adapters.langgraph import AccpMiddleware
from accp_adapters.replay.formats.langchain import message_dump_to_run
from accp_adapters.replay.recorded_run import Run
from accp_adapters.replay.replay import CallFigures, replay
from accp_adapters.replay.strategy import SentMessage, Strategy
from accp_adapters.replay.visibility import NeededValue, VisibilityCheck
from accp_adapters.tokens import o200k_base_encoding
from accp_core.strict_json import compact_json

__all__ = ["Done", "compare_needs", "do_job"]

_STEPS = 100
"""A LangGraph run of more steps is stopped."""


@dataclass(frozen=True, slots=True)
class Done:
    """One run of the job."""

    messages: tuple[BaseMessage, ...]
    """The whole conversation, instructions first."""
    sent: tuple[BaseMessage, ...]
    """What the last model call was sent of it: with the middleware more than the texts in the state changes."""
    run: Run
    """The conversation as a recorded run."""
    calls: tuple[CallFigures, ...]
    """What each model call sent and cost."""

    @property
    def answer(self) -> str:
        """Return the final answer."""
        return self.messages[-1].text

    @property
    def tokens(self) -> int:
        """Return the tokens of all prompts."""
        return sum(call.charge.tokens for call in self.calls)

    @property
    def cost(self) -> float:
        """Return the same, cache-weighted."""
        return sum(call.charge.cost for call in self.calls)

    def says(self) -> list[str]:
        """Return what each model call led to: the tools it called, or that it answered."""
        texts = (", ".join(self.run.messages[position].tool for position in call.output) for call in self.run.calls)
        return [text or "the final answer" for text in texts]


def do_job(model: BaseChatModel, snapshot: Snapshot, middleware: AccpMiddleware | None) -> Done:
    """Let an agent do the job over `snapshot`, with `middleware` or without any."""
    tools = folder_tools(snapshot)
    added, requests = [middleware] if middleware else [], _Requests()
    agent: Any = create_agent(model, tools, system_prompt=INSTRUCTIONS, middleware=[*added, requests])
    state = agent.invoke({"messages": JOB}, {"recursion_limit": _STEPS})
    messages = (SystemMessage(INSTRUCTIONS), *state["messages"])
    run = message_dump_to_run(
        json.loads(json.dumps(messages_to_dict(messages))), _definitions(tools), name="demo", source="demo"
    )
    fetch_tool = _definitions(middleware.tools) if middleware else []
    calls = replay(run, _as_sent(requests.last, fetch_tool), o200k_base_encoding().encode_ordinary).calls
    return Done(messages, requests.last, run, calls)


class _Requests(AgentMiddleware[Any, Any, Any]):
    """Innermost, so that it sees what the model is sent."""

    def __init__(self) -> None:
        super().__init__()
        self.last: tuple[BaseMessage, ...] = ()

    def wrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], Any]) -> Any:
        self.last = tuple(request.messages)
        return handler(request)


def compare_needs(without: Done, with_us: Done) -> list[NeededValue]:
    """Return the values that the run without the middleware needed, and what the other run shows of them.

    Tool results are matched by the id of the call that they answer, so both models must have called alike.
    """
    shown = {m.tool_call_id: m for m in with_us.sent if isinstance(m, ToolMessage)}
    sent = {
        position: _sent(shown.get(message.call_id), message.text)
        for position, message in enumerate(without.run.messages)
    }
    check = VisibilityCheck(without.run)
    return [need for call in without.run.calls for need in check.needed_values(call, sent)]


def _definitions(tools: Sequence[BaseTool]) -> list[dict[str, Any]]:
    return [convert_to_openai_tool(each) for each in tools]


def _as_sent(messages: Sequence[BaseMessage], fetch_tool: list[dict[str, Any]]) -> Strategy:
    """Return the strategy that changes nothing, and offers the fetch tool where the middleware offered it."""
    answers = {message.tool_call_id: message for message in messages if isinstance(message, ToolMessage)}
    return Strategy(
        name="as sent",
        rewrite=lambda incoming: _sent(answers.get(incoming.message.call_id), incoming.message.text),
        fetch_tool=",".join(map(compact_json, fetch_tool)),
    )


def _sent(message: ToolMessage | None, recorded: str) -> SentMessage:
    if message is None:
        return SentMessage(text=recorded)
    refs = message.additional_kwargs.get("accp", {}).get("refs", ())
    return SentMessage(text=message.text, reference=refs[0] if refs else "")
