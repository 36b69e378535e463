"""What replay counts is what `AccpMiddleware` sends: real agents, whose models record their prompts, to the token."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby, takewhile
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import BaseMessage, RemoveMessage, SystemMessage, convert_to_messages
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from pydantic import Field

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.langgraph import AccpMiddleware
from accp_adapters.policy import Policy
from accp_adapters.replay import RecordedCall, Role, Run, replay
from accp_adapters.replay.prompts import PromptBuilder, SeenMessages, name_of, to_strategy
from accp_adapters.tokens import count_remembered
from accp_core.strict_json import compact_json
from tests.harness.bench.data import committed_runs
from tests.scripted_model import ScriptedModel

POLICIES = {"lossless": Policy.lossless(), "default": Policy()}


@dataclass
class Prompt:
    """What one model call was sent."""

    agent: str
    tools: list[dict[str, Any]]
    """The definitions of the tools; those that were given as JSON as they were given."""
    messages: list[BaseMessage]

    @property
    def texts(self) -> list[str]:
        """The text of each content block."""
        return [text for message in self.messages for text in texts_of(message)]

    @property
    def definitions(self) -> list[str]:
        """The definitions as they are counted: those of the agent, then that of the fetch tool."""
        own = [tool for tool in self.tools if tool_name(tool) != FETCH_NAME]
        fetch = [compact_json(tool) for tool in self.tools if tool_name(tool) == FETCH_NAME]
        return [*([compact_json(own)] if own else []), *fetch]


class Recording(ScriptedModel):
    """A scripted model that records its prompts, and accepts those that a provider would refuse, too."""

    strict: bool = False
    agent: str = "agent"
    bound: list[Any] = Field(default_factory=list)
    prompts: list[Any] = Field(default_factory=list)

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        """Note the tools of the next prompt."""
        self.bound = [tool if isinstance(tool, dict) else convert_to_openai_tool(tool) for tool in tools]
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        copied = [message.model_copy(deep=True) for message in messages]
        self.prompts.append(Prompt(self.agent, self.bound, copied))
        self.bound = []
        return super()._generate(messages, *args, **kwargs)


def tool_name(tool: dict[str, Any]) -> Any:
    return tool.get("function", tool).get("name")


def texts_of(message: BaseMessage) -> list[str]:
    if isinstance(message.content, str):
        return [message.content] if message.content else []
    return [block if isinstance(block, str) else block["text"] for block in message.content]


def count(texts: Iterable[str]) -> int:
    return sum(map(count_remembered, texts))


def segments(run: Run, call: RecordedCall) -> Iterator[BaseMessage]:
    """Yield the messages of a recorded call as LangChain reads those of OpenAI; instructions are SystemMessages."""
    seen = SeenMessages(run)
    for is_system, positions in groupby(call.prompt, lambda at: run.messages[at].role is Role.INSTRUCTIONS):
        if is_system:
            yield from (SystemMessage(run.messages[position].text) for position in positions)
            continue
        given = [each.message for each in seen.of(replace(call, prompt=tuple(positions)))]
        # What a user said together is one message of several records.
        yield from convert_to_messages([next(same) for _, same in groupby(given, id)])


def prompts_of(run: Run, policy: Policy) -> list[Prompt]:
    """Return what the models of a recorded run are sent by real agents, each with a thread of its own."""
    model, saver, middleware = Recording(script=["done"]), InMemorySaver(), AccpMiddleware(policy)

    @cache
    def agent(name: str | None, instructions: tuple[str, ...], tools: str) -> Any:
        system = SystemMessage([{"type": "text", "text": text} for text in instructions])
        return create_agent(
            model,
            json.loads(tools or "[]"),
            system_prompt=system if instructions else None,
            middleware=[middleware],
            name=name,
            checkpointer=saver,
        )

    for made in run.calls:
        messages = list(segments(run, made))
        leading = tuple(each.text for each in takewhile(lambda each: isinstance(each, SystemMessage), messages))
        state = {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), *messages[len(leading) :]]}
        graph = agent(name_of(made.agent, Role.AGENT), leading, made.tools)
        graph.invoke(state, {"configurable": {"thread_id": made.agent}})
    return model.prompts


QUARTERS = [pytest.param(part, marks=[] if part == 1 else [pytest.mark.slow]) for part in range(4)]


@pytest.mark.parametrize("part", QUARTERS)
@pytest.mark.parametrize("name", POLICIES)
def test_a_recorded_run_is_counted_as_real_agents_send_it(name: str, part: int) -> None:
    runs = committed_runs()
    assert len(runs) >= 60
    offered = changed = 0
    for run in runs[part::4]:
        sent, builder = prompts_of(run, POLICIES[name]), PromptBuilder(run, to_strategy(POLICIES[name]))
        assert len(sent) == len(run.calls)
        for made, prompt in zip(run.calls, sent, strict=True):
            built = builder.build(made)
            said = words_in(run, made)
            assert prompt.texts == [text for at in said if (text := built.messages[at].text)], run.name
            assert [*map(json.loads, prompt.definitions)] == [*map(json.loads, built.definitions)], run.name
            offered += len(built.definitions) > bool(made.tools)
            changed += any(built.messages[at].text != run.messages[at].text for at in said)
        counted = [each.charge.tokens for each in replay(run, POLICIES[name]).calls]
        assert counted == [tokens_of(run, each, prompt) for each, prompt in zip(run.calls, sent, strict=True)], run.name
    assert changed > 20
    if name == "lossless":
        assert offered == 0
    else:
        assert offered > 0 or part == 0, "no result of the first quarter is long enough for the default policy"


def words_in(run: Run, made: RecordedCall) -> list[int]:
    """Return the positions of a prompt that are words and results, and no calls."""
    return [at for at in made.prompt if not (run.messages[at].role is Role.AGENT and run.messages[at].tool)]


def tokens_of(run: Run, made: RecordedCall, prompt: Prompt) -> int:
    """Return the tokens of a prompt; what no policy changes, calls and definitions, counts as it was recorded."""
    words = set(words_in(run, made))
    called = [run.messages[at].text for at in made.prompt if at not in words]
    return count([*prompt.texts, *called, made.tools, *(each for each in prompt.definitions if FETCH_NAME in each)])
