"""What a `CompressNode` stored for which message, as its store keeps it: the grants of a hand-built graph.

A hand-built graph has no private state, and what a message says of itself may be anybody's words. So the node puts a
record of each preview into the session of the store: the id of the message and the key of its text. It counts as long
as the message is in the state and still holds the reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from langchain_core.messages import BaseMessage

from accp_adapters.langchain.messages import texts_of
from accp_core.references import StoredText, find_references, is_named, key_of, short_key
from accp_core.strict_json import compact_json

__all__ = ["grant_of", "grants_in"]

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
