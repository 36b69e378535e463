"""Servers and transports of the SDKs, 1.x and 2.x, with a shim in them: `wrap_server` and `wrap_transport`.

An item of a stream has a `message`, a model of one JSON-RPC message (in 1.x inside a root model). No SDK is imported
here: a new message is created by the class of the old one. From 2.x on, a server has a list of middleware, which sees
every request and the finished result. A 1.x server has no hook that sees the handshake, so the message streams that a
transport passes to `run` are wrapped.
"""

from __future__ import annotations

import json
import logging
import os
import platform
import re
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from functools import partial
from hashlib import sha256
from math import inf
from typing import Any, Final, TypeAlias, TypeVar

import anyio

from accp_adapters.mcp.decoder import Decoder
from accp_adapters.mcp.encoder import Encoder, EncoderOptions
from accp_adapters.mcp.messages import JsonObject, is_modern
from accp_adapters.mcp.sessions import SessionState, SessionTexts
from accp_adapters.serving.limits import Shares, TooMany
from accp_adapters.serving.principals import caller_of
from accp_adapters.serving.threads import OWNER, SESSION, off_loop, size_of

__all__ = [
    "RewritingReadStream", "RewritingWriteStream", "answer_own", "message_of", "replace_message", "rewrite_item",
    "wrap_server", "wrap_transport",
]  # fmt: skip

Rewrite: TypeAlias = Callable[[JsonObject], JsonObject]
"""Returns a rewritten message, or the same object."""
Leaving: TypeAlias = Callable[[], Awaitable[Any]]
"""Returns once a client no longer waits for its answer."""

_LOG: Final = logging.getLogger(__name__)
_LEFT: Final = {"code": -32603, "message": "the client no longer waits", "data": None}


async def answer_own(encoder: Encoder, message: JsonObject, leaving: Leaving | None = None) -> JsonObject | None:
    """Return the response to a request that the shim answers itself, from a thread where that may take long.

    Long work ends when `leaving` returns: the client has left or cancelled, and the response is an error.
    """
    if not encoder.may_take_long(message):
        return await off_loop(size_of(message), encoder.answer_own, message)
    answer: JsonObject | None = {"jsonrpc": "2.0", "id": message.get("id"), "error": _LEFT}
    async with anyio.create_task_group() as group:
        if leaving is not None:
            group.start_soon(_cancel_after, leaving, group.cancel_scope)
        answer = await off_loop(inf, encoder.answer_own, message)
        group.cancel_scope.cancel()
    return answer


async def _cancel_after(leaving: Leaving, scope: anyio.CancelScope) -> None:
    await leaving()
    scope.cancel()


async def _disconnected(request: Any) -> None:
    """Wait for the client of an HTTP request to leave; without a request, for ever."""
    if not hasattr(request, "receive"):
        await anyio.sleep_forever()
    while (await request.receive())["type"] != "http.disconnect":
        pass


def message_of(item: Any) -> JsonObject | None:
    """Return the JSON-RPC message in an item of a stream; None for an exception and for anything else."""
    outer: Any = getattr(item, "message", None)
    model: Any = getattr(outer, "root", outer)
    if isinstance(item, Exception) or not hasattr(model, "model_fields_set"):
        return None
    message = {name: getattr(model, name) for name in ("jsonrpc", *model.model_fields_set)}
    error: Any = message.get("error")
    return {**message, "error": error.model_dump(exclude_unset=True)} if hasattr(error, "model_dump") else message


def replace_message(item: Any, message: JsonObject) -> Any:
    """Return an item of a stream with another message; its metadata stays."""
    # In 1.x the root model accepts every kind of message; in 2.x the new message is of the same kind as the old one.
    return replace(item, message=type(item.message).model_validate(message))


async def rewrite_item(rewrite: Rewrite, item: Any) -> Any:
    """Return an item of a stream with its message rewritten; the same item if the message stays the same."""
    message = message_of(item)
    if message is None:
        return item
    written = await off_loop(size_of(message), rewrite, message)
    try:
        return item if written is message else replace_message(item, written)
    except ValueError:
        _LOG.debug("the SDK has no model for a rewritten message; it passes unchanged", exc_info=True)
        return item


class _StreamWrapper:
    """A stream that delegates everything to another one."""

    def __init__(self, stream: Any) -> None:
        self._stream: Final = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    async def __aenter__(self) -> Any:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> Any:
        return await self._stream.__aexit__(*raised)


class RewritingReadStream(_StreamWrapper):
    """A read stream whose items are rewritten, or removed (None), before they are received."""

    def __init__(self, stream: Any, rewrite: Callable[[Any], Awaitable[Any | None]]) -> None:
        """Receive `rewrite(item)` for each item of `stream`."""
        super().__init__(stream)
        self._rewrite: Final = rewrite

    async def receive(self) -> Any:
        """Return the next item."""
        return await self._next(self._stream.receive)

    def __aiter__(self) -> RewritingReadStream:
        return self

    async def __anext__(self) -> Any:
        return await self._next(self._stream.__anext__)

    async def _next(self, read: Callable[[], Awaitable[Any]]) -> Any:
        while (item := await self._rewrite(await read())) is None:
            pass
        return item


class RewritingWriteStream(_StreamWrapper):
    """A write stream whose items are rewritten before they are sent."""

    def __init__(self, stream: Any, rewrite: Callable[[Any], Awaitable[Any]]) -> None:
        """Send `rewrite(item)` to `stream` for each item."""
        super().__init__(stream)
        self._rewrite: Final = rewrite

    async def send(self, item: Any) -> None:
        """Send an item."""
        await self._stream.send(await self._rewrite(item))


def wrap_transport(
    transport: AbstractAsyncContextManager[Any], decoder: Decoder | None = None, **settings: Any
) -> AbstractAsyncContextManager[Any]:
    """Return a transport that decodes the server's results before the client session receives them.

    Args:
        transport: What a client of the SDK connects by: a context manager that yields a read stream, a write stream
            and, in some versions, more, which is passed on.
        decoder: The decoder of this connection; None: a new one.
        settings: The arguments of a new `Decoder`, such as `view="view"`.
    """
    return _decoding(transport, decoder or Decoder(**settings))


@asynccontextmanager
async def _decoding(transport: AbstractAsyncContextManager[Any], decoder: Decoder) -> AsyncIterator[tuple[Any, ...]]:
    async with transport as (read, write, *more):
        reader = RewritingReadStream(read, partial(rewrite_item, decoder.from_server))
        yield reader, RewritingWriteStream(write, partial(rewrite_item, decoder.from_client)), *more


Server = TypeVar("Server")

_STATE_KEY: Final = "accp"
"""The beginning of the keys of our session states in the state of an SDK connection."""
_BYTES: Final = 256 << 20
"""Bytes that all states over HTTP may take. Above it, the caller with the most bytes loses its oldest references."""
_CREDENTIAL: Final = re.compile("auth|api-?key|access-?token")
"""What is in the name of a header field by which a caller proves who it is."""


def wrap_server(server: Server, options: EncoderOptions | None = None, **settings: Any) -> Server:
    """Return `server`, which now sends smaller results to clients that understand them.

    `wrap_server(server, policy="always")` sends views to every host; `fetch=True` alone does, too, and adds previews
    and the tool `accp_fetch`.

    Clients that did not negotiate get the same bytes as before, unless `policy`, `fetch` or `index` say otherwise.

    Args:
        server: An MCPServer, a lowlevel Server or a FastMCP.
        options: The settings; None: the defaults.
        settings: Fields of `EncoderOptions`, instead of those in `options`.

    Raises:
        TypeError: `server` is none of these.
        ValueError: A setting is invalid.
    """
    chosen = replace(options or EncoderOptions(), **settings)
    layers: list[Any] = [server, *(getattr(server, name, None) for name in ("_lowlevel_server", "_mcp_server"))]
    lowlevel = next(filter(_is_server, layers), None)
    if lowlevel is None:
        raise TypeError(f"expected an MCP server (MCPServer, Server, FastMCP), found {type(server).__name__!r}")
    if hasattr(lowlevel, "middleware"):
        # The outermost middleware sees the result as it would be sent.
        lowlevel.middleware.insert(0, _Middleware(chosen))
    else:
        lowlevel.run = _wrapped_run(lowlevel.run, chosen)
    if chosen.is_for_all:
        # While the session initializes. No daemon: a process that ends while tiktoken counts in one is aborted.
        threading.Thread(target=Encoder(chosen).warm_up).start()
    return server


def _is_server(candidate: Any) -> bool:
    """Return whether this is a lowlevel server of 2.x (it has middleware) or of 1.x (it has request handlers)."""
    if candidate is None or not callable(getattr(candidate, "create_initialization_options", None)):
        return False
    return isinstance(getattr(candidate, "middleware", None), list) or hasattr(candidate, "request_handlers")


class _Middleware:
    """The hook of 2.x, `(ctx, call_next)`, around the handler of every request."""

    def __init__(self, options: EncoderOptions) -> None:
        self._options: Final = options
        # A server on standard streams has one client, which may speak either era.
        self._local: Final = SessionState(is_session=False, stored_results=_texts_of(_process(), options))
        self._first = _texts_of(_process(), options)
        self._states: Final[dict[str, SessionState]] = {}
        self._shares: Final = Shares(_BYTES, _BYTES // 2)

    async def __call__(self, ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        """Return the finished result of a request, rewritten for its client."""
        if ctx.request_id is None:
            return await call_next(ctx)
        session = self._session_of(ctx)
        for share, name in zip((OWNER, SESSION), session.caller or ("", ""), strict=True):
            share.set(name)
        try:
            return await self._answer(ctx, call_next, Encoder(self._options, session=session))
        finally:
            self._weigh(session)

    async def _answer(self, ctx: Any, call_next: Callable[[Any], Awaitable[Any]], encoder: Encoder) -> Any:
        message: JsonObject = {"jsonrpc": "2.0", "id": ctx.request_id, "method": ctx.method}
        if ctx.params is not None:
            message["params"] = dict(ctx.params)
        # A client that may resume the response leaves and comes back.
        request = None if getattr(ctx, "close_sse_stream", None) else getattr(ctx, "request", None)
        if (answer := await answer_own(encoder, message, partial(_disconnected, request))) is not None:
            return _result_of(answer)
        sent = await off_loop(size_of(message), encoder.from_client, message)
        called = ctx if sent is message else replace(ctx, method=sent["method"], params=sent["params"])
        response: JsonObject = {"jsonrpc": "2.0", "id": ctx.request_id}
        try:
            result = await call_next(called)
        except Exception as error:
            raised: Any = error
            if not hasattr(getattr(raised, "error", None), "model_dump"):
                raise
            response["error"] = raised.error.model_dump(exclude_unset=True)
            written = await off_loop(size_of(response), encoder.from_server, response)
            if "error" not in written:
                return _result_of(written)
            raised.error = type(raised.error).model_validate(written["error"])
            raise
        if hasattr(result, "model_dump"):  # FastMCP answers some requests by models
            result = result.model_dump(by_alias=True, mode="json", exclude_none=True)
        if not isinstance(result, dict):
            return result
        response["result"] = result
        if ctx.method == "server/discover" and self._needs_session(ctx, encoder.session):
            from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS  # noqa: PLC0415  2.x only

            response["result"] = {**result, "supportedVersions": [*HANDSHAKE_PROTOCOL_VERSIONS]}
        return _result_of(await off_loop(size_of(response), encoder.from_server, response))

    def _session_of(self, ctx: Any) -> SessionState:
        """Return the state of a session and its principal, or where there are no sessions, of the principal."""
        connection: Any = getattr(ctx.session, "_connection", None)
        state: Any = getattr(connection, "state", None)
        request: Any = getattr(ctx, "request", None)
        principal, is_checked = ("", False) if request is None else _principal_of(request)
        is_session = isinstance(state, dict) and not is_modern(ctx.params)
        session_id = getattr(connection, "session_id", None) if is_session else None
        if request is not None and not session_id:
            return self._state_of(request, principal)
        if not is_session:
            return self._local
        key = f"{_STATE_KEY} {principal}"
        if key not in state:
            state[key] = _next_state(state)
            if request is None:
                # Another client in this process has texts of its own.
                state[key].stored_results, self._first = self._first, None
            else:
                state[key].caller = (caller_of(request.scope), f"{session_id} {key}")
                state[key].stored_results = _texts_of(principal if is_checked else "", self._options)
            # The texts that are stored for a connection are deleted when it ends.
            connection.exit_stack.callback(self._close, state[key])
        session: SessionState = state[key]
        return session

    def _state_of(self, request: Any, principal: str) -> SessionState:
        """Return the state of a principal without a session. Where nothing says who asks, it gets no references."""
        state = self._states.get(principal)
        if state is None:
            state = SessionState(is_session=False, caller=(caller_of(request.scope), principal))
            self._states[principal] = state
        state.has_owner = bool(principal)
        if self._options.fetch and principal and state.stored_results is None:
            state.stored_results = _texts_of(principal, self._options)
            Encoder(self._options, session=state)
        # What one client declares says nothing of the next one.
        return replace(state, client_settings=None, client_name="")

    def _needs_session(self, ctx: Any, session: SessionState) -> bool:
        """Return whether a client gets references only in a session, and the server has sessions.

        A server that names no modern version makes the clients of the SDKs begin with `initialize`.
        """
        request: Any = getattr(ctx, "request", None)
        manager: Any = getattr(request.scope.get("endpoint"), "session_manager", None) if request else None
        is_wanted = self._options.fetch and self._options.is_for_all and not session.has_owner
        return is_wanted and not getattr(manager, "stateless", True)

    def _weigh(self, session: SessionState) -> None:
        """Count the bytes of a session. If all take too many, the caller with the most bytes loses its oldest state."""
        if session.caller is None:
            return
        owner, name = session.caller
        self._states.setdefault(name, session)
        try:
            given_up = self._shares.admit(owner, name, size=session.weight)
        except TooMany:  # more than a share by itself
            given_up = [name]
        for each in given_up:
            self._close(self._states[each])

    def _close(self, session: SessionState) -> None:
        Encoder(self._options, session=session).close()
        if session.caller is not None:
            self._shares.remove(*session.caller)
            self._states.pop(session.caller[1], None)


def _process() -> str:
    """Return a hash of whose process this is: the machine, the user, the folder and the command."""
    return _hash((platform.node(), os.path.expanduser("~"), os.getcwd(), *sys.orig_argv))


def _texts_of(owner: str | None, options: EncoderOptions) -> SessionTexts | None:
    """Return the texts of an owner that the next process opens, too; None: there is no owner, or no store was given."""
    store = options.store if options.fetch else None
    return SessionTexts(store, owner, is_shared=True) if store is not None and owner else None


def _principal_of(request: Any) -> tuple[str, bool]:
    """Return a hash of who asks, empty where nothing says that, and whether the server has checked it.

    Of a checked token it is the subject, because tokens are renewed; else it is the credentials as they are written. No
    other field counts: proxies add and change them.
    """
    token: Any = getattr(request.scope.get("user"), "access_token", None)
    if subject := getattr(token, "subject", None):
        return _hash([token.client_id, (token.claims or {}).get("iss"), subject]), True
    named = sorted((name.lower(), value) for name, value in request.headers.items() if _CREDENTIAL.search(name.lower()))
    return _hash(named) if named else "", token is not None


def _hash(named: Sequence[Any]) -> str:
    return sha256(json.dumps(named, default=str).encode()).hexdigest()


def _next_state(known: Mapping[str, Any]) -> SessionState:
    """Return a new state for a session; with other credentials it is still the same client."""
    same = next((state for key, state in known.items() if str(key).startswith(f"{_STATE_KEY} ")), SessionState())
    return SessionState(client_settings=same.client_settings, client_name=same.client_name)


def _result_of(response: JsonObject) -> JsonObject:
    if "error" in response:
        from mcp import MCPError  # noqa: PLC0415  2.x only, and not when this module is imported

        error = response["error"]
        raise MCPError(error["code"], error["message"], error["data"])
    result: JsonObject = response["result"]
    return result


def _wrapped_run(run: Callable[..., Awaitable[None]], options: EncoderOptions) -> Callable[..., Awaitable[None]]:
    """Return a 1.x server's `run` with an encoder on the streams of each connection."""
    first = [_texts_of(_process(), options)]

    async def wrapped(read_stream: Any, write_stream: Any, *args: Any, **kwargs: Any) -> None:
        # Without sessions every request has a run of its own, in which no later one could open a reference.
        has_owner = not kwargs.get("stateless")
        encoder = Encoder(options, session=SessionState(is_session=has_owner, has_owner=has_owner))

        async def receive(item: Any) -> Any | None:
            message = message_of(item)
            if message is None:
                return item
            # What runs for this message is begun by this task.
            request: Any = getattr(getattr(item, "metadata", None), "request_context", None)
            OWNER.set(caller_of(request.scope) if hasattr(request, "scope") else "")
            if request is None and first and (texts := first.pop()):
                encoder.session.stored_results = texts
            if (answer := await answer_own(encoder, message, partial(_disconnected, request))) is not None:
                await write_stream.send(replace_message(item, answer))
                return None
            return await rewrite_item(encoder.from_client, item)

        reader = RewritingReadStream(read_stream, receive)
        writer = RewritingWriteStream(write_stream, partial(rewrite_item, encoder.from_server))
        try:
            await run(reader, writer, *args, **kwargs)
        finally:
            encoder.close()

    return wrapped
