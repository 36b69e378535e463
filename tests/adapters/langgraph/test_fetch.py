"""The fetch tool in a graph: what it opens, and what it refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver

from accp_adapters.langgraph import AccpMiddleware, Policy, fetch_tool
from accp_adapters.stores import SqliteColdStore
from accp_adapters.tokens import count_o200k
from accp_core.references import key_of
from tests.adapters.langgraph.jobs import LOOK_UP, ROWS, agent, fetch_last, refs_in, results, thread
from tests.scripted_model import call, calls

SOURCE = json.dumps(ROWS)


def test_the_schema_costs_little() -> None:
    schema = json.dumps(convert_to_openai_tool(fetch_tool()), separators=(",", ":"))
    assert count_o200k(schema) <= 130


def test_select_offset_and_limit_reach_the_source() -> None:
    def ask(messages: Any) -> Any:
        return fetch_last(messages, query="status=won,email", offset=1, limit=2)

    graph, _ = agent([LOOK_UP, ask, "done"])
    fetched = results(graph.invoke({"messages": "go"}))[1]
    assert [row["email"] for row in ROWS if row["email"] in fetched.text] == [
        "c3@example.com",
        "c6@example.com",
    ]


def test_an_answer_takes_at_most_the_fetch_limit_and_is_not_rewritten_again() -> None:
    policy = Policy(inline_limit=200, preview_limit=150, fetch_limit=900)
    graph, _ = agent([LOOK_UP, fetch_last, "done"], middleware=AccpMiddleware(policy))
    fetched = results(graph.invoke({"messages": "go"}))[1]
    assert 200 < count_o200k(fetched.text) <= 900
    assert "next: offset=" in fetched.text
    assert fetched.additional_kwargs == {}


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("words", ["open {ref}", "here: {ref} is mine", "nothing"])
async def test_a_typed_reference_opens_nothing(words: str, asynchronous: bool) -> None:
    ref = f"${key_of(SOURCE)}"
    store = SqliteColdStore()
    store.put("t", ref.removeprefix("$"), SOURCE)
    graph, _ = agent([calls(call("accp_fetch", ref=ref)), "done"], middleware=AccpMiddleware(store=store))
    given: Any = {"messages": words.format(ref=ref)}
    state = await graph.ainvoke(given, thread("t")) if asynchronous else graph.invoke(given, thread("t"))
    (refused,) = results(state)
    assert refused.status == "error"
    assert refused.text == f"E5002: expected a granted reference, found {ref!r}"
    store.close()


def test_a_reference_of_another_thread_opens_nothing_even_when_its_message_is_carried_over() -> None:
    graph, _ = agent([LOOK_UP, "done", fetch_last, "done"], checkpointer=InMemorySaver())
    mine = graph.invoke({"messages": "go"}, thread("mine"))["messages"]
    state = graph.invoke({"messages": mine[:3]}, thread("theirs"))
    refused = results(state)[1]
    assert refused.status == "error"
    assert refused.text.startswith("E5002: ")
    assert refs_in(mine[2])[0] in refused.text


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_granted_reference_whose_text_is_gone_is_unknown(asynchronous: bool) -> None:
    store = SqliteColdStore()

    def forget(messages: Any) -> Any:
        store.purge("t")
        return fetch_last(messages)

    graph, _ = agent([LOOK_UP, forget, "done"], middleware=AccpMiddleware(store=store))
    given: Any = {"messages": "go"}
    state = await graph.ainvoke(given, thread("t")) if asynchronous else graph.invoke(given, thread("t"))
    shown, refused = results(state)
    assert refused.status == "error"
    assert refused.text.startswith(f"E2001: expected the stored text of {refs_in(shown)[0]!r}, found none")
    store.close()


def test_a_selection_that_fits_nothing_tells_the_model_what_there_is() -> None:
    graph, _ = agent([LOOK_UP, lambda messages: fetch_last(messages, query="mail"), "done"])
    refused = results(graph.invoke({"messages": "go"}))[1]
    assert refused.status == "error"
    assert refused.text == "E1004: expected a query that names one of: id, name, email, status, trace; found 'mail'"


@pytest.mark.parametrize("args", [{}, {"ref": None}, {"ref": 5, "colour": "red"}])
def test_arguments_that_a_model_invents_do_not_stop_the_graph(args: dict[str, Any]) -> None:
    graph, _ = agent([calls(call("accp_fetch", **args)), "done"])
    (refused,) = results(graph.invoke({"messages": "go"}))
    assert refused.text.startswith("E5002: ")


def test_nothing_that_a_fetch_answers_is_lost() -> None:
    policy = Policy(fetch_limit=700)
    script: list[Any] = [LOOK_UP]
    script += [lambda messages, start=start: fetch_first(messages, start) for start in range(0, 300, 10)]
    graph, _ = agent([*script, "done"], middleware=AccpMiddleware(policy))
    state = graph.invoke({"messages": "go"}, {"recursion_limit": 200})
    text = "".join(message.text for message in results(state)[1:])
    assert all(row["email"] in text for row in ROWS)


def fetch_first(messages: list[Any], start: int) -> Any:
    ref = next(refs_in(message)[0] for message in messages if refs_in(message))
    return calls(call("accp_fetch", f"f{start}", ref=ref, offset=start, limit=10))
