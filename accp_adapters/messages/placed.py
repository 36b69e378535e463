"""Records of messages, with the places of their texts in the provider's JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from accp_core.projection import CallRecord, MessageRecord, Projected, Role, is_program
from accp_core.references import find_references, is_named, key_of

__all__ = ["MessageItem", "Placed", "TextPath", "json_call", "text_parts", "with_cited", "with_projected"]

MessageItem: TypeAlias = Mapping[str, Any]
"""A message, or an item of a request, as JSON."""
TextPath: TypeAlias = tuple[str | int, ...]
"""The indexes and names that lead from the list of messages to a text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A record, and where its texts stand."""

    record: MessageRecord
    """The record."""
    places: tuple[TextPath | None, ...]
    """Of each of its blocks the place of the text; None for a block that is not text."""


def text_parts(
    content: Any, place: TextPath, types: Sequence[str] = ("text",)
) -> tuple[tuple[str | None, ...], tuple[TextPath | None, ...]]:
    """Return the texts of a content and their places.

    Args:
        content: A text, or a list of parts; anything else has no texts.
        place: Where it stands.
        types: The types of the parts whose "text" is text.
    """
    if isinstance(content, str):
        return (content,), (place,)
    parts = content if isinstance(content, list) else []
    texts = [_text_of(part, types) for part in parts]
    places = [None if text is None else (*place, number, "text") for number, text in enumerate(texts)]
    return tuple(texts), tuple(places)


def _text_of(part: Any, types: Sequence[str]) -> str | None:
    is_text = isinstance(part, Mapping) and part.get("type") in types and isinstance(part.get("text"), str)
    return part["text"] if is_text else None


def with_cited(said: Placed) -> Iterator[Placed]:
    """Yield what a user said, and the texts behind its words that the words cite, which are results.

    An agent that asks another one for something gives it the texts behind the references in its words, each as a
    further text of the same message.
    """
    words, *texts = said.record.blocks or (None,)
    cited = set(find_references(words or ""))
    numbers = [n for n, text in enumerate(texts, 1) if text and cited and is_named(key_of(text), cited)]
    kept = [n for n in range(len(said.record.blocks)) if n not in numbers]
    yield _only(said, kept, said.record.role) if numbers else said
    for number in numbers:
        yield _only(said, [number], Role.TOOL)


def _only(said: Placed, numbers: Sequence[int], role: Role) -> Placed:
    record = replace(said.record, role=role, blocks=tuple(said.record.blocks[n] for n in numbers))
    return Placed(record=record, places=tuple(said.places[n] for n in numbers))


def json_call(call_id: Any, name: Any, arguments: Any, caller: Any = None) -> CallRecord:
    """Return the record of a call whose arguments are JSON in a text; one that is no object has none that are known.

    Args:
        call_id: Its id.
        name: The name of the tool.
        arguments: A JSON object, or the JSON of one.
        caller: Who made it, as the provider says (`is_program`).
    """
    try:
        args = json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):  # the arguments are a model's words
        args = None
    known = args if isinstance(args, dict) else {}
    own_id = call_id if isinstance(call_id, str) else None
    return CallRecord(id=own_id, name=str(name or ""), args=known, by_program=is_program(caller))


def with_projected(
    messages: Sequence[MessageItem], placed: Sequence[Placed], projected: Sequence[Projected]
) -> list[Any]:
    """Return the messages as the model is sent them; what does not change is the object that was given."""
    texts = {
        place: text
        for where, shown in zip(placed, projected, strict=True)
        for place, text in zip(where.places, shown.blocks, strict=True)
        if place is not None and text is not None
    }
    return _with_texts(messages, texts)


def _with_texts(messages: Sequence[Any], texts: Mapping[TextPath, str]) -> list[Any]:
    changed = list(messages)
    copied: dict[TextPath, Any] = {}
    for (index, *way), text in texts.items():
        place: TextPath = (index,)
        node = copied.get(place)
        if node is None:
            node = copied[place] = dict(changed[index])  # type: ignore[index]  # the first step is a number
            changed[index] = node  # type: ignore[index]
        for step in way[:-1]:
            place = (*place, step)
            if place not in copied:
                inner = node[step]
                copied[place] = node[step] = dict(inner) if isinstance(inner, Mapping) else list(inner)
            node = copied[place]
        node[way[-1]] = text
    return changed
