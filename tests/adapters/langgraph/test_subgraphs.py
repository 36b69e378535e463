"""Agents inside graphs and inside tools: what each may open is its own, but for what it is handed over."""

from __future__ import annotations

from typing import Any

from langchain.tools import ToolRuntime
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command

from accp_adapters.langgraph import AccpMiddleware
from tests.adapters.langgraph.jobs import LOOK_UP, ROWS, agent, fetch_last, refs_in, results, thread
from tests.adapters.langgraph.ways import alternating
from tests.scripted_model import call, calls


def test_an_agent_that_is_a_node_opens_in_the_second_turn_what_it_was_shown_in_the_first() -> None:
    inner, model = agent([LOOK_UP, "found", fetch_last, "done"])
    outer = StateGraph(MessagesState).add_node("crm", inner).add_edge(START, "crm")
    graph = outer.compile(checkpointer=InMemorySaver())
    graph.invoke({"messages": [("user", "find customers")]}, thread("t"))
    state = graph.invoke({"messages": [("user", "look closer")]}, thread("t"))
    _, fetched = results(state)
    assert refs_in(model.received[1][-1])
    assert fetched.status == "success"
    assert ROWS[0]["email"] in fetched.text


@alternating("returns_command", [False, True])
async def test_what_the_answer_of_an_agent_in_a_tool_cites_opens_for_the_agent_that_called_it(
    asynchronous: bool, returns_command: bool
) -> None:
    inner, _ = agent([LOOK_UP, lambda messages: f"I found {refs_in(messages[-1])[0]}."])

    @tool
    def ask_crm(question: str, runtime: ToolRuntime) -> Any:
        """Ask the CRM agent."""
        answer: str = inner.invoke({"messages": question})["messages"][-1].text
        message = ToolMessage(answer, tool_call_id=runtime.tool_call_id)
        return Command(update={"messages": [message]}) if returns_command else answer

    script = [calls(call("ask_crm", question="who?")), fetch_last, "done"]
    outer, _ = agent(script, ask_crm, checkpointer=InMemorySaver())
    given: Any = {"messages": "go"}
    state = await outer.ainvoke(given, thread("t")) if asynchronous else outer.invoke(given, thread("t"))
    said, fetched = results(state)
    assert said.text.startswith("I found $cold.")
    assert fetched.status == "success"
    assert ROWS[0]["email"] in fetched.text
    assert set(state) == {"messages"}


def test_what_an_agent_only_names_is_not_handed_over() -> None:
    seen: list[str] = []

    def quiet(messages: Any) -> str:
        seen.extend(refs_in(messages[-1]))
        return "I found something."

    inner, _ = agent([LOOK_UP, quiet])

    @tool
    def ask_crm(question: str) -> str:
        """Ask the CRM agent."""
        answer: str = inner.invoke({"messages": question})["messages"][-1].text
        return answer

    script = [calls(call("ask_crm", question="who?")), lambda _: calls(call("accp_fetch", "f1", ref=seen[0])), "done"]
    outer, _ = agent(script, ask_crm, middleware=AccpMiddleware())
    assert results(outer.invoke({"messages": "go"}))[1].text.startswith("E5002: ")
