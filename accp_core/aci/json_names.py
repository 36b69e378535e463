"""The draft's JSON names, and a reader of the spellings that occur (ACI sections 5.1 to 5.3).

The figures of the draft are not JSON, and they spell two fields in two ways each. We write one spelling and read the
variants below; everything else is refused or noted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeVar

from accp_core.aci.checks import MAX_ENTRIES, Json, is_map, is_time, violation
from accp_core.aci.items import Status
from accp_core.error_codes import ErrorCode
from accp_core.references import is_reference, reference_to_uri

__all__ = ["JSON_NAMES", "FieldReader", "parse_status"]

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
_STATUS: Final[Mapping[str, Status]] = MappingProxyType(
    {
        "pending": Status.PENDING,
        "notstarted": Status.PENDING,
        "inprogress": Status.IN_PROGRESS,
        "completed": Status.COMPLETED,
        "finished": Status.COMPLETED,
        "done": Status.COMPLETED,
        "failed": Status.FAILED,
    }
)

EntryT = TypeVar("EntryT")


def parse_status(text: str) -> Status | None:
    """Return the status that a word means, in any case and with any blanks; None for an unknown word."""
    return _STATUS.get(text.casefold().replace(" ", "").replace("_", ""))


class FieldReader:
    """Reads a JSON object field by field and keeps the fields that were not read."""

    def __init__(self, data: Json, wrapper: str) -> None:
        """Read `data`, the object itself or `{wrapper: object}`.

        Raises:
            ProtocolError: E1004, it is neither.
        """
        inner = data[wrapper] if is_map(data) and set(data) == {wrapper} else data
        if not is_map(inner):
            raise violation(ErrorCode.INVALID_TYPE, f"{wrapper}: a JSON object", inner)
        self._left: Final[dict[str, Json]] = dict(inner)
        # `"Optional": [...]` is a remark of the schema, not a field.
        self._left.pop("Optional", None)
        self.notes: Final[list[str]] = []
        """Sentences about what was read although we would write it differently; for a log."""

    def value(self, name: str) -> Json:
        """Return the value under the JSON name of an attribute, or under its variant; None where there is none.

        Raises:
            ProtocolError: E1001, both spellings occur.
        """
        spelled = JSON_NAMES[name]
        variant = _VARIANTS.get(spelled, spelled)
        if variant != spelled and variant in self._left:
            if spelled in self._left:
                raise violation(ErrorCode.PARSE_ERROR, f"one of {spelled!r} and {variant!r}", "both")
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
        if isinstance(value, str) and value and not is_time(value):
            self.notes.append(f"{JSON_NAMES[name]}: expected a time in ISO 8601 with its zone, found {value!r}")
        return value or None

    def status(self, value: Json) -> Any:
        """Return the status that a word means, or the word unchanged, with a note."""
        known = parse_status(value) if isinstance(value, str) else None
        if known is None and isinstance(value, str):
            self.notes.append(f"Status: unknown word {value!r} is kept")
        return value if known is None else known

    def array(self, name: str) -> list[Json]:
        """Return the array of an attribute, empty where there is none.

        Raises:
            ProtocolError: E1004, the value is no array; E2003, it has too many entries.
        """
        values = self.value(name)
        if values is not None and not isinstance(values, list):
            raise violation(ErrorCode.INVALID_TYPE, f"{JSON_NAMES[name]} to be an array", values)
        if values and len(values) > MAX_ENTRIES:
            raise violation(
                ErrorCode.BUDGET_EXCEEDED, f"{JSON_NAMES[name]} of at most {MAX_ENTRIES:,} entries", len(values)
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
            if not is_map(entry) or not set(keys) <= set(entry):
                raise violation(
                    ErrorCode.INVALID_TYPE, f"{JSON_NAMES[name]}: objects with {keys[0]!r} and {keys[1]!r}", entry
                )
            entries.append(make(entry[keys[0]], entry[keys[1]]))
        return tuple(entries)

    def contexts(self) -> tuple[tuple[Json, ...], tuple[str, ...]]:
        """Return the inline contexts and the references under any of the three keys.

        Raises:
            ProtocolError: E1001, the key of Figure 4 occurs together with another one.
        """
        keys = [key for key in (_EITHER_CONTEXT, "Context", "ContextURI") if key in self._left]
        if _EITHER_CONTEXT in keys and len(keys) > 1:
            raise violation(ErrorCode.PARSE_ERROR, f"{_EITHER_CONTEXT!r} alone", " and ".join(keys))
        values = [value for key in keys for value in _as_list(self._left.pop(key)) if value not in (None, "")]
        references = [value for value in values if isinstance(value, str) and is_reference(value)]
        inline = tuple(value for value in values if not (isinstance(value, str) and is_reference(value)))
        return inline, tuple(map(reference_to_uri, references))

    def left(self) -> dict[str, Json]:
        """Return the fields that were not read."""
        return self._left


def _as_list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]
