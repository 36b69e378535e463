"""The OpenAI Agents SDK, run in process with a scripted model: its items stay whole, its requests are projected."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from itertools import pairwise
from typing import Any, Final, TypeAlias

import pytest
from agents import Agent, ModelResponse, RunConfig, Runner, Usage, function_tool, handoff
from agents.models.interface import Model
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from accp_adapters.frameworks.openai_agents import AccpInputFilter
from accp_adapters.messages import project_messages
from tests.adapters.frameworks.rows import LATE, as_json, fetch_arguments

Items: TypeAlias = list[dict[str, Any]]
Turn: TypeAlias = Callable[[Items], Any]


class Scripted(Model):
    """A model whose turns are functions of what it is sent."""

    def __init__(self, *turns: Turn) -> None:
        self._turns: Final = iter(turns)
        self.sent: Final[list[Items]] = []

    async def get_response(self, system_instructions: str | None, input: Any, *_: Any, **__: Any) -> ModelResponse:
        self.sent.append(input)
        await asyncio.sleep(0)
        return ModelResponse(output=[next(self._turns)(input)], usage=Usage(), response_id=None)

    async def stream_response(
        self, system_instructions: str | None, input: Any, *_: Any, **__: Any
    ) -> AsyncIterator[Any]:
        answer = await self.get_response(system_instructions, input)
        response = Response.model_construct(id="r", output=answer.output, usage=None)
        yield ResponseCompletedEvent.model_construct(type="response.completed", response=response, sequence_number=1)


def call(name: str, arguments: Any = None) -> Turn:
    """Return the turn that calls a tool; `arguments` is a function of what was sent, None: there are none."""
    return lambda sent: ResponseFunctionToolCall(
        call_id=f"call-{len(sent)}",
        name=name,
        arguments=json.dumps(arguments(sent) if arguments else {}),
        type="function_call",
    )


def say_last_output(sent: Items) -> ResponseOutputMessage:
    text = ResponseOutputText(type="output_text", text=sent[-1]["output"], annotations=[])
    return ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])


def ask_for_late_rows(sent: Items) -> dict[str, Any]:
    return fetch_arguments(json.dumps(sent))


@function_tool
def orders() -> str:
    """Return all orders."""
    return as_json()


def config(accp: AccpInputFilter) -> RunConfig:
    return RunConfig(call_model_input_filter=accp, tracing_disabled=True)


def finding() -> Scripted:
    return Scripted(call("orders"), call("accp_fetch", ask_for_late_rows), say_last_output)


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_model_reads_a_preview_and_fetches_what_it_needs(streamed: bool) -> None:
    accp, model = AccpInputFilter(), finding()
    agent = Agent("clerk", tools=[orders, accp.tool], model=model)
    if streamed:
        run = Runner.run_streamed(agent, "Which are late?", run_config=config(accp))
        assert [event async for event in run.stream_events()]
        result: Any = run
    else:
        result = await Runner.run(agent, "Which are late?", run_config=config(accp))
    assert result.final_output == LATE
    assert as_json() in [item.get("output") for item in result.to_input_list()]
    assert max(len(json.dumps(sent)) for sent in model.sent) < len(as_json()) / 10
    assert all(after[: len(before)] == before for before, after in pairwise(model.sent))
    whole = [item for item in result.to_input_list() if item.get("type") != "message"]
    assert model.sent[-1] == project_messages(whole, layout="openai-responses").messages


async def test_an_agent_without_the_tool_is_shown_everything() -> None:
    accp = AccpInputFilter()
    model = Scripted(call("orders"), say_last_output)
    result = await Runner.run(Agent("clerk", tools=[orders], model=model), "All?", run_config=config(accp))
    assert "$cold." not in result.final_output
    assert "Customer 599" in result.final_output and len(result.final_output) < len(as_json())


async def test_a_tool_of_the_same_name_opens_nothing_of_ours() -> None:
    def accp_fetch(ref: str) -> str:
        """Return something else."""
        return f"mine: {ref}"

    for tool in (function_tool(accp_fetch), AccpInputFilter().tool):
        model = Scripted(call("orders"), say_last_output)
        agent = Agent("clerk", tools=[orders, tool], model=model)
        result = await Runner.run(agent, "All?", run_config=config(AccpInputFilter()))
        assert "Customer 599" in result.final_output


async def test_an_agent_that_is_handed_over_to_opens_what_the_first_one_was_shown() -> None:
    accp = AccpInputFilter()
    second = Agent("market", tools=[accp.tool], model=Scripted(call("accp_fetch", ask_for_late_rows), say_last_output))
    model = Scripted(call("orders"), call("transfer_to_market"))
    first = Agent("clerk", tools=[orders, accp.tool], handoffs=[handoff(second)], model=model)
    assert (await Runner.run(first, "Which are late?", run_config=config(accp))).final_output == LATE


async def test_runs_at_once_open_their_own_references_only() -> None:
    accp = AccpInputFilter()
    foreign: list[dict[str, Any]] = []

    def remember(sent: Items) -> dict[str, Any]:
        foreign.append(ask_for_late_rows(sent))
        return foreign[0]

    owner = Agent("owner", tools=[orders, accp.tool], model=finding())
    first = Agent(
        "a", tools=[orders, accp.tool], model=Scripted(call("orders"), call("accp_fetch", remember), say_last_output)
    )
    assert (await Runner.run(first, "?", run_config=config(accp))).final_output == LATE
    thief = Agent("thief", tools=[accp.tool], model=Scripted(call("accp_fetch", lambda _: foreign[0]), say_last_output))
    runs = [Runner.run(agent, "?", run_config=config(accp)) for agent in (thief, owner)]
    refused, found = await asyncio.gather(*runs)
    assert (refused.final_output[:5], found.final_output) == ("E5002", LATE)
