"""`CompressedMessages` in state definitions: merging, migration, replay, and what its docstring says of its limits."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

import pytest
from langchain.agents import AgentState, create_agent
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, RemoveMessage, ToolMessage
from langgraph.channels import DeltaChannel
from langgraph.channels.base import BaseChannel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages
from langgraph.types import Overwrite, interrupt
from pydantic import BaseModel

from accp_adapters.langgraph import CompressedMessages, Policy
from accp_adapters.langgraph.node import restore_message
from accp_adapters.tokens import count_o200k
from accp_core.compression import ResultLimits
from tests.adapters.langgraph.jobs import LOOK_UP, ROWS, crm, results, thread
from tests.scripted_model import ScriptedModel, call, calls

SOURCE = json.dumps(ROWS[:20])


class Team(TypedDict):
    messages: Annotated[list[AnyMessage], CompressedMessages()]


class Plain(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]


def append(state: list[Any], writes: list[Any]) -> list[Any]:
    return [*state, *(message for write in writes for message in (write if isinstance(write, list) else [write]))]


class Delta(TypedDict):
    messages: Annotated[list[AnyMessage], DeltaChannel(append, snapshot_frequency=1)]


def found(call_id: str = "c1", **changes: Any) -> ToolMessage:
    return ToolMessage(**{"content": SOURCE, "tool_call_id": call_id, "name": "crm", "id": f"r-{call_id}", **changes})


def look(call_id: str = "c1") -> AIMessage:
    said = calls(call("crm", call_id, query="x"))
    said.id = f"a-{call_id}"
    return said


def graph(schema: Any, *nodes: Callable[[Any], Any], **options: Any) -> Any:
    """Return a graph of nodes one after the other."""
    built = StateGraph(schema)
    last: str = START
    for number, node in enumerate(nodes):
        built.add_node(f"n{number}", node)
        built.add_edge(last, f"n{number}")
        last = f"n{number}"
    return built.compile(**options)


def say(*messages: BaseMessage) -> Callable[[Any], Any]:
    return lambda state: {"messages": list(messages)}


def is_view(message: BaseMessage) -> bool:
    small = count_o200k(message.text) < 0.8 * count_o200k(SOURCE)
    return small and isinstance(message, ToolMessage) and restore_message(message).text == SOURCE


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_new_results_are_views_and_everything_else_is_as_with_add_messages(asynchronous: bool) -> None:
    nodes = (say(look()), say(found()), say(AIMessage("done", id="end")))
    given = {"messages": [HumanMessage("go", id="h")]}
    built, plain = graph(Team, *nodes), graph(Plain, *nodes)
    state = await built.ainvoke(given) if asynchronous else built.invoke(given)
    expected = plain.invoke(given)
    assert is_view(state["messages"][2])
    assert [m for m in state["messages"] if m.id != "r-c1"] == [m for m in expected["messages"] if m.id != "r-c1"]
    assert state["messages"][2].tool_call_id == "c1"


def test_an_agent_takes_it_as_its_state_schema() -> None:
    class Desk(AgentState[Any]):
        messages: Annotated[list[AnyMessage], CompressedMessages()]  # type: ignore[misc]  # narrower on purpose

    model = ScriptedModel(script=[LOOK_UP, "done"])
    agent = create_agent(model, [crm], state_schema=Desk, checkpointer=InMemorySaver())
    (result,) = results(agent.invoke({"messages": [("user", "go")]}, thread("t")))
    assert count_o200k(result.text) < 0.8 * count_o200k(json.dumps(ROWS))
    assert model.received[1][-1].text == result.text
    assert agent.get_input_jsonschema()["properties"]["messages"]["type"] == "array"


class Owned(BaseModel):
    messages: Annotated[list[AnyMessage], CompressedMessages()] = []


def test_with_a_pydantic_state_nodes_get_a_list() -> None:
    seen: list[Any] = []
    built = graph(Owned, say(look(), found()), lambda state: seen.append(state.messages))
    state = built.invoke({"messages": [HumanMessage("go")]})
    assert is_view(state["messages"][2])
    assert is_view(seen[0][2])


def test_errors_and_excluded_tools_stay_by_name_and_by_call() -> None:
    class Desk(TypedDict):
        messages: Annotated[list[AnyMessage], CompressedMessages(Policy(tools={"crm": "as_is"}))]

    state = graph(Desk, say(look(), found(name=None))).invoke({"messages": []})
    assert state["messages"][1].text == SOURCE
    state = graph(Team, say(look(), found(status="error"))).invoke({"messages": []})
    assert state["messages"][1].text == SOURCE


def test_limits_of_a_tool_hide_nothing_either() -> None:
    class Desk(TypedDict):
        messages: Annotated[
            list[AnyMessage], CompressedMessages(Policy(tools={"crm": ResultLimits(inline=9, preview=60)}))
        ]

    state = graph(Desk, say(look(), found())).invoke({"messages": []})
    assert is_view(state["messages"][1])
    assert restore_message(state["messages"][1]).text == SOURCE


@pytest.mark.parametrize("schema", [Plain, Delta])
def test_a_thread_may_come_from_another_channel_and_go_back(schema: Any) -> None:
    saver = InMemorySaver()
    graph(schema, say(HumanMessage("go", id="h"), look(), found()), checkpointer=saver).invoke(
        {"messages": []}, thread("t")
    )
    moved = graph(Team, say(look("c2"), found("c2")), checkpointer=saver)
    assert moved.get_state(thread("t")).values["messages"][-1].text == SOURCE
    state = moved.invoke({"messages": [HumanMessage("more", id="h2")]}, thread("t"))
    old, new = results(state)
    assert old.text == SOURCE
    assert is_view(new)
    back = graph(Plain, say(AIMessage("done")), checkpointer=saver).invoke({"messages": []}, thread("t"))
    assert results(back) == [old, new]


def test_a_delta_channel_beside_it_is_replayed() -> None:
    class Both(TypedDict):
        messages: Annotated[list[AnyMessage], CompressedMessages()]
        notes: Annotated[list[str], DeltaChannel(append, snapshot_frequency=50)]

    def note(state: Any) -> Any:
        return {"messages": [look(), found()], "notes": ["noted"]}

    built = graph(Both, note, checkpointer=InMemorySaver())
    built.invoke({"messages": [], "notes": ["begun"]}, thread("t"))
    values = built.get_state(thread("t")).values
    assert values["notes"] == ["begun", "noted"]
    assert is_view(values["messages"][1])


def test_messages_are_removed_by_the_rules_of_add_messages() -> None:
    start = {"messages": [HumanMessage("go", id="h"), look(), found()]}
    assert [m.id for m in graph(Team, say(RemoveMessage("h"))).invoke(start)["messages"]] == ["a-c1", "r-c1"]
    with pytest.raises(ValueError, match="unknown"):
        graph(Team, say(RemoveMessage("unknown"))).invoke(start)
    new = graph(Team, say(RemoveMessage(REMOVE_ALL_MESSAGES), HumanMessage("new", id="n"))).invoke(start)
    assert [m.id for m in new["messages"]] == ["n"]


@pytest.mark.parametrize("order", [("append", "remove"), ("remove", "append")])
def test_what_is_appended_beside_a_removal_of_all_stays(order: tuple[str, str]) -> None:
    writes = {
        "append": [AIMessage("beside", id="b")],
        "remove": [RemoveMessage(REMOVE_ALL_MESSAGES), HumanMessage("summary", id="s")],
    }
    channel = CompressedMessages()
    channel.update([[HumanMessage("go", id="h")]])
    channel.update([writes[name] for name in order])
    assert [message.id for message in channel.get()] == ["s", "b"]


def test_a_message_replaced_under_its_id_keeps_its_place_and_its_new_text() -> None:
    channel = CompressedMessages()
    channel.update([[HumanMessage("go", id="h"), look(), found()]])
    shown = channel.get()
    channel.update([found(content=SOURCE)])
    assert [m.id for m in channel.get()] == [m.id for m in shown]
    assert channel.get()[2].text == SOURCE
    channel.update([shown])
    assert channel.get() == shown


def test_all_can_be_overwritten() -> None:
    channel = CompressedMessages()
    channel.update([[HumanMessage("go", id="h")]])
    channel.update([Overwrite([look(), found()])])
    assert [m.id for m in channel.get()] == ["a-c1", "r-c1"]
    assert is_view(channel.get()[1])


def test_the_same_writes_come_to_the_same_messages_in_any_batches() -> None:
    writes = [[HumanMessage("go", id="h"), look()], [found()], [look("c2"), found("c2")]]
    one, each = CompressedMessages(), CompressedMessages()
    one.update(writes)
    for write in writes:
        each.update([write])
    assert one.get() == each.get()
    assert one.copy().get() == one.get()
    assert one.from_checkpoint(one.checkpoint()).get() == one.get()


def test_a_run_that_crashed_or_was_interrupted_goes_on_to_the_same_texts() -> None:
    failures = iter([True, False])

    def crash(state: Any) -> Any:
        if next(failures):
            raise OSError("crashed")
        return {"messages": [AIMessage("done", id="end")]}

    built = graph(Team, say(look(), found()), crash, checkpointer=InMemorySaver())
    with pytest.raises(OSError, match="crashed"):
        built.invoke({"messages": [HumanMessage("go", id="h")]}, thread("t"))
    shown = built.get_state(thread("t")).values["messages"]
    assert built.invoke(None, thread("t"))["messages"][:3] == shown

    stop = graph(Team, say(look(), found()), lambda state: interrupt("may I?"), checkpointer=InMemorySaver())
    stop.invoke({"messages": [HumanMessage("go", id="h")]}, thread("t"))
    assert stop.get_state(thread("t")).values["messages"] == shown


def test_forks_and_time_travel_find_the_views() -> None:
    built = graph(Team, say(look(), found()), say(AIMessage("done", id="end")), checkpointer=InMemorySaver())
    built.invoke({"messages": [HumanMessage("go", id="h")]}, thread("t"))
    past = next(state for state in built.get_state_history(thread("t")) if state.next == ("n1",))
    assert is_view(past.values["messages"][2])
    fork = built.update_state(past.config, {"messages": [HumanMessage("look closer", id="h2")]})
    assert is_view(built.invoke(None, fork)["messages"][2])


def test_the_state_has_the_view_alone_and_the_raw_write_is_pending_only() -> None:
    saver = InMemorySaver()
    graph(Team, say(look(), found()), checkpointer=saver).invoke({"messages": [HumanMessage("go")]}, thread("t"))
    part = SOURCE[600:700]
    assert part not in repr(saver.blobs)
    assert part in repr(saver.writes)


def test_schemas_of_one_graph_must_agree() -> None:
    assert CompressedMessages() == CompressedMessages(Policy())
    assert CompressedMessages() != CompressedMessages(Policy(tools={"crm": "as_is"}))
    assert CompressedMessages() != BaseChannel

    class Other(TypedDict):
        messages: Annotated[list[AnyMessage], CompressedMessages(Policy(tools={"crm": "as_is"}))]

    with pytest.raises(ValueError, match="already exists with a different type"):
        StateGraph(Team, input_schema=Other)


def test_the_class_without_brackets_is_refused() -> None:
    class Bare(TypedDict):
        messages: Annotated[list[AnyMessage], CompressedMessages]

    with pytest.raises(TypeError, match=r"expected a Policy, found .*: write CompressedMessages\(\)"):
        StateGraph(Bare)


def test_a_subgraph_shares_it() -> None:
    inner = graph(Team, say(look(), found()))
    outer = StateGraph(Team).add_node("inner", inner).add_edge(START, "inner").compile(checkpointer=InMemorySaver())
    state = outer.invoke({"messages": [HumanMessage("go", id="h")]}, thread("t"))
    assert [m.id for m in state["messages"]] == ["h", "a-c1", "r-c1"]
    assert is_view(state["messages"][2])


def test_an_empty_channel_holds_no_messages() -> None:
    channel = CompressedMessages()
    assert channel.update([]) is False
    assert (channel.get(), channel.is_available()) == ([], True)
