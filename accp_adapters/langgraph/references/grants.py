"""Which stored texts an agent may open: those in its own messages, those handed over to it, those that it stored.

A text that a message holds grants itself, because its key is a hash of it. Words grant nothing: who writes a key, or
any metadata, does not come by the text. A session id is 128 random bits, which no model and no peer ever reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final

from langchain_core.messages import BaseMessage

from accp_adapters.langchain.messages import texts_in
from accp_adapters.langgraph.fold import FOLD_KEY, Fold, folded_source
from accp_adapters.langgraph.runtime import messages_of, state_value
from accp_adapters.remote.graphs import HANDED_TEXTS_KEY
from accp_core.references import find_references, key_of, reference_to

__all__ = ["HANDED_TEXTS_KEY", "expand", "find_text", "find_texts", "has_grants", "keys_handed_over"]

MAX_FOUND: Final = 32
"""Texts that one answer of a model may cite and pass on."""


def find_text(key: str, state: Any, messages: Iterable[BaseMessage] | None = None) -> str | None:
    """Return the text of `key` that the state of the agent holds, None where it holds none.

    Args:
        key: The key, "cold.…".
        state: The state of the agent's graph.
        messages: Its messages; None: those under "messages".
    """
    held = messages_of(state) if messages is None else list(messages)
    in_messages = (text for message in held for text in texts_in(message))
    handed_over = _handed_over(key, state)
    texts = [handed_over, *in_messages] if handed_over is not None else in_messages
    found = next((text for text in texts if key_of(text) == key), None)
    fold = Fold.of(state_value(state, FOLD_KEY)) if found is None else None
    return folded_source(held, fold) if fold and fold.key == key else found


def find_texts(keys: Iterable[str], state: Any) -> dict[str, str]:
    """Return the texts of `keys` that the state of the agent holds, of at most MAX_FOUND keys."""
    wanted = set(islice(keys, MAX_FOUND))
    found = {key: text for key in wanted if (text := _handed_over(key, state)) is not None and key_of(text) == key}
    for text in (text for message in messages_of(state) for text in texts_in(message)):
        if len(found) == len(wanted):
            break
        if (key := key_of(text)) in wanted:
            found[key] = text
    fold = Fold.of(state_value(state, FOLD_KEY))
    if fold and fold.key in wanted - found.keys() and (text := find_text(fold.key, state)):
        found[fold.key] = text
    return found


def expand(text: str, state: Any) -> str:
    """Return `text` with each reference replaced by the text that `state` holds for it; others stay as they are."""
    for key, source in find_texts(find_references(text), state).items():
        text = text.replace(reference_to(key), source)
    return text


def keys_handed_over(state: Any) -> list[str]:
    """Return the keys of the texts that another agent handed over."""
    entries = state_value(state, HANDED_TEXTS_KEY)
    found = entries if isinstance(entries, Mapping) else {}
    return [key for key, text in found.items() if isinstance(text, str) and key_of(text) == key]


def has_grants(state: Any) -> bool:
    """Return whether another agent handed anything over."""
    return bool(state_value(state, HANDED_TEXTS_KEY))


def _handed_over(key: str, state: Any) -> str | None:
    entries = state_value(state, HANDED_TEXTS_KEY)
    value = entries.get(key) if isinstance(entries, Mapping) else None
    return value if isinstance(value, str) else None
