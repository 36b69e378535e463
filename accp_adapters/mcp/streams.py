"""The message streams of the SDKs, 1.x and 2.x, with a shim between: the thin part that both ends of a wire share.

A stream carries objects with a `message`, a model of one JSON-RPC message (in 1.x inside a root model). No SDK is
imported here: a new message is made by the model's own class.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Final, TypeAlias, TypeVar

from accp_adapters.mcp.shim.protocol import Json, is_longer_than

__all__ = ["Receiving", "Sending", "in_thread", "message_of", "off_loop", "rewritten", "with_message"]

Work: TypeAlias = Callable[[Json], Json]
Result = TypeVar("Result")

_LOG: Final = logging.getLogger(__name__)
_LARGE: Final = 20_000
"""Characters; rewriting more of them would keep the event loop from others for tens of milliseconds."""


async def off_loop(work: Work, message: Json) -> Json:
    """Return what `work` makes of a message; a large one is worked on in a thread."""
    return await in_thread(work, message) if is_longer_than(message, _LARGE) else work(message)


async def in_thread(work: Callable[[Json], Result], message: Json) -> Result:
    """Return what `work` makes of a message, in a thread, so that the event loop serves others."""
    from anyio import to_thread  # noqa: PLC0415  comes with the SDK whose streams these are

    return await to_thread.run_sync(work, message)


def message_of(item: Any) -> Json | None:
    """Return the JSON-RPC message that a stream's item carries, None for an exception and what else it may carry."""
    outer: Any = getattr(item, "message", None)
    model: Any = getattr(outer, "root", outer)
    if isinstance(item, Exception) or not hasattr(model, "model_fields_set"):
        return None
    found = {name: getattr(model, name) for name in ("jsonrpc", *model.model_fields_set)}
    error: Any = found.get("error")
    return {**found, "error": error.model_dump(exclude_unset=True)} if hasattr(error, "model_dump") else found


def with_message(item: Any, message: Json) -> Any:
    """Return a stream's item with another message of any kind, its metadata kept."""
    # In 1.x the root model knows all kinds of messages; in 2.x a changed message is of the kind it was.
    return replace(item, message=type(item.message).model_validate(message))


async def rewritten(work: Work, item: Any) -> Any:
    """Return a stream's item with what `work` makes of its message; the same item where that is the same message."""
    message = message_of(item)
    if message is None:
        return item
    changed = await off_loop(work, message)
    try:
        return item if changed is message else with_message(item, changed)
    except ValueError:
        _LOG.debug("a message passes as it came: the SDK has no model for it rewritten", exc_info=True)
        return item


class _Wrapped:
    """A stream that is another's but for the items."""

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


class Receiving(_Wrapped):
    """A read stream whose items are changed, or taken out (None), before they are received."""

    def __init__(self, stream: Any, change: Callable[[Any], Awaitable[Any | None]]) -> None:
        """Give what `change` makes of each item of `stream`."""
        super().__init__(stream)
        self._change: Final = change

    async def receive(self) -> Any:
        """Return the next item."""
        while True:
            item = await self._change(await self._stream.receive())
            if item is not None:
                return item

    def __aiter__(self) -> Receiving:
        return self

    async def __anext__(self) -> Any:
        while True:
            item = await self._change(await self._stream.__anext__())
            if item is not None:
                return item


class Sending(_Wrapped):
    """A write stream whose items are changed before they are sent."""

    def __init__(self, stream: Any, change: Callable[[Any], Awaitable[Any]]) -> None:
        """Send what `change` makes of each item to `stream`."""
        super().__init__(stream)
        self._change: Final = change

    async def send(self, item: Any) -> None:
        """Send an item."""
        await self._stream.send(await self._change(item))
