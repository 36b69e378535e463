"""What is remembered of a session: its client, its open requests, the server's tools, and the texts that it may open.

"Context references are session-scoped" (ACCP section 9): a reference opens only in the session in which it was
granted. Any other, guessed or copied from another session, is refused with E5002.
"""

from __future__ import annotations

import itertools
import re
import secrets
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Final

from accp_adapters.fetching import FETCH_DESCRIPTION, FETCH_NAME, FETCH_PARAMETERS, open_and_answer, read_request
from accp_adapters.mcp.index import ToolCatalog
from accp_adapters.mcp.messages import JsonObject, MessageId, message_id, text_block, tool_result
from accp_adapters.mcp.negotiation import ClientSettings
from accp_adapters.stores import stored_keys
from accp_core.bounded import BoundedDict
from accp_core.errors import ProtocolError
from accp_core.ports import ColdStore, TokenCounter
from accp_core.references import StoredText, check_grant, checked_text, reference_to, reference_to_uri

__all__ = [
    "FETCH_TOOL", "OpenRequest", "OpenRequests", "SessionState", "SessionTexts", "answer_fetch", "list_stored",
    "read_stored",
]  # fmt: skip

FETCH_TOOL: Final[JsonObject] = {"name": FETCH_NAME, "description": FETCH_DESCRIPTION, "inputSchema": FETCH_PARAMETERS}
"""The definition of `accp_fetch` in tools/list."""

_MAX_REFERENCES: Final = 10_000
"""References of one session; once there are so many, further results are shown whole."""
_MAX_BYTES: Final = 64 * 1024 * 1024
"""Bytes of the texts of one session, likewise."""
_PLAIN_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_MAX_REQUESTS: Final = 10_000
"""Pending requests of one direction; beyond, the oldest is dropped, and its result passes unchanged."""


@dataclass(slots=True)
class SessionTexts:
    """The stored texts of one session, and which of them its client may open."""

    store: ColdStore
    """Where the texts are."""
    session_id: str = field(default_factory=lambda: secrets.token_hex(16))
    """The namespace of the session in the store; it is never sent to a peer."""
    granted: dict[str, int] = field(default_factory=dict)
    """Key to the bytes of its text in UTF-8, for every reference that was granted."""
    verbatim: set[str] = field(default_factory=set)
    """The keys of the texts that were shown as they are."""
    is_shared: bool = False
    """Whether `session_id` names the same session in other processes, so that what is stored there is granted, too."""

    @property
    def is_full(self) -> bool:
        """Whether no further reference is granted."""
        return len(self.granted) >= _MAX_REFERENCES or sum(list(self.granted.values())) >= _MAX_BYTES

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
        try:
            return check_grant(reference, {*list(self.granted), *elsewhere})
        except ProtocolError as error:
            raise ProtocolError(f"{error.reason}; or call its tool again", code=error.code) from error

    def close(self) -> None:
        """Remove all grants, and delete the texts that no other process shares; the session is over."""
        if not self.is_shared:
            self.store.purge(self.session_id)
        self.granted.clear()


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def answer_fetch(stored_results: SessionTexts, arguments: object, *, limit: int, counter: TokenCounter) -> JsonObject:
    """Return the result of a call of `accp_fetch`, at most `limit` tokens.

    Raises:
        ProtocolError: As `read_request` and `open_and_answer`.
    """
    request = replace(read_request(arguments), verbatim=frozenset(stored_results.verbatim))
    text = open_and_answer(request, stored_results.open, limit=limit, counter=counter)
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


def list_stored(stored_results: SessionTexts) -> list[JsonObject]:
    """Return the entries of resources/list for the references of a session."""
    return [
        {"uri": reference_to_uri(reference_to(key)), "name": key, "mimeType": "text/plain", "size": size}
        for key, size in list(stored_results.granted.items())
    ]


@dataclass(slots=True)
class SessionState:
    """The state of one session; an `Encoder` for each HTTP exchange may share it."""

    is_session: bool = True
    """Whether all messages come from one client. If not, references are not listed: any client could list them."""
    has_owner: bool = True
    """Whether it is known whose session this is. If not, no references are granted: nobody could open them again."""
    client_settings: ClientSettings | None = None
    """What the client declared in `initialize`; None in the era in which it declares with every request."""
    client_name: str = ""
    """The name that the client gave in `initialize`."""
    catalog: ToolCatalog = field(default_factory=ToolCatalog)
    """The server's tools, as the client listed them."""
    stored_results: SessionTexts | None = None
    """The texts that were too large to show; None: large results are shown whole."""
    sequence: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    """The sequence numbers of the frames that are sent."""
    caller: tuple[str, str] | None = None
    """The owner whose share of the memory it counts for, and its own name; None: it is not counted."""

    @property
    def weight(self) -> int:
        """About the bytes that it takes."""
        texts = self.stored_results.granted.values() if self.stored_results else ()
        return 8_192 + 2_048 * len(self.catalog.tools) + sum(list(texts))


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRequest:
    """A request that has no response yet."""

    method: str
    """Its JSON-RPC method."""
    params: Any
    """Its params, unchanged."""
    client_settings: ClientSettings | None
    """What the client declared; None: it did not declare the extension."""
    is_modern: bool
    """Whether it belongs to the era of 2026-07-28."""
    client_name: str
    """The name in the client's `clientInfo`; empty: it gave none."""
    correlation_id: str
    """Its id, as the envelope of a frame holds it."""

    @property
    def tool(self) -> str:
        """The name of the tool that it calls; empty: it calls none."""
        return str(self.params.get("name", "")) if isinstance(self.params, dict) else ""

    @classmethod
    def of(
        cls, message: JsonObject, *, client_settings: ClientSettings | None, is_modern: bool, client_name: str = ""
    ) -> OpenRequest:
        """Return the record of the request `message`."""
        return cls(
            method=message["method"],
            params=message.get("params"),
            client_settings=client_settings,
            is_modern=is_modern,
            client_name=client_name,
            correlation_id=_correlation_id(message.get("id")),
        )


def _correlation_id(request_id: object) -> str:
    """Return a request's id, or a hash of it where it is too long for an envelope or has other characters."""
    text = str(request_id)
    return text if _PLAIN_ID.fullmatch(text) else sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


class OpenRequests:
    """The pending requests by id; both directions may use it from different threads."""

    def __init__(self) -> None:
        """Start empty."""
        self._requests: Final[BoundedDict[MessageId, OpenRequest]] = BoundedDict(_MAX_REQUESTS)
        self._lock: Final = threading.Lock()

    def add(self, message: JsonObject, request: OpenRequest) -> None:
        """Add the record of `message`; it replaces one with the same id. Notifications are ignored."""
        key = message_id(message)
        if key is not None:
            with self._lock:
                self._requests.put(key, request)

    def pop(self, message: JsonObject) -> OpenRequest | None:
        """Remove and return the request that the response `message` answers; None if it is unknown."""
        key = message_id(message)
        with self._lock:
            return None if key is None else self._requests.pop(key, None)

    def cancel(self, params: object) -> None:
        """Remove the request that the params of a `notifications/cancelled` name: its result is not awaited."""
        if isinstance(params, dict):
            self.pop({"id": params.get("requestId")})
