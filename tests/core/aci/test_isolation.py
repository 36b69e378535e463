"""What leaves, what an agent may open, what a dependant learns; replies are vectors."""

import json
from dataclasses import replace
from typing import Any

import pytest

from accp_core.aci import ItemState, KeyInformation, TaskContext, check_context_grant, isolate, scope_of, with_results
from accp_core.errors import ProtocolError
from tests.core.aci.plans import TASK, subtask


@pytest.mark.requirement("aci:5.2-3", "aci:5.3-1", "aci:6-2")
def test_what_leaves_is_the_agents_context_and_nothing_else() -> None:
    task = replace(TASK, task_description="MARKER-D", extra={"Owner": "MARKER-E"})
    sent = isolate(task, subtask("s1", "s0", context=("pays yearly",), last_updated="2026-03-20T02:51:00Z"))
    assert list(sent) == ["AgentContext"]
    assert set(sent["AgentContext"]) == {
        *("AgentID", "SubTaskID", "SubTaskName", "Dependencies", "Context", "todoItems")
    }
    text = json.dumps(sent)
    assert not [secret for secret in ("MARKER", task.user_query, "Churn", "t1") if secret in text]


@pytest.mark.requirement("aci:5.2-3", "aci:5.3-1", "aci:6-2")
@pytest.mark.parametrize(
    "leak",
    [
        TASK.user_query,
        f"The user asked: {TASK.user_query}",
        {"notes": [f"  {TASK.user_query}\n"]},
        {"UserQuery": "something"},
        [{"deep": {"GoalStatus": []}}],
        TASK.to_json(),
    ],
)
def test_a_task_context_or_its_query_does_not_leave(leak: Any) -> None:
    with pytest.raises(ProtocolError, match="E5001"):
        isolate(TASK, subtask("s1", context=(leak,)))


@pytest.mark.requirement("aci:5.2-3", "aci:5.3-1", "aci:6-2")
def test_a_short_query_may_stand_in_a_longer_text_by_chance() -> None:
    task = TaskContext(task_id="t", user_query="help")
    assert isolate(task, subtask("s1", context=("helpful hints",)))
    with pytest.raises(ProtocolError, match="E5001"):
        isolate(task, subtask("s1", context=("help",)))


@pytest.mark.requirement("aci:5.2-3", "aci:5.3-1", "aci:6-2")
def test_without_a_query_and_with_other_values_nothing_is_refused() -> None:
    assert isolate(TaskContext(task_id="t"), subtask("s1", context=({"n": 1, "text": ""}, True)))


@pytest.mark.requirement("aci:5.2-3", "aci:5.3-1", "aci:6-2")
def test_an_agent_opens_what_its_context_grants_and_nothing_else() -> None:
    context = subtask("s1", context_uri=("$cold.a", "https://example.com/x"))
    assert (
        check_context_grant(context, "$cold.a")
        == check_context_grant(context, " accp://cold/a ")
        == check_context_grant(context, "cold.a")
        == "cold.a"
    )
    for other in ("$cold.b", "https://example.com/x", "", "None", "$cold.a.b"):
        with pytest.raises(ProtocolError, match="E5002"):
            check_context_grant(context, other)


@pytest.mark.requirement("aci:5.2-3", "aci:5.3-1", "aci:6-2")
def test_a_dependant_learns_abstracts_and_references_and_no_more() -> None:
    found = replace(
        subtask("s0", items=2, context=("SECRET of s0",), context_uri=("$cold.granted_to_s0",)),
        item_state_updates=(ItemState("1", 1), ItemState("2", 1)),
        key_information=(KeyInformation("1", "6 accounts"), KeyInformation("2", "all on basic")),
    )
    context = with_results(subtask("s1", "s0", context=("mine",)), [(found, ["accp://cold/full"])])
    assert context.context == ("mine", {"Part s0": ["6 accounts", "all on basic"]})
    assert context.context_uri == ("accp://cold/full",)
    assert "SECRET" not in json.dumps(context.to_json())


@pytest.mark.requirement("aci:5.2-3", "aci:5.3-1", "aci:6-2")
def test_the_results_of_each_task_have_a_session_of_their_own() -> None:
    assert scope_of("t1") == "aci:t1" != scope_of("t2")
