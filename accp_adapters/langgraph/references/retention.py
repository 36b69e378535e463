"""Which texts of a thread a store keeps beside the state, so that references survive the removal of messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from langchain_core.messages import BaseMessage

from accp_adapters.langchain.messages import texts_in
from accp_adapters.langgraph.references import stores
from accp_adapters.langgraph.runtime import messages_of, state_value
from accp_core.ports import ColdStore
from accp_core.references import StoredText, key_of

__all__ = ["STORED_KEY", "Retention", "retain", "stored_index", "stored_keys"]

STORED_KEY: Final = "accp_stored"
"""The private state key of the index of the store: message id to the keys of its texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """What a store gets and loses before a call of the model."""

    session_id: str = ""
    """The session of the texts."""
    added: tuple[StoredText, ...] = ()
    """Texts to store."""
    removed: tuple[str, ...] = ()
    """Keys of texts to delete: a message that held one was changed, as by a redaction."""
    index: Mapping[str, list[str]] = field(default_factory=dict)
    """Message id to the keys of its texts in the store, from then on."""

    def apply(self, store: ColdStore) -> None:
        """Store and delete what is due."""
        stores.put(store, self.session_id, self.added)
        for key in self.removed:
            store.delete(self.session_id, key)


def retain(
    index: Mapping[str, list[str]],
    messages: Sequence[BaseMessage],
    cited: Mapping[str, Sequence[StoredText]],
    *,
    session_id: str,
) -> Retention:
    """Return what a store must get and lose.

    Args:
        index: Message id to the keys of its texts in the store.
        messages: Those of the state. A message that is no longer there keeps its texts; one that is there with another
            content loses those that it no longer holds.
        cited: Message id to the texts that the prompt cites.
        session_id: The session of the texts.
    """
    kept = _still_held(index, messages)
    held = {key for keys in kept.values() for key in keys}
    new = {text.key: text for texts in cited.values() for text in texts if text.key not in held}
    for id, texts in cited.items():
        kept[id] = list(dict.fromkeys([*kept.get(id, []), *(text.key for text in texts)]))
    held |= new.keys()
    gone = dict.fromkeys(key for keys in index.values() for key in keys if key not in held)
    return Retention(
        session_id=session_id,
        added=tuple(new.values()),
        removed=tuple(gone),
        index={id: keys for id, keys in kept.items() if keys},
    )


def stored_keys(state: Any) -> frozenset[str]:
    """Return the keys of the texts that the thread has in the store.

    A text whose message was changed since, as by a redaction, is not among them, nor is one that a failed model call
    stored: nothing would delete it.
    """
    return frozenset(key for keys in _still_held(stored_index(state), messages_of(state)).values() for key in keys)


def stored_index(state: Any) -> dict[str, list[str]]:
    """Return the index of the store that a state keeps; entries of another shape than we write are left out."""
    index = state_value(state, STORED_KEY)
    entries = index.items() if isinstance(index, Mapping) else ()
    return {id: keys for id, keys in entries if isinstance(keys, list) and all(isinstance(key, str) for key in keys)}


def _still_held(index: Mapping[str, list[str]], messages: Sequence[BaseMessage]) -> dict[str, list[str]]:
    """Return the index without the keys of texts that a message of the state no longer holds."""
    changed = {message.id: {key_of(text) for text in texts_in(message)} for message in messages if message.id in index}
    return {id: [key for key in keys if id not in changed or key in changed[id]] for id, keys in index.items()}
