"""The tasks of the evaluation, done by agents of a framework and by those of LangGraph."""

from __future__ import annotations

import functools
import json
from typing import Any, Final

from integrations.agent_tasks.run import TaskOptions, TaskReport, evaluate_tasks
from integrations.agent_tasks.scripted.model import ScriptedModel

__all__ = ["add_call", "check_tasks", "tool_definition"]

OPTIONS: Final = TaskOptions(
    names=("late_orders", "greatest_order", "timeouts", "voucher", "edit_setting"),
    arms=("without", "default", "tight"),
    size=0.3,
)


@functools.cache
def done_by_langgraph() -> TaskReport:
    return evaluate_tasks(ScriptedModel(OPTIONS.tasks()), options=OPTIONS)


def check_tasks(worker: Any) -> None:
    """Refuse a worker whose answers, calls or fetches are not those of LangGraph's agents with the same policies."""
    ours, theirs = evaluate_tasks(ScriptedModel(OPTIONS.tasks()), options=OPTIONS, worker=worker), done_by_langgraph()
    assert [arm.right for arm in ours.arms] == [arm.right for arm in theirs.arms] == [len(OPTIONS.names)] * 3
    for mine, other in zip(ours.arms, theirs.arms, strict=True):
        assert (mine.arm, mine.calls, mine.fetches) == (other.arm, other.calls, other.fetches)
    assert ours.arms[0].fetches == 0 < ours.arms[1].fetches


def tool_definition(name: str, description: str | None, parameters: Any) -> dict[str, Any]:
    """Return a tool as OpenAI's Chat is sent it."""
    return {"type": "function", "function": {"name": name, "description": description or "", "parameters": parameters}}


def add_call(messages: list[dict[str, Any]], call_id: str, name: str, arguments: Any) -> None:
    """Add a call to the messages of OpenAI's Chat, to the last one where that has calls already."""
    written = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    made = {"id": call_id, "type": "function", "function": {"name": name, "arguments": written}}
    if "tool_calls" in messages[-1]:
        messages[-1]["tool_calls"].append(made)
    else:
        messages.append({"role": "assistant", "content": "", "tool_calls": [made]})
