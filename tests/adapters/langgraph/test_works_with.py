"""Beside what people already have: one test for each library and feature, each sync and async.

The scripted model refuses every prompt that OpenAI or Anthropic would, so each test is one of validity, too.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any

import pytest
from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AnyMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command, Send, interrupt
from langgraph_swarm import create_swarm

from accp_adapters.langgraph import AccpMiddleware, CompressNode, fetch_tool, handoff_tool
from accp_adapters.stores import SqliteColdStore
from tests.adapters.langgraph.composition.neighbours import NEIGHBOURS
from tests.adapters.langgraph.jobs import LOOK_UP, ROWS, crm, fetch_last, refs_in, results, thread
from tests.scripted_model import ScriptedModel, call, calls

# langgraph-supervisor builds its agent by `create_react_agent`, which langgraph calls deprecated.
pytestmark = [
    pytest.mark.filterwarnings("ignore:create_react_agent has been moved"),
    pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"]),
]

SOURCE = json.dumps(ROWS)


def member(name: str, script: Sequence[Any], *tools: Any, **options: Any) -> tuple[Any, ScriptedModel]:
    """Return an agent with the middleware, and its model."""
    model = ScriptedModel(script=list(script))
    middleware = [*options.pop("middleware", ()), AccpMiddleware(options.pop("policy", None))]
    return create_agent(model, list(tools), name=name, middleware=middleware, **options), model


async def run(graph: Any, asked: Any, asynchronous: bool, config: Any = None) -> Any:
    return await graph.ainvoke(asked, config) if asynchronous else graph.invoke(asked, config)


def opened(messages: Sequence[BaseMessage]) -> ToolMessage:
    """Return the answer of the fetch tool, which must not be a refusal."""
    found = [message for message in messages if isinstance(message, ToolMessage) and message.name == "accp_fetch"]
    assert found[-1].status == "success", found[-1].text
    assert ROWS[1]["email"] in found[-1].text
    return found[-1]


def scan(messages: Sequence[BaseMessage]) -> Any:
    return fetch_last(messages, f"f{len(messages)}", limit=3)


def by_hand(model: Any, node: ToolNode, **options: Any) -> Any:
    bound = model.bind_tools(list(node.tools_by_name.values()))

    def ask(state: Any) -> Any:
        return {"messages": [bound.invoke(state["messages"])]}

    async def aask(state: Any) -> Any:
        return {"messages": [await bound.ainvoke(state["messages"])]}

    graph = StateGraph(options.pop("schema", MessagesState)).add_node("model", RunnableLambda(ask, aask))
    graph.add_node("tools", node).add_edge(START, "model").add_conditional_edges("model", tools_condition)
    if compress := options.pop("compress", None):
        graph.add_node("compress", compress).add_edge("tools", "compress").add_edge("compress", "model")
    else:
        graph.add_edge("tools", "model")
    return graph.compile(**options)


async def test_a_graph_built_by_hand(asynchronous: bool) -> None:
    model = ScriptedModel(script=[LOOK_UP, scan, "done"])
    store = SqliteColdStore()
    tools, compress = ToolNode([crm, fetch_tool(store=store)]), CompressNode(store=store)
    graph = by_hand(model, tools, compress=compress, checkpointer=InMemorySaver())
    opened((await run(graph, {"messages": [HumanMessage("go")]}, asynchronous, thread("t")))["messages"])


def merge(state: list[Any], writes: list[Any]) -> list[Any]:
    """A reducer for DeltaChannel: by id, in place."""
    found = {message.id: message for message in state}
    for write in writes:
        found |= {message.id: message for message in (write if isinstance(write, list) else [write])}
    return list(found.values())


class Delta(AgentState[Any]):
    messages: Annotated[list[AnyMessage], DeltaChannel(merge, snapshot_frequency=3)]  # type: ignore[misc]


LOOKS = [calls(call("crm", f"l{number}", query=str(number))) for number in range(4)]


async def test_delta_channel_reducers(asynchronous: bool) -> None:
    script = [*LOOKS, "done", scan, "bye"]
    memory: dict[str, Any] = {"state_schema": Delta, "checkpointer": InMemorySaver()}
    graph, _ = member("crm", script, crm, **memory)
    await run(graph, {"messages": [HumanMessage("go")]}, asynchronous, thread("t"))
    state = await run(graph, {"messages": [HumanMessage("look closer")]}, asynchronous, thread("t"))
    opened(state["messages"])


async def test_the_functional_api(asynchronous: bool) -> None:
    agent, _ = member("crm", [LOOK_UP, scan, "done"], crm)

    @task
    async def alook(words: str) -> Any:
        return await agent.ainvoke({"messages": words})

    @task
    def look(words: str) -> Any:
        return agent.invoke({"messages": words})

    @entrypoint(checkpointer=InMemorySaver())
    async def awork(words: str) -> Any:
        return {"state": await alook(words), "may": interrupt("may I?")}

    @entrypoint(checkpointer=InMemorySaver())
    def work(words: str) -> Any:
        return {"state": look(words).result(), "may": interrupt("may I?")}

    flow: Any = awork if asynchronous else work
    assert "__interrupt__" in await run(flow, "go", asynchronous, thread("t"))
    found = await run(flow, Command(resume="yes"), asynchronous, thread("t"))
    opened(found["state"]["messages"])
    assert found["may"] == "yes"


async def test_subgraphs_keep_their_references_over_the_turns(asynchronous: bool) -> None:
    inner, _ = member("crm", [*LOOKS, "done", scan, "bye"], crm)
    outer = StateGraph(MessagesState).add_node("crm", inner).add_edge(START, "crm")
    graph = outer.compile(checkpointer=InMemorySaver())
    await run(graph, {"messages": [HumanMessage("go")]}, asynchronous, thread("t"))
    state = await run(graph, {"messages": [HumanMessage("look closer")]}, asynchronous, thread("t"))
    opened(state["messages"])


async def test_send_gives_each_agent_its_own(asynchronous: bool) -> None:
    agent, model = member("crm", [LOOK_UP, scan, "done"], crm)
    graph = StateGraph(MessagesState).add_node("crm", agent)
    graph.add_conditional_edges(START, lambda state: [Send("crm", {"messages": [HumanMessage("go")]})], ["crm"])
    state = await run(graph.compile(checkpointer=InMemorySaver()), {"messages": []}, asynchronous, thread("t"))
    opened(state["messages"])
    assert [message.text for message in model.received[0]] == ["go"]


async def test_interrupts_before_tools_and_in_the_agent_that_was_handed_to(asynchronous: bool) -> None:
    @tool
    def ask(words: str) -> str:
        """Ask a person."""
        return f"{interrupt(words)}: {SOURCE}"

    human = HumanInTheLoopMiddleware(interrupt_on={"transfer_to_market": True})
    turn = calls(call("transfer_to_market", "h1", task="Ask."))
    one, _ = member("crm", [turn], handoff_tool("market"), middleware=[human])
    two, model = member("market", [calls(call("ask", "a1", words="may I?")), scan, "Fine."], ask)
    graph = create_swarm([one, two], default_active_agent="crm").compile(checkpointer=InMemorySaver())
    await run(graph, {"messages": "go"}, asynchronous, thread("t"))
    await run(graph, Command(resume={"decisions": [{"type": "approve"}]}), asynchronous, thread("t"))
    state = await run(graph, Command(resume="yes"), asynchronous, thread("t"))
    opened(state["messages"])
    assert refs_in(model.received[1][-1])


@pytest.mark.parametrize("mode", ["values", "updates", "messages", "debug", "checkpoints", "tasks"])
async def test_streaming_shows_what_the_tool_returned_in_every_mode(asynchronous: bool, mode: Any) -> None:
    model = ScriptedModel(script=[LOOK_UP, scan, "done"])
    graph = create_agent(model, [crm], middleware=[AccpMiddleware()], checkpointer=InMemorySaver())
    asked: Any = {"messages": "go"}
    parts = (
        [part async for part in graph.astream(asked, thread("t"), stream_mode=mode)]
        if asynchronous
        else list(graph.stream(asked, thread("t"), stream_mode=mode))
    )
    assert SOURCE[5_000:5_300] in repr(parts)
    assert "accp_session" not in repr(parts)
    opened(graph.get_state(thread("t")).values["messages"])
    assert len(results(graph.get_state(thread("t")).values)) == 2


@tool
def orders(page: int) -> str:
    """Return a page of orders."""
    return json.dumps([{"id": page * 100 + number, "status": "late", "total": number * 7.5} for number in range(40)])


@pytest.mark.parametrize("name", ["context editing", "summarization"])
async def test_what_is_a_view_stays_one_where_the_middleware_stands_last(name: str, asynchronous: bool) -> None:
    script = [*(calls(call("orders", f"c{page}", page=page)) for page in range(5)), "done"]
    beside, _ = NEIGHBOURS[name](script)  # type: ignore[arg-type]  # it reads no script
    graph, model = member("clerk", script, orders, middleware=beside)
    await run(graph, {"messages": "go"}, asynchronous)
    sent = [message.text for prompt in model.received for message in prompt if isinstance(message, ToolMessage)]
    assert any(text.startswith("[40] id") for text in sent), sent[:2]
    assert [text for text in sent if text.startswith("[{")] == []
