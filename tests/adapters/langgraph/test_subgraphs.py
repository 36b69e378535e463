"""Agents inside graphs and inside tools: the thread is the session, the grants are each agent's own."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from accp_adapters.langgraph import AccpMiddleware
from accp_adapters.stores import SqliteColdStore
from tests.adapters.langgraph.jobs import LOOK_UP, ROWS, agent, crm, fetch_last, refs_in, results, thread
from tests.scripted_model import ScriptedModel, call, calls


def test_an_agent_that_is_a_node_opens_in_the_second_turn_what_it_was_shown_in_the_first() -> None:
    inner, _ = agent([LOOK_UP, "found", fetch_last, "done"])
    outer = StateGraph(MessagesState).add_node("crm", inner).add_edge(START, "crm")
    graph = outer.compile(checkpointer=InMemorySaver())
    graph.invoke({"messages": [("user", "find customers")]}, thread("t"))
    state = graph.invoke({"messages": [("user", "look closer")]}, thread("t"))
    shown, fetched = results(state)
    assert refs_in(shown)
    assert fetched.status == "success"
    assert ROWS[0]["email"] in fetched.text


def test_an_agent_in_a_tool_shares_the_thread_but_not_its_references() -> None:
    store = SqliteColdStore()
    seen: list[str] = []

    def leak(messages: Any) -> str:
        seen.extend(refs_in(messages[-1]))
        return f"I found {seen[0]}."

    inner, _ = agent([LOOK_UP, leak], middleware=AccpMiddleware(store=store))

    @tool
    def ask_crm(question: str) -> str:
        """Ask the CRM agent."""
        answer: str = inner.invoke({"messages": question})["messages"][-1].text
        return answer

    script = [
        calls(call("ask_crm", question="who?")),
        lambda _: calls(call("accp_fetch", "f1", ref=seen[0])),
        "done",
    ]
    outer = create_agent(ScriptedModel(script=script), [ask_crm, crm], middleware=[AccpMiddleware(store=store)])
    said, refused = results(outer.invoke({"messages": "go"}, thread("t")))
    assert said.text == f"I found {seen[0]}."
    assert refused.text.startswith("E5002: ")
    assert store.purge("t") == 1
    store.close()
