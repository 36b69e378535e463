"""The messages whose reading, rewriting or writing would block the event loop, in threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from accp_adapters.mcp.proxy.message import Message
from accp_adapters.mcp.proxy.relay import Relay, Relayed

__all__ = ["read", "relay_client", "relay_server"]

T = TypeVar("T")

_MAX_ON_LOOP: Final = 2 * 1024
"""Bytes of a result; a longer one is rewritten in a thread, which takes a millisecond or more."""
_MAX_SMALL: Final = 64 * 1024
"""Bytes; a longer message may take a second, so that it does not wait in one line with small ones."""
_SMALL: Final = ThreadPoolExecutor(4, "accp small")
_LARGE: Final = ThreadPoolExecutor(2, "accp large")


async def _in_thread(work: Callable[[Message], T], message: Message, *, is_large: bool) -> T:
    return await asyncio.get_running_loop().run_in_executor(_LARGE if is_large else _SMALL, work, message)


async def read(message: Message) -> Message:
    """Return `message`, which has been parsed."""
    if message.is_longer_than(_MAX_SMALL):
        await _in_thread(_parse, message, is_large=True)
    return message


def _parse(message: Message) -> object:
    return message.value


async def relay_client(relay: Relay, message: Message) -> Relayed:
    """Return `relay.from_client(message)`, computed in a thread where it can take seconds, as a fetch can."""
    if message.is_longer_than(_MAX_SMALL) or relay.may_take_long(message):
        return await _in_thread(relay.from_client, message, is_large=True)
    return relay.from_client(message)


async def relay_server(relay: Relay, message: Message) -> Relayed:
    """Return `relay.from_server(message)`, computed in a thread unless it takes next to no time."""
    if message.is_longer_than(_MAX_SMALL):
        return await _in_thread(relay.from_server, message, is_large=True)
    if relay.may_take_long(message):
        return await _in_thread(relay.from_server, message, is_large=True)
    if message.is_longer_than(_MAX_ON_LOOP):
        return await _in_thread(relay.from_server, message, is_large=False)
    return relay.from_server(message)
