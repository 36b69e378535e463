"""The server's side of the shim: sees every message of a connection, rewrites results, answers what is its own.

It knows no transport and no SDK: messages are decoded JSON-RPC objects. Where it has nothing to change it returns the
very object that it was given, which tells the shell to forward the original bytes; so it does with all that it does
not understand, and where rewriting fails.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any, Final

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.mcp.shim.error_frames import refusal
from accp_adapters.mcp.shim.negotiation import declared_at_start, declared_in_request
from accp_adapters.mcp.shim.options import Options
from accp_adapters.mcp.shim.pending import Asked, Pending, Shared, fail_open
from accp_adapters.mcp.shim.protocol import COLD_URI, REGISTRY_URI, Json, id_of, is_modern
from accp_adapters.mcp.shim.registry import read_registry
from accp_adapters.mcp.shim.result_rewriter import Results
from accp_adapters.mcp.shim.stored_results import Shelf, answer_fetch, read_cold
from accp_adapters.mcp.shim.tools import tool_index
from accp_adapters.stores import embedded_store
from accp_core.errors import ProtocolError

__all__ = ["Encoder"]

_LOG: Final = logging.getLogger(__name__)


class Encoder:
    """The server's side of one connection, or of one HTTP exchange."""

    def __init__(self, options: Options | None = None, *, shared: Shared | None = None, **settings: Any) -> None:
        """Rewrite by `options`, or by `settings`, which are the fields of `Options`.

        `shared` is what other exchanges of the same session know; `exchange` makes them.
        """
        self.options: Final = replace(options or Options(), **settings)
        self.shared: Final = shared or Shared()
        if self.options.fetch and self.shared.shelf is None:
            self.shared.shelf = Shelf(self.options.store or embedded_store())
        self._pending: Final = Pending()
        self._results: Final = Results(self.options, self.shared)

    def exchange(self) -> Encoder:
        """Return an encoder for another HTTP exchange of the same session: requests of its own, the rest shared."""
        return Encoder(self.options, shared=self.shared)

    def close(self) -> None:
        """Forget the texts that were kept for this session, which is over."""
        if self.shared.shelf is not None:
            self.shared.shelf.close()

    def own(self, message: Json) -> Json | None:
        """Return the reply to a request that the shim answers itself; None for all that the server answers."""
        params = message.get("params") if type(message) is dict else None
        if not isinstance(params, dict) or id_of(message) is None:
            return None
        reply: Json = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            result = self._own_result(message.get("method"), params)
        except ProtocolError as error:
            return {**reply, "error": refusal(error)}
        except Exception:
            # A store that is gone, or a text that nobody can page: the server says that it has no such thing.
            _LOG.warning("a request of our own could not be answered", exc_info=True)
            return None
        return None if result is None else {**reply, "result": result}

    def c2s(self, message: Json) -> Json:
        """Return a client's message for the server, noting what it declares and asks."""
        return message if self.options.is_off else fail_open(self._heard, message)

    def s2c(self, message: Json) -> Json:
        """Return a server's message for the client, rewritten where it is the result of a request that we know."""
        return message if self.options.is_off else fail_open(self._said, message)

    def _own_result(self, method: object, params: Json) -> Json | None:
        if method == "resources/read":
            return self._own_resource(str(params.get("uri")), modern=is_modern(params))
        if method == "tools/call":
            return self._own_tool(params)
        return None

    def _own_resource(self, uri: str, *, modern: bool) -> Json | None:
        if uri == REGISTRY_URI and self.options.policy != "never":
            return read_registry(self.options.registry, is_modern=modern)
        if uri.startswith(COLD_URI) and self.shared.shelf is not None:
            return read_cold(self.shared.shelf, uri, is_modern=modern)
        return None

    def _own_tool(self, params: Json) -> Json | None:
        params = self._within_index(params)
        name, arguments = params.get("name"), params.get("arguments")
        if not self._is_ours(name):
            return None
        shelf, options = self.shared.shelf, self.options
        if name == FETCH_NAME and shelf is not None:
            return answer_fetch(shelf, arguments, limit=options.fetch_limit, counter=options.counter)
        return tool_index.answer_tools(arguments, self.shared.catalog)

    def _within_index(self, params: Json) -> Json:
        """Return the params of a call, or those of the call that a call of the index holds."""
        return (tool_index.call_within(params) if self._is_ours(tool_index.TOOLS_NAME) else None) or params

    def _is_ours(self, name: object) -> bool:
        """Tell whether a tool is one that the shim serves; a server's own tool of that name stays the server's."""
        ours = {tool_index.TOOLS_NAME: self.options.tools == "lazy", FETCH_NAME: self.shared.shelf is not None}
        return isinstance(name, str) and ours.get(name, False) and name not in self.shared.catalog.tools

    def _heard(self, message: Json) -> Json:
        method, params = message.get("method"), message.get("params")
        if not isinstance(method, str):
            return message
        if method == "notifications/cancelled":
            self._pending.cancel(params)
            return message
        if method == "initialize":
            self.shared.declared = declared_at_start(params)
        called = self._within_index(params) if method == "tools/call" and isinstance(params, dict) else params
        if called is not params:
            message = {**message, "params": called}
        self._pending.add(message, self._asked(message))
        return message

    def _asked(self, message: Json) -> Asked:
        params = message.get("params")
        modern = is_modern(params)
        declared = declared_in_request(params) if modern else self.shared.declared
        if self.options.policy == "never":
            declared = None
        return Asked.of(message, declared=declared, is_modern=modern)

    def _said(self, message: Json) -> Json:
        if message.get("method") == "notifications/tools/list_changed":
            self.shared.catalog.clear()
        asked = None if "method" in message else self._pending.pop(message)
        return message if asked is None else self._results.reply(message, asked)
