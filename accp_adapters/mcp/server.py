"""A server with an `Encoder`: `wrap_server(server)`, for MCPServer, the lowlevel Server and FastMCP, 1.x to 4.

From 2.x on, a server has a list of middleware, which sees every request and the finished result. A 1.x server has no
hook that sees the handshake, so the message streams that a transport passes to `run` are wrapped.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Final, TypeVar

from accp_adapters.mcp.shim.encoder import Encoder
from accp_adapters.mcp.shim.options import EncoderOptions
from accp_adapters.mcp.shim.protocol import JsonObject, is_modern
from accp_adapters.mcp.shim.session_state import SessionState
from accp_adapters.mcp.streams import (
    RewritingReadStream,
    RewritingWriteStream,
    message_of,
    replace_message,
    rewrite_item,
    run_in_thread,
    run_large_in_thread,
)  # fmt: skip

__all__ = ["wrap_server"]

Server = TypeVar("Server")

_STATE_KEY: Final = "accp"
"""The key of our session state in the state of an SDK connection."""


def wrap_server(server: Server, options: EncoderOptions | None = None, **settings: Any) -> Server:
    """Return `server`, which now sends smaller results to clients that understand them.

    Clients that did not negotiate get the same bytes as before, unless `policy` or `tools` say otherwise.

    Args:
        server: An MCPServer, a lowlevel Server or a FastMCP.
        options: The settings; None: the defaults.
        settings: Fields of `EncoderOptions`, instead of those in `options`.

    Raises:
        TypeError: `server` is none of these.
        ValueError: A setting is invalid.
    """
    chosen = replace(options or EncoderOptions(), **settings)
    lowlevel = next((candidate for candidate in _layers(server) if _is_server(candidate)), None)
    if lowlevel is None:
        raise TypeError(f"expected an MCP server (MCPServer, Server, FastMCP), found {type(server).__name__!r}")
    if hasattr(lowlevel, "middleware"):
        # The outermost middleware sees the result as it would be sent.
        lowlevel.middleware.insert(0, _Middleware(chosen))
    else:
        lowlevel.run = _wrapped_run(lowlevel.run, chosen)
    return server


def _layers(server: Any) -> list[Any]:
    """Return a server and the lowlevel servers in it, if any."""
    return [server, *(getattr(server, name, None) for name in ("_lowlevel_server", "_mcp_server"))]


def _is_server(candidate: Any) -> bool:
    """Return whether this is a lowlevel server of 2.x (it has middleware) or of 1.x (it has request handlers)."""
    if candidate is None or not callable(getattr(candidate, "create_initialization_options", None)):
        return False
    return isinstance(getattr(candidate, "middleware", None), list) or hasattr(candidate, "request_handlers")


class _Middleware:
    """The hook of 2.x, `(ctx, call_next)`, around the handler of every request."""

    def __init__(self, options: EncoderOptions) -> None:
        self._options: Final = options
        # Without sessions, clients cannot be told apart: a reference opens for every client that has it.
        self._sessionless: Final = SessionState(is_session=False)

    async def __call__(self, ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        """Return the finished result of a request, rewritten for its client."""
        if ctx.request_id is None:
            return await call_next(ctx)
        message: JsonObject = {"jsonrpc": "2.0", "id": ctx.request_id, "method": ctx.method}
        if ctx.params is not None:
            message["params"] = dict(ctx.params)
        encoder = Encoder(self._options, session=self._session_of(ctx))
        response = await _answer_own(encoder, message)
        if response is not None:
            return _result_of(response)
        sent = encoder.from_client(message)
        ctx = ctx if sent is message else replace(ctx, params=sent["params"])
        return await self._call_server(ctx, call_next, encoder)

    async def _call_server(self, ctx: Any, call_next: Callable[[Any], Awaitable[Any]], encoder: Encoder) -> Any:
        response: JsonObject = {"jsonrpc": "2.0", "id": ctx.request_id}
        try:
            result = await call_next(ctx)
        except Exception as raised:
            error: Any = getattr(raised, "error", None)
            if not hasattr(error, "model_dump"):
                raise
            written = encoder.from_server({**response, "error": error.model_dump(exclude_unset=True)})
            if "result" in written:
                return written["result"]
            raised.error = type(error).model_validate(written["error"])  # type: ignore[attr-defined]  # just read
            raise
        if not isinstance(result, dict):
            return result
        return (await run_large_in_thread(encoder.from_server, {**response, "result": result}))["result"]

    def _session_of(self, ctx: Any) -> SessionState:
        """Return the state of a connection of the handshake era; later eras have no sessions."""
        connection: Any = getattr(ctx.session, "_connection", None)
        state = getattr(connection, "state", None)
        if is_modern(ctx.params) or not isinstance(state, dict):
            return self._sessionless
        if _STATE_KEY not in state:
            state[_STATE_KEY] = SessionState()
            # The texts that are stored for a connection are deleted when it ends.
            connection.exit_stack.callback(Encoder(self._options, session=state[_STATE_KEY]).close)
        session: SessionState = state[_STATE_KEY]
        return session


async def _answer_own(encoder: Encoder, message: JsonObject) -> JsonObject | None:
    """Return the shim's own response; a fetch may read and parse megabytes, so it runs in a thread."""
    if encoder.options.fetch and message.get("method") == "tools/call":
        return await run_in_thread(encoder.answer_own, message)
    return encoder.answer_own(message)


def _result_of(response: JsonObject) -> JsonObject:
    if "error" in response:
        from mcp import MCPError  # noqa: PLC0415  2.x only, and not when this module is imported

        error = response["error"]
        raise MCPError(error["code"], error["message"], error["data"])
    result: JsonObject = response["result"]
    return result


def _wrapped_run(run: Callable[..., Awaitable[None]], options: EncoderOptions) -> Callable[..., Awaitable[None]]:
    """Return a 1.x server's `run` with an encoder on the streams of each connection."""

    async def wrapped(read_stream: Any, write_stream: Any, *args: Any, **kwargs: Any) -> None:
        encoder = Encoder(options)

        async def receive(item: Any) -> Any | None:
            message = message_of(item)
            response = None if message is None else await _answer_own(encoder, message)
            if response is None:
                return await rewrite_item(encoder.from_client, item)
            await write_stream.send(replace_message(item, response))
            return None

        async def send(item: Any) -> Any:
            return await rewrite_item(encoder.from_server, item)

        reader, writer = RewritingReadStream(read_stream, receive), RewritingWriteStream(write_stream, send)
        try:
            await run(reader, writer, *args, **kwargs)
        finally:
            encoder.close()

    return wrapped
