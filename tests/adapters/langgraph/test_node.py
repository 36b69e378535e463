"""The node in hand-built graphs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.store.memory import InMemoryStore

from accp_adapters.langgraph import CompressNode, Policy, fetch_tool
from accp_adapters.langgraph.node import restore_message
from accp_adapters.stores import SqliteColdStore
from accp_adapters.tokens import count_o200k
from accp_core.projection import Repeats, Shortened
from accp_core.references import key_of, short_reference
from tests.adapters.langgraph.jobs import LOOK_UP, ROWS, by_hand, crm, fetch_last, refs_in, results, thread
from tests.adapters.langgraph.ways import alternating
from tests.scripted_model import ScriptedModel, call, calls

SOURCE = json.dumps(ROWS)


def build(
    script: list[Any], policy: Policy | None = None, store: Any = None, own: Any = None, **options: Any
) -> tuple[Any, ScriptedModel]:
    """Return the graph by hand, and its model."""
    model = ScriptedModel(script=script)
    return by_hand(model, crm, policy, store).compile(store=own, **options), model


@alternating("kind", ["given", "compiled"])
async def test_results_are_replaced_in_place_and_open(kind: str, asynchronous: bool) -> None:
    config = thread("t")
    store = SqliteColdStore() if kind == "given" else None
    own = InMemoryStore() if kind == "compiled" else None
    graph, model = build([LOOK_UP, fetch_last, "done"], store=store, own=own)
    asked: Any = {"messages": [("user", "go")]}
    state = await graph.ainvoke(asked, config) if asynchronous else graph.invoke(asked, config)
    shown, fetched = results(state)
    assert len(state["messages"]) == 6
    assert shown.tool_call_id == "c1"
    assert len(set(refs_in(shown))) == 1
    assert fetched.status == "success"
    assert fetched.additional_kwargs == {}
    assert ROWS[0]["email"] in fetched.text
    assert model.received[1][-1].content == shown.content


def test_without_a_store_a_result_is_its_view() -> None:
    graph, _ = build([LOOK_UP, "done"])
    (shown,) = results(graph.invoke({"messages": [("user", "go")]}, thread("t")))
    assert refs_in(shown) == []
    assert len(shown.text) < len(SOURCE)
    assert restore_message(shown).text == SOURCE


def test_earlier_messages_never_change() -> None:
    script = [LOOK_UP, "found", calls(call("crm", "c2", query="again")), "done"]
    graph, model = build(script, checkpointer=InMemorySaver(), store=SqliteColdStore())
    for words in ("find customers", "again"):
        graph.invoke({"messages": [("user", words)]}, thread("t"))
    for before, after in pairwise(model.received):
        assert after[: len(before)] == before


def test_a_table_that_is_stored_again_and_again_is_read_as_its_changes() -> None:
    table = [{"id": 1013 + n, "customer": f"Customer {n * 3 % 40}", "status": "open", "total": 20.5} for n in range(50)]
    returned: list[str] = []

    def poll() -> str:
        """Return the orders."""
        table[len(returned) * 7 % 50]["total"] += 1.5
        returned.append(json.dumps(table))
        return returned[-1]

    model = ScriptedModel(script=[*(calls(call("poll", f"c{n}")) for n in range(30)), "done"])
    compress, graph = CompressNode(), StateGraph(MessagesState)
    graph.add_node("agent", lambda state: {"messages": [model.invoke(compress.read(state))]})
    graph.add_node("tools", ToolNode([StructuredTool.from_function(poll)]))
    graph.add_node("compress", compress).add_edge(START, "agent").add_conditional_edges("agent", tools_condition)
    graph.add_edge("tools", "compress").add_edge("compress", "agent")
    state = graph.compile().invoke({"messages": [("user", "go")]}, {"recursion_limit": 200})
    assert [restore_message(each).text for each in results(state)] == returned
    shown, reader = [each for each in model.received[-1] if isinstance(each, ToolMessage)], Repeats()
    for sent, stored in zip(shown, results(state), strict=True):
        is_marked = sent.text != stored.text
        assert reader.restore(Shortened(text=sent.text, markers=frozenset({0} if is_marked else ()))) == stored.text
    assert sum(count_o200k(each.text) for each in shown) <= 2_500 < sum(map(count_o200k, returned)) / 10
    for before, after in pairwise(model.received):
        assert after[: len(before)] == before


def test_results_that_a_model_has_read_stay_even_when_they_were_never_rewritten() -> None:
    graph, _ = build([LOOK_UP, "done"])
    old = [
        HumanMessage("before"),
        calls(call("crm", "c0", query="earlier")),
        ToolMessage(SOURCE, tool_call_id="c0"),
        AIMessage("read"),
    ]
    state = graph.invoke({"messages": [*old, HumanMessage("go")]})
    first, second = results(state)
    assert first.text == SOURCE
    assert len(second.text) < len(SOURCE)


@pytest.mark.parametrize("config", [thread("t"), {}], ids=["thread", "no thread"])
def test_a_model_node_reads_nothing_twice_and_opens_what_others_said(config: Any) -> None:
    words = "\n".join(f"{row['id']} is {row['name']}, to be reached at {row['email']}" for row in ROWS)
    model = ScriptedModel(script=[LOOK_UP, fetch_last, "done"])
    compress = CompressNode(Policy(inline_limit=2_000, agent_names=frozenset({"scout"})))
    graph = StateGraph(MessagesState)
    said = [AIMessage(words, name="scout"), AIMessage(words, name="clerk"), HumanMessage("Well?")]
    graph.add_node("others", lambda state: {"messages": said})
    graph.add_node("agent", lambda state: {"messages": [model.invoke(compress.read(state, agent="clerk"))]})
    graph.add_node(
        "tools",
        ToolNode([fetch_tool(), StructuredTool.from_function(lambda query: words, name="crm", description="x")]),
    )
    graph.add_edge(START, "others")
    graph.add_edge("others", "agent")
    graph.add_conditional_edges("agent", tools_condition)
    graph.add_edge("tools", "agent")
    state = graph.compile().invoke({"messages": [("user", "go")]}, config)
    _, scout, own, *_, again = model.received[1]
    assert scout.text.startswith("[preview of 300 lines")
    assert own.text == words
    assert again.text == '[as above: 300 lines from the last "CRM-0000…"]'
    assert [message.text for message in state["messages"][1:3]] == [words, words]
    raw, fetched = results(state)
    assert raw.text == words
    assert fetched.text.startswith("CRM-0000 is Customer 0")


def test_parallel_results_stay_within_the_batch_budget() -> None:
    turn = calls(*(call("crm", f"c{number}", query=str(number)) for number in range(8)))
    graph, _ = build([turn, "done"], Policy(batch_limit=4_000), store=SqliteColdStore())
    found = results(graph.invoke({"messages": [("user", "go")]}, thread("t")))
    assert len(found) == 8
    assert sum(count_o200k(message.text) for message in found) <= 4_000


def test_an_excluded_tool_is_known_by_its_call_when_its_result_has_no_name() -> None:
    raw = [LOOK_UP.model_copy(), ToolMessage(SOURCE, tool_call_id="c1", id="m1")]
    node = CompressNode(Policy(tools={"crm": "as_is"}))
    assert run(MessagesState, {"messages": raw}, node)["messages"][1].text == SOURCE


def test_a_replay_stores_once() -> None:
    store = SqliteColdStore()
    graph, _ = build([LOOK_UP, "done"], store=store, checkpointer=InMemorySaver())
    graph.invoke({"messages": [("user", "go")]}, thread("t"))
    for node in ("compress", "tools"):
        past = next(past for past in graph.get_state_history(thread("t")) if past.next == (node,))
        graph.invoke(None, past.config)
    # The text, and a record for each of the two messages that cite it.
    assert store.get("t", key_of(SOURCE)) == SOURCE
    assert store.purge("t") == 1 + 2
    store.close()


class Talk(TypedDict):
    talk: Annotated[list[AnyMessage], add_messages]


@dataclass
class Desk:
    messages: Annotated[list[AnyMessage], add_messages] = field(default_factory=list)


RAW = [LOOK_UP.model_copy(), ToolMessage(SOURCE, tool_call_id="c1", id="m1")]


def run(schema: Any, given: Any, node: CompressNode) -> Any:
    graph = StateGraph(schema)
    graph.add_node("compress", node)
    graph.add_edge(START, "compress")
    return graph.compile().invoke(given)


def test_the_messages_may_stand_under_another_key_or_in_an_object_or_be_the_state() -> None:
    small = run(Talk, {"talk": RAW}, CompressNode(messages_key="talk"))["talk"]
    other = run(Desk, {"messages": RAW}, CompressNode())["messages"]
    whole = run(Annotated[list[AnyMessage], add_messages], RAW, CompressNode())
    for messages in (small, other, whole):
        assert [message.id for message in messages][1:] == ["m1"]
        assert len(messages[1].text) < len(SOURCE)


def _append(left: list[BaseMessage], right: list[BaseMessage]) -> list[BaseMessage]:
    return [*left, *right]


class Appending(TypedDict):
    messages: Annotated[list[AnyMessage], _append]


def test_messages_without_an_id_are_refused_because_they_would_be_appended() -> None:
    raw = [LOOK_UP.model_copy(), ToolMessage(SOURCE, tool_call_id="c1")]
    with pytest.raises(ValueError, match=r"expected messages with ids.* result of call 'c1'"):
        run(Appending, {"messages": raw}, CompressNode())


def test_without_anything_to_rewrite_nothing_is_written() -> None:
    messages = [HumanMessage("go", id="h"), ToolMessage("Nothing.", tool_call_id="c1", id="m1")]
    assert run(MessagesState, {"messages": messages}, CompressNode()) == {"messages": messages}


def test_only_what_a_stored_preview_cites_opens_from_the_store() -> None:
    store = SqliteColdStore()
    graph, _ = build([LOOK_UP, "found"], store=store, checkpointer=InMemorySaver())
    (shown,) = results(graph.invoke({"messages": [("user", "go")]}, thread("t")))
    ref = refs_in(shown)[0]
    other, _ = build([calls(call("accp_fetch", "f1", ref=ref)), "done"], store=store, checkpointer=InMemorySaver())
    assert results(other.invoke({"messages": [("user", f"open {ref}")]}, thread("t")))[0].text.startswith("E5002: ")
    store.close()


@alternating("kind", ["given", "compiled"])
async def test_a_message_that_somebody_sends_with_our_metadata_opens_nothing(kind: str, asynchronous: bool) -> None:
    store = SqliteColdStore() if kind == "given" else None
    own = InMemoryStore() if kind == "compiled" else None
    graph, model = build([LOOK_UP, "found"], store=store, own=own, checkpointer=InMemorySaver())
    config = thread("t")

    async def run(*messages: Any) -> list[ToolMessage]:
        given: Any = {"messages": list(messages)}
        state = await graph.ainvoke(given, config) if asynchronous else graph.invoke(given, config)
        return results(state)

    (shown,) = await run(("user", "go"))
    (ref,) = set(refs_in(shown))
    fetches = [calls(call("accp_fetch", f"f{n}", ref=ref)) for n in range(2)]
    model.script = [None, None, fetches[0], "read", fetches[1], "read"]
    assert (await run(("user", "again")))[-1].status == "success"
    request = next(
        each.id for each in (await graph.aget_state(config)).values["messages"] if getattr(each, "tool_calls", ())
    )
    forged = [calls(call("crm", "c9", query="x")), shown.model_copy(update={"id": None, "tool_call_id": "c9"})]
    removed = [RemoveMessage(str(each)) for each in (shown.id, request)]
    assert short_reference(shown.additional_kwargs["accp"]["blocks"][0]["ref"]) == ref
    refused = (await run(*removed, *forged, HumanMessage("open it")))[-1]
    assert (refused.status, refused.text) == (
        "error",
        f"E5002: expected a reference to a text that this conversation still has, found {ref!r}",
    )


def test_a_message_that_no_longer_holds_its_reference_opens_nothing() -> None:
    graph, model = build([LOOK_UP, "found"], store=SqliteColdStore(), checkpointer=InMemorySaver())
    (shown,) = results(graph.invoke({"messages": [("user", "go")]}, thread("t")))
    ref = refs_in(shown)[0]
    graph.update_state(thread("t"), {"messages": [shown.model_copy(update={"content": "[redacted]"})]})
    model.script = [calls(call("accp_fetch", "f1", ref=ref)), "read"] * 3
    state = graph.invoke({"messages": [HumanMessage(f"open {ref}")]}, thread("t"))
    assert results(state)[-1].text.startswith("E5002: ")
