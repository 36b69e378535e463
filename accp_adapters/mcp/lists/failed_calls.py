"""A router that asks for the server's tools when a call fails before the client has listed them (ACCP section 3.6).

Which code a failed call has depends on the tools: E4001, there is none of that name; E4003, its arguments are not what
it takes; else E4002. The failed response waits for the list, which the server is asked for with the client's `_meta`.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Final

from accp_adapters.mcp.shim.encoder import Encoder
from accp_adapters.mcp.shim.protocol import JsonObject, MessageId, message_id
from accp_adapters.mcp.shim.router import Routed, Router

__all__ = ["FailedCalls"]

_MAX_WAITING: Final = 1_000
"""Failed calls of one session that wait at a time; a further one does not wait."""
_MAX_PAGES: Final = 20
"""Pages of a list that is asked for."""


@dataclass(slots=True)
class _Waiting:
    response: JsonObject
    """The server's response to the call."""
    params: JsonObject
    """The params of the last request for a page."""
    pages: int = 1


class FailedCalls:
    """The failed calls of one session; both directions may use it from different threads."""

    def __init__(self, encoder: Encoder, router: Router) -> None:
        """List the tools of `encoder`; `router` gets every message, a failed one when they are listed."""
        self._encoder: Final = encoder
        self._router: Final = router
        self._waiting: Final[dict[MessageId, _Waiting]] = {}
        """By the id of our request."""
        self._lock: Final = threading.Lock()
        self.may_take_long: Final = router.may_take_long
        self.from_client: Final = router.from_client

    def from_server(self, message: JsonObject) -> Routed:
        """Return the request for a page of tools, or a response as the router inside routes it."""
        with self._lock:
            waiting = self._waiting.pop(key, None) if (key := message_id(message)) and "method" not in message else None
        if waiting is not None:
            return self._learn(waiting, message)
        params = None if "method" in message else self._encoder.needs_tools(message)
        if params is None or len(self._waiting) >= _MAX_WAITING:
            return self._router.from_server(message)
        meta = {"_meta": params["_meta"]} if "_meta" in params else {}
        return self._ask(_Waiting(message, meta))

    def _ask(self, waiting: _Waiting) -> Routed:
        request_id = f"accp-{self._encoder.options.new_id()}"
        with self._lock:
            self._waiting[str, request_id] = waiting
        request = {"jsonrpc": "2.0", "id": request_id, "method": "tools/list", "params": waiting.params}
        return Routed(request, to_client=False, is_own=True, received={})

    def _learn(self, waiting: _Waiting, message: JsonObject) -> Routed:
        """Return the request for the next page, or what becomes of the failed call."""
        result = message.get("result")
        if isinstance(result, dict) and isinstance(result.get("tools"), list):
            self._encoder.learn_tools(result, waiting.params)
            cursor = result.get("nextCursor")
            if isinstance(cursor, str) and waiting.pages < _MAX_PAGES:
                return self._ask(_Waiting(waiting.response, {**waiting.params, "cursor": cursor}, waiting.pages + 1))
        routed = self._router.from_server(waiting.response)
        return routed._replace(received=waiting.response)
