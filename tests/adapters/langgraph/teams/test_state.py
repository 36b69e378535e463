"""The reducers of a master's state: no update is lost, no order of arrival counts; planners begin anew."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Send

from accp_adapters.langgraph import AciState, begin, read_interaction, read_results
from accp_adapters.langgraph.teams.state import merge_contexts, merge_entries
from accp_core.aci import AgentContext, ItemState, KeyInformation, TaskContext
from accp_core.errors import ProtocolError
from tests.adapters.langgraph.jobs import thread
from tests.adapters.langgraph.teams.plans import TASK, subtask


def context(subtask_id: str, abstract: str = "") -> dict[str, Any]:
    found = (KeyInformation("1", abstract),) if abstract else ()
    return AgentContext(agent_id="a", subtask_id=subtask_id, key_information=found).to_json()


ids = st.sampled_from(["s1", "s2", "s10"])
writes = st.dictionaries(ids, st.none() | st.integers(0, 3), max_size=3).map(
    lambda found: {each: None if number is None else context(each, f"r{number}") for each, number in found.items()}
)
batches = st.lists(writes, max_size=4)


def merge_all(writes: Iterable[Any]) -> dict[str, Any]:
    return functools.reduce(merge_contexts, writes, {})


@given(batches, batches)
def test_writes_may_be_merged_in_any_batches(first: list[Any], second: list[Any]) -> None:
    whole = merge_all([*first, *second])
    assert list(merge_all([merge_all(first), *second]).items()) == list(whole.items())


def test_updates_of_different_subtasks_are_all_kept_in_one_order() -> None:
    updates = [{each: context(each, f"by {each}")} for each in ("s2", "s10", "s1")]
    ends = [list(merge_all(order).items()) for order in itertools.permutations(updates)]
    assert all(end == ends[0] for end in ends)
    assert [each for each, _ in ends[0]] == ["s1", "s10", "s2"]


def test_a_reducer_leaves_its_arguments_alone() -> None:
    left, right = {"s1": context("s1")}, {"s1": context("s1", "x"), "s2": None}
    merge_contexts(left, right)
    merge_entries(left, right)
    assert (left, right) == ({"s1": context("s1")}, {"s1": context("s1", "x"), "s2": None})


def test_a_context_under_a_wrong_name_is_refused() -> None:
    with pytest.raises(ProtocolError, match="E5001: expected the context of subtask 's1', found that of 's2'"):
        merge_contexts({}, {"s1": context("s2")})
    with pytest.raises(ProtocolError, match="E1004"):
        merge_contexts({}, {"s1": {"anything": 1}})


def test_replies_are_kept_until_they_are_read() -> None:
    assert merge_entries(None, {"b": {"n": 1}, "a": {"n": 2}}) == {"a": {"n": 2}, "b": {"n": 1}}
    assert merge_entries({"a": {}, "b": {}}, {"a": None}) == {"b": {}}


def test_a_fan_out_merges_all_and_time_travel_finds_it_again() -> None:
    graph: Any = StateGraph(AciState)
    graph.add_node("work", lambda given: {"agent_contexts": {given["id"]: context(given["id"], "done")}})
    graph.add_conditional_edges(START, lambda _: [Send("work", {"id": f"s{n}"}) for n in range(5)], ["work"])
    compiled = graph.compile(checkpointer=InMemorySaver())
    for _ in range(3):
        state = compiled.invoke({"agent_contexts": {"s9": context("s9")}}, thread("t"))
    assert list(state["agent_contexts"]) == ["s0", "s1", "s2", "s3", "s4", "s9"]
    past = [each.values.get("agent_contexts") for each in compiled.get_state_history(thread("t"))]
    assert past[0] == state["agent_contexts"]


def test_a_planner_begins_anew_whatever_an_earlier_task_left() -> None:
    turns = iter([begin(TASK, [subtask("crm"), subtask("mail")]), begin(TASK, [subtask("market")])])
    graph = StateGraph(AciState).add_node("plan", lambda _: next(turns)).add_edge(START, "plan")
    compiled = graph.compile(checkpointer=InMemorySaver())
    first = compiled.invoke({"aci_texts": {"d": "a text"}}, thread("t"))
    assert set(first["agent_contexts"]) == {"s_crm", "s_mail"}
    second = compiled.invoke({}, thread("t"))
    assert set(second["agent_contexts"]) == {"s_market"}
    assert second["aci_texts"] == {}
    begun = TaskContext.from_json(second["task_context"])
    assert begun.start_time is not None
    assert replace(begun, start_time=None) == TASK


def test_results_are_abstracts_by_the_name_of_their_subtask() -> None:
    six, several = (KeyInformation("1", "six"),), tuple(KeyInformation(item, item * 2) for item in "123")
    states = (ItemState("1", 1), ItemState("2", 0))
    found = [
        subtask("crm", subtask_name="Search", item_state_updates=states[:1], key_information=six),
        subtask("mail", subtask_name="Search"),
        subtask("web", subtask_name="", item_state_updates=states, key_information=several),
    ]
    state = {"agent_contexts": {each.subtask_id: each.to_json() for each in found}}
    assert read_results(state) == {"Search": "six", "s_mail": [], "s_web": ["11", "failed: 22", "unverified: 33"]}
    assert read_results({}) == {}


@pytest.mark.parametrize(("read", "name"), [(read_results, "agent_contexts"), (read_interaction, "aci_progress")])
def test_a_key_of_the_state_that_is_no_object_is_refused(read: Any, name: str) -> None:
    with pytest.raises(ProtocolError, match=f"E1004: expected '{name}' to be an object, found 5"):
        read({name: 5})
