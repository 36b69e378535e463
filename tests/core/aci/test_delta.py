"""A context as one flat map, and what changed of it."""

from dataclasses import replace
from typing import Any

import pytest

from accp_core.aci import AgentContext, ItemState, KeyInformation, diff_contexts, fields_to_context, patch_context
from accp_core.errors import ProtocolError
from tests.core.aci.plans import subtask

CONTEXT = replace(
    subtask("s1", "s0", items=2, agent_name="CRM", context=({"plan": "pro"},), context_uri=("$cold.a",)),
    last_updated="2026-03-20T02:51:00Z",
)


def test_an_item_that_changed_is_all_that_a_delta_says() -> None:
    before = replace(CONTEXT, item_state_updates=(ItemState("1", 1), ItemState("2", 0)))
    after = replace(
        before,
        item_state_updates=(ItemState("1", 1), ItemState("2", 1)),
        key_information=(KeyInformation("2", "6 accounts"),),
    )
    delta = diff_contexts(before, after)
    assert delta == {"state_2": 1, "info_2": "6 accounts"}
    assert patch_context(before, delta) == after
    assert patch_context(after, diff_contexts(after, before)) == before
    assert diff_contexts(after, after) == {}


def test_keys_of_somebody_else_are_passed_over() -> None:
    assert fields_to_context({"agent": "a", "subtask": "s", "v": 3, "version": 1}) == AgentContext(
        agent_id="a", subtask_id="s"
    )


@pytest.mark.parametrize(
    "fields",
    [
        None,
        [],
        {"agent": "a"},
        {"subtask": "s"},
        {"agent": "a", "subtask": "s", "deps": "s0"},
        {"agent": "a", "subtask": "s", "refs": None},
        {"agent": "a", "subtask": "s", "state_1": True},
        {"agent": "a", "subtask": "s", "state_1": 2},
        {"agent": "a", "subtask": "s", "todo_": "no id"},
        {"agent": "a", "subtask": "s", "info_1": 7},
        {"agent": 1, "subtask": "s"},
        {1: "agent"},
    ],
)
def test_fields_that_are_no_context_are_refused(fields: Any) -> None:
    with pytest.raises(ProtocolError, match="E1004"):
        fields_to_context(fields)
