"""Agents of agents: deepagents, langgraph-supervisor, langgraph-swarm, an agent as a tool, each sync and async.

Each reference that an agent is shown opens there, also one that stands in the answer of an agent that it asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph_supervisor import create_supervisor
from langgraph_swarm import create_handoff_tool, create_swarm

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.langgraph import AccpMiddleware, CompressNode, fetch_tool, handoff_tool
from accp_core.references import reference_to
from tests.adapters.langgraph import transcripts
from tests.adapters.langgraph.composition import sources
from tests.adapters.langgraph.composition.harness import POLICY, Model, Passed, Script, keys_in, look, thread
from tests.scripted_model import call

# langgraph-supervisor builds its agent by `create_react_agent`, which langgraph calls deprecated.
pytestmark = [
    pytest.mark.filterwarnings("ignore:create_react_agent has been moved"),
    pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"]),
]

ASK = AIMessage(content="", tool_calls=[call("crm", "c1", query="all")])


def cite(messages: Sequence[BaseMessage]) -> AIMessage:
    """Say where the rows are."""
    return AIMessage(content=" ".join(["The rows are at", *map(reference_to, keys_in(messages))]))


def go_on(name: str, **args: Any) -> AIMessage:
    return AIMessage(content="", tool_calls=[call(name, f"call-{name}", **args)])


class Member:
    """An agent with the middleware, and what it was given and sent."""

    def __init__(self, name: str, steps: list[Any], *tools: Any) -> None:
        self.script = Script(steps)
        self.given = Passed(f"{name} given")
        self.model = Model(script=self.script)
        self.middleware = [self.given, AccpMiddleware(POLICY)]
        self.tools = list(tools) or [sources.tools()[0]]
        self.name = name

    def agent(self) -> Any:
        return create_agent(self.model, self.tools, name=self.name, middleware=self.middleware)

    def check(self) -> None:
        """Check each prompt, and each fetch of a reference that the middleware wrote."""
        for given, sent in zip(self.given.requests, self.script.prompts, strict=True):
            transcripts.check(sent.messages)
            if set(keys_in(sent.messages)) - set(keys_in(given.messages)):
                assert FETCH_NAME in sent.tools
        answers = self.answers()
        assert answers
        for answer in answers:
            assert answer.status == "success", answer.text
            assert "crm-0000" in answer.text

    def answers(self) -> list[ToolMessage]:
        """Return the answers of the fetch tool that the model was sent."""
        last = self.given.requests[-1].messages
        return [each for each in last if isinstance(each, ToolMessage) and each.name == FETCH_NAME]


async def run(graph: Any, asynchronous: bool, words: str = "how many?") -> list[BaseMessage]:
    asked: Any = {"messages": [HumanMessage(words)]}
    state = await graph.ainvoke(asked, thread("t")) if asynchronous else graph.invoke(asked, thread("t"))
    return list(state["messages"])


@pytest.mark.parametrize("output_mode", ["last_message", "full_history"])
async def test_a_supervisor(asynchronous: bool, output_mode: Any) -> None:
    worker = Member("crm", [ASK, look, cite])
    lead = Script([go_on("transfer_to_crm", task="Look."), AIMessage(content="Two.")])
    tools: list[Any] = [handoff_tool("crm", style="supervisor")]
    graph = create_supervisor([worker.agent()], model=Model(script=lead), tools=tools, output_mode=output_mode)
    messages = await run(graph.compile(checkpointer=InMemorySaver()), asynchronous)
    worker.check()
    assert messages[-1].text == "Two."
    for prompt in lead.prompts:
        transcripts.check(prompt.messages)


@pytest.mark.parametrize("own", [False, True], ids=["its own tool", "handoff_tool"])
async def test_a_swarm(asynchronous: bool, own: bool) -> None:
    transfer = handoff_tool("market") if own else create_handoff_tool(agent_name="market")
    given = {"task": "Go on."} if own else {}
    one = Member("crm", [ASK, look, go_on("transfer_to_market", **given)], sources.tools()[0], transfer)
    two = Member("market", [look, AIMessage(content="Fine.")], sources.tools()[1])
    if own:
        two.script.steps = [AIMessage(content="Fine.")]
    graph = create_swarm([one.agent(), two.agent()], default_active_agent="crm").compile(checkpointer=InMemorySaver())
    await run(graph, asynchronous)
    one.check()
    if not own:
        two.check()


async def test_deepagents(asynchronous: bool) -> None:
    worker = Member("crm", [ASK, look, cite])
    task = go_on("task", description="Look.", subagent_type="crm")
    lead = Member("lead", [task, look, ASK, look, AIMessage(content="2")])
    about: Any = {
        "name": "crm",
        "description": "Asks the CRM.",
        "system_prompt": "Be brief.",
        "model": worker.model,
        "tools": worker.tools,
        "middleware": worker.middleware,
    }
    graph = create_deep_agent(
        lead.model, lead.tools, subagents=[about], middleware=lead.middleware, checkpointer=InMemorySaver()
    )
    await run(graph, asynchronous)
    worker.check()
    lead.check()


async def test_the_model_of_a_supervisor_reads_views_and_queries_previews(asynchronous: bool) -> None:
    compress = CompressNode(POLICY)
    worker = Member("crm", [ASK, look, AIMessage(content="Fine.")])
    lead = Script([go_on("transfer_to_crm", task="Look."), look, AIMessage(content="Two.")])
    graph = create_supervisor(
        [worker.agent()],
        model=Model(script=lead),
        tools=[handoff_tool("crm", style="supervisor"), fetch_tool(POLICY)],
        output_mode="full_history",
        pre_model_hook=lambda state: {"llm_input_messages": compress.read(state)},
    )
    messages = await run(graph.compile(checkpointer=InMemorySaver()), asynchronous)
    sent, state = (sum(len(message.text) for message in each) for each in (lead.prompts[1].messages, messages[:-3]))
    assert sent < state / 2
    answers = [message for message in messages if isinstance(message, ToolMessage) and message.name == FETCH_NAME]
    assert answers[-1].status == "success", answers[-1].text
    assert "crm-0000" in answers[-1].text
    for prompt in lead.prompts:
        transcripts.check(prompt.messages)


async def test_an_agent_as_a_tool(asynchronous: bool) -> None:
    worker = Member("crm", [ASK, look, cite])
    inner = worker.agent()

    @tool
    def ask_crm(words: str) -> str:
        """Ask the agent of the CRM."""
        return str(inner.invoke({"messages": [HumanMessage(words)]})["messages"][-1].text)

    lead = Member("lead", [go_on("ask_crm", words="all"), look, AIMessage(content="Fine.")], ask_crm)
    await run(lead.agent(), asynchronous)
    worker.check()
    lead.check()


async def test_members_of_a_team_run_at_once(asynchronous: bool) -> None:
    members = [Member("crm", [ASK, look, AIMessage(content="Fine.")]) for _ in range(4)]
    graphs = [member.agent() for member in members]
    await asyncio.gather(*(run(graph, asynchronous) for graph in graphs))
    for member in members:
        member.check()
