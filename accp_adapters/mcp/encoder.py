"""The server's side of the shim: sees every message of a connection, rewrites results, answers what is its own.

It knows no transport and no SDK: messages are decoded JSON-RPC objects. Where it has nothing to change it returns the
very object that it was given, which tells the shell to forward the original bytes; so it does with all that it does
not understand, and where rewriting fails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, TypeAlias

from accp_adapters.mcp import errors, lazy
from accp_adapters.mcp.exchange import Asked, Pending, Shared, fail_open
from accp_adapters.mcp.frames import Wrapping, write_frame
from accp_adapters.mcp.negotiation import Structured, announce, declared_at_start, declared_in_request
from accp_adapters.mcp.options import Options
from accp_adapters.mcp.protocol import REGISTRY_URI, Json, id_of, is_longer_than, is_modern, read_part, without
from accp_adapters.mcp.registry import read_registry
from accp_adapters.mcp.views import write_view
from accp_core.accp import Envelope

__all__ = ["Encoder"]

_Rewrite: TypeAlias = Callable[[Json, Asked], Json]


class Encoder:
    """The server's side of one connection, or of one HTTP exchange."""

    def __init__(self, options: Options | None = None, *, shared: Shared | None = None, **settings: Any) -> None:
        """Rewrite by `options`, or by `settings`, which are the fields of `Options`.

        `shared` is what other exchanges of the same session know; `exchange` makes them.
        """
        self.options: Final = replace(options or Options(), **settings)
        self.shared: Final = shared or Shared()
        self._pending: Final = Pending()
        self._rewrites: Final[dict[str, _Rewrite]] = {
            "initialize": self._started,
            "server/discover": self._started,
            "tools/list": self._listed,
            "tools/call": self._called,
        }

    def exchange(self) -> Encoder:
        """Return an encoder for another HTTP exchange of the same session: requests of its own, the rest shared."""
        return Encoder(self.options, shared=self.shared)

    def own(self, message: Json) -> Json | None:
        """Return the reply to a request that the shim answers itself; None for all that the server answers."""
        params = message.get("params") if type(message) is dict else None
        if not isinstance(params, dict) or id_of(message) is None:
            return None
        result = self._own_result(message.get("method"), params)
        return None if result is None else {"jsonrpc": "2.0", "id": message["id"], "result": result}

    def c2s(self, message: Json) -> Json:
        """Return a client's message for the server, noting what it declares and asks."""
        return message if self.options.is_off else fail_open(self._heard, message)

    def s2c(self, message: Json) -> Json:
        """Return a server's message for the client, rewritten where it is the result of a request that we know."""
        return message if self.options.is_off else fail_open(self._said, message)

    def _own_result(self, method: object, params: Json) -> Json | None:
        if method == "resources/read" and params.get("uri") == REGISTRY_URI and self.options.policy != "never":
            return read_registry(self.options.registry, is_modern=is_modern(params))
        if method == "tools/call" and self._is_index(params.get("name")) and lazy.call_within(params) is None:
            return lazy.answer_tools(params.get("arguments"), self.shared.catalog)
        return None

    def _is_index(self, name: object) -> bool:
        """Tell whether a tool is our index; a server's own tool of that name stays the server's."""
        return self.options.tools == "lazy" and name == lazy.TOOLS_NAME and name not in self.shared.catalog.tools

    def _heard(self, message: Json) -> Json:
        method, params = message.get("method"), message.get("params")
        if not isinstance(method, str):
            return message
        if method == "notifications/cancelled":
            self._pending.cancel(params)
            return message
        if method == "initialize":
            self.shared.declared = declared_at_start(params)
        if method == "tools/call" and isinstance(params, dict) and self._is_index(params.get("name")):
            message = {**message, "params": lazy.call_within(params) or params}
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
        if asked is None:
            return message
        if isinstance(message.get("error"), dict):
            return self._failed(message, asked)
        rewrite, result = self._rewrites.get(asked.method), message.get("result")
        # An interim result, a task's, or an extension's is not ours to read.
        if rewrite is None or not isinstance(result, dict) or result.get("resultType", "complete") != "complete":
            return message
        written = rewrite(result, asked)
        return message if written is result else {**message, "result": written}

    def _failed(self, message: Json, asked: Asked) -> Json:
        if asked.declared is None:
            return message
        error = message["error"]
        code = errors.code_of_error(error, asked, self.shared.catalog)
        frame = errors.frame_of(code, str(error.get("message", "")), self._envelope(asked))
        written = errors.in_error(error, frame)
        return message if written is error else {**message, "error": written}

    def _started(self, result: Json, asked: Asked) -> Json:
        if asked.declared is None:
            return result
        return _as_private(announce(result, asked.method, self.options.registry))

    def _listed(self, result: Json, asked: Asked) -> Json:
        catalog = self.shared.catalog
        catalog.add(result, asked.params)
        written = result
        if self._structured(asked) == "drop" and self._shows_views(asked):
            tools = [without(tool, "outputSchema") for tool in result["tools"]]
            written = written if tools == result["tools"] else {**written, "tools": tools}
        if self.options.tools == "lazy" and lazy.TOOLS_NAME not in catalog.tools:
            # Pages are gathered: a client that reads them all is given the whole index with the last.
            written = {**written, "tools": [lazy.index_tool(catalog)] if catalog.is_complete else []}
        return written if written is result else _as_private(written)

    def _called(self, result: Json, asked: Asked) -> Json:
        if asked.declared is not None:
            code = errors.code_of_result(result, asked, self.shared.catalog)
            if code is not None:
                return errors.in_result(result, errors.frame_of(code, _reason(result), self._envelope(asked)))
        if result.get("isError") or is_longer_than(result, self.options.largest):
            return result
        if self._shows_views(asked):
            written = write_view(result, structured=self._structured(asked), counter=self.options.counter)
        elif asked.declared is not None:
            written = write_frame(result, self._wrapping(asked))
        else:
            return result
        return written if written is not None and self._gains(result, written) else result

    def _shows_views(self, asked: Asked) -> bool:
        """Tell whether who asked is shown texts: a host that wants them, or any where `policy` is "always"."""
        if asked.declared is not None:
            return asked.declared.results == "view"
        return self.options.policy == "always"

    def _structured(self, asked: Asked) -> Structured:
        return (asked.declared.structured if asked.declared else None) or self.options.structured

    def _wrapping(self, asked: Asked) -> Wrapping:
        return Wrapping(
            tool=str(asked.params["name"]),
            envelope=self._envelope(asked),
            carrier=self.options.carrier,
            columns=asked.declared is not None and asked.declared.columns,
        )

    def _envelope(self, asked: Asked) -> Envelope:
        return Envelope(
            msg_id=self.options.new_id(),
            sequence=next(self.shared.sequence),
            timestamp=int(self.options.now()),
            correlation_id=asked.correlation_id,
        )

    def _gains(self, before: Json, after: Json) -> bool:
        count = self.options.counter
        return count(read_part(before)) - count(read_part(after)) >= self.options.min_gain


def _as_private(result: Json) -> Json:
    """Return a result that was made for one client, so that no cache gives it to another."""
    return {**result, "cacheScope": "private"} if result.get("cacheScope") == "public" else result


def _reason(result: Json) -> str:
    """Return what a failed tool says."""
    texts = [block["text"] for block in result.get("content", []) if isinstance(block.get("text"), str)]
    return texts[0] if texts else ""
