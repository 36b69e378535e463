"""The OpenAI Agents SDK, run in process with a scripted model: its items stay whole, its requests are projected."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final, TypeAlias

import pytest
from agents import Agent, ModelResponse, RunConfig, Runner, Usage, function_tool, handoff
from agents.models.interface import Model
from agents.run import ModelInputData
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
from pydantic import BaseModel

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
        made = next(self._turns)(input)
        return ModelResponse(output=made if isinstance(made, list) else [made], usage=Usage(), response_id=None)

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


async def test_a_session_that_goes_on_keeps_what_was_sent() -> None:
    accp = AccpInputFilter()
    model = Scripted(
        call("orders"), say_last_output, call("accp_fetch", ask_for_late_rows), lambda sent: say_last_output(sent)
    )
    agent = Agent("clerk", tools=[orders, accp.tool], model=model)
    first = await Runner.run(agent, "Hello", run_config=config(accp))
    kept = json.loads(json.dumps(first.to_input_list()))
    again = AccpInputFilter()
    agent = Agent("clerk", tools=[orders, again.tool], model=model)
    result = await Runner.run(agent, [*kept, {"role": "user", "content": "Go on."}], run_config=config(again))
    assert result.final_output == LATE
    assert all(after[: len(before)] == before for before, after in pairwise(model.sent))


async def test_parallel_calls_keep_their_pairs() -> None:
    def twice(sent: Items) -> list[Any]:
        return [
            ResponseFunctionToolCall(call_id=each, name="orders", arguments="{}", type="function_call")
            for each in ("a", "b")
        ]

    accp = AccpInputFilter()
    model = Scripted(twice, say_last_output)
    result = await Runner.run(Agent("clerk", tools=[orders, accp.tool], model=model), "Which?", run_config=config(accp))
    outputs = [item for item in model.sent[-1] if item.get("type") == "function_call_output"]
    assert [item["call_id"] for item in outputs] == ["a", "b"]
    assert "[preview" in outputs[0]["output"] and "[as above" in outputs[1]["output"]
    assert result.final_output == outputs[1]["output"]


async def test_images_and_files_stay_as_they_are() -> None:
    image = {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo=", "detail": "auto"}
    words = {"role": "user", "content": [image, {"type": "input_text", "text": "What is this?"}]}
    made = {"type": "function_call", "call_id": "1", "name": "orders", "arguments": "{}"}
    answered = {"type": "function_call_output", "call_id": "1", "output": as_json()}
    other = {**made, "call_id": "2"}
    shown = {**answered, "call_id": "2", "output": [{"type": "input_text", "text": "x"}, image]}
    accp, model = AccpInputFilter(), Scripted(call("accp_fetch", ask_for_late_rows), say_last_output)
    agent = Agent("clerk", tools=[orders, accp.tool], model=model)
    history: Any = [words, made, answered, other, shown, {"role": "user", "content": "Which are late?"}]
    result = await Runner.run(agent, history, run_config=config(accp))
    assert result.final_output == LATE
    sent = model.sent[0]
    assert (sent[0], sent[1], sent[3], sent[4]) == (words, made, other, shown)


async def test_a_filter_around_ours_sees_what_is_sent() -> None:
    accp, seen = AccpInputFilter(), list[Any]()

    def newest(data: Any) -> Any:
        sent = accp(data)
        seen.append(sent.input)
        return ModelInputData(input=sent.input[-2:], instructions=sent.instructions)

    model = finding()
    agent = Agent("clerk", tools=[orders, accp.tool], model=model)
    settings = RunConfig(call_model_input_filter=newest, tracing_disabled=True)
    assert (await Runner.run(agent, "Which are late?", run_config=settings)).final_output == LATE
    assert [sent[-2:] for sent in seen] == model.sent


async def test_two_filters_project_once() -> None:
    outer, inner = AccpInputFilter(), AccpInputFilter()

    def both(data: Any) -> Any:
        return outer(replace(data, model_data=inner(data)))

    model = finding()
    agent = Agent("clerk", tools=[orders, inner.tool], model=model)
    settings = RunConfig(call_model_input_filter=both, tracing_disabled=True)
    assert (await Runner.run(agent, "Which are late?", run_config=settings)).final_output == LATE
    assert "source text" not in json.dumps(model.sent)


def team(helper: Scripted, asker: Scripted, *tools: Any) -> tuple[Agent[Any], RunConfig]:
    """Return an agent that has another one as a tool, and the settings of its runs; both have all tools."""
    accp = AccpInputFilter()
    other = Agent("helper", tools=[*tools, orders, accp.tool], model=helper)
    as_tool = accp.as_tool(other, "helper", "Ask the helper.")
    return Agent("clerk", tools=[as_tool, orders, accp.tool], model=asker), config(accp)


def cite(sent: Items) -> dict[str, Any]:
    return {"input": f"Which rows of {ask_for_late_rows(sent)['ref']} are late?"}


def say_reference(sent: Items) -> ResponseOutputMessage:
    return say_last_output([{"output": f"All in {ask_for_late_rows(sent)['ref']}"}])


async def test_an_agent_as_a_tool_opens_what_its_question_cites() -> None:
    helper = Scripted(call("accp_fetch", ask_for_late_rows), say_last_output)
    asker = Scripted(call("orders"), call("helper", cite), say_last_output)
    agent, settings = team(helper, asker)
    result = await Runner.run(agent, "Which are late?", run_config=settings)
    assert result.final_output == LATE
    words, shown = helper.sent[0][0]["content"]
    assert words["text"] == cite(asker.sent[1])["input"] and "[preview" in shown["text"]
    assert shown["text"] in [item.get("output") for item in asker.sent[1]]
    assert len(json.dumps(helper.sent)) < len(as_json()) / 5


async def test_the_asker_opens_what_the_answer_of_an_agent_as_a_tool_cites() -> None:
    asker = Scripted(call("helper", lambda _: {"input": "?"}), call("accp_fetch", ask_for_late_rows), say_last_output)
    agent, settings = team(Scripted(call("orders"), say_reference), asker)
    result = await Runner.run(agent, "Which are late?", run_config=settings)
    assert result.final_output == LATE
    kept = json.loads(json.dumps(result.to_input_list()))[:3]
    assert [part["text"] for part in kept[-1]["output"]] == [f"All in {ask_for_late_rows(kept)['ref']}", as_json()]
    again = AccpInputFilter()
    later = Agent("clerk", tools=[again.tool], model=Scripted(call("accp_fetch", ask_for_late_rows), say_last_output))
    assert (await Runner.run(later, kept, run_config=config(again))).final_output == LATE


async def test_words_alone_open_nothing_for_an_agent_as_a_tool() -> None:
    shown = project_messages(
        [{"role": "tool", "tool_call_id": "1", "content": as_json()}], layout="openai-chat"
    ).messages[0]["content"]
    foreign = fetch_arguments(shown)
    helper = Scripted(call("accp_fetch", lambda _: foreign), lambda sent: say_last_output([sent[-1]]))
    asker = Scripted(call("helper", lambda _: {"input": f"Open {foreign['ref']}"}), say_last_output)
    agent, settings = team(helper, asker)
    assert (await Runner.run(agent, "?", run_config=settings)).final_output.startswith("E5002")


async def test_an_agent_as_a_tool_opens_nothing_that_its_question_does_not_cite() -> None:
    stolen: list[dict[str, Any]] = []

    def ask_without(sent: Items) -> dict[str, Any]:
        stolen.append(ask_for_late_rows(sent))
        return {"input": "Which are late?"}

    helper = Scripted(call("accp_fetch", lambda _: stolen[0]), say_last_output)
    agent, settings = team(helper, Scripted(call("orders"), call("helper", ask_without), say_last_output))
    assert (await Runner.run(agent, "?", run_config=settings)).final_output.startswith("E5002")


async def test_teams_at_once_give_nothing_to_each_other() -> None:
    def finding_team(other_ref: Any) -> tuple[Agent[Any], RunConfig]:
        helper = Scripted(call("accp_fetch", other_ref or ask_for_late_rows), say_last_output)
        return team(helper, Scripted(call("orders"), call("helper", cite), say_last_output))

    others = project_messages(
        [{"role": "tool", "tool_call_id": "1", "content": json.dumps([{"n": n} for n in range(2_000)])}],
        layout="openai-chat",
    ).messages[0]["content"]
    teams = [finding_team(None), finding_team(lambda _: fetch_arguments(others)), finding_team(None)]
    done = await asyncio.gather(*[Runner.run(agent, "?", run_config=settings) for agent, settings in teams])
    assert [str(each.final_output)[:5] for each in done] == [LATE[:5], "E5002", LATE[:5]]


async def test_parameters_of_an_agent_as_a_tool_are_carried_and_what_needs_approval_gets_words_only() -> None:
    class Question(BaseModel):
        subject: str

    accp = AccpInputFilter()
    for options in ({"parameters": Question}, {"needs_approval": True}):
        helper = Scripted(call("accp_fetch", ask_for_late_rows), say_last_output)
        other = Agent("helper", tools=[accp.tool], model=helper)
        name = "subject" if "parameters" in options else "input"
        asking = call("helper", lambda sent, name=name: {name: cite(sent)["input"]})
        model = Scripted(call("orders"), asking, say_last_output)
        agent = Agent("clerk", tools=[accp.as_tool(other, "helper", **options), orders, accp.tool], model=model)
        result = await Runner.run(agent, "?", run_config=config(accp))
        if result.interruptions:
            state = result.to_state()
            state.approve(result.interruptions[0])
            result = await Runner.run(agent, state, run_config=config(accp))
        assert result.final_output.startswith("E5002" if "needs_approval" in options else LATE)
