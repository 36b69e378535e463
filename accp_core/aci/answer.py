"""What an agent's model reads of a context, and how its plain answer becomes the context that is returned.

Section 4.1 wants each agent to receive "only the context strictly relevant to its assigned task": ids, names and
states serve the programs at both ends. A model gets the steps, what it must know and what it may open, and answers in
lines; a structured answer would cost a schema in every prompt.
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

_OURS: Final = ("task", "do", "context", "refs")
_NOT_DONE: Final = re.compile(r"not done\b\s*:?\s*", re.IGNORECASE)


def brief(context: AgentContext, *, counter: TokenCounter) -> str:
    """Return the text that tells a model what to do, in the notation of views, and how to answer.

    References are spelled as a model opens them, `$cold.c9523506b4bd`; other URIs as they are.
    """
    one = len(context.todo_items) == 1
    return f"{render(_fields(context), counter=counter)}\n{HOW_TO_ANSWER_ONE if one else HOW_TO_ANSWER}"


def _fields(context: AgentContext) -> dict[str, Json]:
    """Return what stands in the brief, under words that a model knows; nothing that is empty."""
    items = {item.item_id: item.description or context.subtask_name for item in context.todo_items}
    only = next(iter(items.values())) if len(items) == 1 else None
    task: dict[str, Json] = {
        "task": "" if only == context.subtask_name else context.subtask_name,
        "do": items if only is None else only,
    }
    fields: dict[str, Json] = {name: value for name, value in task.items() if value} | _inline(context.context)
    if refs := _unnamed(context, str(fields)):
        fields["refs"] = refs
    return fields


def _inline(values: tuple[Json, ...]) -> dict[str, Json]:
    """Return inline context: maps as pairs of the brief, unless two pairs would have one key; else under one key."""
    keys = [key for value in values if isinstance(value, Mapping) for key in value]
    if len({*keys, *_OURS}) == len(keys) + len(_OURS):
        found = {key: member for value in values if isinstance(value, Mapping) for key, member in value.items()}
        values = tuple(value for value in values if not isinstance(value, Mapping))
    else:
        found = {}
    if values:
        found["context"] = values[0] if len(values) == 1 else list(values)
    return found


def _unnamed(context: AgentContext, shown: str) -> list[str]:
    """Return the references that stand in no result which is shown: a model opens those where it reads them."""
    refs = [uri_to_reference(uri) for uri in context.context_uri]
    return [ref for ref in refs if ref not in shown]


@dataclass(frozen=True, slots=True)
class ItemAnswer:
    """What an agent says of one item."""

    done: bool
    """Whether it says that the item is done."""
    text: str
    """What came out, or why it is not done."""


def read_answers(context: AgentContext, text: str) -> dict[str, ItemAnswer]:
    """Return item to answer, as a model's text says it; an item that the text does not name is not there.

    Items are found at the start of lines, `1: result`, or where no line has that, `1. result`. A result goes on over
    the lines up to the next item. The answer to a single item needs no name.
    """
    items = [item.item_id for item in context.todo_items]
    names = "|".join(re.escape(each) for each in sorted(items, key=len, reverse=True))
    starts = _starts(names, ":", text) or _starts(names, "[.)]", text)
    if not starts:
        return {items[0]: _answer(text)} if len(items) == 1 and text.strip() else {}
    ends = [*(start.start() for start in starts[1:]), len(text)]
    return {start[1]: _answer(text[start.end() : end]) for start, end in zip(starts, ends, strict=True)}


def _starts(names: str, sign: str, text: str) -> list[re.Match[str]]:
    """Return where each item's result begins, once for each item: a second one belongs to a list in some result."""
    found: dict[str, re.Match[str]] = {}
    for start in re.finditer(rf"^[ \t>*`-]*({names})[*`]*{sign}[*`]*[ \t]*", text, re.MULTILINE):
        found.setdefault(start[1], start)
    return list(found.values())


def _answer(said: str) -> ItemAnswer:
    stripped = said.strip()
    undone = _NOT_DONE.match(stripped)
    return ItemAnswer(False, stripped[undone.end() :]) if undone else ItemAnswer(True, stripped)


def with_answers(context: AgentContext, answers: Mapping[str, ItemAnswer]) -> AgentContext:
    """Return the context that an agent returns: each answer as the state and the abstract of its item.

    Raises: ProtocolError E2003 for an answer that is too long for an abstract: store it and refer to it.
    """
    given = [(item.item_id, answers[item.item_id]) for item in context.todo_items if item.item_id in answers]
    return replace(
        context,
        item_state_updates=tuple(ItemState(item, DONE if answer.done else OPEN) for item, answer in given),
        key_information=tuple(KeyInformation(item, answer.text) for item, answer in given if answer.text),
    )
