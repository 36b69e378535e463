"""The lists of calls that are on their way, by the id of the request that the server has."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from accp_adapters.mcp.shim.protocol import JsonObject, MessageId, message_id, text_block, tool_result
from accp_adapters.mcp.shim.tools.call_list import CallList
from accp_core.bounded import BoundedDict

__all__ = ["RunningLists"]

_MAX_LISTS: Final = 1_000
"""Lists at a time; beyond, the oldest is dropped, and the response to its call passes unchanged."""


@dataclass(slots=True)
class _Running:
    calls: CallList
    request: JsonObject
    """The client's request."""
    is_over: bool = False
    """Whether the last response was taken."""


class RunningLists:
    """The lists of calls of one connection; both directions may use it from different threads."""

    def __init__(self, new_id: Callable[[], str]) -> None:
        """Start empty; `new_id` returns the id of a further request to the server."""
        self._new_id: Final = new_id
        self._by_id: Final[BoundedDict[MessageId, _Running]] = BoundedDict(_MAX_LISTS)
        self._cancelled: Final[BoundedDict[MessageId, MessageId]] = BoundedDict(_MAX_LISTS)
        """The id of the client's request, by that of the call that was running when the client cancelled it."""
        self._lock: Final = threading.Lock()

    def __len__(self) -> int:
        return len(self._by_id)

    def runs(self, request: JsonObject) -> bool:
        """Return whether the client's request `request` is a list that is on its way."""
        wanted = message_id(request)
        with self._lock:
            return any(message_id(each.request) == wanted for each in self._by_id.values())

    def start(self, request: JsonObject, calls: CallList, now: float) -> JsonObject:
        """Return the client's request with the first call of its list."""
        params = calls.next_call(now)
        key = message_id(request)
        if params is None or key is None:
            return request
        with self._lock:
            self._by_id.put(key, _Running(calls, request))
        return _with_call(request, params)

    def follow_up(self, response: JsonObject, now: float) -> JsonObject | None:
        """Return the request with the next call, where `response` answers one that is not the last of its list."""
        key = message_id(response)
        running = None if key is None else self._by_id.get(key)
        if running is None or key is None:
            return None
        running.calls.receive(response)
        params = running.calls.next_call(now)
        running.is_over = params is None
        if params is None:
            return None
        request = _with_call({**running.request, "id": f"accp-{self._new_id()}"}, params)
        with self._lock:
            if self._by_id.pop(key, None) is None:
                return None  # The client has cancelled it meanwhile.
            self._by_id.put((str, request["id"]), running)
        return request

    def finish(self, response: JsonObject) -> JsonObject | None:
        """Return the response to the client, where `response` answers the last call of a list; see `follow_up`."""
        key = message_id(response)
        with self._lock:
            running = None if key is None else self._by_id.pop(key, None)
            cancelled = None if key is None else self._cancelled.pop(key, None)
        if cancelled is not None:
            # The client knows no other id, and must not take the result of one call for that of the list.
            result = tool_result([text_block("the list of calls was cancelled")], is_error=True)
            return {"jsonrpc": "2.0", "id": cancelled[1], "result": result}
        if running is None:
            return None
        if not running.is_over:
            running.calls.receive(response)
            running.calls.end("further calls could not be sent")
        return {"jsonrpc": "2.0", "id": running.request["id"], "result": running.calls.result()}

    def cancel(self, params: Any) -> JsonObject | None:
        """Forget the list that the client cancels; return the params that cancel the server's request of it."""
        wanted = message_id({"id": params.get("requestId")}) if isinstance(params, dict) else None
        with self._lock:
            running = (key for key, each in self._by_id.items() if message_id(each.request) == wanted)
            found = next(running, None)
            if found is None or wanted is None:
                return None
            del self._by_id[found]
            if found != wanted:
                self._cancelled.put(found, wanted)
            return {**params, "requestId": found[1]}


def _with_call(request: JsonObject, params: JsonObject) -> JsonObject:
    """Return a request that calls a tool; the rest of its params (`_meta`) stays."""
    return {**request, "params": {**request["params"], **params}}
