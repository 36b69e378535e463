"""The text that an agent's model reads of a context (ACI sections 4.1 and 5.3).

Section 4.1 requires that each agent receives "only the context strictly relevant to its assigned task": ids, names and
states are for the programs at both ends. A model gets the steps, the facts that it needs and the references that it may
open, and answers in lines; a structured answer would add a schema to every prompt.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from accp_core.aci.checks import Json
from accp_core.aci.contexts import AgentContext
from accp_core.markers import MarkerStart, escape_markers
from accp_core.ports import TokenCounter
from accp_core.references import short_reference, uri_to_key
from accp_core.view import render

__all__ = ["HOW_TO_ANSWER", "HOW_TO_ANSWER_ONE", "brief", "how_to_answer"]

HOW_TO_ANSWER: Final = "Answer one line per item: `id: done: result` or `id: not done: why`."
HOW_TO_ANSWER_ONE: Final = "Answer `done: result` or `not done: why`."

_BRIEF_KEYS: Final = ("task", "do", "context", "refs")


def brief(context: AgentContext, *, counter: TokenCounter) -> str:
    """Return the text that tells a model what to do, as a view, and how to answer.

    References of an ACCP state are written as a model opens them (`$cold.057361804427`), other URIs unchanged. What
    looks like a marker of ours in a result says that it is source text, but in a preview of a text that it may open.
    """
    return f"{render(_brief_fields(context), counter=counter)}\n{how_to_answer(context)}"


def how_to_answer(context: AgentContext) -> str:
    """Return the sentence that asks for an answer to the items of `context`."""
    return HOW_TO_ANSWER_ONE if len(context.todo_items) == 1 else HOW_TO_ANSWER


def _brief_fields(context: AgentContext) -> dict[str, Json]:
    """Return the fields of the brief that are not empty, under keys that a model understands."""
    items = {item.item_id: item.description or context.subtask_name for item in context.todo_items}
    only = next(iter(items.values())) if len(items) == 1 else None
    task: dict[str, Json] = {
        "task": "" if only == context.subtask_name else context.subtask_name,
        "do": items if only is None else only,
    }
    fields: dict[str, Json] = {name: value for name, value in task.items() if value} | _inline(_escaped(context))
    if references := _other_references(context, str(fields)):
        fields["refs"] = references
    return fields


def _escaped(context: AgentContext) -> tuple[Json, ...]:
    """Return inline context as a model is shown it: other agents wrote it."""
    references = _references(context)

    def escaped(value: Json) -> Json:
        if isinstance(value, str):
            first = value.partition("\n")[0]
            is_preview = first.startswith(MarkerStart.PREVIEW) and any(reference in first for reference in references)
            return value if is_preview else escape_markers(value)
        if isinstance(value, Mapping):
            return {key: escaped(member) for key, member in value.items()}
        return [escaped(item) for item in value] if isinstance(value, list | tuple) else value

    return tuple(escaped(value) for value in context.context)


def _inline(values: tuple[Json, ...]) -> dict[str, Json]:
    """Return inline context: the members of maps as fields of the brief, where no key comes twice; else one list."""
    keys = [key for value in values if isinstance(value, Mapping) for key in value]
    if len({*keys, *_BRIEF_KEYS}) == len(keys) + len(_BRIEF_KEYS):
        fields = {key: member for value in values if isinstance(value, Mapping) for key, member in value.items()}
        values = tuple(value for value in values if not isinstance(value, Mapping))
    else:
        fields = {}
    if values:
        fields["context"] = values[0] if len(values) == 1 else list(values)
    return fields


def _other_references(context: AgentContext, shown: str) -> list[str]:
    """Return the references that are not in `shown`: a model opens those in a result where it reads them."""
    return [reference for reference in _references(context) if reference not in shown]


def _references(context: AgentContext) -> list[str]:
    keys = {uri: uri_to_key(uri) for uri in context.context_uri}
    return [uri if key is None else short_reference(key) for uri, key in keys.items()]
