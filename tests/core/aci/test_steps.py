"""Plans as steps: ids, what waits for what, and which names mean nothing."""

from __future__ import annotations

from typing import Any

import pytest

from accp_core.aci import AgentContext, Interaction, plan_contexts, step, todo
from accp_core.errors import ProtocolError
from tests.core.aci.plans import TASK, subtask

CRM, MAIL = step("crm", "Count who left"), step("mail", "Write one mail", after="crm")


def waits(*steps: Any) -> dict[str, tuple[str, ...]]:
    return {context.subtask_id: context.dependencies for context in plan_contexts(steps).contexts}


def test_steps_become_contexts_in_their_order() -> None:
    counting, writing = plan_contexts([CRM, MAIL]).contexts
    assert counting == AgentContext(
        agent_id="crm", subtask_id="s1", subtask_name="Count who left", todo_items=todo("Count who left")
    )
    assert (writing.subtask_id, writing.agent_id, writing.dependencies) == ("s2", "mail", ("s1",))


@pytest.mark.parametrize("after", ["crm", "Count who left", "s1", ["crm"], ("s1", "crm")])
def test_a_step_waits_for_an_agent_a_title_or_an_id(after: Any) -> None:
    assert waits(CRM, step("mail", "Write one mail", after=after)) == {"s1": (), "s2": ("s1",)}


def test_a_step_may_wait_for_a_later_one_and_for_several() -> None:
    assert waits(step("mail", "Write", after=["crm", "web"]), CRM, step("web", "Search")) == {
        "s1": ("s2", "s3"),
        "s2": (),
        "s3": (),
    }


def test_an_agent_that_waits_for_its_own_other_step_means_that_one() -> None:
    assert waits(CRM, step("crm", "Name them", after="crm"))["s2"] == ("s1",)


def test_a_step_may_have_items_facts_references_and_an_id() -> None:
    full = step("crm", "Churn", items=["Count", "Name"], context=["Q3"], references=["$cold.a"], id="churn")
    (context,) = plan_contexts([full]).contexts
    assert context.subtask_id == "churn"
    assert context.todo_items == todo("Count", "Name")
    assert (context.context, context.context_uri) == (("Q3",), ("accp://cold/a",))


def test_ids_of_many_steps_sort_in_order() -> None:
    ids = list(waits(*(step("crm", f"Step {n}") for n in range(12))))
    assert (ids[0], ids[-1]) == ("s01", "s12")
    assert ids == sorted(ids)


def test_repeatable_steps_are_known_and_contexts_stay_as_they_are() -> None:
    planned = plan_contexts([step("crm", "Read", repeatable=True), CRM])
    assert planned.repeatable == {"s1"}
    known = subtask("a")
    assert plan_contexts([known]).contexts == (known,)


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([MAIL], "name another step of"),
        ([CRM, step("mail", "Write", after="sales")], "'sales'"),
        ([step("crm", "Count", after="crm")], "name another step of"),
        ([CRM, step("crm", "Name them"), MAIL], "'Count who left', 'Name them'"),
        ([step("crm", "mail"), step("mail", "Write"), step("web", "Read", after="mail")], "one step"),
        ([CRM, "mail"], "a plan of steps"),
    ],
)
def test_a_name_of_no_step_or_of_several_is_refused(steps: Any, words: str) -> None:
    with pytest.raises(ProtocolError, match="E1004") as refusal:
        plan_contexts(steps)
    assert words in str(refusal.value)


def test_a_cycle_is_refused_when_the_task_begins() -> None:
    cycle = [step("crm", "Count", after="mail"), step("mail", "Write", after="crm")]
    with pytest.raises(ProtocolError, match=r"E1004.*without a cycle"):
        Interaction.start(TASK, cycle)


@pytest.mark.parametrize(
    "make",
    [
        lambda: step("", "Count"),
        lambda: step("crm", ""),
        lambda: step("crm", 7),  # type: ignore[arg-type]
        lambda: step("crm", "Count", items="Count"),
    ],
)
def test_a_step_has_an_agent_a_title_and_a_list_of_items(make: Any) -> None:
    with pytest.raises(ProtocolError, match="E1004"):
        make()
