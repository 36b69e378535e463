"""All tasks of a world."""

from __future__ import annotations

from collections.abc import Iterable

from integrations.agent_tasks.record_tasks import RECORD_TASKS
from integrations.agent_tasks.task import Task
from integrations.agent_tasks.team_tasks import TEAM_TASKS
from integrations.agent_tasks.text_tasks import TEXT_TASKS
from integrations.agent_tasks.world import World

__all__ = ["chosen_tasks", "make_tasks"]


def make_tasks(world: World) -> list[Task]:
    """Return the tasks of a world."""
    return [make(world) for make in (*RECORD_TASKS, *TEXT_TASKS, *TEAM_TASKS)]


def chosen_tasks(tasks: list[Task], names: Iterable[str] = ()) -> list[Task]:
    """Return the tasks of some names in their order; without names all.

    Raises:
        ValueError: there is no task of a name.
    """
    chosen = list(names)
    if unknown := [name for name in chosen if name not in {task.name for task in tasks}]:
        raise ValueError(f"expected tasks of {', '.join(task.name for task in tasks)}, found {unknown[0]!r}")
    return [task for task in tasks if not chosen or task.name in chosen]
