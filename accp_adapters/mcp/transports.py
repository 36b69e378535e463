"""The message streams of the SDKs, 1.x and 2.x, with a shim in between; `wrap_transport` is a client's side of it.

An item of a stream has a `message`, a model of one JSON-RPC message (in 1.x inside a root model). No SDK is imported
here: a new message is created by the class of the old one.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any, Final, TypeAlias, TypeVar

from accp_adapters.mcp.decoder import Decoder
from accp_adapters.mcp.encoder import Encoder
from accp_adapters.mcp.messages import JsonObject
from accp_adapters.serving.threads import LONG, size_of

__all__ = [
    "RewritingReadStream", "RewritingWriteStream", "answer_own", "message_of", "replace_message", "rewrite_item",
    "run_in_thread", "run_large_in_thread", "wrap_transport",
]  # fmt: skip

Rewrite: TypeAlias = Callable[[JsonObject], JsonObject]
"""Returns a rewritten message, or the same object."""
Result = TypeVar("Result")

_LOG: Final = logging.getLogger(__name__)


async def run_large_in_thread(rewrite: Callable[[JsonObject], Result], message: JsonObject) -> Result:
    """Return `rewrite(message)`; a large message is rewritten in a thread."""
    return await run_in_thread(rewrite, message) if size_of(message) > LONG else rewrite(message)


async def run_in_thread(work: Callable[[JsonObject], Result], message: JsonObject) -> Result:
    """Return `work(message)`, computed in a thread so that the event loop is not blocked."""
    from anyio import to_thread  # noqa: PLC0415  a dependency of the SDKs, not of ours

    return await to_thread.run_sync(work, message)


async def answer_own(encoder: Encoder, message: JsonObject) -> JsonObject | None:
    """Return the response to a request that the shim answers itself, from a thread where that may take long."""
    if encoder.may_take_long(message):
        return await run_in_thread(encoder.answer_own, message)
    return await run_large_in_thread(encoder.answer_own, message)


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
    written = await run_large_in_thread(rewrite, message)
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
    return _DecodingTransport(transport, decoder or Decoder(**settings))


class _DecodingTransport(AbstractAsyncContextManager[Any]):
    def __init__(self, transport: AbstractAsyncContextManager[Any], decoder: Decoder) -> None:
        self._transport: Final = transport
        self._decoder: Final = decoder

    async def __aenter__(self) -> tuple[Any, ...]:
        read, write, *more = await self._transport.__aenter__()

        async def receive(item: Any) -> Any:
            return await rewrite_item(self._decoder.from_server, item)

        async def send(item: Any) -> Any:
            return await rewrite_item(self._decoder.from_client, item)

        return RewritingReadStream(read, receive), RewritingWriteStream(write, send), *more

    async def __aexit__(self, *raised: Any) -> bool | None:
        return await self._transport.__aexit__(*raised)
