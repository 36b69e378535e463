"""The text that an agent's model reads of a context, and its plain answer as the context that is returned.

Section 4.1 requires that each agent receives "only the context strictly relevant to its assigned task": ids, names and
states are for the programs at both ends. A model gets the steps, the facts that it needs and the references that it may
open, and answers in lines; a structured answer would add a schema to every prompt.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from accp_core.aci.checks import Json
from accp_core.aci.contexts import AgentContext
from accp_core.aci.items import DONE, OPEN, ItemState, KeyInformation
from accp_core.ports import TokenCounter
from accp_core.references import uri_to_reference
from accp_core.view import render

__all__ = ["HOW_TO_ANSWER", "HOW_TO_ANSWER_ONE", "ItemAnswer", "brief", "read_answers", "with_answers"]

HOW_TO_ANSWER: Final = "Answer one line per item: `id: result`, or `id: not done: why`."
HOW_TO_ANSWER_ONE: Final = "If you cannot do it, answer `not done: why`."

_BRIEF_KEYS: Final = ("task", "do", "context", "refs")
_NOT_DONE: Final = re.compile(r"not done\b\s*:?\s*", re.IGNORECASE)


def brief(context: AgentContext, *, counter: TokenCounter) -> str:
    """Return the text that tells a model what to do, as a view, and how to answer.

    References of an ACCP state are written as a model opens them (`$cold.c9523506b4bd`), other URIs unchanged.
    """
    is_one = len(context.todo_items) == 1
    return f"{render(_brief_fields(context), counter=counter)}\n{HOW_TO_ANSWER_ONE if is_one else HOW_TO_ANSWER}"


def _brief_fields(context: AgentContext) -> dict[str, Json]:
    """Return the fields of the brief that are not empty, under keys that a model understands."""
    items = {item.item_id: item.description or context.subtask_name for item in context.todo_items}
    only = next(iter(items.values())) if len(items) == 1 else None
    task: dict[str, Json] = {
        "task": "" if only == context.subtask_name else context.subtask_name,
        "do": items if only is None else only,
    }
    fields: dict[str, Json] = {name: value for name, value in task.items() if value} | _inline(context.context)
    if references := _other_references(context, str(fields)):
        fields["refs"] = references
    return fields


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
    references = [uri_to_reference(uri) for uri in context.context_uri]
    return [reference for reference in references if reference not in shown]


@dataclass(frozen=True, slots=True)
class ItemAnswer:
    """An agent's answer to one item."""

    done: bool
    """Whether the agent reports the item as done."""
    text: str
    """The result, or why the item is not done."""


def read_answers(context: AgentContext, text: str) -> dict[str, ItemAnswer]:
    """Return the answers in a model's text by itemId; items that the text does not name are left out.

    An item begins at the start of a line: `1: result`, or `1. result` where no line has a colon. A result may have
    several lines, up to the next item. The answer to a single item needs no id.
    """
    items = [item.item_id for item in context.todo_items]
    names = "|".join(re.escape(item) for item in sorted(items, key=len, reverse=True))
    starts = _find_starts(names, ":", text) or _find_starts(names, "[.)]", text)
    if not starts:
        return {items[0]: _read_answer(text)} if len(items) == 1 and text.strip() else {}
    ends = [*(start.start() for start in starts[1:]), len(text)]
    return {start[1]: _read_answer(text[start.end() : end]) for start, end in zip(starts, ends, strict=True)}


def _find_starts(names: str, sign: str, text: str) -> list[re.Match[str]]:
    """Return the first place where each item begins: a second one belongs to a list within some result."""
    starts: dict[str, re.Match[str]] = {}
    for start in re.finditer(rf"^[ \t>*`-]*({names})[*`]*{sign}[*`]*[ \t]*", text, re.MULTILINE):
        starts.setdefault(start[1], start)
    return list(starts.values())


def _read_answer(text: str) -> ItemAnswer:
    stripped = text.strip()
    undone = _NOT_DONE.match(stripped)
    return ItemAnswer(False, stripped[undone.end() :]) if undone else ItemAnswer(True, stripped)


def with_answers(context: AgentContext, answers: Mapping[str, ItemAnswer]) -> AgentContext:
    """Return the context that an agent returns: each answer as the state and the abstract of its item.

    Raises:
        ProtocolError: E2003, an answer is too long for an abstract; `reply_from_words` takes answers of any length.
    """
    given = [(item.item_id, answers[item.item_id]) for item in context.todo_items if item.item_id in answers]
    return replace(
        context,
        item_state_updates=tuple(ItemState(item, DONE if answer.done else OPEN) for item, answer in given),
        key_information=tuple(KeyInformation(item, answer.text) for item, answer in given if answer.text),
    )
