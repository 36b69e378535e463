"""What a context may hold and how it is bounded; the spellings are vectors."""

from decimal import Decimal
from typing import Any

import pytest

from accp_core.aci import JSON_NAMES, AgentContext, Goal, ItemState, KeyInformation, TaskContext, TodoItem, todo
from accp_core.aci.items import MAX_ABSTRACT_CHARS, MAX_CONTEXT_CHARS, MAX_ENTRIES, MAX_TEXT_CHARS
from accp_core.errors import ProtocolError


def agent(**fields: Any) -> AgentContext:
    return AgentContext(**{"agent_id": "crm", "subtask_id": "s1", **fields})


def deep(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


def refusal(code: str, make: Any) -> str:
    with pytest.raises(ProtocolError) as found:
        make()
    assert found.value.code == code
    return found.value.reason


REFUSED: dict[str, tuple[str, Any]] = {
    "state 2": ("E1004", lambda: ItemState("1", 2)),
    "state true": ("E1004", lambda: ItemState("1", True)),
    "state as text": ("E1004", lambda: ItemState("1", "1")),  # type: ignore[arg-type]
    "state as decimal": ("E1004", lambda: ItemState("1", 1.0)),  # type: ignore[arg-type]
    "no item": ("E1004", lambda: ItemState("", 1)),
    "a goal without words": ("E1004", lambda: Goal("")),
    "a description that is none": ("E1004", lambda: TodoItem("1", None)),  # type: ignore[arg-type]
    "a long abstract": ("E2003", lambda: KeyInformation("1", "x" * (MAX_ABSTRACT_CHARS + 1))),
    "a long text": ("E2003", lambda: agent(subtask_name="x" * (MAX_TEXT_CHARS + 1))),
    "a list instead of a tuple": ("E1004", lambda: agent(dependencies=["s0"])),
    "too many items": ("E2003", lambda: agent(todo_items=todo(*map(str, range(MAX_ENTRIES + 1))))),
    "an empty reference": ("E1004", lambda: agent(context_uri=("",))),
    "an empty time": ("E1004", lambda: agent(last_updated="")),
    "inline context that is null": ("E1004", lambda: agent(context=(None,))),
    "inline context that is a reference": ("E1004", lambda: agent(context=("$cold.a",))),
    "inline context that is no JSON": ("E1004", lambda: agent(context=(Decimal(1),))),
    "inline context that is NaN": ("E1004", lambda: agent(context=(float("nan"),))),
    "deep inline context": ("E2003", lambda: agent(context=(deep(51),))),
    "very deep inline context": ("E2003", lambda: agent(context=(deep(100_000),))),
    "long inline context": ("E2003", lambda: agent(context=("x" * MAX_CONTEXT_CHARS,))),
    "an extra field of the draft": ("E1004", lambda: TaskContext(task_id="t", extra={"UserQuery": "x"})),
    "an extra field that is no JSON": ("E1004", lambda: TaskContext(task_id="t", extra={"x": {1, 2}})),
}


@pytest.mark.requirement("aci:5.2-5")
@pytest.mark.parametrize("name", REFUSED)
def test_a_context_refuses(name: str) -> None:
    code, make = REFUSED[name]
    assert "expected" in refusal(code, make)


@pytest.mark.requirement("aci:5.2-5")
def test_too_many_entries_are_refused_before_they_are_read() -> None:
    entries = [{"itemId": str(number), "description": "x"} for number in range(MAX_ENTRIES + 1)]
    data = {"AgentID": "a", "SubTaskID": "s", "todoItems": entries}
    assert "1,000" in refusal("E2003", lambda: AgentContext.from_json(data))


@pytest.mark.requirement("aci:5.2-5")
def test_every_name_of_the_draft_stands_once_in_the_table() -> None:
    assert len(set(JSON_NAMES.values())) == len(JSON_NAMES)
