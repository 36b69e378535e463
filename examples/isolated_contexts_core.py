"""Isolated contexts without a framework: plan, deliver, verify item by item, retry the open items."""

from __future__ import annotations

from accp_adapters.tokens import o200k_base
from accp_core.aci import AgentContext, Delivery, Interaction, TaskContext, brief, read_answers, todo, with_answers

task = TaskContext(task_id="churn", user_query="Why do customers leave, and what should we write to them?")
plan = [
    AgentContext(
        agent_id="crm",
        subtask_id="s1",
        subtask_name="Find who left in May",
        todo_items=todo("Count them", "Name the most common reason"),
    ),
    AgentContext(
        agent_id="mail",
        subtask_id="s2",
        subtask_name="Write to them",
        dependencies=("s1",),
        todo_items=todo("Draft one mail"),
    ),
]


def ask(delivery: Delivery, answer: str) -> AgentContext:
    """Answer as an agent would, to which `delivery.payload` would be sent as JSON."""
    assert "UserQuery" not in str(delivery.payload)
    return with_answers(delivery.context, read_answers(delivery.context, answer))


interaction, (first,) = Interaction.start(task, plan, retries=1).deliver()
assert first.context.subtask_id == "s1"  # s2 depends on it
interaction = interaction.receive(
    first.id, ask(first, "1: done: 6 of 40\n2: not done: no reasons in the table")
).verify()

interaction, (again,) = interaction.deliver()
print(brief(again.context, counter=o200k_base()))  # the model's prompt: the open item, the finished one, the feedback
assert [item.item_id for item in again.context.todo_items] == ["2"]
interaction = interaction.receive(again.id, ask(again, "done: price, 4 of 6")).verify()

interaction, (second,) = interaction.deliver()
assert second.context.context == ({"Find who left in May": ["6 of 40", "price, 4 of 6"]},)  # abstracts, no full output
interaction = interaction.receive(second.id, ask(second, "done: Dear Ana, we kept your old price.")).verify()
assert interaction.finished
assert interaction.task.overall_status == "completed"
