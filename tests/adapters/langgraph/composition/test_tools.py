"""Tools that end a run, tools that a selector drops, and the list of tools that the model is offered."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.langgraph import AccpMiddleware
from tests.adapters.langgraph.composition import sources
from tests.adapters.langgraph.composition.harness import POLICY, Model, Script, keys_in, look, thread
from tests.scripted_model import call

ASK = AIMessage(content="", tool_calls=[call("crm", "c1", query="all")])
DONE = AIMessage(content="Done.")


def agent(steps: list[Any], *middleware: Any, tools: Any = None, **options: Any) -> tuple[Any, Script]:
    script = Script(steps)
    tools = sources.tools() if tools is None else tools
    return create_agent(Model(script=script), tools, middleware=middleware, **options), script


async def run(graph: Any, asynchronous: bool, config: Any = None, words: str = "go") -> Any:
    asked: Any = {"messages": [HumanMessage(words)]}
    return await graph.ainvoke(asked, config) if asynchronous else graph.invoke(asked, config)


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
async def test_a_tool_that_returns_directly_returns_what_it_said(asynchronous: bool) -> None:
    @tool(return_direct=True)
    def crm(query: str) -> str:
        """Return customers to the user."""
        return sources.ROWS

    memory = InMemorySaver()
    graph, script = agent([ASK, look, DONE], AccpMiddleware(POLICY), tools=[crm], checkpointer=memory)
    state = await run(graph, asynchronous, thread("t"))
    assert state["messages"][-1].content == sources.ROWS
    state = await run(graph, asynchronous, thread("t"), "open it")
    assert keys_in(script.prompts[1].messages)
    assert state["messages"][-2].status == "success"


def test_an_answer_with_a_schema_comes_after_what_was_opened() -> None:
    class Found(BaseModel):
        """What was found."""

        won: int

    answer = AIMessage(content="", tool_calls=[call("Found", "s1", won=14)])
    graph, script = agent([ASK, look, answer], AccpMiddleware(POLICY), response_format=ToolStrategy(Found))
    state = graph.invoke({"messages": [HumanMessage("how many?")]})
    assert state["structured_response"] == Found(won=14)
    assert state["messages"][4].status == "success"
    assert script.prompts[1].tools[-2:] == [FETCH_NAME, "Found"]
