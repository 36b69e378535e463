"""Results that a program reads, in agents with the middleware, in hand-built graphs, and in the channel."""

from __future__ import annotations

import json
from typing import Annotated, Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.graph import START, MessagesState, StateGraph

from accp_adapters.langgraph import AccpMiddleware, CompressedMessages, CompressNode, Policy
from accp_adapters.langgraph.conversation import without_thoughts
from accp_adapters.stores import SqliteColdStore
from accp_core.references import find_references
from tests.adapters.langgraph.jobs import ROWS, crm, thread
from tests.adapters.langgraph.ways import alternating
from tests.scripted_model import ScriptedModel

SOURCE = json.dumps(ROWS)
PROGRAM = {"type": "code_execution_20250825", "tool_id": "srv1"}


def asked(*ids: str, direct: str = "", **more: Any) -> AIMessage:
    """Return a turn of a model whose program makes the calls `ids`; the model itself makes the call `direct`."""
    callers = {**dict.fromkeys(ids, PROGRAM), **({direct: {"type": "direct"}} if direct else {})}
    args = {"query": "all"}
    blocks = [
        {"type": "tool_use", "id": name, "name": "crm", "input": args, "caller": callers[name]} for name in callers
    ]
    made = [{"name": "crm", "args": args, "id": name, "type": "tool_call"} for name in callers]
    return AIMessage([*more.pop("before", ()), *blocks], tool_calls=made, **more)


def by_call(messages: list[Any]) -> dict[str, str]:
    return {message.tool_call_id: message.text for message in messages if isinstance(message, ToolMessage)}


@alternating(
    "policy",
    [Policy(), Policy.lossless(), Policy(inline_limit=600, preview_limit=500)],
    ids=["default", "lossless", "tight"],
)
async def test_the_middleware_sends_a_programs_result_as_it_is(policy: Policy, asynchronous: bool) -> None:
    model = ScriptedModel(script=[asked("p1", "p2", direct="c1"), "done"])
    agent = create_agent(model, [crm], middleware=[AccpMiddleware(policy)])
    asking: Any = {"messages": [("user", "go")]}
    await agent.ainvoke(asking) if asynchronous else agent.invoke(asking)
    shown = by_call(model.received[1])
    assert (shown["p1"], shown["p2"]) == (SOURCE, SOURCE)
    assert len(shown["c1"]) < len(SOURCE) and "[as above" not in shown["c1"]


def test_the_node_and_its_reading_leave_a_programs_result_as_it_is() -> None:
    store = SqliteColdStore()
    compress = CompressNode(Policy(inline_limit=600, preview_limit=500), store=store)
    graph = StateGraph(MessagesState)
    graph.add_node("compress", compress)
    graph.add_edge(START, "compress")
    results = [ToolMessage(SOURCE, tool_call_id=each, id=each) for each in ("p1", "c1")]
    state = graph.compile().invoke(
        {"messages": [HumanMessage("go", id="u"), asked("p1", direct="c1", id="a"), *results]}, thread("t")
    )
    shown = by_call(state["messages"])
    assert shown["p1"] == SOURCE != shown["c1"]
    assert by_call(compress.read(state))["p1"] == SOURCE


def test_the_channel_stores_a_programs_result_as_it_is() -> None:
    class State(TypedDict):
        messages: Annotated[list[AnyMessage], CompressedMessages()]

    graph = StateGraph(State)
    results = [ToolMessage(SOURCE, tool_call_id=each) for each in ("p1", "c1")]
    graph.add_node("work", lambda state: {"messages": results})
    graph.add_edge(START, "work")
    shown = by_call(graph.compile().invoke({"messages": [asked("p1", direct="c1")]})["messages"])
    assert shown["p1"] == SOURCE != shown["c1"]


def test_without_its_thoughts_a_message_still_says_who_calls() -> None:
    code = {"type": "server_tool_use", "id": "srv1", "name": "code_execution", "input": {"code": "…"}}
    thoughts = {"type": "redacted_thinking", "data": "x"}
    message = asked(
        "p1", before=[thoughts, code], usage_metadata={"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    )
    left = without_thoughts(message)
    assert left.content == [code, *message.content[2:]]
    assert left.usage_metadata is None and left.tool_calls == message.tool_calls


def fetched_by_program(query: str, **part: int) -> ToolMessage:
    """Return what a program reads that calls the fetch tool for a result of the model."""
    caller = {"type": "code_execution_20250825", "tool_id": "srv1"}

    def fetch(messages: list[Any]) -> AIMessage:
        (key,) = {key for message in messages for key in find_references(message.text)}
        args = {"ref": f"${key}", "query": query, **part}
        block = {"type": "tool_use", "id": "p1", "name": "accp_fetch", "input": args, "caller": caller}
        return AIMessage([block], tool_calls=[{"name": "accp_fetch", "args": args, "id": "p1", "type": "tool_call"}])

    model = ScriptedModel(script=[asked(direct="c1"), fetch, "done"])
    agent = create_agent(model, [crm], middleware=[AccpMiddleware(Policy(inline_limit=600, preview_limit=500))])
    messages = agent.invoke({"messages": [("user", "go")]})["messages"]
    (answer,) = (message for message in messages if isinstance(message, ToolMessage) and message.name == "accp_fetch")
    return answer


@pytest.mark.parametrize(
    ("query", "part", "expected"),
    [
        ("SELECT email FROM rows LIMIT 2", {}, [row["email"] for row in ROWS[:2]]),
        ("SELECT id, email FROM rows LIMIT 1", {}, [{name: ROWS[0][name] for name in ("id", "email")}]),
        ("what is late", {}, "E1004: expected a path to a value, or a SELECT, found 'what is late'"),
        ("SELECT a.id FROM rows a, rows b, rows c LIMIT 1001", {}, "E2003: expected at most 1,000 rows, found more"),
        ("", {}, ROWS),
        ("", {"limit": 2}, ROWS[:2]),
        ("", {"offset": len(ROWS) - 1, "limit": 9}, ROWS[-1:]),
        ("", {"offset": len(ROWS)}, []),
        ("SELECT id FROM rows", {"offset": 1, "limit": 2}, [row["id"] for row in ROWS[1:3]]),
        ("SELECT id FROM rows", {"offset": len(ROWS) - 1, "limit": 9}, [ROWS[-1]["id"]]),
        ("SELECT id FROM rows", {"offset": len(ROWS)}, []),
        ("SELECT a.id FROM rows a, rows b", {"offset": 5000, "limit": 1}, [ROWS[5000 // len(ROWS)]["id"]]),
        ("SELECT a.id FROM rows a, rows b", {"limit": 1001}, "E2003: expected at most 1,000 rows"),
        ("0.email", {"limit": 1}, "E1004: expected a path to a list where an offset or a limit is given"),
        ("0", {"limit": 1}, "E1004: expected a path to a list where an offset or a limit is given, found '0'"),
    ],
)
def test_a_program_that_fetches_reads_json_or_a_refusal(query: str, part: dict[str, int], expected: Any) -> None:
    answer = fetched_by_program(query, **part)
    if answer.status == "error":
        assert answer.text.startswith(expected)
    else:
        assert json.loads(answer.text) == expected
