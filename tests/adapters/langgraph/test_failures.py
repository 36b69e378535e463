"""Whatever fails in us or in a store: the run goes on, nothing is lost, and the operator is told (DESIGN 5.4)."""

from __future__ import annotations

import json
import logging
from typing import Annotated, Any, NoReturn, TypedDict

import pytest
from langchain_core.messages import AIMessage, AnyMessage, RemoveMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages

from accp_adapters.langgraph import AccpMiddleware, CompressedMessages, CompressNode, Policy, restore_message
from accp_adapters.messages import project_messages
from accp_adapters.stores import SqliteColdStore
from tests.adapters.langgraph.jobs import LOOK_UP, ROWS, agent, fetch_last, refs_in, results, thread
from tests.scripted_model import call, calls

SOURCE = json.dumps(ROWS)
WORDS = "expected nobody to see this"


def fail(*_arguments: object, **_options: object) -> NoReturn:
    raise IndexError(WORDS)


ENTRY_POINTS = [
    "accp_core.documents.read",
    "accp_core.compression.render_document",
    "accp_core.previews.preview",
    "accp_core.compression.compress_blocks",
    "accp_core.references.record.key_of",
]


@pytest.fixture(params=[*ENTRY_POINTS, "counter"])
def policy(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Policy:
    """A policy for a process in which one entry point of the core raises."""
    if request.param == "counter":
        return Policy(counter=lambda text: fail() if len(text) > 5_000 else len(text))
    monkeypatch.setattr(request.param, fail)
    # Another policy for each: a process remembers what became of a text.
    return Policy(preview_limit=900 + ENTRY_POINTS.index(request.param))


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_message_whose_projection_raises_is_sent_as_it_was(
    policy: Policy, asynchronous: bool, caplog: pytest.LogCaptureFixture
) -> None:
    middleware = AccpMiddleware(policy)
    graph, model = agent([LOOK_UP, "and", "done"], middleware=middleware, checkpointer=InMemorySaver())
    with caplog.at_level(logging.WARNING, "accp"):
        await run(graph, asynchronous, "customers of 北京/上海?")
        state = await run(graph, asynchronous, "and now?")
    assert results(state)[0].text == SOURCE == next(m for m in model.received[-1] if isinstance(m, ToolMessage)).text
    (record,) = caplog.records
    assert "a message is sent as it was: IndexError in " in record.getMessage()
    assert WORDS not in record.getMessage()
    assert (middleware.stats().projection_failures, middleware.stats().rewritten) == (1, 0)


def test_other_ways_into_the_projection_lose_nothing_either(policy: Policy) -> None:
    result = ToolMessage(SOURCE, tool_call_id="c1", name="crm", id="r1")
    messages = [AIMessage("", tool_calls=[call("crm", "c1")], id="a1"), result]
    assert project_messages(messages, policy=policy).messages == messages

    node = CompressNode(policy, store=SqliteColdStore())
    for reducer, step in ((add_messages, node), (CompressedMessages(policy), lambda state: {})):
        state: Any = TypedDict("State", {"messages": Annotated[list[AnyMessage], reducer]})  # type: ignore[misc]
        graph: Any = StateGraph(state)
        graph.add_node("only", step)
        graph.add_edge(START, "only")
        found = graph.compile(checkpointer=InMemorySaver()).invoke({"messages": messages}, thread("t"))
        assert [restore_message(each).text for each in results(found)] == [SOURCE]


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("name", ["middleware.offered_tools", "grants.references_in"])
async def test_an_error_around_a_call_does_not_end_the_run(
    name: str, asynchronous: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"accp_adapters.langgraph.{name}", fail)
    graph, _ = agent([LOOK_UP, "done"])
    assert (await run(graph, asynchronous, "go"))["messages"][-1].text == "done"


def test_an_error_of_a_query_is_a_tool_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accp_adapters.fetching.open_and_answer", fail)
    graph, _ = agent([LOOK_UP, fetch_last, "done"])
    refused = results(graph.invoke({"messages": "go"}))[-1]
    assert (refused.status, refused.text) == ("error", "E4002: expected an answer, found IndexError; ask otherwise")


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_node_whose_store_fails_makes_views(asynchronous: bool, caplog: pytest.LogCaptureFixture) -> None:
    class State(TypedDict):
        messages: Annotated[list[AnyMessage], add_messages]

    graph: Any = StateGraph(State)
    graph.add_node("compress", CompressNode(store=Unreliable()))
    graph.add_edge(START, "compress")
    given = [LOOK_UP, ToolMessage(SOURCE, tool_call_id="c1", name="crm", id="r1")]
    with caplog.at_level(logging.WARNING, "accp"):
        state = await run(graph.compile(checkpointer=InMemorySaver()), asynchronous, given)
    assert results(state)[0].text.startswith("[300] id name")
    assert "ConnectionError" in caplog.text
    assert "secret" not in caplog.text


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


async def run(graph: Any, asynchronous: bool, message: Any) -> Any:
    inputs = {"messages": message}
    return await graph.ainvoke(inputs, thread("t")) if asynchronous else graph.invoke(inputs, thread("t"))


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_what_could_not_be_stored_is_stored_by_the_next_call(asynchronous: bool) -> None:
    store = Unreliable()
    script = [LOOK_UP, "found", "done", fetch_last_of_thread := calls(call("accp_fetch", "f1")), "end"]
    middleware = AccpMiddleware(store=store)
    graph, model = agent(script, middleware=middleware, checkpointer=InMemorySaver())
    first = await run(graph, asynchronous, "go")
    assert middleware.stats().store_failures == 1
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
