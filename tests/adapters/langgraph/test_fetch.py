"""The fetch tool in a graph: what it opens, and what it refuses."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from langchain_core.messages import RemoveMessage
from langchain_core.tools import tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver

from accp_adapters.langgraph import AccpMiddleware, Policy, fetch_tool
from accp_adapters.stores import SqliteColdStore
from accp_adapters.tokens import count_o200k
from accp_core.references import key_of
from tests.adapters.langgraph.jobs import LOOK_UP, ROWS, agent, crm, fetch_last, refs_in, results, thread
from tests.adapters.langgraph.ways import alternating
from tests.scripted_model import call, calls

SOURCE = json.dumps(ROWS)


def test_the_schema_costs_little() -> None:
    schema = json.dumps(convert_to_openai_tool(fetch_tool()), separators=(",", ":"))
    assert count_o200k(schema) <= 150


def test_select_offset_and_limit_reach_the_source() -> None:
    def ask(messages: Any) -> Any:
        return fetch_last(messages, query="SELECT email FROM rows WHERE status = won", offset=1, limit=2)

    graph, _ = agent([LOOK_UP, ask, "done"])
    fetched = results(graph.invoke({"messages": "go"}))[1]
    assert [row["email"] for row in ROWS if row["email"] in fetched.text] == ["c3@example.com", "c6@example.com"]


def test_an_answer_takes_at_most_the_fetch_limit_and_is_not_rewritten_again() -> None:
    policy = Policy(inline_limit=200, preview_limit=150, fetch_limit=900)
    graph, _ = agent([LOOK_UP, fetch_last, "done"], middleware=AccpMiddleware(policy))
    fetched = results(graph.invoke({"messages": "go"}))[1]
    assert 200 < count_o200k(fetched.text) <= 900
    assert "next: offset=" in fetched.text
    assert fetched.additional_kwargs == {}


@alternating("words", ["open {ref}", "here: {ref} is mine", "nothing"])
async def test_a_typed_reference_opens_nothing(words: str, asynchronous: bool) -> None:
    ref = f"${key_of(SOURCE)}"
    store = SqliteColdStore()
    store.put("t", ref.removeprefix("$"), SOURCE)
    graph, _ = agent([calls(call("accp_fetch", ref=ref)), "done"], middleware=AccpMiddleware(store=store))
    given: Any = {"messages": words.format(ref=ref)}
    state = await graph.ainvoke(given, thread("t")) if asynchronous else graph.invoke(given, thread("t"))
    (refused,) = results(state)
    assert refused.status == "error"
    assert refused.text == f"E5002: expected a reference to a text that this conversation still has, found {ref!r}"
    store.close()


def test_a_reference_opens_wherever_its_text_stands_in_the_state() -> None:
    graph, _ = agent([LOOK_UP, "done", fetch_last, "done"], checkpointer=InMemorySaver())
    mine = graph.invoke({"messages": "go"}, thread("mine"))["messages"]
    state = graph.invoke({"messages": mine[:3]}, thread("theirs"))
    assert results(state)[1].status == "success"


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_stored_text_survives_the_removal_of_its_message_and_not_its_redaction(asynchronous: bool) -> None:
    store = SqliteColdStore()
    ref = f"${key_of(SOURCE)}"
    script = [LOOK_UP, "found", calls(call("accp_fetch", "f1", ref=ref)), "still there", fetch_again(ref), "gone"]
    graph, _ = agent(script, middleware=AccpMiddleware(store=store), checkpointer=InMemorySaver())

    async def run(words: str) -> Any:
        given: Any = {"messages": words}
        return await graph.ainvoke(given, thread("t")) if asynchronous else graph.invoke(given, thread("t"))

    state = await run("go")
    (message,) = results(state)
    turn = [each.id for each in state["messages"] if getattr(each, "tool_calls", ())]
    removed = [RemoveMessage(id) for id in (message.id, *turn)]
    await graph.aupdate_state(thread("t"), {"messages": removed})
    assert results(await run("and now?"))[0].text.startswith("[")
    await graph.aupdate_state(
        thread("t"), {"messages": [calls(call("crm", "c1")), message.model_copy(update={"content": "[redacted]"})]}
    )
    refused = results(await run("and now?"))[-1]
    assert refused.text == f"E5002: expected a reference to a text that this conversation still has, found {ref!r}"
    store.close()


def test_a_model_reads_twelve_digits_and_a_mistyped_one_names_what_it_meant() -> None:
    def mistyped(messages: Any) -> Any:
        ref = fetch_last(messages).tool_calls[0]["args"]["ref"]
        return calls(call("accp_fetch", "f1", ref=f"{ref[:9]}{(int(ref[9]) + 1) % 10}{ref[10:]}"))

    def in_query(messages: Any) -> Any:
        ref = fetch_last(messages).tool_calls[0]["args"]["ref"]
        return calls(call("accp_fetch", "f3", ref=ref, query=f"SELECT count(*) AS n FROM {ref[:-1]}.rows"))

    sources: list[str] = []

    def noted(messages: Any) -> Any:
        sources.append(refs_in(messages[-1])[0])
        return mistyped(messages)

    graph, model = agent([LOOK_UP, noted, in_query, "done"])
    state = graph.invoke({"messages": "go"})
    source, refused, in_sql = results(state)
    (shown,) = sources
    assert shown == f"${key_of(source.text)[:17]}"
    assert key_of(source.text) not in str(model.received)
    for each in (refused, in_sql):
        assert (each.status, each.text[:6]) == ("error", "E5002:")
        assert each.text.endswith(f"; nearest: {shown}")


def test_a_reference_that_two_granted_keys_begin_with_opens_neither() -> None:
    store = SqliteColdStore()
    key = key_of(SOURCE)
    forged = f"{key[:17]}{'0' * 17}"
    script = [LOOK_UP, "found", calls(call("accp_fetch", "f1", ref=f"${key[:17]}")), "refused"]
    script += [calls(call("accp_fetch", "f2", ref=f"${key}", query="CRM-0042")), "opened"]
    graph, _ = agent(script, middleware=AccpMiddleware(store=store), checkpointer=InMemorySaver())
    graph.invoke({"messages": "go"}, thread("t"))
    held = graph.get_state(thread("t")).values
    store.put(held["accp_session"], forged, "a forged text")
    graph.update_state(thread("t"), {"accp_stored": {**held["accp_stored"], "forger": [forged]}})
    refused = results(graph.invoke({"messages": "and?"}, thread("t")))[-1]
    assert refused.text.startswith("E5002: expected a reference that one text has")
    assert f"${key}" in refused.text and f"${forged}" in refused.text
    opened = results(graph.invoke({"messages": "and?"}, thread("t")))[-1]
    assert opened.status == "success" and "c42@example.com" in opened.text
    store.close()


def test_a_text_that_is_redacted_while_a_fetch_waits_is_not_served() -> None:
    store = SqliteColdStore()
    middleware = AccpMiddleware(store=store)
    graph, _ = agent(
        [LOOK_UP, fetch_last, "done"], middleware=middleware, checkpointer=InMemorySaver(), interrupt_before=["tools"]
    )
    graph.invoke({"messages": "go"}, thread("t"))
    graph.invoke(None, thread("t"))
    (message,) = results(graph.get_state(thread("t")).values)
    redacted = message.model_copy(update={"content": "[redacted]"})
    graph.update_state(thread("t"), {"messages": [redacted]}, as_node="model")
    assert results(graph.invoke(None, thread("t")))[-1].text.startswith("E5002: ")
    store.close()


def fetch_again(ref: str) -> Any:
    return calls(call("accp_fetch", "f2", ref=ref))


def test_a_selection_that_fits_nothing_tells_the_model_what_there_is() -> None:
    graph, _ = agent([LOOK_UP, lambda messages: fetch_last(messages, query="mail"), "done"])
    answered = results(graph.invoke({"messages": "go"}))[1]
    assert answered.text == "0 of 300 rows; tables: rows(id, name, email, status, trace)"


@pytest.mark.parametrize("args", [{}, {"ref": None}, {"ref": 5, "colour": "red"}])
def test_arguments_that_a_model_invents_do_not_stop_the_graph(args: dict[str, Any]) -> None:
    graph, _ = agent([calls(call("accp_fetch", **args)), "done"])
    (refused,) = results(graph.invoke({"messages": "go"}))
    assert refused.text.startswith("E5002: " if args.get("ref") else "E1004: expected the argument 'ref'")


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


ORDERS = [
    {
        "id": number,
        "status": "late" if number % 40 == 7 else "paid",
        "total": number * 1.25,
        "customer": hashlib.sha256(str(number).encode()).hexdigest()[:16],
        "items": [{"sku": f"S-{number % 9}", "qty": number % 5}],
        **({"note": "call the depot"} if number == 222 else {}),
    }
    for number in range(300)
]
QUESTIONS = [
    ("a maximum", "SELECT max(total) FROM orders", "373.75"),
    ("a count", "SELECT count(*) AS n FROM orders WHERE status = 'late'", "n 8"),
    ("a filter", "SELECT id FROM rows WHERE total > 373", "id 299"),
    ("a join", "SELECT sum(i.qty) AS n FROM orders o JOIN orders.items i ON i.orders_id = o.id WHERE o.id < 9", "n 16"),
    ("a word", "depot", "id 222"),
]


@tool
def orders(query: str) -> dict[str, Any]:
    """Return orders."""
    return {"orders": ORDERS}


@alternating(("query", "expected"), [pair[1:] for pair in QUESTIONS], ids=[pair[0] for pair in QUESTIONS])
async def test_an_agent_learns_each_thing_by_one_query(query: str, expected: str, asynchronous: bool) -> None:
    script = [calls(call("orders", "c1", query="all")), lambda messages: fetch_last(messages, query=query), "done"]
    graph, _ = agent(script, orders)
    given: Any = {"messages": "go"}
    state = await graph.ainvoke(given) if asynchronous else graph.invoke(given)
    _, fetched = results(state)
    assert fetched.status == "success"
    assert expected in fetched.text
    assert count_o200k(fetched.text) < 200


def test_a_query_joins_two_references_and_each_needs_its_grant() -> None:
    def join(messages: Any) -> Any:
        crm_ref, orders_ref = (refs_in(message)[0] for message in messages if refs_in(message))
        tables = f"{orders_ref}.orders o JOIN {crm_ref} c ON c.name = 'Customer ' || o.id"
        query = f"SELECT c.name, o.total FROM {tables} LIMIT 1"
        return calls(call("accp_fetch", "f1", ref=orders_ref, query=query))

    def join_guessed(messages: Any) -> Any:
        query = f"SELECT * FROM ${key_of('a text of somebody else')}"
        return fetch_last(messages, "f2", query=query)

    look_up = calls(call("crm", "c1", query="customers"), call("orders", "c2", query="all"))
    graph, _ = agent([look_up, join, join_guessed, "done"], crm, orders)
    *_, joined, refused = results(graph.invoke({"messages": "go"}))
    assert joined.text == "name Customer 0\ntotal 0.0"
    assert (refused.status, refused.text[:6]) == ("error", "E5002:")


def nested(depth: int, kind: str) -> tuple[str, str]:
    """Return JSON that is `depth` deep, and the path to the value within."""
    openers = {"objects": ['{"a":'], "lists": ["["], "both": ['{"a":', "["]}[kind]
    parts = [openers[n % len(openers)] for n in range(depth)]
    closers = ["}" if part.startswith("{") else "]" for part in reversed(parts)]
    path = ".".join("a" if part.startswith("{") else "0" for part in parts)
    return "".join([*parts, '"deep"', *closers]), path


@alternating("kind", ["objects", "lists", "both"])
@pytest.mark.parametrize("depth", [300, 500, pytest.param(30_000, marks=pytest.mark.slow)])
async def test_a_path_into_a_deep_result_is_answered_or_refused(depth: int, kind: str, asynchronous: bool) -> None:
    source, path = nested(depth, kind)

    @tool
    def deep() -> str:
        """Return what is nested."""
        return source

    ref = f"${key_of(source)}"
    half = path[: len(path) // 4 * 2 - 1]
    queries = [
        path,
        f"{path}.x",
        half,
        f"${''.join(f'[{each}]' if each == '0' else f'.{each}' for each in path.split('.'))}",
    ]
    script = [
        calls(call("deep", "d1")),
        *(calls(call("accp_fetch", f"f{n}", ref=ref, query=query)) for n, query in enumerate(queries)),
    ]
    graph, _ = agent([*script, "done"], deep, middleware=AccpMiddleware())
    asked: Any = {"messages": "go"}
    state = await graph.ainvoke(asked) if asynchronous else graph.invoke(asked)
    answers = results(state)[1:]
    assert len(answers) == len(queries) and state["messages"][-1].text == "done"
    assert all(each.status == "success" or each.text.startswith(("E1004: ", "E2003: ")) for each in answers)
    if depth <= 900:
        assert "deep" in answers[0].text and answers[1].text.startswith(("E1004: ", "0 of "))
