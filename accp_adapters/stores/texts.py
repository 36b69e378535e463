"""What stores keep: texts as bytes, read back within a bound, and the sessions of a host."""

from __future__ import annotations

import hashlib
import json
import zlib
from typing import Any, Final, Protocol
from urllib.parse import quote

from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.ports import ColdStore
from accp_core.references import parse_reference, short_key

__all__ = [
    "ITEM_VERSION", "MAX_FOUND", "MAX_PACKED", "MAX_TEXT_BYTES", "SessionStore", "decode_name", "encode_name",
    "item_filter", "namespace_label", "pack_text", "read_item", "stored_keys", "unpack_text", "write_item",
]  # fmt: skip


MAX_TEXT_BYTES: Final = 64 * 1024 * 1024
"""Bytes of one text in UTF-8; a few bytes in a store could otherwise expand to gigabytes of memory."""
MAX_PACKED: Final = 2 * MAX_TEXT_BYTES
"""A packed text has fewer bytes than these; a longer value in a store is refused without being loaded."""
MAX_FOUND: Final = 1_000
"""Keys with one beginning that a store returns."""

ITEM_VERSION: Final = 1
"""The version of `write_item`; an item of 0.1 without one is the same."""

_MAX_LABEL_CHARS: Final = 500
"""PostgreSQL's index holds 2,704 bytes of namespace and key together."""

# A tool may return halves of surrogate pairs, which UTF-8 does not have: they pass, so that nothing is lost.
_ENCODING: Final = ("utf-8", "surrogatepass")


def encode_name(name: str) -> bytes:
    """Return the bytes of a session id or a key, which may hold any character, too."""
    return name.encode(*_ENCODING)


def decode_name(name: bytes) -> str:
    """Return the session id or key that `encode_name` was given."""
    return name.decode(*_ENCODING)


def namespace_label(name: str) -> str:
    """Return `name` as a label of a namespace of a LangGraph store.

    It may be neither empty nor hold a dot, nor be very long. Email addresses are common thread ids, and stores join
    labels with dots.
    """
    label = quote(name, safe="@:", errors="surrogatepass").replace(".", "%2E") or "%"
    if len(label) <= _MAX_LABEL_CHARS:
        return label
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{label[:100]}%~{digest}"  # a quoted name never holds "%~"


def stored_keys(store: ColdStore, session_id: str, reference: str) -> list[str]:
    """Return the keys of a session that a reference may mean; where none does, those that are like it may be there."""
    return store.find(session_id, parse_reference(reference)) or store.find(session_id, "cold.")


def pack_text(text: str, *, limit: int = MAX_TEXT_BYTES) -> bytes:
    """Return `text` as the bytes to store.

    The first byte, which zlib writes, stands for this format: a later one begins with another, and is refused here.

    Args:
        text: Any text.
        limit: Bytes of the text in UTF-8; the same for `unpack_text`, so that what is stored can be read.

    Raises:
        ProtocolError: E2003, the text is longer.
    """
    encoded = text.encode(*_ENCODING)
    if len(encoded) > limit:
        raise _too_long(limit, f"{len(encoded):,} bytes")
    return zlib.compress(encoded)


def unpack_text(packed: object, *, limit: int = MAX_TEXT_BYTES) -> str:
    """Return the text that `pack_text` was given.

    Args:
        packed: The stored bytes, as the database gives them.
        limit: Bytes of the text in UTF-8; decompression stops there.

    Raises:
        ProtocolError: E2001, the bytes are not a whole packed text; E2003, the text is longer than the limit.
    """
    if not isinstance(packed, bytes):
        raise _no_text(packed)
    stream = zlib.decompressobj()
    try:
        encoded = stream.decompress(packed, limit + 1)
        if len(encoded) > limit:
            raise _too_long(limit, "more")
        if not stream.eof:
            raise _no_text(packed)
        return encoded.decode(*_ENCODING)
    except (zlib.error, UnicodeDecodeError) as error:
        raise _no_text(packed) from error


def write_item(key: str, text: str) -> dict[str, object]:
    """Return `text` as the value of an item of a LangGraph store, with what finds its key (`item_filter`).

    It is ASCII JSON: PostgreSQL's jsonb holds neither NUL nor lone surrogates, and a tool may return both.
    """
    return {"text": json.dumps(text), "version": ITEM_VERSION, **item_filter(key)}


def item_filter(key: str) -> dict[str, str]:
    """Return what the items have in common whose keys are, or begin with, `key`."""
    return {"short_key": short_key(key)}


def read_item(value: Any) -> str:
    """Return the text that `write_item` was given.

    Raises:
        ProtocolError: E2001, the value is another one, or one that a later version wrote.
    """
    try:
        text, version = json.loads(value["text"]), value.get("version", ITEM_VERSION)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise _no_item("with a text", value) from error
    if type(text) is not str:
        raise _no_item("with a text", value)
    if type(version) is not int or version > ITEM_VERSION:
        raise _no_item(f"of version {ITEM_VERSION} or lower (its version is {version!r:.40})", value)
    return text


def _too_long(limit: int, found: str) -> ProtocolError:
    return ProtocolError(f"expected a text of at most {limit:,} bytes, found {found}", code=ErrorCode.BUDGET_EXCEEDED)


def _no_text(packed: object) -> ProtocolError:
    shown = packed[:20] if isinstance(packed, (bytes, str)) else packed
    return ProtocolError(f"expected a stored text, found other bytes: {shown!r:.40}", code=ErrorCode.REF_NOT_FOUND)


def _no_item(expected: str, value: object) -> ProtocolError:
    return ProtocolError(f"expected an item {expected}, found {str(value)[:80]!r}", code=ErrorCode.REF_NOT_FOUND)


# Where a session host keeps its sessions, so that another worker can go on with them (ACCP section 11).


class SessionStore(ColdStore, Protocol):
    """A cold store that keeps sessions too: one text with a version for each, replaced by compare-and-set.

    Any number of workers share one. A method may block; the host calls it in a thread.
    """

    def load_session(self, name: str) -> tuple[int, str] | None:
        """Return the version and the data of the session `name`, None where there is none."""
        ...

    def save_session(self, name: str, version: int, data: str) -> bool:
        """Save `data` as version `version` if the stored version is the one before; return whether it was saved.

        Version 1 is saved where there is no session of that name.
        """
        ...

    def delete_session(self, name: str, version: int) -> None:
        """Delete the session `name` and its texts if its version is still `version`."""
        ...
