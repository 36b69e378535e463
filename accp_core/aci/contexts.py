"""The two contexts: what the master knows of a task, and what one agent gets to know (ACI sections 5.1 and 5.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from accp_core.aci.checks import (
    Json,
    check_context,
    check_entries,
    check_json,
    check_text,
    check_unique,
    violation,
)
from accp_core.aci.items import Goal, ItemState, KeyInformation, Status, TodoItem
from accp_core.aci.json_names import JSON_NAMES, FieldReader, parse_status
from accp_core.error_codes import ErrorCode
from accp_core.references import reference_to_uri

__all__ = ["AgentContext", "TaskContext", "overall_status"]

_TASK: Final = "TaskContext"
_AGENT: Final = "AgentContext"
_TASK_FIELDS: Final = frozenset(list(JSON_NAMES.values())[:8])


# "a structured state object that is created and maintained exclusively by the Master Agent" (section 2.1)
@dataclass(frozen=True, slots=True, kw_only=True)
class TaskContext:
    """The state of a whole task; the master alone writes it, and it never leaves for an invoked agent.

    Raises: ProtocolError: E1004 for a field of another type, E2003 for one that is too long.
    """

    task_id: str
    """Names the task; references are scoped to it."""
    user_query: str = ""
    """What the user asked; no agent but the master sees it."""
    task_name: str = ""
    """A short name."""
    task_description: str = ""
    """What is to be done."""
    goal_status: tuple[Goal, ...] = ()
    """The goals and how far each has come."""
    start_time: str | None = None
    """ISO 8601; None is left out."""
    end_time: str | None = None
    """ISO 8601; None is left out."""
    extra: Mapping[str, Json] = field(default_factory=dict)
    """Fields that the draft does not know, as they stood."""
    notes: tuple[str, ...] = field(default=(), compare=False)
    """What reading it found odd; for a log."""

    def __post_init__(self) -> None:
        check_text("TaskID", self.task_id, non_empty=True)
        _check_texts(self, ("user_query", "task_name", "task_description"), ("start_time", "end_time"))
        check_entries("goals", self.goal_status)
        check_unique("the goals", (goal.goal for goal in self.goal_status))
        _check_extra(self.extra)

    @property
    def overall_status(self) -> Status:
        """The state of the task; it follows from the goals and is never set."""
        return overall_status(goal.status for goal in self.goal_status)

    def to_json(self) -> dict[str, Json]:
        """Return `{"TaskContext": {...}}` in the draft's spelling; what is empty is left out."""
        data = _texts(self, "task_id", "user_query", "task_name", "task_description")
        goals = [{"Goal": goal.goal, "Status": str(goal.status)} for goal in self.goal_status]
        data |= {"GoalStatus": goals, "OverallStatus": str(self.overall_status)} if goals else {}
        return {_TASK: {**data, **_texts(self, "start_time", "end_time"), **self.extra}}

    @classmethod
    def from_json(cls, data: Json) -> TaskContext:
        """Return the context that `data` says, wrapped in "TaskContext" or not.

        Raises: ProtocolError: E1004 when it says none, E2003 when it says too much.
        """
        fields = FieldReader(data, _TASK)
        goals = fields.entries("goal_status", lambda goal, word: Goal(goal, fields.status(word)), "goal", "status")
        context = {
            **{name: fields.text(name) for name in ("task_id", "user_query", "task_name", "task_description")},
            **{name: fields.time(name) for name in ("start_time", "end_time")},
        }
        said = fields.text("overall_status")
        if said and isinstance(said, str) and parse_status(said) != overall_status(goal.status for goal in goals):
            fields.notes.append(f"OverallStatus: {said!r} is not what the goals say")
        return cls(**context, goal_status=goals, extra=fields.left(), notes=tuple(fields.notes))


# "strictly isolated between subtasks; during each subtask invocation, only the AgentContext instance corresponding
# to the target agent is delivered" (section 2.1)
@dataclass(frozen=True, slots=True, kw_only=True)
class AgentContext:
    """What one agent gets to know for one subtask, and what it returns.

    Raises: ProtocolError: E1004 for a field of another type or an entry that comes twice, E2003 for one that is
        too long.
    """

    agent_id: str
    """Who is to do it."""
    agent_name: str = ""
    """How people call that agent."""
    subtask_id: str
    """Which subtask."""
    subtask_name: str = ""
    """What it is, in few words."""
    dependencies: tuple[str, ...] = ()
    """The subtasks that must be complete before."""
    context: tuple[Json, ...] = ()
    """What the agent must know, inline: JSON values, none of them a reference."""
    context_uri: tuple[str, ...] = ()
    """What the agent may open: URIs; `$cold.x` given here becomes `accp://cold/x`."""
    todo_items: tuple[TodoItem, ...] = ()
    """The steps."""
    item_state_updates: tuple[ItemState, ...] = ()
    """What the agent says it did; an item that is not here is not done."""
    key_information: tuple[KeyInformation, ...] = ()
    """What came out of each item."""
    last_updated: str | None = None
    """ISO 8601; None is left out."""
    notes: tuple[str, ...] = field(default=(), compare=False)
    """What reading it found odd; for a log."""

    def __post_init__(self) -> None:
        check_text("AgentID", self.agent_id, non_empty=True)
        check_text("SubTaskID", self.subtask_id, non_empty=True)
        _check_texts(self, ("agent_name", "subtask_name"), ("last_updated",))
        for name in _LISTS:
            check_entries(JSON_NAMES[name], getattr(self, name))
        for each in (*self.dependencies, *self.context_uri):
            check_text("dependencies and references", each, non_empty=True)
        object.__setattr__(self, "context_uri", tuple(dict.fromkeys(map(reference_to_uri, self.context_uri))))
        check_unique("the dependencies", self.dependencies)
        for name in ("todo_items", "item_state_updates", "key_information"):
            check_unique(f"the items in {JSON_NAMES[name]}", (entry.item_id for entry in getattr(self, name)))
        for value in self.context:
            check_context(value)

    @property
    def states(self) -> Mapping[str, int]:
        """Item to state, for the items that have one."""
        return {each.item_id: each.state for each in self.item_state_updates}

    @property
    def abstracts(self) -> Mapping[str, str]:
        """Item to abstract, for the items that have one."""
        return {each.item_id: each.output_abstract for each in self.key_information}

    def to_json(self) -> dict[str, Json]:
        """Return `{"AgentContext": {...}}` in the draft's spelling; what is empty is left out."""
        data = _texts(self, "agent_id", "agent_name", "subtask_id", "subtask_name")
        lists: dict[str, Json] = {
            "dependencies": list(self.dependencies),
            "context": _one_or_list(self.context),
            "context_uri": _one_or_list(self.context_uri),
            "todo_items": [{"itemId": each.item_id, "description": each.description} for each in self.todo_items],
            "item_state_updates": [{"itemId": item, "state": state} for item, state in self.states.items()],
            "key_information": [{"itemId": item, "outputabstract": text} for item, text in self.abstracts.items()],
        }
        data |= {JSON_NAMES[name]: value for name, value in lists.items() if value != []}
        return {_AGENT: {**data, **_texts(self, "last_updated")}}

    @classmethod
    def from_json(cls, data: Json) -> AgentContext:
        """Return the context that `data` says, wrapped in "AgentContext" or not; unknown fields are dropped.

        Raises: ProtocolError: E1001 for one field in two spellings, E1004 when it says no context, E2003 when it
            says too much.
        """
        fields = FieldReader(data, _AGENT)
        context, references = fields.contexts()
        found: dict[str, Any] = {
            **{name: fields.text(name) for name in ("agent_id", "agent_name", "subtask_id", "subtask_name")},
            "dependencies": tuple(fields.array("dependencies")),
            "todo_items": fields.entries("todo_items", TodoItem, "item_id", "description"),
            "item_state_updates": fields.entries("item_state_updates", ItemState, "item_id", "state"),
            "key_information": fields.entries("key_information", KeyInformation, "item_id", "output_abstract"),
            "last_updated": fields.time("last_updated"),
        }
        # An SDK sends whole outputs in fields of its own, which is what contexts are there to avoid.
        dropped = list(fields.left())[:_NOTED]
        fields.notes.extend(f"{name!r:.50} is no field of an AgentContext and was dropped" for name in dropped)
        return cls(**found, context=context, context_uri=references, notes=tuple(fields.notes))


_NOTED: Final = 10
"""Dropped fields that are named; a peer may send any number."""
_LISTS: Final = ("dependencies", "context", "context_uri", "todo_items", "item_state_updates", "key_information")


# "An aggregated OverallStatus field reflects the global execution state derived from these goals." (section 5.1)
def overall_status(statuses: Iterable[str]) -> Status:
    """Return what the statuses of goals come to: without any goal nothing is completed."""
    found = set(statuses)
    if Status.FAILED in found:
        return Status.FAILED
    if found <= {Status.PENDING}:
        return Status.PENDING
    return Status.COMPLETED if found == {Status.COMPLETED} else Status.IN_PROGRESS


def _check_texts(context: object, texts: Iterable[str], times: Iterable[str]) -> None:
    for name in texts:
        check_text(JSON_NAMES[name], getattr(context, name))
    for name in times:
        if (value := getattr(context, name)) is not None:
            check_text(JSON_NAMES[name], value, non_empty=True)


def _texts(context: object, *names: str) -> dict[str, Json]:
    return {JSON_NAMES[name]: value for name in names if (value := getattr(context, name))}


def _one_or_list(values: tuple[Json, ...]) -> Json:
    """Return one value as itself and several as a list; a value that is a list keeps a list of its own."""
    return values[0] if len(values) == 1 and not isinstance(values[0], list) else list(values)


def _check_extra(extra: Mapping[str, Json]) -> None:
    if known := _TASK_FIELDS & set(extra):
        raise violation(ErrorCode.INVALID_TYPE, "other fields than those of the draft", sorted(known))
    check_json("other fields", dict(extra))
