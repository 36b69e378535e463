"""Pydantic AI, run in process with a scripted model: the history stays whole, the requests are projected."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from itertools import pairwise
from typing import Any, TypeAlias

import pytest
from pydantic_ai import Agent, BinaryContent, ModelRetry, RunContext
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from accp_adapters.frameworks.pydantic_ai import AccpCapability
from accp_adapters.policy import Policy
from tests.adapters.frameworks.rows import LATE, ROWS, fetch_arguments

Turn: TypeAlias = Callable[[list[str]], Any]
OTHERS = [{**row, "id": row["id"] + 1} for row in ROWS]


class Script:
    """A model whose turns are functions of the results that it was shown."""

    def __init__(self, *turns: Turn) -> None:
        self._turns = iter(turns)
        self.sent: list[list[Any]] = []
        self.tools: list[list[str]] = []

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        parts = [part for message in messages for part in message.parts]
        self.sent.append([getattr(part, "content", None) for part in parts])
        self.tools.append([tool.name for tool in info.function_tools])
        results = [part.model_response_str() for part in parts if isinstance(part, ToolReturnPart)]
        made = next(self._turns)(results)
        return ModelResponse(parts=made if isinstance(made, list) else [made])


def call(name: str, arguments: Callable[[str], dict[str, Any]] | None = None) -> Turn:
    return lambda results: ToolCallPart(name, arguments(results[-1]) if arguments else {})


def say_last_result(results: list[str]) -> TextPart:
    return TextPart(results[-1])


def agent(script: Script, policy: Policy | None = None) -> Agent[Any, str]:
    made: Agent[Any, str] = Agent(FunctionModel(script), capabilities=[AccpCapability(policy or Policy())])

    @made.tool_plain
    def orders() -> list[dict[str, Any]]:
        """Return all orders."""
        return ROWS

    @made.tool_plain
    def picture() -> list[Any]:
        """Return a picture and its rows."""
        return [BinaryContent(b"png", media_type="image/png"), ROWS]

    @made.tool_plain(retries=2)
    def broken() -> str:
        """Fail."""
        raise ModelRetry(json.dumps(ROWS))

    return made


async def test_a_model_reads_a_preview_and_fetches_what_it_needs() -> None:
    script = Script(call("orders"), call("accp_fetch", fetch_arguments), say_last_result)
    result = await agent(script).run("Which are late?")
    assert result.output == LATE
    whole = [
        part.content for message in result.all_messages() for part in message.parts if part.part_kind == "tool-return"
    ]
    assert whole[0] == ROWS
    assert [tools.count("accp_fetch") for tools in script.tools] == [0, 1, 1]
    assert max(len(json.dumps(sent)) for sent in script.sent) < len(json.dumps(ROWS)) / 10
    assert all(after[: len(before)] == before for before, after in pairwise(script.sent))


async def test_what_is_not_plain_text_and_what_failed_stay_as_they_are() -> None:
    script = Script(call("picture"), call("broken"), say_last_result)
    result = await agent(script).run("?")
    sent = script.sent[-1]
    assert [content for content in sent if isinstance(content, list)] == [
        [BinaryContent(b"png", media_type="image/png"), ROWS]
    ]
    assert json.dumps(ROWS) in sent
    assert result.output


async def test_a_policy_without_previews_needs_no_tool() -> None:
    script = Script(call("orders"), say_last_result)
    result = await agent(script, Policy.lossless()).run("?")
    assert "Customer 599" in result.output and len(result.output) < len(json.dumps(ROWS))
    assert not any("accp_fetch" in tools for tools in script.tools)


async def test_a_reference_of_another_run_is_refused() -> None:
    foreign: list[dict[str, Any]] = []

    def remember(text: str) -> dict[str, Any]:
        foreign.append(fetch_arguments(text))
        return foreign[0]

    script = Script(call("orders"), call("accp_fetch", remember), say_last_result)
    assert (await agent(script).run("?")).output == LATE
    stranger: Agent[Any, str] = Agent(
        FunctionModel(Script(call("other"), call("accp_fetch", lambda _: foreign[0]), say_last_result)),
        capabilities=[AccpCapability()],
    )
    stranger.tool_plain(lambda: OTHERS, name="other")
    assert (await stranger.run("?")).output.startswith("E5002")


async def test_parallel_calls_keep_their_pairs() -> None:
    made = [ToolCallPart("orders", {}, tool_call_id=each) for each in ("a", "b")]
    script = Script(
        lambda _: made, call("accp_fetch", lambda _: fetch_arguments(str(script.sent[-1]))), say_last_result
    )
    result = await agent(script).run("Which are late?")
    assert result.output == LATE
    first, second = script.sent[-1][3:5]
    assert "[preview" in first and "[as above" in second


async def test_an_agent_that_goes_on_with_a_history_opens_what_the_first_one_was_shown() -> None:
    first = Script(call("orders"), say_last_result)
    kept = ModelMessagesTypeAdapter.validate_json((await agent(first).run("Hello")).all_messages_json())
    second = Script(call("accp_fetch", lambda _: fetch_arguments(str(second.sent[-1]))), say_last_result)
    result = await agent(second).run("Which are late?", message_history=kept)
    assert result.output == LATE
    assert second.sent[0][: len(first.sent[-1])] == first.sent[-1]


async def test_a_streaming_run_does_the_same() -> None:
    script = Script(call("orders"), call("accp_fetch", fetch_arguments), say_last_result)

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        (part,) = script(messages, info).parts
        if isinstance(part, TextPart):
            yield part.content
        else:
            assert isinstance(part, ToolCallPart)
            yield {0: DeltaToolCall(name=part.tool_name, json_args=part.args_as_json_str(), tool_call_id="c")}

    made = agent(script)
    async with made.run_stream("Which are late?", model=FunctionModel(stream_function=stream)) as result:
        assert await result.get_output() == LATE
    assert max(len(json.dumps(sent)) for sent in script.sent) < len(json.dumps(ROWS)) / 10


async def test_a_tool_of_the_same_name_is_refused() -> None:
    made = agent(Script(call("orders"), say_last_result))
    made.tool_plain(lambda ref: "mine", name="accp_fetch")
    with pytest.raises(UserError, match="accp_fetch"):
        await made.run("?")


@pytest.mark.parametrize("is_first", [False, True])
async def test_a_processor_that_cuts_the_history_leaves_no_reference_that_does_not_open(is_first: bool) -> None:
    def newest(messages: list[ModelMessage]) -> list[ModelMessage]:
        return messages[-3:]

    script = Script(call("orders"), call("accp_fetch", fetch_arguments), say_last_result)
    both: list[Any] = (
        [AccpCapability(), ProcessHistory(newest)] if is_first else [ProcessHistory(newest), AccpCapability()]
    )
    made: Agent[Any, str] = Agent(FunctionModel(script), capabilities=both)
    made.tool_plain(lambda: ROWS, name="orders")
    assert (await made.run("Which are late?")).output == LATE


@pytest.mark.parametrize("is_first", [False, True])
async def test_a_result_whose_first_copy_a_processor_drops_is_shown_whole(is_first: bool) -> None:
    def newest(messages: list[ModelMessage]) -> list[ModelMessage]:
        return [*messages[:1], *messages[-2:]]

    script = Script(call("orders"), call("orders"), say_last_result)
    ours = AccpCapability(Policy.lossless())
    both: list[Any] = [ours, ProcessHistory(newest)] if is_first else [ProcessHistory(newest), ours]
    made: Agent[Any, str] = Agent(FunctionModel(script), capabilities=both)
    made.tool_plain(lambda: ROWS, name="orders")
    assert "[as above" not in (await made.run("Which are late?")).output


async def test_two_capabilities_are_refused_where_both_have_the_tool() -> None:
    made: Agent[Any, str] = Agent(
        FunctionModel(Script(call("orders"))), capabilities=[AccpCapability(), AccpCapability()]
    )
    made.tool_plain(lambda: ROWS, name="orders")
    with pytest.raises(UserError, match="accp_fetch"):
        await made.run("?")


def team(helper: Script, asker: Script, accp: AccpCapability, *, knows: bool = True) -> Agent[Any, str]:
    """Return an agent with a tool that asks another one; both have the orders."""
    other: Agent[Any, str] = Agent(FunctionModel(helper), capabilities=[accp] if knows else [])
    made: Agent[Any, str] = Agent(FunctionModel(asker), capabilities=[accp])

    @made.tool
    async def ask_helper(ctx: RunContext[Any], question: str) -> Any:
        """Ask the helper."""
        return await accp.ask(ctx, other, question)

    for each in (made, other):
        each.tool_plain(lambda: ROWS, name="orders")
        each.tool_plain(lambda: OTHERS, name="other_orders")
    return made


def cite(text: str) -> dict[str, Any]:
    return {"question": f"Which rows of {fetch_arguments(text)['ref']} are late?"}


def say_reference(results: list[str]) -> TextPart:
    return TextPart(f"All in {fetch_arguments(results[-1])['ref']}")


def shown_to(script: Script) -> str:
    return json.dumps(script.sent[-1])


async def test_an_agent_inside_a_tool_opens_what_its_question_cites() -> None:
    helper = Script(lambda _: ToolCallPart("accp_fetch", fetch_arguments(shown_to(helper))), say_last_result)
    asker = Script(call("orders"), call("ask_helper", cite), say_last_result)
    result = await team(helper, asker, AccpCapability()).run("Which are late?")
    assert result.output == LATE and helper.tools == [["orders", "other_orders", "accp_fetch"]] * 2
    assert len(json.dumps(helper.sent)) < len(json.dumps(ROWS)) / 5
    assert result.usage.requests == 5


async def test_the_asker_opens_what_the_answer_of_an_agent_inside_a_tool_cites() -> None:
    helper = Script(call("orders"), say_reference)
    asker = Script(
        lambda _: ToolCallPart("ask_helper", {"question": "?"}), call("accp_fetch", fetch_arguments), say_last_result
    )
    result = await team(helper, asker, AccpCapability()).run("Which are late?")
    assert result.output == LATE
    kept = ModelMessagesTypeAdapter.validate_json(result.all_messages_json())[:3]
    second = Script(call("accp_fetch", fetch_arguments), say_last_result)
    again: Agent[Any, str] = Agent(FunctionModel(second), capabilities=[AccpCapability()])
    assert (await again.run("Which are late?", message_history=kept)).output == LATE
    assert max(len(json.dumps(sent)) for sent in asker.sent) < len(json.dumps(ROWS)) / 10


async def test_an_agent_inside_a_tool_opens_nothing_that_its_question_does_not_cite_or_the_asker_does_not_hold() -> (
    None
):
    stolen: list[dict[str, Any]] = []

    def ask_without(text: str) -> dict[str, Any]:
        stolen.append(fetch_arguments(text))
        return {"question": "Which are late?"}

    # The helper has the tool, as it has a result of its own.
    for asking in (ask_without, lambda _: {"question": f"Open {stolen[0]['ref']}"}):
        helper = Script(call("other_orders"), lambda _: ToolCallPart("accp_fetch", stolen[0]), say_last_result)
        first = call("orders") if asking is ask_without else call("other_orders")
        made = team(helper, Script(first, call("ask_helper", asking), say_last_result), AccpCapability())
        assert (await made.run("?")).output.startswith("E5002")


async def test_an_agent_inside_a_tool_without_the_capability_is_given_the_whole_text() -> None:
    helper = Script(lambda _: TextPart("Customer 599" if "Customer 599" in shown_to(helper) else "hidden"))
    asker = Script(call("orders"), call("ask_helper", cite), say_last_result)
    assert (await team(helper, asker, AccpCapability(), knows=False).run("?")).output == "Customer 599"


async def test_an_answer_that_is_no_text_stays_as_it_is() -> None:
    asker = Script(lambda _: ToolCallPart("ask", {}), say_last_result)
    made = agent(asker)
    accp = AccpCapability()

    @made.tool
    async def ask(ctx: RunContext[Any]) -> Any:
        """Ask for a number."""
        return await accp.ask(
            ctx,
            Agent(
                FunctionModel(lambda *_: ModelResponse(parts=[ToolCallPart("final_result", {"response": 7})])),
                output_type=int,
            ),
            "?",
        )

    assert (await made.run("?")).output == "7"
