"""With a checkpointer: what was sent never changes, nothing is kept twice, threads do not see each other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import AsyncSqliteStore, SqliteStore
from langgraph.types import Command, interrupt

from accp_adapters.langgraph import AccpMiddleware, Policy
from accp_adapters.stores import SqliteColdStore
from accp_core.references import key_of
from tests.adapters.langgraph.jobs import LOOK_UP, ROWS, agent, crm, fetch_last, refs_in, results, thread
from tests.scripted_model import call, calls

SOURCE = json.dumps(ROWS)


@pytest.fixture
def store() -> Iterator[SqliteColdStore]:
    opened = SqliteColdStore()
    yield opened
    opened.close()


def test_earlier_messages_never_change_over_the_turns() -> None:
    script = [LOOK_UP, fetch_last, "found", calls(call("crm", "c2", query="again")), "done", "bye"]
    graph, model = agent(script, checkpointer=InMemorySaver())
    for words in ("find customers", "again", "thanks"):
        graph.invoke({"messages": words}, thread("t"))
    sent = [[message.model_dump_json() for message in messages] for messages in model.received]
    assert len(sent) == 6
    for before, after in pairwise(sent):
        assert after[: len(before)] == before


def test_replay_and_fork_come_to_the_same_text_and_store_it_once(store: SqliteColdStore) -> None:
    script = [LOOK_UP, "done", "done again", "forked"]
    graph, model = agent(script, middleware=AccpMiddleware(store=store), checkpointer=InMemorySaver())
    graph.invoke({"messages": "go"}, thread("t"))
    before_tools = next(past for past in graph.get_state_history(thread("t")) if past.next == ("tools",))
    graph.invoke(None, before_tools.config)
    after_tools = next(past for past in graph.get_state_history(thread("t")) if past.next == ("model",))
    graph.invoke(None, after_tools.config)
    assert len({messages[2].text for messages in model.received[1:]}) == 1
    assert store.purge(session(graph)) == 1


def session(graph: Any, name: str = "t") -> str:
    """Return the private session of a thread."""
    return str(graph.get_state(thread(name)).values["accp_session"])


def test_a_fork_opens_what_its_past_was_shown(store: SqliteColdStore) -> None:
    graph, _ = agent(
        [LOOK_UP, "done", fetch_last, "fetched"],
        middleware=AccpMiddleware(store=store),
        checkpointer=InMemorySaver(),
    )
    graph.invoke({"messages": "go"}, thread("t"))
    after_tools = next(
        past
        for past in graph.get_state_history(thread("t"))
        if past.next == ("model",) and len(past.values["messages"]) == 3
    )
    forked = graph.invoke(None, after_tools.config)
    assert [message.status for message in results(forked)] == ["success", "success"]


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_interrupt_and_resume_stores_once(asynchronous: bool, store: SqliteColdStore) -> None:
    ran: list[str] = []

    @tool
    def ask(query: str) -> str:
        """Ask a person, then return the customers."""
        ran.append(query)
        return SOURCE if interrupt("may I?") == "yes" else "no"

    turn = calls(call("ask", "c1", query="x"), call("crm", "c2", query="y"))
    graph, _ = agent([turn, "done"], ask, crm, middleware=AccpMiddleware(store=store), checkpointer=InMemorySaver())
    if asynchronous:
        await graph.ainvoke({"messages": "go"}, thread("t"))
        state = await graph.ainvoke(Command(resume="yes"), thread("t"))
    else:
        graph.invoke({"messages": "go"}, thread("t"))
        state = graph.invoke(Command(resume="yes"), thread("t"))
    assert ran == ["x", "x"]
    assert [message.text for message in results(state)] == [SOURCE, SOURCE]
    assert store.purge(session(graph)) == 1


def test_each_thread_has_a_session_of_its_own(store: SqliteColdStore) -> None:
    script = [LOOK_UP, "done", LOOK_UP, "done"]
    graph, model = agent(script, middleware=AccpMiddleware(store=store), checkpointer=InMemorySaver())
    graph.invoke({"messages": "go"}, thread("mine"))
    graph.invoke({"messages": "go"}, thread("theirs"))
    assert refs_in(model.received[1][-1]) == refs_in(model.received[3][-1])
    assert session(graph, "mine") != session(graph, "theirs")
    assert [store.purge(session(graph, name)) for name in ("mine", "theirs")] == [1, 1]


def test_a_thread_cannot_open_what_another_one_was_shown(store: SqliteColdStore) -> None:
    graph, model = agent([LOOK_UP, "done"], middleware=AccpMiddleware(store=store), checkpointer=InMemorySaver())
    graph.invoke({"messages": "go"}, thread("mine"))
    ref = refs_in(model.received[1][-1])[0]
    model.script += [calls(call("accp_fetch", ref=ref)), "done"]
    (refused,) = results(graph.invoke({"messages": f"open {ref}"}, thread("theirs")))
    assert refused.text.startswith("E5002: ")


def test_without_a_store_there_is_no_session() -> None:
    graph, _ = agent([LOOK_UP, "done"], checkpointer=InMemorySaver())
    graph.invoke({"messages": "go"}, thread("t"))
    assert "accp_session" not in graph.get_state(thread("t")).values


def test_a_caller_cannot_set_the_session(store: SqliteColdStore) -> None:
    store.put("run-" + "0" * 32, key_of("secret"), "secret")
    script = [calls(call("accp_fetch", ref=f"${key_of('secret')}")), "done"]
    graph, _ = agent(script, middleware=AccpMiddleware(store=store))
    given: Any = {"messages": "go", "accp_session": "run-" + "0" * 32}
    assert results(graph.invoke(given))[0].text.startswith("E5002: ")


STORES: dict[str, Callable[[ExitStack, Path], tuple[dict[str, Any], dict[str, Any]]]] = {
    "none": lambda stack, path: ({}, {}),
    "given sqlite": lambda stack, path: ({"store": _sqlite(stack)}, {}),
    "given in memory": lambda stack, path: ({"store": InMemoryStore()}, {}),
    "given file": lambda stack, path: ({"store": SqliteColdStore(path / "cold.sqlite")}, {}),
}


def _sqlite(stack: ExitStack) -> SqliteStore:
    opened = stack.enter_context(SqliteStore.from_conn_string(":memory:"))
    opened.setup()
    return opened


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("kind", STORES)
async def test_every_kind_of_store_gives_the_text_back(kind: str, asynchronous: bool, tmp_path: Path) -> None:
    with ExitStack() as stack:
        given, compiled = STORES[kind](stack, tmp_path)
        graph, _ = agent([LOOK_UP, fetch_last, "done"], middleware=AccpMiddleware(Policy(), **given), **compiled)
        config = thread("user@example.com")
        asked: Any = {"messages": "go"}
        state = await graph.ainvoke(asked, config) if asynchronous else graph.invoke(asked, config)
        fetched = results(state)[1]
        assert fetched.status == "success"
        assert ROWS[0]["email"] in fetched.text


async def test_a_store_that_is_only_asynchronous_serves_asynchronous_runs() -> None:
    async with AsyncSqliteStore.from_conn_string(":memory:") as store:
        await store.setup()
        graph, _ = agent([LOOK_UP, fetch_last, "done"], middleware=AccpMiddleware(store=store))
        state = await graph.ainvoke({"messages": "go"}, thread("t"))
        assert len(await store.asearch(("accp",))) == 1
    assert results(state)[1].status == "success"
