"""The server's side of the shim: sees every message of a connection, rewrites results, answers what is its own.

It does no I/O and knows no SDK: messages are decoded JSON-RPC objects. Where it has nothing to change it returns the
very object that it was given, which tells the shell to forward the original bytes; so it does with all that it does
not understand, and where rewriting fails.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

from accp_adapters.mcp.exchange import Asked, Pending, Shared, fail_open
from accp_adapters.mcp.frames import Carrier, Wrapping, write_frame
from accp_adapters.mcp.negotiation import Structured, announce, declared_at_start, declared_in_request
from accp_adapters.mcp.protocol import CLIENT_CAPABILITIES, REGISTRY_URI, Json, compact, count_o200k, is_longer_than
from accp_adapters.mcp.registry import read_registry
from accp_core.accp import BUILT_IN, Envelope, SchemaRegistry
from accp_core.ports import TokenCounter

__all__ = ["Encoder", "Options", "Policy"]

Policy: TypeAlias = Literal["negotiate", "always", "never"]
"""Who gets rewritten results: clients that declared the extension; all of them; nobody."""

_Rewrite: TypeAlias = Callable[[Json, Asked], Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How results are rewritten, and for whom."""

    policy: Policy = "negotiate"
    carrier: Carrier = "resource"
    """The block that holds a frame, for clients that negotiated."""
    structured: Structured = "keep"
    """Which form of a result a host gets that did not ask for one."""
    min_gain: int = 1
    """Tokens that rewriting must save, of what is read; below 0 it is done even where it costs so many."""
    largest: int = 4_000_000
    """Characters of a result; a larger one passes as it came."""
    counter: TokenCounter = count_o200k
    """Counts the tokens of the model in use."""
    registry: SchemaRegistry = BUILT_IN
    """The schemas that are announced."""
    new_id: Callable[[], str] = lambda: secrets.token_hex(6)
    """Gives each frame its id."""
    now: Callable[[], float] = time.time
    """The time in seconds of the Unix epoch, for the frames' envelopes."""


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
            "initialize": self._start,
            "server/discover": self._start,
            "tools/call": self._called,
        }

    def exchange(self) -> Encoder:
        """Return an encoder for another HTTP exchange of the same session: requests of its own, the rest shared."""
        return Encoder(self.options, shared=self.shared)

    def own(self, message: Json) -> Json | None:
        """Return the reply to a request that the shim answers itself; None for all that the server answers."""
        params = message.get("params")
        if self.options.policy == "never" or message.get("method") != "resources/read" or not isinstance(params, dict):
            return None
        if params.get("uri") != REGISTRY_URI:
            return None
        result = read_registry(self.options.registry, is_modern=_is_modern(params))
        return {"jsonrpc": "2.0", "id": message.get("id"), "result": result}

    def c2s(self, message: Json) -> Json:
        """Return a client's message for the server, noting what it declares and asks."""
        return fail_open(self._heard, message) if self.options.policy != "never" else message

    def s2c(self, message: Json) -> Json:
        """Return a server's message for the client, rewritten where it is the result of a request that we know."""
        return fail_open(self._said, message) if self.options.policy != "never" else message

    def _heard(self, message: Json) -> Json:
        method, params = message.get("method"), message.get("params")
        if not isinstance(method, str):
            return message
        if method == "notifications/cancelled":
            self._pending.cancel(params)
            return message
        if method == "initialize":
            self.shared.declared = declared_at_start(params)
        if method in self._rewrites:
            modern = _is_modern(params)
            declared = declared_in_request(params) if modern else self.shared.declared
            self._pending.add(message, Asked.of(message, declared=declared, is_modern=modern))
        return message

    def _said(self, message: Json) -> Json:
        if "method" in message:
            return message
        asked = self._pending.pop(message)
        result = message.get("result")
        # An interim result, a task's, or an extension's is not ours to read.
        if asked is None or not isinstance(result, dict) or result.get("resultType", "complete") != "complete":
            return message
        written = self._rewrites[asked.method](result, asked)
        return message if written is result else {**message, "result": written}

    def _start(self, result: Json, asked: Asked) -> Json:
        if asked.declared is None:
            return result
        return _as_private(announce(result, asked.method, self.options.registry))

    def _called(self, result: Json, asked: Asked) -> Json:
        if asked.declared is None or result.get("isError") or is_longer_than(result, self.options.largest):
            return result
        return self._framed(result, asked)

    def _framed(self, result: Json, asked: Asked) -> Json:
        declared = asked.declared
        envelope = Envelope(
            msg_id=self.options.new_id(),
            sequence=next(self.shared.sequence),
            timestamp=int(self.options.now()),
            correlation_id=asked.correlation_id,
        )
        wrapping = Wrapping(
            tool=str(asked.params["name"]),
            envelope=envelope,
            carrier=self.options.carrier,
            columns=declared is not None and declared.columns,
        )
        written = write_frame(result, wrapping)
        return written if written is not None and self._gains(result, written) else result

    def _gains(self, before: Json, after: Json) -> bool:
        count = self.options.counter
        return count(_read_part(before)) - count(_read_part(after)) >= self.options.min_gain


def _read_part(result: Json) -> str:
    """Return what a reader is shown of a result: both forms of it, nothing of `_meta`."""
    return compact([result[name] for name in ("content", "structuredContent") if name in result])


def _is_modern(params: object) -> bool:
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and CLIENT_CAPABILITIES in meta


def _as_private(result: Json) -> Json:
    """Return a result that was made for one client, so that no cache gives it to another."""
    return {**result, "cacheScope": "private"} if result.get("cacheScope") == "public" else result
