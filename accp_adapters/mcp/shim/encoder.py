"""The server's side of the shim: it sees every message of a connection, rewrites results, answers its own requests.

It knows no transport and no SDK; messages are decoded JSON-RPC objects. A message that stays the same is returned as
the very object that was passed in, so that the caller can forward the original bytes. That includes every message that
is not understood and every one that cannot be rewritten.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any, Final

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.mcp.shim.error_frames import json_rpc_error
from accp_adapters.mcp.shim.negotiation import settings_in_initialize, settings_in_request
from accp_adapters.mcp.shim.options import EncoderOptions
from accp_adapters.mcp.shim.pending import PendingRequest, PendingRequests
from accp_adapters.mcp.shim.protocol import (
    COLD_URI,
    REGISTRY_URI,
    JsonObject,
    is_modern,
    message_id,
    unchanged_on_error,
)  # fmt: skip
from accp_adapters.mcp.shim.registry import read_registry
from accp_adapters.mcp.shim.result_rewriter import ResultRewriter
from accp_adapters.mcp.shim.session_state import SessionState
from accp_adapters.mcp.shim.stored_results import StoredResults, answer_fetch, read_stored
from accp_adapters.mcp.shim.tools import tool_index
from accp_adapters.stores import embedded_store
from accp_core.errors import ProtocolError

__all__ = ["Encoder"]

_LOG: Final = logging.getLogger(__name__)


class Encoder:
    """The server's side of one connection, or of one HTTP exchange."""

    def __init__(
        self, options: EncoderOptions | None = None, *, session: SessionState | None = None, **settings: Any
    ) -> None:
        """Rewrite results as `options` say.

        Args:
            options: The settings; None: the defaults.
            session: The state that this encoder shares with others of the same session; None: a new one.
            settings: Fields of `EncoderOptions`, instead of those in `options`.

        Raises:
            ValueError: A setting is invalid.
        """
        self.options: Final = replace(options or EncoderOptions(), **settings)
        self.session: Final = session or SessionState()
        if self.options.fetch and self.session.stored_results is None:
            self.session.stored_results = StoredResults(self.options.store or embedded_store())
        self._pending: Final = PendingRequests()
        self._rewriter: Final = ResultRewriter(self.options, self.session)

    def exchange(self) -> Encoder:
        """Return an encoder for another HTTP exchange of the same session, with pending requests of its own."""
        return Encoder(self.options, session=self.session)

    def close(self) -> None:
        """Delete the texts that were stored for this session; it is over."""
        if self.session.stored_results is not None:
            self.session.stored_results.close()

    def answer_own(self, message: JsonObject) -> JsonObject | None:
        """Return the response to a request that the shim answers itself; None for one that the server answers."""
        params = message.get("params") if type(message) is dict else None
        if not isinstance(params, dict) or message_id(message) is None:
            return None
        response: JsonObject = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            result = self._own_result(message.get("method"), params)
        except ProtocolError as error:
            return {**response, "error": json_rpc_error(error)}
        except Exception:
            # The store failed, or the text cannot be shown: the server refuses what it does not have.
            _LOG.warning("the shim could not answer a request of its own; the server is asked", exc_info=True)
            return None
        return None if result is None else {**response, "result": result}

    def from_client(self, message: JsonObject) -> JsonObject:
        """Return a client's message for the server; what it declares and requests is remembered."""
        return message if self.options.is_off else unchanged_on_error(self._from_client, message)

    def from_server(self, message: JsonObject) -> JsonObject:
        """Return a server's message for the client; the result of a known request is rewritten."""
        return message if self.options.is_off else unchanged_on_error(self._from_server, message)

    def _own_result(self, method: object, params: JsonObject) -> JsonObject | None:
        if method == "resources/read":
            return self._own_resource(str(params.get("uri")), modern=is_modern(params))
        if method == "tools/call":
            return self._own_tool(params)
        return None

    def _own_resource(self, uri: str, *, modern: bool) -> JsonObject | None:
        if uri == REGISTRY_URI and self.options.policy != "never":
            return read_registry(self.options.registry, is_modern=modern)
        if uri.startswith(COLD_URI) and self.session.stored_results is not None:
            return read_stored(self.session.stored_results, uri, is_modern=modern)
        return None

    def _own_tool(self, params: JsonObject) -> JsonObject | None:
        params = self._unwrap_call(params)
        name, arguments = params.get("name"), params.get("arguments")
        if not self._is_own_tool(name):
            return None
        stored, options = self.session.stored_results, self.options
        if name == FETCH_NAME and stored is not None:
            return answer_fetch(stored, arguments, limit=options.limits.fetch, counter=options.counter)
        return tool_index.answer_index_call(arguments, self.session.catalog)

    def _unwrap_call(self, params: JsonObject) -> JsonObject:
        """Return the params of the call inside a call of the tool index; any other params unchanged."""
        return (tool_index.call_in_index(params) if self._is_own_tool(tool_index.INDEX_NAME) else None) or params

    def _is_own_tool(self, name: object) -> bool:
        """Return whether the shim serves the tool `name`; a tool of the server with that name takes precedence."""
        serves = {
            tool_index.INDEX_NAME: self.options.tools == "lazy",
            FETCH_NAME: self.session.stored_results is not None,
        }
        return isinstance(name, str) and serves.get(name, False) and name not in self.session.catalog.tools

    def _from_client(self, message: JsonObject) -> JsonObject:
        method, params = message.get("method"), message.get("params")
        if not isinstance(method, str):
            return message
        if method == "notifications/cancelled":
            self._pending.cancel(params)
            return message
        if method == "initialize":
            self.session.client_settings = settings_in_initialize(params)
        called = self._unwrap_call(params) if method == "tools/call" and isinstance(params, dict) else params
        if called is not params:
            message = {**message, "params": called}
        self._pending.add(message, self._pending_request(message))
        return message

    def _pending_request(self, message: JsonObject) -> PendingRequest:
        params = message.get("params")
        modern = is_modern(params)
        settings = settings_in_request(params) if modern else self.session.client_settings
        if self.options.policy == "never":
            settings = None
        return PendingRequest.of(message, client_settings=settings, is_modern=modern)

    def _from_server(self, message: JsonObject) -> JsonObject:
        if message.get("method") == "notifications/tools/list_changed":
            self.session.catalog.clear()
        request = None if "method" in message else self._pending.pop(message)
        return message if request is None else self._rewriter.rewrite(message, request)
