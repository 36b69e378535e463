"""The subtasks of a task, and what each of them waits for (ACI sections 3 and 5.2)."""

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
    """The subtasks as the master planned them, checked: what a reply says never changes it.

    Raises: ProtocolError: E1004 for a subtask that comes twice, has nothing to do, says already what came out of
        it, or depends on one that is not there or on itself; for goals that no subtask serves.
    """

    subtasks: Mapping[str, AgentContext]
    """SubTaskID to context, in the order of the ids."""
    goals: Mapping[str, tuple[str, ...]]
    """Goal to the ids of the subtasks that serve it."""

    @classmethod
    def of(
        cls, task: TaskContext, contexts: Iterable[AgentContext], goals: Mapping[str, Iterable[str]] | None = None
    ) -> Plan:
        """Return the plan of `task`; without `goals` each subtask is a goal, named like it.

        Raises: ProtocolError as above, E2003 for more than 1,000 subtasks.
        """
        found = sorted(contexts, key=lambda context: context.subtask_id)
        if not 0 < len(found) <= MAX_ENTRIES:
            raise violation(ErrorCode.BUDGET_EXCEEDED, f"1 to {MAX_ENTRIES:,} subtasks", len(found))
        check_unique("the subtasks", (context.subtask_id for context in found))
        subtasks = {context.subtask_id: context for context in found}
        served = {goal: tuple(ids) for goal, ids in (goals or _goals_of(found)).items()}
        _check_goals(task, subtasks, served)
        for context in found:
            _check_subtask(context, subtasks)
        _in_order(subtasks)
        return cls(MappingProxyType(subtasks), MappingProxyType(served))

    def goal_status(self, statuses: Mapping[str, Status]) -> tuple[Goal, ...]:
        """Return the goals, each with what the statuses of its subtasks come to."""
        return tuple(Goal(goal, overall_status(statuses[each] for each in ids)) for goal, ids in self.goals.items())

    def dependants(self, subtask_id: str) -> tuple[str, ...]:
        """Return all subtasks that wait for `subtask_id`, directly or not."""
        found: dict[str, None] = {subtask_id: None}
        for each in _in_order(self.subtasks):
            if any(dependency in found for dependency in self.subtasks[each].dependencies):
                found[each] = None
        return tuple(found)[1:]


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
    """Return the subtasks so that each comes after what it waits for.

    Raises: ProtocolError E1004 for a cycle.
    """
    try:
        return tuple(TopologicalSorter({each: found.dependencies for each, found in subtasks.items()}).static_order())
    except CycleError as error:
        raise violation(ErrorCode.INVALID_TYPE, "dependencies without a cycle", error.args[1]) from None
