"""Pydantic AI, run in process with a scripted model: the history stays whole, the requests are projected."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeAlias

from pydantic_ai import Agent, BinaryContent, ModelRetry
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from accp_adapters.frameworks.pydantic_ai import AccpCapability
from accp_adapters.policy import Policy
from tests.adapters.frameworks.rows import LATE, ROWS, fetch_arguments

Turn: TypeAlias = Callable[[list[str]], Any]


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
        return ModelResponse(parts=[next(self._turns)(results)])


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
    other = [{**row, "id": row["id"] + 1} for row in ROWS]
    stranger: Agent[Any, str] = Agent(
        FunctionModel(Script(call("other"), call("accp_fetch", lambda _: foreign[0]), say_last_result)),
        capabilities=[AccpCapability()],
    )
    stranger.tool_plain(lambda: other, name="other")
    assert (await stranger.run("?")).output.startswith("E5002")
