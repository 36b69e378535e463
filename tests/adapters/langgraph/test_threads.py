"""With a checkpointer: nothing raw is kept, nothing is kept twice, threads do not see each other."""

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
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import AsyncSqliteStore, SqliteStore
from langgraph.types import Command, interrupt

from accp_adapters.langgraph import AccpMiddleware, Policy
from accp_adapters.stores import SqliteColdStore
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


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_the_raw_result_is_in_no_checkpoint_in_memory(durability: str, store: SqliteColdStore) -> None:
    saver = InMemorySaver()
    graph, _ = agent([LOOK_UP, "done"], middleware=AccpMiddleware(store=store), checkpointer=saver)
    graph.invoke({"messages": "go"}, thread("t"), durability=durability)
    kept = repr((saver.storage, saver.blobs, saver.writes))
    assert "CRM-0000" in kept
    assert SOURCE[5_000:5_300] not in kept
    assert store.purge("t") == 1


def test_the_raw_result_is_in_no_checkpoint_in_a_database(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoints"
    folder.mkdir()
    store = SqliteColdStore(tmp_path / "cold.sqlite")
    with SqliteSaver.from_conn_string(str(folder / "checkpoints.sqlite")) as saver:
        graph, _ = agent([LOOK_UP, fetch_last, "done"], middleware=AccpMiddleware(store=store), checkpointer=saver)
        graph.invoke({"messages": "go"}, thread("t"))
        kept = b"".join(file.read_bytes() for file in folder.iterdir())
    store.close()
    assert b"CRM-0000" in kept
    assert SOURCE[5_000:5_300].encode() not in kept


def test_replay_and_fork_come_to_the_same_text_and_store_it_once(store: SqliteColdStore) -> None:
    saver = InMemorySaver()
    script = [LOOK_UP, "done", "done again", fetch_last, "fetched"]
    graph, _ = agent(script, middleware=AccpMiddleware(store=store), checkpointer=saver)
    first = results(graph.invoke({"messages": "go"}, thread("t")))[0]
    before_tools = next(past for past in graph.get_state_history(thread("t")) if past.next == ("tools",))

    replayed = results(graph.invoke(None, before_tools.config))[0]
    assert replayed.content == first.content
    assert replayed.additional_kwargs == first.additional_kwargs

    after_tools = next(past for past in graph.get_state_history(thread("t")) if past.next == ("model",))
    words = {"messages": [("user", "look closer")]}
    fork = graph.update_state(after_tools.config, words, as_node="AccpMiddleware.before_agent")
    forked = graph.invoke(None, fork)
    assert results(forked)[0].content == first.content
    assert store.purge("t") == 1


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
    first, second = results(state)
    assert refs_in(first)[0] == refs_in(second)[0]
    assert store.purge("t") == 1


def test_two_threads_on_one_graph_have_one_reference_each_in_its_own_store(store: SqliteColdStore) -> None:
    script = [LOOK_UP, "done", LOOK_UP, "done"]
    graph, _ = agent(script, middleware=AccpMiddleware(store=store), checkpointer=InMemorySaver())
    (mine,) = results(graph.invoke({"messages": "go"}, thread("mine")))
    (theirs,) = results(graph.invoke({"messages": "go"}, thread("theirs")))
    assert refs_in(mine)[0] == refs_in(theirs)[0]
    assert (store.purge("mine"), store.purge("theirs")) == (1, 1)


def test_a_thread_cannot_open_what_another_one_was_shown(store: SqliteColdStore) -> None:
    graph, model = agent([LOOK_UP, "done"], middleware=AccpMiddleware(store=store), checkpointer=InMemorySaver())
    (mine,) = results(graph.invoke({"messages": "go"}, thread("mine")))
    ref = refs_in(mine)[0]
    model.script += [calls(call("accp_fetch", ref=ref)), "done"]
    (refused,) = results(graph.invoke({"messages": f"open {ref}"}, thread("theirs")))
    assert refused.text.startswith("E5002: ")


def test_the_private_session_is_kept_only_where_there_is_no_thread() -> None:
    graph, _ = agent([LOOK_UP, "done"], checkpointer=InMemorySaver())
    graph.invoke({"messages": "go"}, thread("t"))
    assert "accp_session" not in graph.get_state(thread("t")).values


STORES: dict[str, Callable[[ExitStack, Path], tuple[dict[str, Any], dict[str, Any]]]] = {
    "none": lambda stack, path: ({}, {}),
    "compiled in memory": lambda stack, path: ({}, {"store": InMemoryStore()}),
    "compiled sqlite": lambda stack, path: ({}, {"store": _sqlite(stack)}),
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
        graph, _ = agent([LOOK_UP, fetch_last, "done"], store=store)
        state = await graph.ainvoke({"messages": "go"}, thread("t"))
    assert results(state)[1].status == "success"
