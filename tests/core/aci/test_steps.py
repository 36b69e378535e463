"""Plans as steps: ids, what waits for what, and which names mean nothing."""

from typing import Any

import pytest

from accp_core.aci import Interaction, plan_contexts, step
from accp_core.errors import ProtocolError
from tests.core.aci.plans import TASK

CRM, MAIL = step("crm", "Count who left"), step("mail", "Write one mail", after="crm")


def waits(*steps: Any) -> dict[str, tuple[str, ...]]:
    return {context.subtask_id: context.dependencies for context in plan_contexts(steps).contexts}


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
