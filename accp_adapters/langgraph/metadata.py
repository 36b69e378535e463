"""The metadata of a compressed message, in `additional_kwargs["accp"]`, which no provider is sent.

    blocks    for each content block null, {"layout": …} of a view, or {"ref": key} of a preview
    refs      the keys of stored texts that the message lets its reader open
    sessions  for each of them the session that owns it
    agents    for each of them the node of the one agent that may open it; absent: every agent that has the message
    texts     pairs of a key and its text, compressed, in base64: where the graph has no store, a text travels with the
              message that cites it, so that whatever keeps the message keeps the text

Everything is a list: where LangChain merges two messages it joins lists, and it would join strings, too. A message may
come from anywhere, so that anything of another shape is ignored, and a text is checked against its key.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Final, TypeAlias, TypeVar

from langchain_core.messages import BaseMessage

from accp_adapters.stores.texts import pack_text, unpack_text
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.references import StoredText, checked_text, is_hash_key, reference_to

__all__ = [
    "MAX_CARRIED_BYTES", "METADATA_KEY", "CarriedText", "Grant", "Metadata", "carried_text", "carried_texts",
    "grants_in", "is_carriable", "is_compressed", "pack_carried", "without_metadata",
]  # fmt: skip

METADATA_KEY: Final = "accp"
"""The key in `additional_kwargs`."""
MAX_CARRIED_BYTES: Final = 16 * 1024 * 1024
"""Bytes of a text in UTF-8 that a message may carry: a few bytes of zlib can expand to any number."""

_Message = TypeVar("_Message", bound=BaseMessage)

CarriedText: TypeAlias = tuple[str, str]
"""A key and its text as `pack_carried` writes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """The right to open one stored text."""

    key: str
    """The key of the text."""
    session_id: str
    """The session whose store holds it."""
    agent: str | None = None
    """The node of the agent that may open it; None: every agent that has the message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """The metadata of one message."""

    blocks: tuple[Mapping[str, str] | None, ...] = ()
    """How each content block leads back to its source; None: it was not changed."""
    grants: tuple[Grant, ...] = ()
    """What its reader may open."""
    texts: tuple[CarriedText, ...] = ()
    """The texts that it carries."""

    @classmethod
    def of(cls, message: BaseMessage) -> Metadata:
        """Return the metadata of `message`, empty where it has none or in another shape."""
        return cls.from_json(message.additional_kwargs.get(METADATA_KEY))

    @classmethod
    def from_json(cls, data: Any) -> Metadata:
        """Return what `to_json` wrote, empty for anything of another shape."""
        if not isinstance(data, Mapping) or not all(has_shape(data.get(name, [])) for name, has_shape in _SHAPES):
            return cls()
        grants = zip(data.get("refs", []), data.get("sessions", []), data.get("agents") or repeat(None), strict=False)
        return cls(
            blocks=tuple(data.get("blocks", [])),
            grants=tuple(Grant(key=key, session_id=session, agent=agent) for key, session, agent in grants),
            texts=tuple((key, packed) for key, packed in data.get("texts", [])),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the value for `additional_kwargs`, empty for empty metadata."""
        data: dict[str, Any] = {"blocks": [block and dict(block) for block in self.blocks]} if self.blocks else {}
        if self.grants:
            data["refs"] = [grant.key for grant in self.grants]
            data["sessions"] = [grant.session_id for grant in self.grants]
            if any(grant.agent is not None for grant in self.grants):
                data["agents"] = [grant.agent for grant in self.grants]
        return {**data, **({"texts": [list(pair) for pair in self.texts]} if self.texts else {})}

    def on(self, message: _Message) -> _Message:
        """Return `message` with this metadata; the same object for empty metadata."""
        data = self.to_json()
        if not data:
            return message
        return message.model_copy(update={"additional_kwargs": {**message.additional_kwargs, METADATA_KEY: data}})


def without_metadata(message: _Message) -> _Message:
    """Return `message` without metadata."""
    kwargs = {key: value for key, value in message.additional_kwargs.items() if key != METADATA_KEY}
    return message.model_copy(update={"additional_kwargs": kwargs})


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_text_or_none(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _is_note(value: Any) -> bool:
    return value is None or (isinstance(value, Mapping) and all(map(_is_text, [*value, *value.values()])))


def _is_carried(value: Any) -> bool:
    is_pair = _list_of(_is_text)(value) and len(value) == 2
    return is_pair and is_hash_key(value[0])


def _list_of(is_member: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list | tuple) and all(map(is_member, value))


_SHAPES: Final = (
    ("blocks", _list_of(_is_note)),
    ("refs", _list_of(_is_text)),
    ("sessions", _list_of(_is_text)),
    ("agents", _list_of(_is_text_or_none)),
    ("texts", _list_of(_is_carried)),
)


def is_compressed(message: BaseMessage) -> bool:
    """Return whether `message` has metadata of ours in any shape; such a message stays as it is."""
    return METADATA_KEY in message.additional_kwargs


def grants_in(messages: Iterable[BaseMessage], agents: Collection[str]) -> list[Grant]:
    """Return what `messages` let the running `agents` open, each once."""
    found = (grant for message in messages for grant in Metadata.of(message).grants)
    return list(dict.fromkeys(grant for grant in found if grant.agent is None or grant.agent in agents))


def is_carriable(text: str) -> bool:
    """Return whether a message may carry `text`."""
    return len(text) * 4 <= MAX_CARRIED_BYTES or len(text.encode("utf-8", "surrogatepass")) <= MAX_CARRIED_BYTES


def pack_carried(text: StoredText) -> CarriedText:
    """Return the pair of key and text that a message carries."""
    return text.key, base64.b64encode(pack_text(text.text)).decode("ascii")


def carried_texts(keys: Collection[str], messages: Iterable[BaseMessage]) -> tuple[CarriedText, ...]:
    """Return those texts of `keys` that `messages` carry, for another message to carry on."""
    found = dict(pair for message in messages for pair in Metadata.of(message).texts)
    return tuple((key, packed) for key, packed in found.items() if key in keys)


def carried_text(key: str, messages: Iterable[BaseMessage]) -> str | None:
    """Return the text of `key` that one of `messages` carries, None where none does.

    Raises:
        ProtocolError: E2001, what a message carries there is not the text of this key; E2003, it is too large.
    """
    pairs = (pair for message in messages for pair in Metadata.of(message).texts)
    packed = next((packed for carried, packed in pairs if carried == key), None)
    return None if packed is None else _unpack(key, packed)


def _unpack(key: str, packed: str) -> str:
    try:
        data = base64.b64decode(packed, validate=True)
    except ValueError as problem:
        reason = f"expected the text of {reference_to(key)!r} in base64, found {packed[:40]!r}"
        raise ProtocolError(reason, code=ErrorCode.REF_NOT_FOUND) from problem
    return checked_text(key, unpack_text(data, limit=MAX_CARRIED_BYTES))
