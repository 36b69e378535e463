"""Results that are too large to show: stored whole, cited by a reference, opened by a tool or as a resource.

"Context references are session-scoped" (ACCP section 9): a reference opens only in the session in which it was
granted. Any other, guessed or copied from another session, is refused with E5002.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Final

from accp_adapters.fetching import FETCH_DESCRIPTION, FETCH_NAME, FETCH_PARAMETERS, open_and_answer, read_request
from accp_adapters.mcp.shim.protocol import JsonObject, text_block, tool_result
from accp_adapters.stores import stored_keys
from accp_core.ports import ColdStore, TokenCounter
from accp_core.projection.versions import Differences
from accp_core.references import StoredText, check_grant, checked_text, reference_to, reference_to_uri

__all__ = ["FETCH_TOOL", "SessionTexts", "answer_fetch", "list_stored", "read_stored"]

FETCH_TOOL: Final[JsonObject] = {
    "name": FETCH_NAME,
    "description": FETCH_DESCRIPTION,
    "inputSchema": FETCH_PARAMETERS,
}
"""The definition of `accp_fetch` in tools/list."""

_MAX_REFERENCES: Final = 10_000
"""References of one session; once there are so many, further results are shown whole."""
_MAX_BYTES: Final = 64 * 1024 * 1024
"""Bytes of the texts of one session, likewise."""


@dataclass(slots=True)
class SessionTexts:
    """The stored texts of one session, and which of them its client may open."""

    store: ColdStore
    """Where the texts are."""
    session_id: str = field(default_factory=lambda: secrets.token_hex(16))
    """The namespace of the session in the store; it is never sent to a peer."""
    granted: dict[str, int] = field(default_factory=dict)
    """Key to the bytes of its text in UTF-8, for every reference that was granted."""
    is_shared: bool = False
    """Whether `session_id` names the same session in other processes, so that what is stored there is granted, too."""
    differences: Differences | None = None
    """What was shown, so that a later version of a text is shown as what changed; None: each is shown alone."""

    @property
    def is_full(self) -> bool:
        """Whether no further reference is granted."""
        return len(self.granted) >= _MAX_REFERENCES or self.size >= _MAX_BYTES

    @property
    def size(self) -> int:
        """The bytes of all texts that this process stored for the session."""
        return sum(list(self.granted.values()))

    def keep(self, stored: StoredText) -> None:
        """Store a text and grant its reference; call this before the reference is sent."""
        self.store.put(self.session_id, stored.key, stored.text)
        self.granted[stored.key] = _size(stored.text)

    def open(self, reference: str) -> str:
        """Return the text that `reference` names: "$cold.…", a bare key or "accp://cold/…".

        Raises:
            ProtocolError: E5002, it was not granted in this session; E2001, the store no longer has the text.
        """
        key = self.key(reference)
        text = checked_text(key, self.store.get(self.session_id, key))
        self.granted.setdefault(key, _size(text))
        return text

    def key(self, reference: str) -> str:
        """Return the key of the text that `reference` names.

        Raises:
            ProtocolError: E5002, it was not granted in this session.
        """
        elsewhere = stored_keys(self.store, self.session_id, reference) if self.is_shared else ()
        return check_grant(reference, {*list(self.granted), *elsewhere})

    def close(self) -> None:
        """Delete the texts and all grants; the session is over."""
        self.store.purge(self.session_id)
        self.granted.clear()
        if self.differences is not None:
            self.differences.clear()


def answer_fetch(stored_results: SessionTexts, arguments: object, *, limit: int, counter: TokenCounter) -> JsonObject:
    """Return the result of a call of `accp_fetch`, at most `limit` tokens.

    Raises:
        ProtocolError: As `read_request` and `open_and_answer`.
    """
    text = open_and_answer(read_request(arguments), stored_results.open, limit=limit, counter=counter)
    return tool_result([text_block(text)])


def read_stored(stored_results: SessionTexts, uri: str, *, is_modern: bool) -> JsonObject:
    """Return the result of resources/read for a URI `accp://cold/…`: the text as the tool returned it.

    Raises:
        ProtocolError: As `SessionTexts.open`.
    """
    contents = [{"uri": uri, "mimeType": "text/plain", "text": stored_results.open(uri)}]
    if not is_modern:
        return {"contents": contents}
    return {"resultType": "complete", "contents": contents, "ttlMs": 0, "cacheScope": "private"}


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def list_stored(stored_results: SessionTexts) -> list[JsonObject]:
    """Return the entries of resources/list for the references of a session."""
    return [
        {"uri": reference_to_uri(reference_to(key)), "name": key, "mimeType": "text/plain", "size": size}
        for key, size in list(stored_results.granted.items())
    ]
