"""Google ADK, run in process with a scripted model: its session stays whole, its requests are projected."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from itertools import pairwise
from typing import Any, Final, TypeAlias

import pytest

from tests.adapters.frameworks.rows import LATE, ROWS, as_json, fetch_arguments

pytest.importorskip("google.adk", reason="holds websockets below 16: make test-others")

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import InMemoryRunner
from google.adk.tools.agent_tool import AgentTool
from google.genai.types import Blob, Content, FunctionCall, FunctionResponse, Part

from accp_adapters.frameworks.adk_parts import read_parts
from accp_adapters.frameworks.google_adk import AccpPlugin

pytestmark = [
    pytest.mark.filterwarnings("ignore:.EXPERIMENTAL:UserWarning"),
    # AgentTool gives its runner the plugins in the way that the runner calls deprecated.
    pytest.mark.filterwarnings("ignore:The `plugins` argument is deprecated:DeprecationWarning"),
]

Turn: TypeAlias = Callable[[Any], "Part | list[Part]"]


class Scripted(BaseLlm):
    """A model whose turns are functions of the request."""

    turns: list[Any]
    sent: list[Any]
    offered: list[list[str]]

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        self.sent.append([content.model_copy(deep=True) for content in llm_request.contents])
        self.offered.append(sorted(llm_request.tools_dict))
        made = self.turns.pop(0)(llm_request.contents)
        parts = made if isinstance(made, list) else [made]
        if stream and parts[0].text:
            yield LlmResponse(content=Content(role="model", parts=[Part(text=parts[0].text[:2])]), partial=True)
        yield LlmResponse(content=Content(role="model", parts=parts))


def scripted(*turns: Turn) -> Scripted:
    return Scripted(model="scripted", turns=list(turns), sent=[], offered=[])


def call(name: str, arguments: Callable[[str], dict[str, Any]] | None = None) -> Turn:
    """Return the turn that calls a tool; `arguments` is a function of all that was sent, None: there are none."""
    return lambda sent: Part(function_call=FunctionCall(name=name, args=arguments(dump(sent)) if arguments else {}))


def dump(contents: Any) -> str:
    return " ".join(str(part.function_response or part.text) for each in contents for part in each.parts)


def say_last_result(sent: Any) -> Part:
    last = sent[-1].parts[-1]
    return Part(text=str(last.function_response.response) if last.function_response else last.text)


def orders() -> str:
    """Return all orders."""
    return as_json()


def order_rows() -> dict[str, Any]:
    """Return all orders as an object."""
    return {"rows": ROWS}


def broken() -> dict[str, Any]:
    """Fail."""
    return {"error": as_json()}


class Run:
    """One session of an agent."""

    def __init__(self, agent: Any, *plugins: BasePlugin) -> None:
        self.runner: Final = InMemoryRunner(app=App(name="shop", root_agent=agent, plugins=list(plugins)))
        self.session: Any = None

    async def say(self, *parts: Part, **options: Any) -> str:
        """Return the last words that answer `parts`."""
        self.session = self.session or await self.runner.session_service.create_session(app_name="shop", user_id="u")
        said = ""
        message = Content(role="user", parts=list(parts))
        async for event in self.runner.run_async(
            user_id="u", session_id=self.session.id, new_message=message, **options
        ):
            for part in event.content.parts if event.content and not event.partial else ():
                said = part.text or said
        return said

    async def stored(self) -> str:
        kept = await self.runner.session_service.get_session(app_name="shop", user_id="u", session_id=self.session.id)
        assert kept is not None
        return dump([event.content for event in kept.events if event.content])


def question(text: str = "Which are late?") -> Part:
    return Part(text=text)


def finding() -> Scripted:
    return scripted(call("orders"), call("accp_fetch", fetch_arguments), say_last_result)


async def test_a_model_reads_a_preview_and_fetches_what_it_needs() -> None:
    model = finding()
    run = Run(LlmAgent(name="clerk", model=model, tools=[orders]), AccpPlugin())
    assert await run.say(question()) == str({"result": LATE})
    assert "'customer': 'Customer 599'" in await run.stored() or '"customer": "Customer 599"' in await run.stored()
    assert model.offered == [["orders"], ["accp_fetch", "orders"], ["accp_fetch", "orders"]]
    assert max(len(dump(sent)) for sent in model.sent) < len(as_json()) / 10
    assert all(after[: len(before)] == before for before, after in pairwise(model.sent))


async def test_the_callback_of_one_agent_does_the_same() -> None:
    model = finding()
    agent = LlmAgent(
        name="clerk", model=model, tools=[orders], before_model_callback=AccpPlugin().before_model_callback
    )
    assert await Run(agent).say(question()) == str({"result": LATE})


async def test_a_streaming_run_does_the_same() -> None:
    run = Run(LlmAgent(name="clerk", model=finding(), tools=[orders]), AccpPlugin())
    assert await run.say(question(), run_config=RunConfig(streaming_mode=StreamingMode.SSE)) == str({"result": LATE})


async def test_a_session_that_goes_on_keeps_what_was_sent() -> None:
    model = scripted(call("orders"), say_last_result, call("accp_fetch", fetch_arguments), say_last_result)
    run = Run(LlmAgent(name="clerk", model=model, tools=[orders]), AccpPlugin())
    await run.say(question())
    again = Run(run.runner.agent, AccpPlugin())
    again.runner.session_service, again.session = run.runner.session_service, run.session
    assert await again.say(question("And now?")) == str({"result": LATE})
    assert all(after[: len(before)] == before for before, after in pairwise(model.sent))


async def test_parallel_calls_images_thoughts_and_errors_stay_as_they_are() -> None:
    calls = [Part(text="hm", thought=True)]
    calls += [Part(function_call=FunctionCall(name=name, args={})) for name in ("orders", "broken", "order_rows")]
    model = scripted(lambda _: calls, say_last_result)
    image = Part(inline_data=Blob(data=b"png", mime_type="image/png"))
    run = Run(LlmAgent(name="clerk", model=model, tools=[orders, broken, order_rows]), AccpPlugin())
    assert await run.say(image, question("What is this?"))
    first, turn, results = model.sent[-1]
    assert first.parts == [image, question("What is this?")] and turn.parts[0] == calls[0]
    assert [part.function_call.name for part in turn.parts[1:]] == ["orders", "broken", "order_rows"]
    responses = [part.function_response.response for part in results.parts]
    assert [part.function_response.name for part in results.parts] == ["orders", "broken", "order_rows"]
    assert responses[1] == {"error": as_json()}
    assert all(list(each) == ["result"] and len(each["result"]) < 3_000 for each in (responses[0], responses[2]))


async def test_an_agent_that_is_handed_over_to_opens_what_the_first_one_was_shown() -> None:
    market = scripted(call("accp_fetch", fetch_arguments), say_last_result)
    second = LlmAgent(name="market", model=market, description="Knows the market.")
    transfer = lambda _: {"agent_name": "market"}  # noqa: E731  # an argument of the script
    clerk = scripted(call("orders"), call("transfer_to_agent", transfer))
    first = LlmAgent(name="clerk", model=clerk, tools=[orders], sub_agents=[second])
    assert await Run(first, AccpPlugin()).say(question()) == str({"result": LATE})
    told = [part.text for content in market.sent[0] for part in content.parts if part.text]
    assert sum(len(text) for text in told) < len(as_json()) / 5
    assert any("`orders` tool returned result" in text for text in told)
    keys = [fetch_arguments(dump(sent))["ref"] for sent in (clerk.sent[1], market.sent[0])]
    assert keys[0] == keys[1]


async def test_a_reference_of_another_session_is_refused() -> None:
    foreign: list[dict[str, Any]] = []

    def remember(sent: str) -> dict[str, Any]:
        foreign.append(fetch_arguments(sent))
        return foreign[0]

    accp = AccpPlugin()
    model = scripted(call("orders"), call("accp_fetch", remember), say_last_result)
    assert await Run(LlmAgent(name="owner", model=model, tools=[orders]), accp).say(question()) == str({"result": LATE})
    others = json.dumps([{**row, "id": row["id"] + 1} for row in ROWS])

    def other() -> str:
        """Return other orders."""
        return others

    thief = scripted(call("other"), call("accp_fetch", lambda _: foreign[0]), say_last_result)
    answer = await Run(LlmAgent(name="thief", model=thief, tools=[other]), accp).say(question())
    assert "E5002: expected a reference to a text that this conversation still has" in answer


async def test_a_tool_of_the_same_name_opens_nothing_of_ours() -> None:
    def accp_fetch(ref: str) -> str:
        """Return something else."""
        return f"mine: {ref}"

    model = scripted(call("orders"), say_last_result)
    run = Run(LlmAgent(name="clerk", model=model, tools=[orders, accp_fetch]), AccpPlugin())
    assert "Customer 599" in await run.say(question())


async def test_another_plugin_that_cuts_the_contents_leaves_no_reference_that_does_not_open() -> None:
    class Newest(BasePlugin):
        async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
            llm_request.contents = llm_request.contents[-1:]

    model = scripted(call("orders"), call("accp_fetch", fetch_arguments), say_last_result)
    run = Run(LlmAgent(name="clerk", model=model, tools=[orders]), Newest(name="newest"), AccpPlugin())
    assert await run.say(question()) == str({"result": LATE})


def test_a_response_that_is_no_json_stays_as_it_is() -> None:
    odd = [Part(function_response=FunctionResponse(name="odd", response={"when": object()})), Part(text="")]
    assert list(read_parts([Content(role="user", parts=odd), Content(role="user")], [])) == []


def last_reference(sent: str) -> dict[str, Any]:
    return {"request": f"Which rows of {fetch_arguments(sent)['ref']} are late?"}


def team(helper: Scripted, asker: Scripted) -> LlmAgent:
    """Return an agent that has another one as a tool."""
    other = LlmAgent(name="helper", model=helper, description="Helps.", tools=[orders])
    return LlmAgent(name="clerk", model=asker, tools=[orders, AgentTool(other)])


async def test_an_agent_as_a_tool_opens_what_its_question_cites() -> None:
    helper = scripted(call("accp_fetch", fetch_arguments), say_last_result)
    asker = scripted(call("orders"), call("helper", last_reference), say_last_result)
    run = Run(team(helper, asker), AccpPlugin())
    assert "[12] id" in await run.say(question())
    assert len(dump(helper.sent[0])) < len(as_json()) / 5
    (asked,) = [
        part
        for each in asker.sent[2]
        for part in each.parts
        if part.function_call and part.function_call.name == "helper"
    ]
    assert asked.function_call.args == last_reference(dump(asker.sent[1]))


async def test_the_asker_opens_what_the_answer_of_an_agent_as_a_tool_cites() -> None:
    def cite(sent: Any) -> Part:
        return Part(text=f"All in {fetch_arguments(dump(sent))['ref']}")

    helper = scripted(call("orders"), cite)
    asker = scripted(call("helper", lambda _: {"request": "?"}), call("accp_fetch", fetch_arguments), say_last_result)
    assert await Run(team(helper, asker), AccpPlugin()).say(question()) == str({"result": LATE})
    assert max(len(dump(sent)) for sent in asker.sent) < len(as_json()) / 5


async def test_an_agent_as_a_tool_opens_nothing_that_its_question_does_not_cite() -> None:
    stolen: list[dict[str, Any]] = []

    def ask_without(sent: str) -> dict[str, Any]:
        stolen.append(fetch_arguments(sent))
        return {"request": "Which are late?"}

    helper = scripted(call("order_rows"), call("accp_fetch", lambda _: stolen[0]), say_last_result)
    others = [{**row, "id": row["id"] + 1} for row in ROWS]

    def order_rows() -> dict[str, Any]:
        """Return other orders."""
        return {"rows": others}

    other = LlmAgent(name="helper", model=helper, description="Helps.", tools=[order_rows])
    asker = scripted(call("orders"), call("helper", ask_without), say_last_result)
    agent = LlmAgent(name="clerk", model=asker, tools=[orders, AgentTool(other)])
    assert "E5002" in await Run(agent, AccpPlugin()).say(question())


async def test_a_plugin_and_a_callback_of_an_agent_project_once() -> None:
    model = finding()
    agent = LlmAgent(
        name="clerk", model=model, tools=[orders], before_model_callback=AccpPlugin().before_model_callback
    )
    assert await Run(agent, AccpPlugin()).say(question()) == str({"result": LATE})
    assert "source text" not in dump(model.sent[-1])
