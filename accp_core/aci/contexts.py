"""The two contexts: the TaskContext of the master and the AgentContext of one agent (ACI sections 5.1 and 5.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, TypeVar

from accp_core.aci import items
from accp_core.error_codes import ErrorCode
from accp_core.references import is_reference, reference_to_uri

__all__ = ["JSON_NAMES", "AgentContext", "FieldReader", "TaskContext", "overall_status", "parse_status"]


# The draft's JSON names, and a reader of the spellings that occur (ACI sections 5.1 to 5.3).

JSON_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "task_id": "TaskID",
        "user_query": "UserQuery",
        "task_name": "TaskName",
        "task_description": "TaskDescription",
        "goal_status": "GoalStatus",
        "overall_status": "OverallStatus",
        "start_time": "StartTime",
        "end_time": "EndTime",
        "goal": "Goal",
        "status": "Status",
        "agent_id": "AgentID",
        "agent_name": "AgentName",
        "subtask_id": "SubTaskID",
        "subtask_name": "SubTaskName",
        "dependencies": "Dependencies",
        "context": "Context",
        "context_uri": "ContextURI",
        "todo_items": "todoItems",
        "item_state_updates": "ItemstateUpdates",
        "key_information": "KeyInformation",
        "last_updated": "LastUpdated",
        "item_id": "itemId",
        "description": "description",
        "state": "state",
        "output_abstract": "outputabstract",
    }
)
"""Attribute to the name that we write; names are case-sensitive."""

# Figure 4 has "ItemstateUpdates", Figure 5 "ItemStateUpdates"; "Context/ContextURI" is a key of Figure 4.
_EITHER_CONTEXT: Final = "Context/ContextURI"
_VARIANTS: Final[Mapping[str, str]] = MappingProxyType({"ItemstateUpdates": "ItemStateUpdates"})
_STATUS: Final[Mapping[str, items.Status]] = MappingProxyType(
    {
        "pending": items.Status.PENDING,
        "notstarted": items.Status.PENDING,
        "inprogress": items.Status.IN_PROGRESS,
        "completed": items.Status.COMPLETED,
        "finished": items.Status.COMPLETED,
        "done": items.Status.COMPLETED,
        "failed": items.Status.FAILED,
    }
)

EntryT = TypeVar("EntryT")


def parse_status(text: str) -> items.Status | None:
    """Return the status that a word means, in any case and with any blanks; None for an unknown word."""
    return _STATUS.get(text.casefold().replace(" ", "").replace("_", ""))


class FieldReader:
    """Reads a JSON object field by field and keeps the fields that were not read."""

    def __init__(self, data: items.Json, wrapper: str) -> None:
        """Read `data`, the object itself or `{wrapper: object}`.

        Raises:
            ProtocolError: E1004, it is neither.
        """
        inner = data[wrapper] if items.is_map(data) and set(data) == {wrapper} else data
        if not items.is_map(inner):
            raise items.violation(ErrorCode.INVALID_TYPE, f"{wrapper}: a JSON object", inner)
        self._left: Final[dict[str, items.Json]] = dict(inner)
        # `"Optional": [...]` is a remark of the schema, not a field.
        self._left.pop("Optional", None)
        self.notes: Final[list[str]] = []
        """Sentences about what was read although we would write it differently; for a log."""

    def value(self, name: str) -> items.Json:
        """Return the value under the JSON name of an attribute, or under its variant; None where there is none.

        Raises:
            ProtocolError: E1001, both spellings occur.
        """
        spelled = JSON_NAMES[name]
        variant = _VARIANTS.get(spelled, spelled)
        if variant != spelled and variant in self._left:
            if spelled in self._left:
                raise items.violation(ErrorCode.PARSE_ERROR, f"one of {spelled!r} and {variant!r}", "both")
            return self._left.pop(variant)
        return self._left.pop(spelled, None)

    def text(self, name: str) -> Any:
        """Return the text of an attribute, "" where there is none; the dataclass that takes it checks its type."""
        value = self.value(name)
        return "" if value is None else value

    # "optional lifecycle metadata for auditing and scheduling purposes" (section 5.1)
    def time(self, name: str) -> Any:
        """Return the time of an attribute, None where there is none; a text that is no time is kept, with a note."""
        value = self.value(name)
        if isinstance(value, str) and value and not items.is_time(value):
            self.notes.append(f"{JSON_NAMES[name]}: expected a time in ISO 8601 with its zone, found {value!r}")
        return value or None

    def status(self, value: items.Json) -> Any:
        """Return the status that a word means, or the word unchanged, with a note."""
        known = parse_status(value) if isinstance(value, str) else None
        if known is None and isinstance(value, str):
            self.notes.append(f"Status: unknown word {value!r} is kept")
        return value if known is None else known

    def array(self, name: str) -> list[items.Json]:
        """Return the array of an attribute, empty where there is none.

        Raises:
            ProtocolError: E1004, the value is no array; E2003, it has too many entries.
        """
        values = self.value(name)
        if values is not None and not isinstance(values, list):
            raise items.violation(ErrorCode.INVALID_TYPE, f"{JSON_NAMES[name]} to be an array", values)
        if values and len(values) > items.MAX_ENTRIES:
            raise items.violation(
                ErrorCode.BUDGET_EXCEEDED, f"{JSON_NAMES[name]} of at most {items.MAX_ENTRIES:,} entries", len(values)
            )
        return values or []

    def entries(self, name: str, make: Callable[[Any, Any], EntryT], first: str, second: str) -> tuple[EntryT, ...]:
        """Return the entries of an attribute.

        Args:
            name: The attribute.
            make: Makes an entry of two values.
            first: The attribute name of the first value within an entry.
            second: The attribute name of the second value.

        Raises:
            ProtocolError: E1004, an entry lacks one of the two values; as `array`.
        """
        keys = JSON_NAMES[first], JSON_NAMES[second]
        entries = []
        for entry in self.array(name):
            if not items.is_map(entry) or not set(keys) <= set(entry):
                raise items.violation(
                    ErrorCode.INVALID_TYPE, f"{JSON_NAMES[name]}: objects with {keys[0]!r} and {keys[1]!r}", entry
                )
            entries.append(make(entry[keys[0]], entry[keys[1]]))
        return tuple(entries)

    def contexts(self) -> tuple[tuple[items.Json, ...], tuple[str, ...]]:
        """Return the inline contexts and the references under any of the three keys.

        Raises:
            ProtocolError: E1001, the key of Figure 4 occurs together with another one.
        """
        keys = [key for key in (_EITHER_CONTEXT, "Context", "ContextURI") if key in self._left]
        if _EITHER_CONTEXT in keys and len(keys) > 1:
            raise items.violation(ErrorCode.PARSE_ERROR, f"{_EITHER_CONTEXT!r} alone", " and ".join(keys))
        values = [value for key in keys for value in _as_list(self._left.pop(key)) if value not in (None, "")]
        references = [value for value in values if isinstance(value, str) and is_reference(value)]
        inline = tuple(value for value in values if not (isinstance(value, str) and is_reference(value)))
        return inline, tuple(map(reference_to_uri, references))

    def left(self) -> dict[str, items.Json]:
        """Return the fields that were not read."""
        return self._left


def _as_list(value: items.Json) -> list[items.Json]:
    return value if isinstance(value, list) else [value]


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
    goal_status: tuple[items.Goal, ...] = ()
    """The goals, each with its status."""
    start_time: str | None = None
    """A time in ISO 8601, or None."""
    end_time: str | None = None
    """A time in ISO 8601, or None."""
    extra: Mapping[str, items.Json] = field(default_factory=dict)
    """Fields that the draft does not define, unchanged."""
    notes: tuple[str, ...] = field(default=(), compare=False)
    """Sentences about what was unusual in the JSON that it was read from; for a log."""

    def __post_init__(self) -> None:
        items.check_text("TaskID", self.task_id, non_empty=True)
        _check_texts(self, ("user_query", "task_name", "task_description"), ("start_time", "end_time"))
        items.check_entries("goals", self.goal_status)
        items.check_unique("the goals", (goal.goal for goal in self.goal_status))
        _check_extra(self.extra)

    @property
    def overall_status(self) -> items.Status:
        """The status of the task; it follows from the goals and is never set."""
        return overall_status(goal.status for goal in self.goal_status)

    def to_json(self) -> dict[str, items.Json]:
        """Return `{"TaskContext": {...}}` with the names of the draft, without empty fields."""
        data = _texts(self, "task_id", "user_query", "task_name", "task_description")
        goals = [{"Goal": goal.goal, "Status": str(goal.status)} for goal in self.goal_status]
        data |= {"GoalStatus": goals, "OverallStatus": str(self.overall_status)} if goals else {}
        return {_TASK: {**data, **_texts(self, "start_time", "end_time"), **self.extra}}

    @classmethod
    def from_json(cls, data: items.Json) -> TaskContext:
        """Return the context of a JSON object, which may be wrapped in "TaskContext".

        Raises:
            ProtocolError: E1004, it is no TaskContext; E2003, a field is too long.
        """
        fields = FieldReader(data, _TASK)
        goals = fields.entries(
            "goal_status", lambda goal, word: items.Goal(goal, fields.status(word)), "goal", "status"
        )
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
    context: tuple[items.Json, ...] = ()
    """Facts that the agent needs: JSON values, none of them a reference."""
    context_uri: tuple[str, ...] = ()
    """URIs of what the agent may open; a `$cold.x` that is passed becomes `accp://cold/x`."""
    todo_items: tuple[items.TodoItem, ...] = ()
    """The steps of the subtask."""
    item_state_updates: tuple[items.ItemState, ...] = ()
    """The states that the agent reports; an item without a state is not done."""
    key_information: tuple[items.KeyInformation, ...] = ()
    """The result of each item, in few words."""
    last_updated: str | None = None
    """A time in ISO 8601, or None."""
    notes: tuple[str, ...] = field(default=(), compare=False)
    """Sentences about what was unusual in the JSON that it was read from; for a log."""

    def __post_init__(self) -> None:
        items.check_text("AgentID", self.agent_id, non_empty=True)
        items.check_text("SubTaskID", self.subtask_id, non_empty=True)
        _check_texts(self, ("agent_name", "subtask_name"), ("last_updated",))
        for name in _LISTS:
            items.check_entries(JSON_NAMES[name], getattr(self, name))
        for text in (*self.dependencies, *self.context_uri):
            items.check_text("dependencies and references", text, non_empty=True)
        object.__setattr__(self, "context_uri", tuple(dict.fromkeys(map(reference_to_uri, self.context_uri))))
        items.check_unique("the dependencies", self.dependencies)
        for name in ("todo_items", "item_state_updates", "key_information"):
            items.check_unique(f"the items in {JSON_NAMES[name]}", (entry.item_id for entry in getattr(self, name)))
        for value in self.context:
            items.check_context(value)

    @property
    def states(self) -> Mapping[str, int]:
        """itemId to state, for the items that have one."""
        return {entry.item_id: entry.state for entry in self.item_state_updates}

    @property
    def abstracts(self) -> Mapping[str, str]:
        """itemId to abstract, for the items that have one."""
        return {entry.item_id: entry.output_abstract for entry in self.key_information}

    def to_json(self) -> dict[str, items.Json]:
        """Return `{"AgentContext": {...}}` with the names of the draft, without empty fields."""
        data = _texts(self, "agent_id", "agent_name", "subtask_id", "subtask_name")
        lists: dict[str, items.Json] = {
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
    def from_json(cls, data: items.Json) -> AgentContext:
        """Return the context of a JSON object, which may be wrapped in "AgentContext"; unknown fields are dropped.

        Raises:
            ProtocolError: E1001, a field has two spellings; E1004, it is no AgentContext; E2003, a field is too long.
        """
        fields = FieldReader(data, _AGENT)
        context, references = fields.contexts()
        attributes: dict[str, Any] = {
            **{name: fields.text(name) for name in ("agent_id", "agent_name", "subtask_id", "subtask_name")},
            "dependencies": tuple(fields.array("dependencies")),
            "todo_items": fields.entries("todo_items", items.TodoItem, "item_id", "description"),
            "item_state_updates": fields.entries("item_state_updates", items.ItemState, "item_id", "state"),
            "key_information": fields.entries("key_information", items.KeyInformation, "item_id", "output_abstract"),
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
def overall_status(statuses: Iterable[str]) -> items.Status:
    """Return the status of a task from those of its goals; without any goal it is pending."""
    distinct = set(statuses)
    if items.Status.FAILED in distinct:
        return items.Status.FAILED
    if distinct <= {items.Status.PENDING}:
        return items.Status.PENDING
    return items.Status.COMPLETED if distinct == {items.Status.COMPLETED} else items.Status.IN_PROGRESS


def _check_texts(context: object, texts: Iterable[str], times: Iterable[str]) -> None:
    for name in texts:
        items.check_text(JSON_NAMES[name], getattr(context, name))
    for name in times:
        if (value := getattr(context, name)) is not None:
            items.check_text(JSON_NAMES[name], value, non_empty=True)


def _texts(context: object, *names: str) -> dict[str, items.Json]:
    return {JSON_NAMES[name]: value for name in names if (value := getattr(context, name))}


def _one_or_list(values: tuple[items.Json, ...]) -> items.Json:
    """Return a single value as it is and several as a list; a single value that is a list is wrapped in one."""
    return values[0] if len(values) == 1 and not isinstance(values[0], list) else list(values)


def _check_extra(extra: Mapping[str, items.Json]) -> None:
    if known := _TASK_FIELDS & set(extra):
        raise items.violation(ErrorCode.INVALID_TYPE, "fields that the draft does not define", sorted(known))
    items.check_json("other fields", dict(extra))
