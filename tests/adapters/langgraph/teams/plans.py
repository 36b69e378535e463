"""What the tests of isolation share: subtasks, planners, agents with a script."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import BaseMessage
from langchain_core.tools import BaseTool

from accp_adapters.langgraph import AccpMiddleware, begin
from accp_core.aci import AgentContext, TaskContext, todo
from tests.scripted_model import ScriptedModel

TASK = TaskContext(task_id="t1", user_query="Why do accounts leave us, and what do we write?")


def subtask(agent_id: str, *steps: str, after: Sequence[str] = (), **fields: Any) -> AgentContext:
    """Return the subtask of an agent, named like it; without steps there is one."""
    known: dict[str, Any] = {"subtask_id": f"s_{agent_id}", "subtask_name": f"Part of {agent_id}"}
    steps = steps or (f"Step of {agent_id}",)
    dependencies = tuple(f"s_{each}" for each in after)
    return AgentContext(agent_id=agent_id, dependencies=dependencies, todo_items=todo(*steps), **{**known, **fields})


def planner(*contexts: AgentContext, task: TaskContext = TASK) -> Callable[[Any], dict[str, Any]]:
    """Return the node that begins `task` with these subtasks."""
    return lambda state: begin(task, contexts)


def worker(
    script: Sequence[Any], *tools: BaseTool, middleware: bool = False, **options: Any
) -> tuple[Any, ScriptedModel]:
    """Return an agent as `create_agent` makes it, and its model, which records what it receives."""
    model = ScriptedModel(script=list(script))
    chosen = [AccpMiddleware()] if middleware else []
    return create_agent(model, list(tools), middleware=chosen, **options), model


def read_by(model: ScriptedModel) -> str:
    """Return everything that a model was sent, as one text."""
    return "\n".join(repr(message) for messages in model.received for message in messages)


def words(messages: Sequence[BaseMessage]) -> list[str]:
    """Return the texts of messages."""
    return [message.text for message in messages]
