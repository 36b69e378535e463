"""A store that fails: the run goes on, the state still opens its references, and the next call stores what is due."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from langchain_core.messages import RemoveMessage
from langgraph.checkpoint.memory import InMemorySaver

from accp_adapters.langgraph import AccpMiddleware
from accp_adapters.stores import SqliteColdStore
from tests.adapters.langgraph.jobs import LOOK_UP, ROWS, agent, fetch_last, refs_in, results, thread
from tests.scripted_model import call, calls


class Unreliable(SqliteColdStore):
    """Fails as long as `is_down` is set, as a server that is restarted."""

    is_down = True

    def put(self, session_id: str, key: str, text: str) -> None:
        self._check()
        super().put(session_id, key, text)

    def get(self, session_id: str, key: str) -> str | None:
        self._check()
        return super().get(session_id, key)

    def _check(self) -> None:
        if self.is_down:
            raise ConnectionError("redis://user:secret@host is down")


async def run(graph: Any, asynchronous: bool, message: str) -> Any:
    inputs = {"messages": message}
    return await graph.ainvoke(inputs, thread("t")) if asynchronous else graph.invoke(inputs, thread("t"))


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_closed_store_does_not_end_the_run(asynchronous: bool, caplog: pytest.LogCaptureFixture) -> None:
    store = SqliteColdStore()
    store.close()
    middleware = AccpMiddleware(store=store)
    query = f"id = '{ROWS[150]['id']}'"
    script = [LOOK_UP, lambda messages: fetch_last(messages, query=query), "done"]
    graph, _ = agent(script, middleware=middleware, checkpointer=InMemorySaver())
    with caplog.at_level(logging.WARNING, "accp"):
        state = await run(graph, asynchronous, "go")
    assert ROWS[150]["email"] in results(state)[-1].text
    assert middleware.stats().store_failures == 2, "the calls of the model after the first result"
    assert "ProgrammingError" in caplog.text


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_what_could_not_be_stored_is_stored_by_the_next_call(asynchronous: bool) -> None:
    store = Unreliable()
    script = [LOOK_UP, "found", "done", fetch_last_of_thread := calls(call("accp_fetch", "f1")), "end"]
    graph, model = agent(script, middleware=AccpMiddleware(store=store), checkpointer=InMemorySaver())
    first = await run(graph, asynchronous, "go")
    (ref,) = refs_in(next(message for message in model.received[-1] if refs_in(message)))
    fetch_last_of_thread.tool_calls[0]["args"] = {"ref": ref, "query": "select count(*) from rows"}
    store.is_down = False
    await run(graph, asynchronous, "and now?")
    await graph.aupdate_state(thread("t"), {"messages": [RemoveMessage(id=m.id) for m in first["messages"]]})
    answered = results(await run(graph, asynchronous, "how many?"))[-1]
    assert (answered.status, "300" in answered.text) == ("success", True), answered.text
    store.close()


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_fetch_from_a_store_that_is_down_is_a_tool_error_without_secrets(asynchronous: bool) -> None:
    store = Unreliable()
    script = [LOOK_UP, "found", fetch := calls(call("accp_fetch", "f1")), "end"]
    graph, model = agent(script, middleware=AccpMiddleware(store=store), checkpointer=InMemorySaver())
    store.is_down = False
    first = await run(graph, asynchronous, "go")
    (ref,) = refs_in(next(message for message in model.received[-1] if refs_in(message)))
    fetch.tool_calls[0]["args"] = {"ref": ref}
    await graph.aupdate_state(thread("t"), {"messages": [RemoveMessage(id=m.id) for m in first["messages"]]})
    store.is_down = True
    refused = results(await run(graph, asynchronous, "and now?"))[-1]
    assert refused.status == "error"
    assert refused.text == "E4002: expected Unreliable to answer, found ConnectionError; try again later"
    store.close()
