"""The answers that an agent gave to its items, as words or as a value (ACI section 5.2).

A model is asked for `done: result` or `not done: why` for each item. It may answer in JSON with a status; each answer
is assigned to an item only where it names the item, or where a list has as many entries as there are items.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from accp_core.aci.checks import Json
from accp_core.aci.contexts import AgentContext
from accp_core.aci.items import DONE, OPEN, ItemState, KeyInformation, Outcome, TodoItem
from accp_core.aci.replies.answer_lines import find_answers
from accp_core.aci.replies.structured import read_value
from accp_core.aci.replies.wording import SAYS_BOTH, ItemAnswer, not_understood, read_outcome
from accp_core.strict_json import read_json

__all__ = ["NO_ANSWER", "NO_EVIDENCE", "read_answers", "read_structured", "with_answers"]

NO_ANSWER: Final = "no answer was found for this item"
NO_EVIDENCE: Final = "reported as done, but without a result; say what came out"
_NO_LINE: Final = f"{NO_ANSWER}; expected `id: done: result` or `id: not done: why`"
_WHOLE_FENCE: Final = re.compile(r"(```|~~~)[^\n`~]*\n((?:(?!\1).)*)\1", re.DOTALL)


def read_answers(context: AgentContext, text: str) -> dict[str, ItemAnswer]:
    """Return the answer to each item of `context` in the words of a model, in the order of the items.

    An item whose answer does not begin with `done:` or `not done:`, and is not JSON with a status, is `UNVERIFIED`,
    with what was expected; it is never taken for done.
    """
    items = context.todo_items
    shown = text.strip()
    block = _WHOLE_FENCE.fullmatch(shown)
    answer = block[2].strip() if block else shown
    found = _read_json(items, answer) or _read_words(items, answer)
    return {item.item_id: found.get(item.item_id, _unanswered(_NO_LINE)) for item in items}


def read_structured(context: AgentContext, value: Json) -> dict[str, ItemAnswer]:
    """Return the answer to each item in a structured response: a JSON value, or an object with `model_dump`."""
    dump = getattr(value, "model_dump", None)
    data = dump(mode="json") if callable(dump) else value
    items = context.todo_items
    found = read_value(data, items) if items else {}
    if found is None:
        found = _all_unread(items, str(data), f"names none of the items {_names(items)} and has not one entry for each")
    return {item.item_id: found.get(item.item_id, _unanswered(NO_ANSWER)) for item in items}


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


def _unanswered(problem: str) -> ItemAnswer:
    return ItemAnswer(Outcome.UNVERIFIED, "", problem)


def _names(items: Sequence[TodoItem]) -> str:
    return ", ".join(item.item_id for item in items[:_MAX_NAMED]) + (", …" if len(items) > _MAX_NAMED else "")


_MAX_NAMED: Final = 10
"""Items that a remark names."""


def _read_json(items: Sequence[TodoItem], text: str) -> dict[str, ItemAnswer] | None:
    """Return the answers of a text that is JSON, None for another text."""
    if not items or not text.startswith(("{", "[")):
        return None
    try:
        value: Any = read_json(text)
    except ValueError:
        return None
    if (found := read_value(value, items)) is None:
        return _all_unread(items, text, f"does not say which of the items {_names(items)} is which")
    return found


def _read_words(items: Sequence[TodoItem], text: str) -> dict[str, ItemAnswer]:
    """Return the answers in words: of a single item, which need not be named, or of those that lines name."""
    if not items or not text:
        return {}
    whole = read_outcome(text)
    if len(items) == 1 and whole.outcome is not Outcome.UNVERIFIED:
        return {items[0].item_id: whole}
    lines = find_answers(items, text)
    if not lines.parts:
        return _read_unnamed(items, whole, text)
    return {
        item: not_understood(part, SAYS_BOTH) if item in lines.contradicted else read_outcome(part)
        for item, part in lines.parts.items()
    }


def _read_unnamed(items: Sequence[TodoItem], whole: ItemAnswer, text: str) -> dict[str, ItemAnswer]:
    """Return the answers of a text that names no item: a failure of all, or nothing that can be assigned."""
    if len(items) == 1 or whole.outcome is Outcome.FAILED:
        return {item.item_id: whole for item in items}
    return _all_unread(items, text, f"names none of the items {_names(items)}; expected `id: done: result` for each")


def _all_unread(items: Sequence[TodoItem], text: str, problem: str) -> dict[str, ItemAnswer]:
    """Return that no item was understood; the words are kept once, at the first item."""
    reason = f"not understood: the answer {problem}"
    answers = {item.item_id: ItemAnswer(Outcome.UNVERIFIED, "", reason) for item in items}
    return {**answers, items[0].item_id: ItemAnswer(Outcome.UNVERIFIED, text.strip(), reason)}
