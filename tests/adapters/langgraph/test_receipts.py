"""Where the values of an agent's answer come from, in a compiled `create_agent` graph."""

from __future__ import annotations

import json

import pytest
from langchain_core.messages import ToolMessage

from accp_adapters.langgraph import AccpMiddleware
from accp_adapters.messages import project_messages
from accp_core.receipts import Origin
from tests.adapters.langgraph.jobs import LOOK_UP, ROWS, agent, fetch_last, thread

WRONG = "It is customer_4711@example.org."


def test_values_that_were_fetched_are_found_and_others_stand_nowhere() -> None:
    middleware = AccpMiddleware()
    graph, _ = agent([LOOK_UP, fetch_last, "done"], middleware=middleware)
    state = graph.invoke({"messages": "find customers"}, thread("t"))
    (right,) = middleware.check(f"Write to {ROWS[1]['email']}.", state)
    (wrong,) = middleware.check(WRONG, state)
    assert (right.origin, wrong.origin) == (Origin.SHOWN, Origin.NOWHERE)
    assert project_messages(state["messages"]).check(WRONG)[0].origin is Origin.NOWHERE
    assert project_messages(state["messages"]).check(f"Write to {ROWS[1]['email']}.")[0].origin is Origin.SHOWN


def test_a_row_that_only_the_state_holds_stands_nowhere() -> None:
    middleware = AccpMiddleware()
    graph, _ = agent([LOOK_UP, "done"], middleware=middleware)
    state = graph.invoke({"messages": "find customers"}, thread("t"))
    prompt = project_messages(state["messages"]).messages[2].text
    hidden = next(row["email"] for row in ROWS if row["email"] not in prompt)
    assert [each.origin for each in middleware.check(hidden, state)] == [Origin.NOWHERE]
    assert isinstance(state["messages"][2], ToolMessage) and hidden in json.dumps(state["messages"][2].text)


@pytest.mark.parametrize("is_async", [False, True])
async def test_the_values_of_final_answers_are_counted_where_that_is_wanted(is_async: bool) -> None:
    for wanted, counts in ((True, (2, 1)), (False, (0, 0))):
        middleware = AccpMiddleware(check_answers=wanted)
        graph, _ = agent([LOOK_UP, f"Not {WRONG} but see SO-4411"], middleware=middleware)
        asked = {"messages": "find the customer of SO-4411"}
        await graph.ainvoke(asked) if is_async else graph.invoke(asked)
        stats = middleware.stats()
        assert (stats.values_checked, stats.values_nowhere) == counts
