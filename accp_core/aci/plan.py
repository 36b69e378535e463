"""The subtasks of a task and their dependencies (ACI sections 3 and 5.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from graphlib import CycleError, TopologicalSorter
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from accp_core.aci import items as aci_items
from accp_core.aci.contexts import AgentContext, TaskContext, overall_status
from accp_core.aci.evaluation import OpenItem
from accp_core.error_codes import ErrorCode
from accp_core.errors import LocalProtocolError

__all__ = [
    "ENDED", "TRANSITIONS", "ItemMove", "Plan", "PlannedContexts", "Progress", "Step", "SubtaskState",
    "known_context", "plan_contexts", "step", "verified_context",
]  # fmt: skip


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
        if not 0 < len(ordered) <= aci_items.MAX_ENTRIES:
            raise aci_items.violation(
                ErrorCode.BUDGET_EXCEEDED, f"1 to {aci_items.MAX_ENTRIES:,} subtasks", len(ordered)
            )
        aci_items.check_unique("the subtasks", (context.subtask_id for context in ordered))
        subtasks = {context.subtask_id: context for context in ordered}
        served = {goal: tuple(ids) for goal, ids in (goals or _goals_of(ordered)).items()}
        _check_goals(task, subtasks, served)
        for context in ordered:
            _check_subtask(context, subtasks)
        _in_order(subtasks)
        again = frozenset(repeatable)
        if unknown := sorted(again - set(subtasks)):
            raise aci_items.violation(ErrorCode.INVALID_TYPE, f"repeatable subtasks among {list(subtasks)}", unknown)
        return cls(MappingProxyType(subtasks), MappingProxyType(served), again)

    def goal_status(self, statuses: Mapping[str, aci_items.Status]) -> tuple[aci_items.Goal, ...]:
        """Return the goals, each with the status that follows from those of its subtasks."""
        return tuple(
            aci_items.Goal(goal, overall_status(statuses[subtask] for subtask in ids))
            for goal, ids in self.goals.items()
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
            raise aci_items.violation(ErrorCode.INVALID_TYPE, f"subtasks of the plan for goal {goal!r}", ids)
    for known in task.goal_status:
        if known.goal not in goals:
            raise aci_items.violation(
                ErrorCode.INVALID_TYPE, f"a subtask for each goal of the task, one of {sorted(goals)}", known.goal
            )


def _check_subtask(context: AgentContext, subtasks: Mapping[str, AgentContext]) -> None:
    if not context.todo_items:
        raise aci_items.violation(ErrorCode.INVALID_TYPE, f"an item to do in subtask {context.subtask_id!r}", ())
    if context.item_state_updates or context.key_information:
        raise aci_items.violation(
            ErrorCode.INVALID_TYPE, f"subtask {context.subtask_id!r} to be planned without results", context.states
        )
    for dependency in context.dependencies:
        if dependency not in subtasks:
            raise aci_items.violation(
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
        raise aci_items.violation(ErrorCode.INVALID_TYPE, "dependencies without a cycle", error.args[1]) from None


# The progress of one subtask, and the table of its transitions (ACI sections 4.1 and 5.3).


class SubtaskState(StrEnum):
    """The state of a subtask."""

    WAITING = "waiting"
    """It waits for its dependencies or its turn, or for its next attempt."""
    DELIVERED = "delivered"
    """Its agent works on it."""
    RETURNED = "returned"
    """The reply is accepted and has to be verified."""
    COMPLETED = "completed"
    """Every item is verified."""
    FAILED = "failed"
    """An item is not done after all attempts, or a dependency did not complete."""
    UNVERIFIED = "unverified"
    """Nobody knows whether an item is done; the agent's answer is kept."""


class ItemMove(StrEnum):
    """An event in the course of a subtask."""

    DELIVER = "deliver"
    ACCEPT = "accept"
    COMPLETE = "complete"
    RETRY = "retry"
    FAIL = "fail"
    DOUBT = "doubt"


TRANSITIONS: Final[Mapping[tuple[SubtaskState, ItemMove], SubtaskState]] = MappingProxyType(
    {
        (SubtaskState.WAITING, ItemMove.DELIVER): SubtaskState.DELIVERED,
        (SubtaskState.WAITING, ItemMove.FAIL): SubtaskState.FAILED,
        (SubtaskState.DELIVERED, ItemMove.ACCEPT): SubtaskState.RETURNED,
        (SubtaskState.DELIVERED, ItemMove.RETRY): SubtaskState.WAITING,
        (SubtaskState.DELIVERED, ItemMove.FAIL): SubtaskState.FAILED,
        (SubtaskState.RETURNED, ItemMove.COMPLETE): SubtaskState.COMPLETED,
        (SubtaskState.RETURNED, ItemMove.RETRY): SubtaskState.WAITING,
        (SubtaskState.RETURNED, ItemMove.FAIL): SubtaskState.FAILED,
        (SubtaskState.DELIVERED, ItemMove.DOUBT): SubtaskState.UNVERIFIED,
        (SubtaskState.RETURNED, ItemMove.DOUBT): SubtaskState.UNVERIFIED,
    }
)
"""State and move to the next state; only verification leads to completed."""


ENDED: Final = frozenset({SubtaskState.COMPLETED, SubtaskState.FAILED, SubtaskState.UNVERIFIED})
"""The states in which nothing more happens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The progress of one subtask."""

    state: SubtaskState = SubtaskState.WAITING
    """Its state."""
    attempts: int = 0
    """The number of deliveries so far."""
    verified: Mapping[str, str] = field(default_factory=dict)
    """itemId to abstract of the items that are done; they are not delivered again."""
    open: tuple[OpenItem, ...] = ()
    """The items that the last attempt left undone, with the reasons."""
    stopped_by: str = ""
    """The SubTaskID of the failure that stopped this subtask before it began; empty: none did."""
    stored: tuple[str, ...] = ()
    """URIs of the texts that the agent stored."""
    reply: AgentContext | None = None
    """The accepted reply that has to be verified, or None."""
    unread: Mapping[str, str] = field(default_factory=dict)
    """itemId to what was not understood in that reply."""
    reported: tuple[str, ...] = ()
    """The items of that reply whose answers a reporter gave."""
    usage: aci_items.Usage = field(default_factory=aci_items.Usage)
    """What all attempts cost."""
    started: str | None = None
    """The time of the first delivery in ISO 8601, or None."""
    updated: str | None = None
    """The time of the last change, or None."""
    ended: str | None = None
    """The time when it was completed, failed or left unverified, or None."""

    @property
    def reason(self) -> str:
        """Why it is not complete: the reasons of its open items, each once; empty where there is none."""
        return "; ".join(dict.fromkeys(item.reason for item in self.open))

    def are_undone(self, items: Iterable[OpenItem]) -> bool:
        """Return whether it is known that the open `items` of the reply are not done.

        That the verifier rejects what a reporter found says nothing of the work.
        """
        return all(item.outcome is aci_items.Outcome.FAILED and item.item_id not in self.reported for item in items)

    def at(self, time: str) -> Progress:
        """Return the progress with `time` as the time of its last change, and of its beginning and end."""
        started = self.started or (time if self.attempts else None)
        ended = (self.ended or time) if self.state in ENDED else None
        return replace(self, started=started, updated=time, ended=ended)

    def advance(self, move: ItemMove, **changes: Any) -> Progress:
        """Return the progress after `move`, with the attributes in `changes` set.

        Raises:
            LocalProtocolError: E5001, the move is not allowed in this state.
        """
        after = TRANSITIONS.get((self.state, move))
        if after is None:
            raise LocalProtocolError(
                f"expected no {move.value!r} for a subtask that is {self.state.value}", code=ErrorCode.POLICY_DENIED
            )
        return replace(self, state=after, **changes)


def verified_context(planned: AgentContext, progress: Progress) -> AgentContext:
    """Return the planned context of a subtask with its verified results."""
    done = [item.item_id for item in planned.todo_items if item.item_id in progress.verified]
    return replace(
        planned,
        item_state_updates=tuple(aci_items.ItemState(item, aci_items.DONE) for item in done),
        key_information=tuple(aci_items.KeyInformation(item, progress.verified[item]) for item in done),
        context_uri=(*planned.context_uri, *progress.stored),
        last_updated=progress.updated or planned.last_updated,
    )


def known_context(planned: AgentContext, progress: Progress) -> AgentContext:
    """Return the context with the verified results, and where the subtask has ended, with what is known of the rest."""
    context = verified_context(planned, progress)
    if progress.state not in ENDED:
        return context
    failed = [item.item_id for item in progress.open if item.outcome is aci_items.Outcome.FAILED]
    said = [
        aci_items.KeyInformation(item.item_id, item.words[: aci_items.MAX_ABSTRACT_CHARS]) for item in progress.open
    ]
    return replace(
        context,
        item_state_updates=(
            *context.item_state_updates,
            *(aci_items.ItemState(item, aci_items.OPEN) for item in failed),
        ),
        key_information=(*context.key_information, *said),
    )


# A plan as a person writes it: steps by agent and title, in the order of their needs (ACI sections 3 and 5.2).


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a plan; `step` makes it."""

    agent: str
    """The AgentID of the agent that does it."""
    title: str
    """A short description, by which its result is found."""
    items: tuple[str, ...] = ()
    """What is to be done, one by one; empty: the title says it."""
    after: tuple[str, ...] = ()
    """The steps whose results it needs, each by its id, its title, or the AgentID of its agent."""
    context: tuple[aci_items.Json, ...] = ()
    """Facts that the agent needs: JSON values."""
    references: tuple[str, ...] = ()
    """References that the agent may open."""
    repeatable: bool = False
    """Whether it may be run again although it may have had effects."""
    id: str = ""
    """Its SubTaskID; empty: "s1", "s2" and so on, by its place in the plan."""


def step(
    agent: str,
    title: str,
    *,
    items: Iterable[str] = (),
    after: str | Iterable[str] = (),
    context: Iterable[aci_items.Json] = (),
    references: Iterable[str] = (),
    repeatable: bool = False,
    id: str = "",
) -> Step:
    """Return a step: `step("mail", "Write one mail", after="crm")`.

    Args:
        agent: The AgentID of the agent that does it.
        title: A short description, by which its result is found.
        items: What is to be done, one by one; empty: the title says it.
        after: The step, or the steps, whose results it needs: by id, by title, or by agent.
        context: Facts that the agent needs: JSON values.
        references: References that the agent may open.
        repeatable: Whether it may be run again although it may have had effects: reading is, sending a mail is not.
        id: Its SubTaskID; empty: "s1", "s2" and so on.

    Raises:
        ProtocolError: E1004, agent or title is empty or no text, or `items` is one text.
    """
    if isinstance(items, str):
        raise aci_items.violation(ErrorCode.INVALID_TYPE, "items: a list of texts", items)
    return Step(
        agent=aci_items.check_text("agent", agent, non_empty=True),
        title=aci_items.check_text("title", title, non_empty=True),
        items=tuple(items),
        after=(after,) if isinstance(after, str) else tuple(after),
        context=tuple(context),
        references=tuple(references),
        repeatable=repeatable,
        id=id,
    )


class PlannedContexts(NamedTuple):
    """A plan as contexts."""

    contexts: tuple[AgentContext, ...]
    """One context for each subtask."""
    repeatable: frozenset[str]
    """The SubTaskIDs of the steps that are repeatable."""


def plan_contexts(plan: Iterable[AgentContext] | Iterable[Step]) -> PlannedContexts:
    """Return the contexts of a plan; contexts stay as they are, steps become contexts.

    Raises:
        ProtocolError: E1004, a step waits for itself or for a name that no other step, or more than one, has, or two
            steps have one id. `Plan.of` refuses cycles.
    """
    entries = list(plan)
    steps = [entry for entry in entries if isinstance(entry, Step)]
    contexts = [entry for entry in entries if isinstance(entry, AgentContext)]
    if len(steps) + len(contexts) != len(entries):
        wrong = next(entry for entry in entries if not isinstance(entry, (Step, AgentContext)))
        raise aci_items.violation(ErrorCode.INVALID_TYPE, "a plan of steps or of AgentContexts", wrong)
    ids = _ids(steps)
    made = tuple(_context(place, steps, ids) for place in range(len(steps)))
    again = frozenset(own for own, each in zip(ids, steps, strict=True) if each.repeatable)
    return PlannedContexts((*contexts, *made), again)


def _ids(steps: Sequence[Step]) -> list[str]:
    """Return the SubTaskIDs: the given ones, else "s" and the place, with zeros so that they sort in order."""
    width = len(str(len(steps)))
    return [each.id or f"s{place:0{width}}" for place, each in enumerate(steps, 1)]


def _context(place: int, steps: Sequence[Step], ids: Sequence[str]) -> AgentContext:
    own = steps[place]
    return AgentContext(
        agent_id=own.agent,
        subtask_id=ids[place],
        subtask_name=own.title,
        dependencies=tuple(dict.fromkeys(_find(name, place, steps, ids) for name in own.after)),
        context=own.context,
        context_uri=own.references,
        todo_items=aci_items.todo(*(own.items or (own.title,))),
    )


def _find(name: str, place: int, steps: Sequence[Step], ids: Sequence[str]) -> str:
    """Return the id of the one other step that `name` means: an id first, then a title or an agent."""
    others = [n for n in range(len(steps)) if n != place]
    found = [n for n in others if ids[n] == name] or [n for n in others if name in (steps[n].title, steps[n].agent)]
    if len(found) == 1:
        return ids[found[0]]
    title = steps[place].title
    if not found:
        known = [f"{steps[n].agent}: {steps[n].title}" for n in others]
        raise aci_items.violation(
            ErrorCode.INVALID_TYPE, f"after of step {title!r} to name another step of {known}", name
        )
    several = [steps[n].title for n in found]
    raise aci_items.violation(
        ErrorCode.INVALID_TYPE, f"after of step {title!r} to name one step, by its title of {several}", name
    )
