"""Answers that are JSON values: an object by item, a list, a structured response (ACI section 5.2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from accp_core.aci.checks import Json
from accp_core.aci.items import DONE, OPEN, Outcome, TodoItem
from accp_core.aci.replies.wording import ItemAnswer, read_outcome
from accp_core.errors import EncodeError
from accp_core.strict_json import compact_json

__all__ = ["item_of", "read_value"]

_MAX_DEPTH: Final = 3
"""Objects around the answers, such as `{"result": {"items": [...]}}`."""
_ID_KEYS: Final = frozenset(["id", "itemid", "item", "itemnumber", "number", "no", "nr", "step", "stepid", "#", "task"])
_STATUS_KEYS: Final = frozenset(
    ["done", "completed", "complete", "finished", "success", "successful", "ok", "status", "state", "outcome", "isdone"]
)
_FAILURE_KEYS: Final = frozenset(["error", "errors", "failure", "exception"])
_REASON_KEYS: Final = frozenset(["reason", "why", "error", "errors", "message", "comment", "note", "notes", "failure"])
_RESULT_KEYS: Final = frozenset(
    [
        "result",
        "results",
        "output",
        "outputabstract",
        "abstract",
        "value",
        "answer",
        "summary",
        "text",
        "data",
        "finding",
    ]
)
_DONE: Final = frozenset(
    ["done", "complete", "completed", "finished", "success", "successful", "succeeded", "ok", "true", "1", "yes", "x"]
)
"""The values of a status that say done, as `_key` writes them."""
_FAILED: Final = frozenset(
    [
        "failed", "failure", "fail", "error", "false", "0", "no", "notdone", "undone", "unfinished", "incomplete",
        "notcompleted", "notcomplete", "notfinished", "notstarted", "pending", "open", "todo", "blocked", "skipped",
        "inprogress", "aborted", "cancelled", "canceled", "rejected", "unable", "unsuccessful", "impossible",
    ]
)  # fmt: skip
"""The values of a status that say not done."""
_DESCRIPTION_KEYS: Final = frozenset(["description", "title", "name", "todo"])
_LABEL: Final = re.compile(r"(?:item|step|task|todo|no|nr|number|point|answer|result)?[\s._#:-]*(.+)", re.IGNORECASE)


def _key(name: object) -> str:
    return re.sub(r"[\s_-]", "", str(name)).casefold()


def _plain(text: str) -> str:
    """Return `text` in lower case, without emphasis, with one blank between words."""
    return " ".join(re.sub(r"[*_`]", " ", text).casefold().split())


def item_of(name: object, items: Sequence[TodoItem]) -> str | None:
    """Return the itemId that a key or a cell names: the id, "item 1", or the description; None for anything else."""
    text = _plain(str(name)).strip(" .:)(]#")
    ids = {_plain(item.item_id): item.item_id for item in items}
    label = _LABEL.fullmatch(text)
    if text in ids or (label and label[1].strip() in ids):
        return ids[text] if text in ids or not label else ids[label[1].strip()]
    named = [item.item_id for item in items if item.description and _plain(item.description).strip(" .:") == text]
    return named[0] if len(named) == 1 else None


def read_value(value: Json, items: Sequence[TodoItem], depth: int = 0) -> dict[str, ItemAnswer] | None:
    """Return the answers in a JSON value by itemId, or None where it does not say which item is which."""
    if isinstance(value, Mapping):
        return _read_object(value, items, depth)
    if isinstance(value, (list, tuple)):
        return _read_list(value, items)
    return {items[0].item_id: _read_record(value)} if len(items) == 1 else None


def _read_object(value: Mapping[str, Json], items: Sequence[TodoItem], depth: int) -> dict[str, ItemAnswer] | None:
    if "AgentContext" in value and isinstance(value["AgentContext"], Mapping):
        return _read_object(value["AgentContext"], items, depth)
    if "ItemstateUpdates" in value or "ItemStateUpdates" in value or "KeyInformation" in value:
        return _read_context(value, items)
    named = [(item, member) for name, member in value.items() if (item := item_of(name, items))]
    if named and not (len(items) == 1 and _STATUS_KEYS & set(map(_key, value))):
        return _once(named)
    if len(value) == 1 and depth < _MAX_DEPTH:
        (inner,) = value.values()
        if isinstance(inner, (Mapping, list, tuple)) and (found := read_value(inner, items, depth + 1)):
            return found
    own = [member for name, member in value.items() if _key(name) in _ID_KEYS]
    if len(items) == 1 and all(item_of(member, items) for member in own if not isinstance(member, (Mapping, list))):
        return {items[0].item_id: _read_record(value)}
    if own and (item := item_of(own[0], items)):
        return {item: _read_record(value)}
    return None


def _read_context(value: Mapping[str, Json], items: Sequence[TodoItem]) -> dict[str, ItemAnswer] | None:
    """Return the answers in the fields of an AgentContext that a model wrote by itself."""
    states = _entries(value.get("ItemstateUpdates", value.get("ItemStateUpdates")), "state")
    abstracts = _entries(value.get("KeyInformation"), "outputabstract")
    found: dict[str, ItemAnswer] = {}
    for item in items:
        state, abstract = states.get(item.item_id), abstracts.get(item.item_id)
        if type(state) is int and state in (OPEN, DONE):
            found[item.item_id] = _read_record({"state": state, "outputabstract": abstract})
        elif abstract is not None:
            found[item.item_id] = _unclear(abstract, "has no state")
    return found


def _entries(value: Json, name: str) -> dict[str, Json]:
    entries = value if isinstance(value, list) else []
    return {str(entry.get("itemId")): entry.get(name) for entry in entries if isinstance(entry, Mapping)}


def _read_list(values: Sequence[Json], items: Sequence[TodoItem]) -> dict[str, ItemAnswer] | None:
    """Return the answers in a list whose entries name their items, or whose number is that of the items."""
    named = [(_named_in(value, items), value) for value in values]
    known = [(item, value) for item, value in named if item]
    if known and len(known) == len(named):
        return _once(known)
    has_ids = any(isinstance(value, Mapping) and _ID_KEYS & set(map(_key, value)) for value in values)
    if len(values) == len(items) and not known and not has_ids:
        return {item.item_id: _read_record(value) for item, value in zip(items, values, strict=True)}
    if len(items) == 1 and not known and not has_ids:
        return {items[0].item_id: _read_record(values)}
    return None


def _named_in(value: Json, items: Sequence[TodoItem]) -> str | None:
    if not isinstance(value, Mapping):
        return None
    for keys in (_ID_KEYS, _DESCRIPTION_KEYS):
        for name, member in value.items():
            if _key(name) in keys and isinstance(member, (str, int)) and (item := item_of(member, items)):
                return item
    return None


def _once(named: Iterable[tuple[str, Json]]) -> dict[str, ItemAnswer]:
    found: dict[str, ItemAnswer] = {}
    for item, value in named:
        twice = item in found
        found[item] = _unclear(value, "is a second answer to the item") if twice else _read_record(value)
    return found


# --- one record -------------------------------------------------------------------------------------------------------


def _read_record(value: Json) -> ItemAnswer:
    """Return the answer that one JSON value is: an object with a status and a result, a truth value, or words."""
    if isinstance(value, Mapping):
        return _read_fields({_key(name): member for name, member in value.items()}, value)
    if value is True:
        return ItemAnswer(Outcome.DONE)
    if value is False:
        return ItemAnswer(Outcome.FAILED)
    if value is None or value in (OPEN, DONE):
        # 0 and 1 are the states of the draft as often as they are results.
        return _unclear(value, "may be a state or a result")
    return read_outcome(_words_of(value))


def _read_fields(fields: Mapping[str, Json], value: Mapping[str, Json]) -> ItemAnswer:
    said = [(name, member) for name, member in fields.items() if name in _STATUS_KEYS]
    reason = _words_of([fields[name] for name in fields if name in _REASON_KEYS and fields[name]])
    result = _words_of([fields[name] for name in fields if name in _RESULT_KEYS and fields[name] not in (None, "")])
    rest = {name: member for name, member in value.items() if _key(name) not in _ID_KEYS | _DESCRIPTION_KEYS}
    verdicts = {_status_of(member) for _, member in said}
    if any(fields.get(name) for name in _FAILURE_KEYS):
        verdicts.add(Outcome.FAILED)
    if verdicts == {Outcome.FAILED}:
        return ItemAnswer(Outcome.FAILED, reason or result)
    if verdicts == {Outcome.DONE}:
        others = {name: member for name, member in rest.items() if _key(name) not in _STATUS_KEYS and member}
        return read_outcome(f"done: {result or _words_of(list(others.values()))}")
    if verdicts:
        return _unclear(value, "has a status that is neither done nor failed")
    return read_outcome(result or _words_of(list(rest.values()) if len(rest) == 1 else rest))


def _status_of(member: Json) -> Outcome:
    text = _key(member).strip(".!")
    if text in _DONE:
        return Outcome.DONE
    return Outcome.FAILED if text in _FAILED else Outcome.UNVERIFIED


def _unclear(value: Json, problem: str) -> ItemAnswer:
    text = _words_of(value)
    return ItemAnswer(Outcome.UNVERIFIED, text, f'not understood: "{text[:80]}" {problem}')


def _words_of(value: Json) -> str:
    """Return a value as words: texts and lists of texts as they are, everything else as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)) and all(isinstance(member, (str, int, float)) for member in value):
        return ", ".join(map(str, value))
    try:
        return compact_json(value)
    except EncodeError:
        return str(value)
