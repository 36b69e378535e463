"""The subtasks of a task and their dependencies (ACI sections 3 and 5.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from types import MappingProxyType

from accp_core.aci.checks import MAX_ENTRIES, check_unique, violation
from accp_core.aci.contexts import AgentContext, TaskContext, overall_status
from accp_core.aci.items import Goal, Status
from accp_core.error_codes import ErrorCode

__all__ = ["Plan"]


# "The Dependencies array expresses prerequisite relations among subtasks, enabling the Master Agent to reason about
# execution ordering and blocking conditions." (section 5.2)
@dataclass(frozen=True, slots=True)
class Plan:
    """The checked subtasks as the master planned them; no reply ever changes them. Made by `Plan.of`."""

    subtasks: Mapping[str, AgentContext]
    """SubTaskID to planned context, in the order of the ids."""
    goals: Mapping[str, tuple[str, ...]]
    """Goal to the ids of its subtasks."""
    repeatable: frozenset[str] = frozenset()
    """The subtasks that may be run again although they may have had effects, such as reading a table."""

    @classmethod
    def of(
        cls,
        task: TaskContext,
        contexts: Iterable[AgentContext],
        goals: Mapping[str, Iterable[str]] | None = None,
        repeatable: Iterable[str] = (),
    ) -> Plan:
        """Return the plan of `task`.

        Args:
            task: Each of its goals needs a subtask.
            contexts: One planned context for each subtask.
            goals: Goal to the ids of its subtasks; None: each subtask is a goal of the same name.
            repeatable: The ids of the subtasks that may be run again although they may have had effects.

        Raises:
            ProtocolError: E1004, a subtask comes twice, has no items, has results already, or depends on an unknown
                subtask or on itself, a goal has no subtask, or `repeatable` names an unknown one;
                E2003, there are too few or too many subtasks.
        """
        ordered = sorted(contexts, key=lambda context: context.subtask_id)
        if not 0 < len(ordered) <= MAX_ENTRIES:
            raise violation(ErrorCode.BUDGET_EXCEEDED, f"1 to {MAX_ENTRIES:,} subtasks", len(ordered))
        check_unique("the subtasks", (context.subtask_id for context in ordered))
        subtasks = {context.subtask_id: context for context in ordered}
        served = {goal: tuple(ids) for goal, ids in (goals or _goals_of(ordered)).items()}
        _check_goals(task, subtasks, served)
        for context in ordered:
            _check_subtask(context, subtasks)
        _in_order(subtasks)
        again = frozenset(repeatable)
        if unknown := sorted(again - set(subtasks)):
            raise violation(ErrorCode.INVALID_TYPE, f"repeatable subtasks among {list(subtasks)}", unknown)
        return cls(MappingProxyType(subtasks), MappingProxyType(served), again)

    def goal_status(self, statuses: Mapping[str, Status]) -> tuple[Goal, ...]:
        """Return the goals, each with the status that follows from those of its subtasks."""
        return tuple(
            Goal(goal, overall_status(statuses[subtask] for subtask in ids)) for goal, ids in self.goals.items()
        )

    def dependants(self, subtask_id: str) -> tuple[str, ...]:
        """Return all subtasks that depend on `subtask_id`, directly or through others."""
        blocked: dict[str, None] = {subtask_id: None}
        for candidate in _in_order(self.subtasks):
            if any(dependency in blocked for dependency in self.subtasks[candidate].dependencies):
                blocked[candidate] = None
        return tuple(blocked)[1:]


def _goals_of(contexts: Iterable[AgentContext]) -> dict[str, tuple[str, ...]]:
    goals: dict[str, tuple[str, ...]] = {}
    for context in contexts:
        name = context.subtask_name or context.subtask_id
        goals[name] = (*goals.get(name, ()), context.subtask_id)
    return goals


def _check_goals(task: TaskContext, subtasks: Mapping[str, AgentContext], goals: Mapping[str, tuple[str, ...]]) -> None:
    for goal, ids in goals.items():
        if not ids or not set(ids) <= set(subtasks):
            raise violation(ErrorCode.INVALID_TYPE, f"subtasks of the plan for goal {goal!r}", ids)
    for known in task.goal_status:
        if known.goal not in goals:
            raise violation(
                ErrorCode.INVALID_TYPE, f"a subtask for each goal of the task, one of {sorted(goals)}", known.goal
            )


def _check_subtask(context: AgentContext, subtasks: Mapping[str, AgentContext]) -> None:
    if not context.todo_items:
        raise violation(ErrorCode.INVALID_TYPE, f"an item to do in subtask {context.subtask_id!r}", ())
    if context.item_state_updates or context.key_information:
        raise violation(
            ErrorCode.INVALID_TYPE, f"subtask {context.subtask_id!r} to be planned without results", context.states
        )
    for dependency in context.dependencies:
        if dependency not in subtasks:
            raise violation(
                ErrorCode.INVALID_TYPE, f"dependencies of {context.subtask_id!r} among {list(subtasks)}", dependency
            )


def _in_order(subtasks: Mapping[str, AgentContext]) -> tuple[str, ...]:
    """Return the ids of the subtasks, each after those that it depends on.

    Raises:
        ProtocolError: E1004, the dependencies have a cycle.
    """
    try:
        return tuple(
            TopologicalSorter({name: context.dependencies for name, context in subtasks.items()}).static_order()
        )
    except CycleError as error:
        raise violation(ErrorCode.INVALID_TYPE, "dependencies without a cycle", error.args[1]) from None
