"""The middleware in a compiled `create_agent` graph."""

from __future__ import annotations

import json

from tests.adapters.langgraph.jobs import LOOK_UP, ROWS, agent, fetch_last, refs_in, results, thread


def test_a_large_result_becomes_a_preview_and_its_rows_are_one_fetch_away() -> None:
    graph, model = agent([LOOK_UP, fetch_last, "done"])
    state = graph.invoke({"messages": "find customers"}, thread("t"))
    shown, fetched = results(state)
    assert len(refs_in(shown)) == 1
    assert len(shown.text) < len(json.dumps(ROWS)) / 2
    assert fetched.status == "success"
    assert "CRM-0001" in fetched.text
    assert model.received[1][-1].content == shown.content


async def test_the_same_job_runs_asynchronously() -> None:
    graph, _ = agent([LOOK_UP, fetch_last, "done"])
    state = await graph.ainvoke({"messages": "find customers"}, thread("t"))
    assert [message.status for message in results(state)] == ["success", "success"]


def test_without_a_thread_a_private_session_owns_the_references() -> None:
    graph, _ = agent([LOOK_UP, fetch_last, "done"])
    state = graph.invoke({"messages": "find customers"})
    assert results(state)[1].status == "success"
    assert set(state) == {"messages"}
