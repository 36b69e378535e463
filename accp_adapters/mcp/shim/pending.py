"""The requests of one direction that have no response yet, by JSON-RPC id."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from accp_adapters.mcp.shim.negotiation import ClientSettings
from accp_adapters.mcp.shim.protocol import JsonObject, MessageId, message_id
from accp_core.bounded import BoundedDict

__all__ = ["OpenRequest", "OpenRequests"]

_PLAIN_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_MAX_REQUESTS: Final = 10_000
"""Pending requests of one direction; beyond, the oldest is dropped, and its result passes unchanged."""


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

    def get(self, message: JsonObject) -> OpenRequest | None:
        """Return the request that the response `message` answers, which is still pending; None if it is unknown."""
        key = message_id(message)
        with self._lock:
            return None if key is None else self._requests.get(key)

    def pop(self, message: JsonObject) -> OpenRequest | None:
        """Remove and return the request that the response `message` answers; None if it is unknown."""
        key = message_id(message)
        with self._lock:
            return None if key is None else self._requests.pop(key, None)

    def cancel(self, params: object) -> None:
        """Remove the request that the params of a `notifications/cancelled` name: its result is not awaited."""
        if isinstance(params, dict):
            self.pop({"id": params.get("requestId")})
