"""What the tests of this folder share: a task, its subtasks, and agents that answer."""

from typing import Any

from accp_core.aci import AgentContext, Delivery, Interaction, TaskContext, todo

TASK = TaskContext(task_id="t1", user_query="Why do accounts leave us, and what do we write?", task_name="Churn")


def subtask(subtask_id: str, *dependencies: str, items: int = 1, **fields: Any) -> AgentContext:
    """Return a planned subtask with `items` steps."""
    steps = todo(*(f"Step {number} of {subtask_id}" for number in range(1, items + 1)))
    known: dict[str, Any] = {"agent_id": f"agent of {subtask_id}", "subtask_name": f"Part {subtask_id}"}
    return AgentContext(subtask_id=subtask_id, dependencies=dependencies, todo_items=steps, **{**known, **fields})


def start(*contexts: AgentContext, **options: Any) -> Interaction:
    """Return the beginning of TASK with these subtasks."""
    return Interaction.start(TASK, contexts, **options)


def reply(delivery: Delivery, **results: str | None) -> dict[str, Any]:
    """Return a reply: `i1="6 accounts"` means that item 1 is done, `i1=None` that it is not; without any, all are."""
    items = [item.item_id for item in delivery.context.todo_items]
    said = results or {f"i{item}": f"result {item} of {delivery.context.subtask_id}" for item in items}
    return {
        "AgentID": delivery.context.agent_id,
        "SubTaskID": delivery.context.subtask_id,
        "ItemstateUpdates": [{"itemId": name[1:], "state": int(text is not None)} for name, text in said.items()],
        "KeyInformation": [{"itemId": name[1:], "outputabstract": text} for name, text in said.items() if text],
    }


def ids(deliveries: tuple[Delivery, ...]) -> list[str]:
    """Return the subtasks of deliveries."""
    return [each.context.subtask_id for each in deliveries]
