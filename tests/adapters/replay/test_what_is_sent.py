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
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
)
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from pydantic import Field

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.langgraph import AccpMiddleware
from accp_adapters.policy import Policy
from accp_adapters.replay import AS_RECORDED, RecordedCall, Role, Run, parse_runs, replay
from accp_adapters.replay.prompts import PromptBuilder, SeenMessages, name_of, to_strategy
from accp_adapters.tokens import count_remembered
from accp_core.strict_json import compact_json
from tests.harness.bench.data import committed_runs
from tests.scripted_model import ScriptedModel, call, calls

POLICIES = {"lossless": Policy.lossless(), "default": Policy(), "tight": Policy.tight()}


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


# Made runs: recorded without the middleware, replayed, and compared with the same job done with it.

RULES = "\n".join(
    f"Rule {number}: an order of article {number * 37 % 991} is answered by desk {number}." for number in range(125)
)
ROWS = [
    {"id": f"ORD-{number:04}", "customer": f"Customer {number * 7 % 61}", "total": number * 977 % 4_100 + 0.5}
    for number in range(900)
]


def look(query: str) -> str:
    """Find orders."""
    first = int(query or 0)
    return json.dumps(ROWS[first : first + 400])


def tools_named(*names: str) -> list[BaseTool]:
    described = "Finds the orders of a desk by the number of the first one, as a JSON array of at most 400 rows."
    return [StructuredTool.from_function(look, name=name, description=described) for name in names]


TOOLS = tools_named(*(f"desk_{number}" for number in range(20)))


def alone(middleware: list[Any]) -> list[Prompt]:
    """One agent with a system prompt of 2,000 tokens and 20 tools, whose turns call one or three of them."""
    model = Recording(
        script=[
            *(calls(call(f"desk_{number}", f"a{number}", query=str(number * 60))) for number in range(4)),
            "The first four desks are read.",
            calls(*(call(f"desk_{number}", f"b{number}", query=str(number * 20)) for number in range(3))),
            "ORD-0012 it is.",
        ]
    )
    graph: Any = create_agent(model, TOOLS, system_prompt=RULES, middleware=middleware, checkpointer=InMemorySaver())
    for words in ("Which orders of desk 12 are over 4,000?", "And those of Customer 12?"):
        graph.invoke({"messages": [HumanMessage(words)]}, {"configurable": {"thread_id": "1"}})
    return model.prompts


def team(middleware: list[Any]) -> list[Prompt]:
    """Two agents that share one history."""
    found = "\n".join(f"{row['id']} of {row['customer']} over {row['total']}" for row in ROWS[:250])
    scout = Recording(agent="scout", script=[calls(call("desk_1", "s1", query="0")), found, "See above.", found])
    clerk = Recording(agent="clerk", script=[calls(call("desk_2", "c1", query="100")), "ORD-0012", "Thanks."])
    graph = StateGraph(MessagesState)
    for model in (scout, clerk):
        agent: Any = create_agent(
            model, TOOLS[:3], system_prompt=f"You are the {model.agent}.", middleware=middleware, name=model.agent
        )
        graph.add_node(model.agent, agent)
    graph.add_edge(START, "scout").add_edge("scout", "clerk")
    compiled: Any = graph.compile(checkpointer=InMemorySaver())
    for words in ("Which orders are over 4,000?", "And of Customer 12?"):
        compiled.invoke({"messages": [HumanMessage(words)]}, {"configurable": {"thread_id": "1"}})
    return sorted([*scout.prompts, *clerk.prompts], key=lambda prompt: len(prompt.messages))


def summarized(middleware: list[Any]) -> list[Prompt]:
    """One agent whose older messages are replaced by a summary."""
    model = Recording(
        script=[
            *(calls(call(f"desk_{number}", f"a{number}", query=str(number * 60))) for number in range(3)),
            "Three desks are read.",
            calls(call("desk_4", "b1", query="0")),
            "ORD-0012 it is.",
        ]
    )
    writer = ScriptedModel(script=["The desks 0 to 2 have 900 orders."], strict=False)
    summary: Any = SummarizationMiddleware(
        writer, trigger=("messages", 7), keep=("messages", 2), trim_tokens_to_summarize=None
    )
    graph: Any = create_agent(
        model, TOOLS, system_prompt=RULES, middleware=[summary, *middleware], checkpointer=InMemorySaver()
    )
    for words in ("Which orders are over 4,000?", "And of Customer 12?"):
        graph.invoke({"messages": [HumanMessage(words)]}, {"configurable": {"thread_id": "1"}})
    return model.prompts


def recorded(prompts: Sequence[Prompt]) -> Run:
    """Return prompts as a recorded run, in the format of this project's benchmarks."""
    rows: list[dict[str, Any]] = []
    seqs: dict[Any, list[int]] = {}

    def placed(message: BaseMessage, prompt: Prompt) -> list[int]:
        key = message.id or (prompt.agent, message.text)
        if key not in seqs:
            numbered = list(enumerate(parts_of(message, prompt), len(rows)))
            seqs[key] = [seq for seq, _ in numbered]
            rows.extend({"seq": seq, "turn": len(seqs), **part} for seq, part in numbered)
        return seqs[key]

    made = [
        {
            "agent": prompt.agent,
            "prompt": [seq for message in prompt.messages for seq in placed(message, prompt)],
            "completion": [],
            "tools": str(len(prompt.tools)),
        }
        for prompt in prompts
    ]
    offered = {str(len(prompt.tools)): prompt.tools for prompt in prompts}
    line = {"source": "made", "trajectory_id": "made", "framework": "none", "messages": rows, "llm_calls": made}
    (run,) = parse_runs(json.dumps({**line, "tools": offered}), path="made")
    return run


def parts_of(message: BaseMessage, prompt: Prompt) -> Iterator[dict[str, Any]]:
    """Yield the texts of a message, and the arguments of its calls."""
    speaker = {"from": message.name or "assistant", "to": "user", "role": "assistant", "kind": "response", "llm": True}
    match message:
        case SystemMessage():
            yield {"from": "harness", "to": prompt.agent, "role": "system", "kind": "system", "content": message.text}
        case ToolMessage():
            called = {"tool_name": message.name, "tool_call_id": message.tool_call_id, "kind": "tool_result"}
            yield {"from": message.name, "to": prompt.agent, "role": "tool", "content": message.text, **called}
        case AIMessage():
            if message.text:
                yield {**speaker, "content": message.text}
            for each in message.tool_calls:
                named = {"tool_name": each["name"], "tool_call_id": each["id"], "kind": "tool_call", "to": each["name"]}
                yield {**speaker, **named, "content": each["args"], "fmt": "compact"}
        case _:
            yield {"from": "user", "to": prompt.agent, "role": "user", "kind": "request", "content": message.text}


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("job", [alone, team, summarized])
def test_a_made_run_is_counted_as_the_same_job_sends_it(job: Any, name: str) -> None:
    policy = POLICIES[name]
    run = recorded(job([]))
    sent = job([AccpMiddleware(policy)])
    counted = [each.charge.tokens for each in replay(run, policy).calls]
    assert counted == [
        count([*prompt.texts, *prompt.definitions])
        + count(
            compact_json(each["args"])
            for message in prompt.messages
            if isinstance(message, AIMessage)
            for each in message.tool_calls
        )
        for prompt in sent
    ]
    whole = [each.charge.tokens for each in replay(run, AS_RECORDED).calls]
    assert sum(counted) < sum(whole)
    for agent in {prompt.agent for prompt in sent}:
        offered = [FETCH_NAME in map(tool_name, prompt.tools) for prompt in sent if prompt.agent == agent]
        # Once offered, it stays.
        assert offered == sorted(offered)
        assert any(offered) == (name != "lossless")
