"""What a message says about itself in metadata that no provider is sent: its references, and texts that it carries.

Where no store was given, the full text travels with the message that cites it, compressed: whatever keeps the
message, a checkpointer over a restart, a fork, another process, keeps what it refers to.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Collection, Iterable
from typing import Final

from langchain_core.messages import BaseMessage

from accp_adapters.stores.texts import pack_text, unpack_text
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["MARK", "carried_pairs", "carried_text", "carry"]

MARK: Final = "accp"
"""The key in `additional_kwargs` under which a rewritten message says what was done; no provider sees it."""

_TEXTS: Final = "texts"


def carry(texts: Iterable[tuple[str, str]]) -> dict[str, list[list[str]]]:
    """Return what a mark says to carry `texts`, pairs of a key and its text; nothing where there are none."""
    return _mark([[key, base64.b64encode(pack_text(text)).decode("ascii")] for key, text in texts])


def carried_text(key: str, messages: Iterable[BaseMessage]) -> str | None:
    """Return the text of `key` that one of `messages` carries, None when none does.

    Raises:
        ProtocolError: E2001, what a message carries there is not a text of ours.
    """
    packed = next((packed for found, packed in _pairs(messages) if found == key), None)
    try:
        return None if packed is None else unpack_text(base64.b64decode(packed, validate=True))
    except binascii.Error as problem:
        reason = f"expected the text of {f'${key}'!r} in base64, found {packed!r:.40}"
        raise ProtocolError(reason, code=ErrorCode.REF_NOT_FOUND) from problem


def carried_pairs(keys: Collection[str], messages: Iterable[BaseMessage]) -> dict[str, list[list[str]]]:
    """Return what a mark says to carry on those texts of `keys` that `messages` carry."""
    return _mark([[key, packed] for key, packed in dict(_pairs(messages)).items() if key in keys])


def _mark(pairs: list[list[str]]) -> dict[str, list[list[str]]]:
    # A list of pairs: where LangChain merges two messages it joins lists, and would join the texts of one key, too.
    return {_TEXTS: pairs} if pairs else {}


def _pairs(messages: Iterable[BaseMessage]) -> Iterable[tuple[str, str]]:
    for message in messages:
        yield from message.additional_kwargs.get(MARK, {}).get(_TEXTS, ())
