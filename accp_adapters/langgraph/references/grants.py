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
from accp_adapters.langgraph.runtime import messages_of, state_value
from accp_core.references import HANDED_TEXTS_KEY, find_references, key_of, match_keys, replace_references

__all__ = ["HANDED_TEXTS_KEY", "expand", "find_texts", "has_grants", "held_texts", "keys_handed_over"]

MAX_FOUND: Final = 32
"""Texts that one answer of a model may cite and pass on."""


def held_texts(state: Any, messages: Iterable[BaseMessage] | None = None) -> dict[str, str]:
    """Return by their keys the texts that the state of the agent holds.

    Args:
        state: The state of the agent's graph.
        messages: Its messages; None: those under "messages".
    """
    held = messages_of(state) if messages is None else list(messages)
    texts = _handed_over(state)
    return texts | {key_of(text): text for message in held for text in texts_in(message)}


def find_texts(names: Iterable[str], state: Any, messages: Iterable[BaseMessage] | None = None) -> dict[str, str]:
    """Return by their names the texts of `held_texts` that whole or short keys mean, of at most MAX_FOUND names."""
    wanted = list(islice(names, MAX_FOUND))
    held = held_texts(state, messages) if wanted else {}
    return {name: held[key] for name, key in match_keys(wanted, held).items()}


def expand(text: str, state: Any) -> str:
    """Return `text` with each reference replaced by the text that `state` holds for it; others stay as they are."""
    return replace_references(text, find_texts(find_references(text), state).get)


def keys_handed_over(state: Any) -> list[str]:
    """Return the keys of the texts that another agent handed over."""
    return list(_handed_over(state))


def has_grants(state: Any) -> bool:
    """Return whether another agent handed anything over."""
    return bool(state_value(state, HANDED_TEXTS_KEY))


def _handed_over(state: Any) -> dict[str, str]:
    entries = state_value(state, HANDED_TEXTS_KEY)
    pairs = entries.items() if isinstance(entries, Mapping) else ()
    return {key: text for key, text in pairs if isinstance(text, str) and key_of(text) == key}
