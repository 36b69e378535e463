"""A router that makes the calls of a list one after the other, around the router of an encoder.

The server gets ordinary requests: the first one has the id of the client's request, the further ones have ids of ours.
Its response to one of them is answered by the next call of the list, or becomes the response to the client.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, Final

from accp_adapters.mcp.lists.call_list import CallList, CallRules, ListedCall, read_calls
from accp_adapters.mcp.lists.failed_calls import FailedCalls
from accp_adapters.mcp.shim.encoder import Encoder
from accp_adapters.mcp.shim.protocol import JsonObject, MessageId, message_id, text_block, tool_result
from accp_adapters.mcp.shim.router import Routed, Router, ShimRouter
from accp_adapters.mcp.shim.tools.tool_index import INDEX_NAME
from accp_core.bounded import BoundedDict
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["CallLists", "router_of"]

_MAX_LISTS: Final = 1_000
"""Lists of one session at a time; beyond, the oldest is dropped, and the response to its call passes unchanged."""


@dataclass(slots=True)
class _Running:
    request: JsonObject
    """The client's request."""
    calls: CallList
    call_id: MessageId
    """The id of the request that the server has."""
    is_cancelled: bool = False


def router_of(encoder: Encoder) -> Router:
    """Return the router of an encoder, which makes requests of its own where its options say so."""
    router = ShimRouter(encoder, encoder.answer_own, encoder.may_take_long)
    return CallLists(encoder, FailedCalls(encoder, router)) if encoder.options.call_lists else router


class CallLists:
    """The lists of calls of one session; both directions may use it from different threads."""

    def __init__(self, encoder: Encoder, router: Router) -> None:
        """Run the lists that the tools of `encoder` allow; `router` gets every other message."""
        self._encoder: Final = encoder
        self._router: Final = router
        self._running: Final[BoundedDict[MessageId, _Running]] = BoundedDict(_MAX_LISTS)
        """By the id of the client's request."""
        self._lock: Final = threading.Lock()

    def may_take_long(self, message: JsonObject) -> bool:
        """Return whether a list searches texts for this message, or the router inside may take long."""
        return self._answered_by(message) is not None or self._router.may_take_long(message)

    def from_client(self, message: JsonObject) -> Routed:
        """Return the first call of a list; anything else as the router inside routes it."""
        if message.get("method") == "notifications/cancelled":
            return self._router.from_client(self._cancel(message))
        try:
            calls = self._read(message)
        except ProtocolError as error:
            return _response(message, tool_result([text_block(str(error))], is_error=True))
        key = message_id(message)
        if calls is None or key is None:
            return self._router.from_client(message)
        options, now = self._encoder.options, self._encoder.options.now()
        calling = CallList(calls, self._rules(), options.counter, options.limits.fetch, now)
        with self._lock:
            self._running.put(key, running := _Running(message, calling, key))
        return self._advance(running, message["id"], now)

    def from_server(self, message: JsonObject) -> Routed:
        """Return what follows the response to a call of a list; anything else as the router inside routes it."""
        running = self._answered_by(message)
        if running is None:
            return self._router.from_server(message)
        if not running.is_cancelled:
            running.calls.receive(message)
        options = self._encoder.options
        return self._advance(running, f"accp-{options.new_id()}", options.now())

    def _advance(self, running: _Running, call_id: Any, now: float) -> Routed:
        """Return the next call of a list under the id `call_id`, or the response to the client."""
        params = None if running.is_cancelled else running.calls.next_call(now)
        request = running.request
        with self._lock:
            if params is not None and not running.is_cancelled:
                running.call_id = type(call_id), call_id
                # The rest of the params, such as `_meta`, comes from the client's request.
                sent = {**request, "id": call_id, "params": {**request["params"], **params}}
                return Routed(sent, to_client=False, is_own=True)
            self._running.pop((type(request["id"]), request["id"]), None)
        if running.is_cancelled:
            # The server answered all the same; its result is not the result of the list.
            return _response(request, tool_result([text_block("the list of calls was cancelled")], is_error=True))
        return _response(request, running.calls.result())

    def _answered_by(self, message: JsonObject) -> _Running | None:
        """Return the list whose call the response `message` answers."""
        key = None if "method" in message else message_id(message)
        with self._lock:
            return next((each for each in self._running.values() if each.call_id == key), None) if key else None

    def _cancel(self, message: JsonObject) -> JsonObject:
        """Return a client's cancellation of a list as a cancellation of the call that the server has."""
        params = message.get("params")
        key = message_id({"id": params.get("requestId")}) if isinstance(params, dict) else None
        with self._lock:
            running = self._running.get(key) if key else None
            if running is None or running.is_cancelled:
                return message
            running.is_cancelled = True
            running.calls.results.clear()
        return {**message, "params": {**message["params"], "requestId": running.call_id[1]}}

    def _read(self, message: JsonObject) -> list[ListedCall] | None:
        """Return the calls of the list in a request; None where it has none.

        Raises:
            ProtocolError: As `read_calls`; E5001, an argument is a reference whose text a tool would be given.
        """
        params = message.get("params")
        if message.get("method") != "tools/call" or not isinstance(params, dict) or params.get("name") != INDEX_NAME:
            return None
        calls = read_calls(params.get("arguments"), self._rules()) if self._encoder.serves(INDEX_NAME) else None
        for call in calls or ():
            if self._encoder.passes_on({"name": call.name, "arguments": call.arguments}):
                reason = f"expected a call of {call.name!r} whose argument is a reference to stand alone, found a list"
                raise ProtocolError(reason, code=ErrorCode.POLICY_DENIED)
        return calls

    def _rules(self) -> CallRules:
        options, catalog = self._encoder.options, self._encoder.session.catalog
        return CallRules(self._encoder.check_offered, catalog, options.allow, options.server_of)


def _response(request: JsonObject, result: JsonObject) -> Routed:
    return Routed({"jsonrpc": "2.0", "id": request["id"], "result": result}, to_client=True)
