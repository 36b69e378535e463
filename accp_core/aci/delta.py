"""A context as one flat map, in which a change of one item changes one key (ACI 5.2; the deltas of ACCP 5.4).

With the draft's arrays each changed item would send its whole array again. An update of five items takes 283 tokens as
a whole context, 172 as whole arrays, and 38 with one key for each state and each abstract.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from accp_core.aci.checks import Json, is_map, violation
from accp_core.aci.contexts import AgentContext
from accp_core.aci.items import ItemState, KeyInformation, TodoItem
from accp_core.error_codes import ErrorCode
from accp_core.packing.delta import Removed, apply, diff

__all__ = ["context_to_fields", "diff_contexts", "fields_to_context", "patch_context"]

_TEXTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "agent_id": "agent",
        "agent_name": "agent_name",
        "subtask_id": "subtask",
        "subtask_name": "name",
        "last_updated": "updated",
    }
)
_LISTS: Final[Mapping[str, str]] = MappingProxyType(
    {"dependencies": "deps", "context": "context", "context_uri": "refs"}
)
_TODO, _STATE, _INFO = "todo_", "state_", "info_"


def context_to_fields(context: AgentContext) -> dict[str, Json]:
    """Return a context as a flat map, without empty fields.

    Its keys are `agent`, `agent_name`, `subtask`, `name`, `updated`, `deps`, `context` and `refs`, and for each item
    `todo_<id>` (description), `state_<id>` and `info_<id>` (abstract).
    """
    fields = {key: value for name, key in _TEXTS.items() if (value := getattr(context, name))}
    fields |= {key: list(value) for name, key in _LISTS.items() if (value := getattr(context, name))}
    fields |= {f"{_TODO}{item.item_id}": item.description for item in context.todo_items}
    fields |= {f"{_STATE}{item}": state for item, state in context.states.items()}
    return fields | {f"{_INFO}{item}": abstract for item, abstract in context.abstracts.items()}


def fields_to_context(fields: Json) -> AgentContext:
    """Return the context of such a map; unknown keys are ignored.

    Raises:
        ProtocolError: E1004, it is no such map, or a field has another type; E2003, a field is too long.
    """
    if not is_map(fields):
        raise violation(ErrorCode.INVALID_TYPE, "the fields of an AgentContext", fields)
    for key in ("agent", "subtask"):
        if key not in fields:
            raise violation(ErrorCode.INVALID_TYPE, f"an AgentContext with {key!r}", list(fields))
    attributes: dict[str, Any] = {name: fields[key] for name, key in _TEXTS.items() if key in fields}
    attributes |= {name: _entries(key, fields[key]) for name, key in _LISTS.items() if key in fields}
    return AgentContext(
        **attributes,
        todo_items=tuple(TodoItem(item, value) for item, value in _items(fields, _TODO)),
        item_state_updates=tuple(ItemState(item, value) for item, value in _items(fields, _STATE)),
        key_information=tuple(KeyInformation(item, value) for item, value in _items(fields, _INFO)),
    )


def diff_contexts(old: AgentContext, new: AgentContext) -> dict[str, Json | Removed]:
    """Return the delta from `old` to `new`, for a receiver that has `old`; `patch_context` applies it."""
    return diff(context_to_fields(old), context_to_fields(new))


def patch_context(old: AgentContext, delta: Mapping[str, Json | Removed]) -> AgentContext:
    """Return `old` with `delta` applied, which `diff_contexts` made.

    Raises:
        ProtocolError: As `fields_to_context`.
    """
    return fields_to_context(apply(context_to_fields(old), delta))


def _items(fields: Mapping[str, Json], prefix: str) -> list[tuple[str, Json]]:
    return [(key.removeprefix(prefix), value) for key, value in fields.items() if key.startswith(prefix)]


def _entries(key: str, value: Json) -> tuple[Json, ...]:
    if not isinstance(value, (list, tuple)):
        raise violation(ErrorCode.INVALID_TYPE, f"{key} to be an array", value)
    return tuple(value)
