"""Which plans are none, and what waits for what."""

from dataclasses import replace
from typing import Any

import pytest

from accp_core.aci import Goal, ItemState, Plan, Status
from accp_core.errors import ProtocolError
from tests.core.aci.plans import TASK, subtask

NO_PLANS: dict[str, tuple[str, Any]] = {
    "no subtask": ("E2003", lambda: Plan.of(TASK, [])),
    "too many subtasks": ("E2003", lambda: Plan.of(TASK, [subtask(f"s{number}") for number in range(1_001)])),
    "a subtask twice": ("E1004", lambda: Plan.of(TASK, [subtask("a"), subtask("a")])),
    "nothing to do": ("E1004", lambda: Plan.of(TASK, [subtask("a", items=0)])),
    "done already": ("E1004", lambda: Plan.of(TASK, [replace(subtask("a"), item_state_updates=(ItemState("1", 1),))])),
    "an unknown dependency": ("E1004", lambda: Plan.of(TASK, [subtask("a", "b")])),
    "itself": ("E1004", lambda: Plan.of(TASK, [subtask("a", "a")])),
    "a cycle": ("E1004", lambda: Plan.of(TASK, [subtask("a", "c"), subtask("b", "a"), subtask("c", "b")])),
    "a goal nobody serves": ("E1004", lambda: Plan.of(replace(TASK, goal_status=(Goal("peace"),)), [subtask("a")])),
    "a goal of nothing": ("E1004", lambda: Plan.of(TASK, [subtask("a")], {"peace": []})),
    "a goal of an unknown subtask": ("E1004", lambda: Plan.of(TASK, [subtask("a")], {"peace": ["b"]})),
}


@pytest.mark.requirement("aci:5.2-2")
@pytest.mark.parametrize("name", NO_PLANS)
def test_it_is_no_plan(name: str) -> None:
    code, make = NO_PLANS[name]
    with pytest.raises(ProtocolError) as refusal:
        make()
    assert refusal.value.code == code


def test_the_goals_of_a_task_are_served_by_subtasks_of_their_name() -> None:
    assert Plan.of(replace(TASK, goal_status=(Goal("Part a"),)), [subtask("a")]).goals == {"Part a": ("a",)}


@pytest.mark.requirement("aci:5.1-2")
def test_a_goal_is_what_its_subtasks_come_to() -> None:
    plan = Plan.of(TASK, [subtask("a"), subtask("b"), subtask("c")], {"all": "abc", "one": ["a"]})
    statuses = {"a": Status.COMPLETED, "b": Status.IN_PROGRESS, "c": Status.PENDING}
    assert plan.goal_status(statuses) == (Goal("all", Status.IN_PROGRESS), Goal("one", Status.COMPLETED))
