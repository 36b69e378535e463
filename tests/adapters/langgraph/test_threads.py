"""With a checkpointer: what was sent never changes, nothing is kept twice, threads do not see each other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from accp_adapters.langgraph import AccpMiddleware
from accp_adapters.stores import SqliteColdStore
from tests.adapters.langgraph.jobs import LOOK_UP, ROWS, agent, crm, refs_in, results, thread
from tests.scripted_model import call, calls

SOURCE = json.dumps(ROWS)


@pytest.fixture
def store() -> Iterator[SqliteColdStore]:
    opened = SqliteColdStore()
    yield opened
    opened.close()


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


def test_without_a_store_there_is_no_session() -> None:
    graph, _ = agent([LOOK_UP, "done"], checkpointer=InMemorySaver())
    graph.invoke({"messages": "go"}, thread("t"))
    assert "accp_session" not in graph.get_state(thread("t")).values
