"""A server with an `Encoder`: `wrap_server(server)`, for MCPServer, the lowlevel Server and FastMCP, 1.x to 4.

From 2.x on, a server has a list of middleware, which sees every request and the finished result. A 1.x server has no
hook that sees the handshake, so the message streams that a transport passes to `run` are wrapped.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

from accp_adapters.mcp.lists.call_lists import router_of
from accp_adapters.mcp.proxy.callers import Caller, caller_of
from accp_adapters.mcp.shim.encoder import Encoder
from accp_adapters.mcp.shim.options import EncoderOptions
from accp_adapters.mcp.shim.protocol import JsonObject, is_modern
from accp_adapters.mcp.shim.router import Routed, Router
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
from accp_core.bounded import BoundedDict

__all__ = ["wrap_server"]

Server = TypeVar("Server")

_STATE_KEY: Final = "accp"
"""The beginning of the keys of our session states in the state of an SDK connection."""
_MAX_CALLERS: Final = 10_000
"""Callers of a server without sessions; beyond, the first one's references are refused."""


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
    # A 1.x server reads its client's stream itself, so that nothing can be sent to it in between.
    lowlevel = next((candidate for candidate in _layers(server) if _is_server(candidate)), None)
    if lowlevel is None:
        raise TypeError(f"expected an MCP server (MCPServer, Server, FastMCP), found {type(server).__name__!r}")
    if hasattr(lowlevel, "middleware"):
        # The outermost middleware sees the result as it would be sent.
        lowlevel.middleware.insert(0, _Middleware(replace(chosen, call_lists=True)))
    else:
        lowlevel.run = _wrapped_run(lowlevel.run, replace(chosen, call_lists=False))
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
        # A server on standard streams has one client.
        self._local: Final = SessionState(is_session=False)
        self._callers: Final[BoundedDict[str, SessionState]] = BoundedDict(_MAX_CALLERS)

    async def __call__(self, ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        """Return the finished result of a request, rewritten for its client."""
        if ctx.request_id is None:
            return await call_next(ctx)
        message: JsonObject = {"jsonrpc": "2.0", "id": ctx.request_id, "method": ctx.method}
        if ctx.params is not None:
            message["params"] = dict(ctx.params)
        router = router_of(Encoder(self._options, session=self._session_of(ctx)))
        routed = await _route(router, router.from_client, message)
        raised: Any = None
        while not routed.to_client:
            sent = routed.message
            response: JsonObject = {"jsonrpc": "2.0", "id": sent["id"]}
            try:
                result = await call_next(ctx if sent is message else _asking(ctx, sent))
            except Exception as error:
                if not hasattr(getattr(error, "error", None), "model_dump"):
                    raise
                raised = error
                response["error"] = raised.error.model_dump(exclude_unset=True)
            else:
                if not isinstance(result, dict):
                    return result
                response["result"] = result
            routed = await _route(router, router.from_server, response)
        if raised is not None and "error" in routed.message:
            raised.error = type(raised.error).model_validate(routed.message["error"])
            raise raised
        return _result_of(routed.message)

    def _session_of(self, ctx: Any) -> SessionState:
        """Return the state of a session and its credentials, or where there are no sessions, of the credentials."""
        connection: Any = getattr(ctx.session, "_connection", None)
        state: Any = getattr(connection, "state", None)
        headers = getattr(getattr(ctx, "request", None), "headers", None)
        caller = None if headers is None else caller_of([(name.lower(), value) for name, value in headers.raw])
        is_session = isinstance(state, dict) and not is_modern(ctx.params)
        if caller is not None and not (is_session and getattr(connection, "session_id", None)):
            return self._state_of(caller)
        if not is_session:
            return self._local
        key = f"{_STATE_KEY} {caller.principal if caller else ''}"
        if key not in state:
            state[key] = _next_state(state)
            # The texts that are stored for a connection are deleted when it ends.
            connection.exit_stack.callback(Encoder(self._options, session=state[key]).close)
        session: SessionState = state[key]
        return session

    def _state_of(self, caller: Caller) -> SessionState:
        """Return the state of everybody with the same credentials; with none, references would open for anybody."""
        key = caller.in_session("").owner(_STATE_KEY)
        state = self._callers.get(key or caller.principal)
        if state is None:
            state = Encoder(self._options).for_owner(key, is_session=False).session
            if evicted := self._callers.put(key or caller.principal, state):
                Encoder(self._options, session=evicted[1]).release()
        # What one client declares says nothing of the next one.
        return replace(state, client_settings=None, client_name="")


def _asking(ctx: Any, request: JsonObject) -> Any:
    return replace(ctx, method=request["method"], params=request["params"])


def _next_state(known: Mapping[str, Any]) -> SessionState:
    """Return a new state for a session; with other credentials it is still the same client."""
    same = next((state for key, state in known.items() if str(key).startswith(f"{_STATE_KEY} ")), SessionState())
    return SessionState(client_settings=same.client_settings, client_name=same.client_name)


async def _route(router: Router, route: Callable[[JsonObject], Routed], message: JsonObject) -> Routed:
    """Return `route(message)`; in a thread where it may read, parse or rewrite much."""
    if router.may_take_long(message):
        return await run_in_thread(route, message)
    return await run_large_in_thread(route, message)


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
        # Without sessions every request has a run of its own, in which no later one could open a reference.
        has_owner = not kwargs.get("stateless")
        encoder = Encoder(options, session=SessionState(is_session=has_owner, has_owner=has_owner))
        router = router_of(encoder)

        async def receive(item: Any) -> Any | None:
            message = message_of(item)
            if message is None:
                return item
            routed = await _route(router, router.from_client, message)
            if not routed.to_client:
                return item if routed.message is message else replace_message(item, routed.message)
            await write_stream.send(replace_message(item, routed.message))
            return None

        async def send(item: Any) -> Any:
            return await rewrite_item(encoder.from_server, item)

        reader, writer = RewritingReadStream(read_stream, receive), RewritingWriteStream(write_stream, send)
        try:
            await run(reader, writer, *args, **kwargs)
        finally:
            encoder.close()

    return wrapped
