"""The two contexts: the TaskContext of the master and the AgentContext of one agent (ACI sections 5.1 and 5.2)."""

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
    """The state of a whole task; only the master writes it, and no invoked agent ever receives it.

    Raises:
        ProtocolError: E1004, a field has another type; E2003, a field is too long.
    """

    task_id: str
    """Identifies the task; its stored results have a session of their own (`scope_of`)."""
    user_query: str = ""
    """The words of the user; no agent but the master sees them."""
    task_name: str = ""
    """A short name."""
    task_description: str = ""
    """What is to be done."""
    goal_status: tuple[Goal, ...] = ()
    """The goals, each with its status."""
    start_time: str | None = None
    """A time in ISO 8601, or None."""
    end_time: str | None = None
    """A time in ISO 8601, or None."""
    extra: Mapping[str, Json] = field(default_factory=dict)
    """Fields that the draft does not define, unchanged."""
    notes: tuple[str, ...] = field(default=(), compare=False)
    """Sentences about what was unusual in the JSON that it was read from; for a log."""

    def __post_init__(self) -> None:
        check_text("TaskID", self.task_id, non_empty=True)
        _check_texts(self, ("user_query", "task_name", "task_description"), ("start_time", "end_time"))
        check_entries("goals", self.goal_status)
        check_unique("the goals", (goal.goal for goal in self.goal_status))
        _check_extra(self.extra)

    @property
    def overall_status(self) -> Status:
        """The status of the task; it follows from the goals and is never set."""
        return overall_status(goal.status for goal in self.goal_status)

    def to_json(self) -> dict[str, Json]:
        """Return `{"TaskContext": {...}}` with the names of the draft, without empty fields."""
        data = _texts(self, "task_id", "user_query", "task_name", "task_description")
        goals = [{"Goal": goal.goal, "Status": str(goal.status)} for goal in self.goal_status]
        data |= {"GoalStatus": goals, "OverallStatus": str(self.overall_status)} if goals else {}
        return {_TASK: {**data, **_texts(self, "start_time", "end_time"), **self.extra}}

    @classmethod
    def from_json(cls, data: Json) -> TaskContext:
        """Return the context of a JSON object, which may be wrapped in "TaskContext".

        Raises:
            ProtocolError: E1004, it is no TaskContext; E2003, a field is too long.
        """
        fields = FieldReader(data, _TASK)
        goals = fields.entries("goal_status", lambda goal, word: Goal(goal, fields.status(word)), "goal", "status")
        context = {
            **{name: fields.text(name) for name in ("task_id", "user_query", "task_name", "task_description")},
            **{name: fields.time(name) for name in ("start_time", "end_time")},
        }
        overall = fields.text("overall_status")
        expected = overall_status(goal.status for goal in goals)
        if overall and isinstance(overall, str) and parse_status(overall) != expected:
            fields.notes.append(f"OverallStatus: expected {expected!s} by the goals, found {overall!r}")
        return cls(**context, goal_status=goals, extra=fields.left(), notes=tuple(fields.notes))


# "strictly isolated between subtasks; during each subtask invocation, only the AgentContext instance corresponding
# to the target agent is delivered" (section 2.1)
@dataclass(frozen=True, slots=True, kw_only=True)
class AgentContext:
    """All that one agent receives for one subtask, and what it returns.

    Raises:
        ProtocolError: E1004, a field has another type or an entry comes twice; E2003, a field is too long.
    """

    agent_id: str
    """The agent that works on the subtask."""
    agent_name: str = ""
    """The name of the agent, for people."""
    subtask_id: str
    """Identifies the subtask within its task."""
    subtask_name: str = ""
    """A short description of the subtask."""
    dependencies: tuple[str, ...] = ()
    """The ids of the subtasks that must be completed before."""
    context: tuple[Json, ...] = ()
    """Facts that the agent needs: JSON values, none of them a reference."""
    context_uri: tuple[str, ...] = ()
    """URIs of what the agent may open; a `$cold.x` that is passed becomes `accp://cold/x`."""
    todo_items: tuple[TodoItem, ...] = ()
    """The steps of the subtask."""
    item_state_updates: tuple[ItemState, ...] = ()
    """The states that the agent reports; an item without a state is not done."""
    key_information: tuple[KeyInformation, ...] = ()
    """The result of each item, in few words."""
    last_updated: str | None = None
    """A time in ISO 8601, or None."""
    notes: tuple[str, ...] = field(default=(), compare=False)
    """Sentences about what was unusual in the JSON that it was read from; for a log."""

    def __post_init__(self) -> None:
        check_text("AgentID", self.agent_id, non_empty=True)
        check_text("SubTaskID", self.subtask_id, non_empty=True)
        _check_texts(self, ("agent_name", "subtask_name"), ("last_updated",))
        for name in _LISTS:
            check_entries(JSON_NAMES[name], getattr(self, name))
        for text in (*self.dependencies, *self.context_uri):
            check_text("dependencies and references", text, non_empty=True)
        object.__setattr__(self, "context_uri", tuple(dict.fromkeys(map(reference_to_uri, self.context_uri))))
        check_unique("the dependencies", self.dependencies)
        for name in ("todo_items", "item_state_updates", "key_information"):
            check_unique(f"the items in {JSON_NAMES[name]}", (entry.item_id for entry in getattr(self, name)))
        for value in self.context:
            check_context(value)

    @property
    def states(self) -> Mapping[str, int]:
        """itemId to state, for the items that have one."""
        return {entry.item_id: entry.state for entry in self.item_state_updates}

    @property
    def abstracts(self) -> Mapping[str, str]:
        """itemId to abstract, for the items that have one."""
        return {entry.item_id: entry.output_abstract for entry in self.key_information}

    def to_json(self) -> dict[str, Json]:
        """Return `{"AgentContext": {...}}` with the names of the draft, without empty fields."""
        data = _texts(self, "agent_id", "agent_name", "subtask_id", "subtask_name")
        lists: dict[str, Json] = {
            "dependencies": list(self.dependencies),
            "context": _one_or_list(self.context),
            "context_uri": _one_or_list(self.context_uri),
            "todo_items": [{"itemId": item.item_id, "description": item.description} for item in self.todo_items],
            "item_state_updates": [{"itemId": item, "state": state} for item, state in self.states.items()],
            "key_information": [{"itemId": item, "outputabstract": text} for item, text in self.abstracts.items()],
        }
        data |= {JSON_NAMES[name]: value for name, value in lists.items() if value != []}
        return {_AGENT: {**data, **_texts(self, "last_updated")}}

    @classmethod
    def from_json(cls, data: Json) -> AgentContext:
        """Return the context of a JSON object, which may be wrapped in "AgentContext"; unknown fields are dropped.

        Raises:
            ProtocolError: E1001, a field has two spellings; E1004, it is no AgentContext; E2003, a field is too long.
        """
        fields = FieldReader(data, _AGENT)
        context, references = fields.contexts()
        attributes: dict[str, Any] = {
            **{name: fields.text(name) for name in ("agent_id", "agent_name", "subtask_id", "subtask_name")},
            "dependencies": tuple(fields.array("dependencies")),
            "todo_items": fields.entries("todo_items", TodoItem, "item_id", "description"),
            "item_state_updates": fields.entries("item_state_updates", ItemState, "item_id", "state"),
            "key_information": fields.entries("key_information", KeyInformation, "item_id", "output_abstract"),
            "last_updated": fields.time("last_updated"),
        }
        # Some SDKs send whole outputs in fields of their own, which contexts exist to avoid.
        dropped = list(fields.left())[:_MAX_NOTES]
        fields.notes.extend(f"{name!r:.50} is no field of an AgentContext and was dropped" for name in dropped)
        return cls(**attributes, context=context, context_uri=references, notes=tuple(fields.notes))


_MAX_NOTES: Final = 10
"""Dropped fields that are named in `notes`; a peer may send any number."""
_LISTS: Final = ("dependencies", "context", "context_uri", "todo_items", "item_state_updates", "key_information")


# "An aggregated OverallStatus field reflects the global execution state derived from these goals." (section 5.1)
def overall_status(statuses: Iterable[str]) -> Status:
    """Return the status of a task from those of its goals; without any goal it is pending."""
    distinct = set(statuses)
    if Status.FAILED in distinct:
        return Status.FAILED
    if distinct <= {Status.PENDING}:
        return Status.PENDING
    return Status.COMPLETED if distinct == {Status.COMPLETED} else Status.IN_PROGRESS


def _check_texts(context: object, texts: Iterable[str], times: Iterable[str]) -> None:
    for name in texts:
        check_text(JSON_NAMES[name], getattr(context, name))
    for name in times:
        if (value := getattr(context, name)) is not None:
            check_text(JSON_NAMES[name], value, non_empty=True)


def _texts(context: object, *names: str) -> dict[str, Json]:
    return {JSON_NAMES[name]: value for name in names if (value := getattr(context, name))}


def _one_or_list(values: tuple[Json, ...]) -> Json:
    """Return a single value as it is and several as a list; a single value that is a list is wrapped in one."""
    return values[0] if len(values) == 1 and not isinstance(values[0], list) else list(values)


def _check_extra(extra: Mapping[str, Json]) -> None:
    if known := _TASK_FIELDS & set(extra):
        raise violation(ErrorCode.INVALID_TYPE, "fields that the draft does not define", sorted(known))
    check_json("other fields", dict(extra))
