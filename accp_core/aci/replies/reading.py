"""The answers that an agent gave to its items, as words or as a value (ACI section 5.2).

A model is asked for one line per item. It may answer in JSON, a table, headings or a list; each answer is assigned to
an item only where it names the item, or where there are as many answers as items.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from accp_core.aci.checks import Json
from accp_core.aci.contexts import AgentContext
from accp_core.aci.items import DONE, OPEN, ItemState, KeyInformation, Outcome, TodoItem
from accp_core.aci.replies.layouts import Layout, find_bullets, find_named, find_table, without_description
from accp_core.aci.replies.structured import read_record, read_value
from accp_core.aci.replies.wording import ItemAnswer, is_neutral, may_introduce, read_outcome, takes_back
from accp_core.strict_json import read_json

__all__ = ["NO_ANSWER", "NO_EVIDENCE", "read_answers", "read_structured", "with_answers"]

NO_ANSWER: Final = "no answer was found for this item"
NO_EVIDENCE: Final = "reported as done, but without a result; say what came out"
_FENCE: Final = re.compile(r"^[ \t]*(```|~~~)[ \t]*\w*[ \t]*\n(.*?)^[ \t]*\1[ \t]*$", re.MULTILINE | re.DOTALL)
_NUMBERED: Final = re.compile(
    r"^[ \t>*_`#-]{0,20}(?:item[ \t]*)?(\d{1,4})[*_`]{0,3}[:.)](?!\d)", re.MULTILINE | re.IGNORECASE
)


def read_answers(context: AgentContext, text: str) -> dict[str, ItemAnswer]:
    """Return the answer to each item of `context` in the words of a model, in the order of the items.

    An item that the words do not answer clearly is `UNVERIFIED`, with what was not understood; it is never taken for
    done.
    """
    items = context.todo_items
    found = _read_json(items, text) or _read_words(items, text)
    return {item.item_id: found.get(item.item_id, _unanswered()) for item in items}


def read_structured(context: AgentContext, value: Json) -> dict[str, ItemAnswer]:
    """Return the answer to each item in a structured response: a JSON value, or an object with `model_dump`."""
    dump = getattr(value, "model_dump", None)
    data = dump(mode="json") if callable(dump) else value
    items = context.todo_items
    found = read_value(data, items) if items else {}
    if found is None:
        found = _all_unread(items, str(data), f"names none of the items {_names(items)} and has not one entry for each")
    return {item.item_id: found.get(item.item_id, _unanswered()) for item in items}


def with_answers(context: AgentContext, answers: Mapping[str, ItemAnswer]) -> AgentContext:
    """Return the context that an agent returns: each answer as the state and the abstract of its item.

    An item without a clear answer has no state; its abstract is the words that were not understood.

    Raises:
        ProtocolError: E2003, an answer is too long for an abstract; `reply_from_words` takes answers of any length.
    """
    given = [(item.item_id, answers[item.item_id]) for item in context.todo_items if item.item_id in answers]
    states = {Outcome.DONE: DONE, Outcome.FAILED: OPEN}
    return replace(
        context,
        item_state_updates=tuple(
            ItemState(item, states[answer.outcome]) for item, answer in given if answer.outcome in states
        ),
        key_information=tuple(KeyInformation(item, answer.text) for item, answer in given if answer.text),
    )


def _unanswered() -> ItemAnswer:
    return ItemAnswer(Outcome.UNVERIFIED, "", NO_ANSWER)


def _names(items: Sequence[TodoItem]) -> str:
    return ", ".join(item.item_id for item in items[:_MAX_NAMED]) + (", …" if len(items) > _MAX_NAMED else "")


_MAX_NAMED: Final = 10
"""Items that a remark names."""


# --- JSON in words ----------------------------------------------------------------------------------------------------


def _read_json(items: Sequence[TodoItem], text: str) -> dict[str, ItemAnswer] | None:
    """Return the answers of a text that is JSON, alone or as its one fenced block; None for another text."""
    blocks = _FENCE.findall(text)
    source = blocks[0][1] if len(blocks) == 1 else text
    around = _FENCE.sub("", text) if len(blocks) == 1 else ""
    if not items or not source.lstrip().startswith(("{", "[")):
        return None
    try:
        value: Any = read_json(source.strip())
    except ValueError:
        return None
    if (found := read_value(value, items)) is None:
        return _all_unread(items, text, f"does not say which of the items {_names(items)} is which")
    return _all_unread(items, text, "has words that leave a doubt") if not is_neutral(around) else found


# --- words ------------------------------------------------------------------------------------------------------------


def _read_words(items: Sequence[TodoItem], text: str) -> dict[str, ItemAnswer]:
    if not items or not text.strip():
        return {}
    layout = find_named(items, text)
    table = find_table(items, text)
    if table is not None and (layout is None or len(table.rows) > len(layout.parts)):
        return _read_table(items, table, text)
    if len(items) == 1:
        return {items[0].item_id: _read_only(items[0], layout, text)}
    layout = layout or find_bullets(items, text)
    return _read_layout(items, layout, text) if layout else _read_whole(items, text)


def _read_table(items: Sequence[TodoItem], table: Layout, text: str) -> dict[str, ItemAnswer]:
    if not is_neutral(table.around):
        return _all_unread(items, text, "has words around its table that leave a doubt")
    return {item: read_record(row) for item, row in table.rows.items()}


def _read_layout(items: Sequence[TodoItem], layout: Layout, text: str) -> dict[str, ItemAnswer]:
    """Return the answers in the parts of a text, unless the words around them say that nothing is done."""
    if not may_introduce(layout.around, layout.parts.values()) or any(map(takes_back, _postscripts(layout))):
        return _all_unread(items, text, "has words around its answers that leave a doubt")
    by_id = {item.item_id: item for item in items}
    return {
        name: read_outcome(without_description(part, by_id[name]), is_value=True) for name, part in layout.parts.items()
    }


def _postscripts(layout: Layout) -> list[str]:
    """Return the paragraphs after the last answer, which may be about all of them."""
    last = list(layout.parts.values())[-1]
    return [part for part in re.split(r"\n[ \t]*\n", last)[1:] if not part.startswith((" ", "\t"))]


def _read_only(item: TodoItem, layout: Layout | None, text: str) -> ItemAnswer:
    """Return the answer to a single item, which need not name it; a list that names others is no answer to it."""
    numbers = list(dict.fromkeys(_NUMBERED.findall(text)))
    begins = _NUMBERED.match(text.lstrip())
    if begins and len(numbers) > 1 and item.item_id not in numbers:
        problem = f'not understood: {len(numbers)} answers were found, expected one, for item "{item.item_id}"'
        return ItemAnswer(Outcome.UNVERIFIED, text.strip(), problem)
    is_list = len(numbers) > 1 and numbers == [str(n) for n in range(1, len(numbers) + 1)]
    if layout is None or (is_list and layout.around == ""):
        return read_outcome(without_description(text, item))
    if not may_introduce(layout.around, layout.parts.values()):
        return read_outcome(text) if takes_back(text) else _all_unread([item], text, "leaves a doubt")[item.item_id]
    return read_outcome(without_description(layout.parts[item.item_id], item), is_value=True)


def _read_whole(items: Sequence[TodoItem], text: str) -> dict[str, ItemAnswer]:
    """Return the answers of a text that names no item: a failure of all, or nothing that can be assigned."""
    whole = read_outcome(text)
    if whole.outcome is Outcome.FAILED:
        return {item.item_id: whole for item in items}
    return _all_unread(items, text, f"names none of the items {_names(items)}")


def _all_unread(items: Sequence[TodoItem], text: str, problem: str) -> dict[str, ItemAnswer]:
    """Return that no item was understood; the words are kept once, at the first item."""
    reason = f"not understood: the answer {problem}"
    answers = {item.item_id: ItemAnswer(Outcome.UNVERIFIED, "", reason) for item in items}
    return {**answers, items[0].item_id: ItemAnswer(Outcome.UNVERIFIED, text.strip(), reason)}
