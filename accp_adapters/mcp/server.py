"""A server with an `Encoder` in it: `wrap_server(server)`, for MCPServer, the lowlevel Server and FastMCP, 1.x to 4.

From 2.x on a server has a list of middleware, which sees every request and the finished result. A 1.x server has none
that sees the handshake, so its message streams are wrapped, where `run` is given them by any transport.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Final, TypeVar

from accp_adapters.mcp.shim.encoder import Encoder
from accp_adapters.mcp.shim.options import Options
from accp_adapters.mcp.shim.pending import Shared
from accp_adapters.mcp.shim.protocol import Json, is_modern
from accp_adapters.mcp.streams import Receiving, Sending, in_thread, message_of, off_loop, rewritten, with_message

__all__ = ["wrap_server"]

Server = TypeVar("Server")

_STATE: Final = "accp"
"""Where a connection keeps what is known of its client."""


def wrap_server(server: Server, options: Options | None = None, **settings: Any) -> Server:
    """Return `server`, which from now on sends small results to clients that understand them.

    Clients that did not negotiate are served byte for byte as before, unless `policy` or `tools` say otherwise;
    `settings` are the fields of `Options`.

    Raises: TypeError: `server` is of no SDK that we know.
    """
    chosen = replace(options or Options(), **settings)
    lowlevel = next((each for each in _layers(server) if _is_server(each)), None)
    if lowlevel is None:
        raise TypeError(f"expected an MCP server (MCPServer, Server, FastMCP), got {type(server).__name__!r}")
    if hasattr(lowlevel, "middleware"):
        # Outermost: it sees the result as it would be sent.
        lowlevel.middleware.insert(0, _Middleware(chosen))
    else:
        lowlevel.run = _wrapped_run(lowlevel.run, chosen)
    return server


def _layers(server: Any) -> list[Any]:
    """Return a server and the lowlevel server that it stands on."""
    return [server, *(getattr(server, name, None) for name in ("_lowlevel_server", "_mcp_server"))]


def _is_server(candidate: Any) -> bool:
    """Tell whether this is a lowlevel server, of 2.x (requests pass its middleware) or of 1.x (streams)."""
    if candidate is None or not callable(getattr(candidate, "create_initialization_options", None)):
        return False
    return isinstance(getattr(candidate, "middleware", None), list) or hasattr(candidate, "request_handlers")


class _Middleware:
    """The 2.x hook: `(ctx, call_next)`, around the handler of every request."""

    def __init__(self, options: Options) -> None:
        self._options: Final = options
        # Without a session there is nothing to tell clients apart by: a reference opens for whoever was shown it.
        self._sessionless: Final = Shared(is_session=False)

    async def __call__(self, ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        """Return the finished result of a request, rewritten for the client that asked."""
        if ctx.request_id is None:
            return await call_next(ctx)
        message: Json = {"jsonrpc": "2.0", "id": ctx.request_id, "method": ctx.method}
        if ctx.params is not None:
            message["params"] = dict(ctx.params)
        encoder = Encoder(self._options, shared=self._shared(ctx))
        own = await _own(encoder, message)
        if own is not None:
            return _result_of(own)
        sent = encoder.c2s(message)
        return await self._served(ctx if sent is message else replace(ctx, params=sent["params"]), call_next, encoder)

    async def _served(self, ctx: Any, call_next: Callable[[Any], Awaitable[Any]], encoder: Encoder) -> Any:
        reply: Json = {"jsonrpc": "2.0", "id": ctx.request_id}
        try:
            result = await call_next(ctx)
        except Exception as raised:
            error: Any = getattr(raised, "error", None)
            if not hasattr(error, "model_dump"):
                raise
            seen = encoder.s2c({**reply, "error": error.model_dump(exclude_unset=True)})
            if "result" in seen:
                return seen["result"]
            raised.error = type(error).model_validate(seen["error"])  # type: ignore[attr-defined]  # just read
            raise
        if not isinstance(result, dict):
            return result
        return (await off_loop(encoder.s2c, {**reply, "result": result}))["result"]

    def _shared(self, ctx: Any) -> Shared:
        """Return what is known of a connection of the handshake era; later eras have none."""
        connection: Any = getattr(ctx.session, "_connection", None)
        state = getattr(connection, "state", None)
        if is_modern(ctx.params) or not isinstance(state, dict):
            return self._sessionless
        if _STATE not in state:
            state[_STATE] = Shared()
            # What is kept for a connection goes with it.
            connection.exit_stack.callback(Encoder(self._options, shared=state[_STATE]).close)
        shared: Shared = state[_STATE]
        return shared


async def _own(encoder: Encoder, message: Json) -> Json | None:
    """Return what the shim answers itself; a fetch may read and parse megabytes, so it does in a thread."""
    if encoder.options.fetch and message.get("method") == "tools/call":
        return await in_thread(encoder.own, message)
    return encoder.own(message)


def _result_of(reply: Json) -> Json:
    if "error" in reply:
        from mcp import MCPError  # noqa: PLC0415  2.x only, and not when this module is imported

        error = reply["error"]
        raise MCPError(error["code"], error["message"], error["data"])
    result: Json = reply["result"]
    return result


def _wrapped_run(run: Callable[..., Awaitable[None]], options: Options) -> Callable[..., Awaitable[None]]:
    """Return a 1.x server's `run` with a shim on the streams of each connection."""

    async def wrapped(read_stream: Any, write_stream: Any, *args: Any, **kwargs: Any) -> None:
        encoder = Encoder(options)

        async def received(item: Any) -> Any | None:
            message = message_of(item)
            own = None if message is None else await _own(encoder, message)
            if own is None:
                return await rewritten(encoder.c2s, item)
            await write_stream.send(with_message(item, own))
            return None

        async def replied(item: Any) -> Any:
            return await rewritten(encoder.s2c, item)

        try:
            await run(Receiving(read_stream, received), Sending(write_stream, replied), *args, **kwargs)
        finally:
            encoder.close()

    return wrapped
