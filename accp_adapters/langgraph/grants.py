"""Which stored texts an agent may open: those in its own messages, those handed over to it, those that it stored.

A text that a message holds grants itself, because its key is a hash of it. Words grant nothing: who writes a key, or
any metadata, does not come by the text. A session id is 128 random bits, which no model and no peer ever reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final, TypeAlias, cast

from langchain_core.messages import BaseMessage, ToolMessage
from langgraph.types import Command

from accp_adapters.langchain import texts_in, texts_of
from accp_adapters.langgraph import stores
from accp_adapters.langgraph.conversation import as_json, messages_of, state_value
from accp_core.errors import ProtocolError
from accp_core.ports import ColdStore
from accp_core.references import (
    HANDED_TEXTS_KEY,
    HANDING,
    Handing,
    StoredText,
    find_references,
    is_named,
    key_of,
    match_keys,
    replace_references,
    short_key,
)
from accp_core.strict_json import compact_json

__all__ = [
    "HANDED_TEXTS_KEY", "STORED_KEY", "VIEWS_KEY", "Handing", "Retention", "ToolAnswer", "expand", "find_texts",
    "grant_of", "grants_in", "hand_over", "held_texts", "joined", "keys_handed_over", "receiving", "references_in",
    "retain", "stored_index", "stored_keys", "texts_of_answer", "uncited", "views_in", "with_handed",
]  # fmt: skip


MAX_FOUND: Final = 32
"""Texts that one answer of a model may cite and pass on."""
MAX_UNCITED: Final = 64
"""Texts that were handed over and that no message of the state cites: of more, the first are dropped."""


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


def _handed_over(state: Any) -> dict[str, str]:
    entries = state_value(state, HANDED_TEXTS_KEY)
    pairs = entries.items() if isinstance(entries, Mapping) else ()
    return {key: text for key, text in pairs if isinstance(text, str) and key_of(text) == key}


def joined(left: Any, right: Any) -> dict[str, str]:
    """Return the texts of both values of the state key, the reducer of HANDED_TEXTS_KEY; None removes a text."""
    both = {key: text for each in (left, right) if isinstance(each, Mapping) for key, text in each.items()}
    return {key: text for key, text in both.items() if text is not None}


def uncited(state: Any) -> list[str]:
    """Return the keys of texts to drop: those handed over first that no message cites, but for the last MAX_UNCITED."""
    handed = state_value(state, HANDED_TEXTS_KEY)
    if not isinstance(handed, Mapping) or len(handed) <= MAX_UNCITED:
        return []
    shown = (find_references(text) for text in views_in(state).values())
    cited = {name for names in (*map(references_in, messages_of(state)), *shown) for name in names}
    return [key for key in handed if not is_named(key, cited)][:-MAX_UNCITED]


def references_in(message: BaseMessage) -> list[str]:
    """Return the keys that a message names, in its text or in the arguments of its calls."""
    return find_references(f"{message.text} {as_json(getattr(message, 'tool_calls', ()))}")


# The texts behind an answer that cites references, from an agent that runs as a tool to the agent that called it.

ToolAnswer: TypeAlias = ToolMessage | Command[Any]
"""What a tool returns."""


@contextmanager
def receiving() -> Iterator[Handing]:
    """Yield what gets what is handed over while the tool runs."""
    handing = Handing()
    token = HANDING.set(handing)
    try:
        yield handing
    finally:
        HANDING.reset(token)


def hand_over(names: Iterable[str], read: Callable[[Sequence[str]], Callable[[str], str]]) -> None:
    """Hand over the texts that a final answer cites, and those that these cite, where a calling agent takes them.

    Args:
        names: The keys that the answer cites, whole or short; MAX_FOUND texts are handed over at most.
        read: Returns for such keys what opens each of them, or raises a ProtocolError.
    """
    handing = HANDING.get()
    if handing is None:
        return
    due = list(islice(names, MAX_FOUND))
    open_text = read(due)
    for name in due:  # it grows
        with suppress(ProtocolError):
            text = open_text(name)
            handing.texts[key_of(text)] = text
            due += [each for each in find_references(text) if each not in due][: MAX_FOUND - len(due)]


VIEWS_KEY: Final = "accp_views"
"""The private state key of views that tools returned: key of the text to what the model is sent of it; "": the text."""


def views_in(state: Any) -> Mapping[str, str]:
    """Return what the state keeps under VIEWS_KEY."""
    views = state_value(state, VIEWS_KEY)
    return views if isinstance(views, Mapping) else {}


def texts_of_answer(answer: ToolAnswer) -> list[str]:
    """Return the texts of the messages that a tool returned."""
    found = [answer] if isinstance(answer, ToolMessage) else messages_of(getattr(answer, "update", answer))
    return [text for message in found for text in texts_of(message) if text]


def with_handed(answer: ToolAnswer, texts: Mapping[str, str], views: Mapping[str, str]) -> ToolAnswer:
    """Return the answer of a tool, with an update of the state that adds `texts` and `views`."""
    added = {key: dict(new) for key, new in ((HANDED_TEXTS_KEY, texts), (VIEWS_KEY, views)) if new}
    if not added:
        return answer
    if isinstance(answer, ToolMessage):
        return Command(update={"messages": [answer], **added})
    if isinstance(answer, list):  # of messages and commands, as tools may return since langgraph-prebuilt 1.1
        return cast("ToolAnswer", [*answer, Command(update=added)])
    if isinstance(answer.update, Mapping):
        both = {key: joined(answer.update.get(key), new) for key, new in added.items()}
        return replace(answer, update={**answer.update, **both})
    return answer


# What a `CompressNode` stored for which message, as its store keeps it: the grants of a hand-built graph.

_MAX_HOLDERS: Final = 32
"""Messages with one reference that are asked for, from the first one on."""


def grant_of(message_id: str | None, key: str) -> StoredText:
    """Return the record that the message has the preview of the text `key`, under a key that no text has."""
    record = compact_json([message_id, key])
    return StoredText(key=f"grant.{key_of(record).removeprefix('cold.')}", text=record)


def grants_in(messages: Sequence[BaseMessage], keys: Iterable[str]) -> dict[str, tuple[StoredText, ...]]:
    """Return for each of `keys` the records of which the store must have one, by the messages that hold the key."""
    return {key: tuple(islice((grant_of(m.id, key) for m in messages if _holds(m, key)), _MAX_HOLDERS)) for key in keys}


def _holds(message: BaseMessage, key: str) -> bool:
    return any(is_named(key, find_references(text)) for text in texts_of(message) if text and short_key(key) in text)


# Which texts of a thread a store keeps beside the state, so that references survive the removal of messages.

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
