"""The messages whose reading, rewriting or writing would block the event loop, in threads."""

from __future__ import annotations

from math import inf

from accp_adapters.mcp.proxy.message import Message
from accp_adapters.mcp.proxy.relay import Relay, Relayed
from accp_adapters.serving.off_loop import LONG, VERY_LONG, off_loop

__all__ = ["read", "relay_client", "relay_server"]


async def read(message: Message) -> Message:
    """Return `message`, which has been parsed."""
    if message.is_longer_than(VERY_LONG):
        await off_loop(inf, _parse, message)
    return message


def _parse(message: Message) -> object:
    return message.value


def _takes_long(relay: Relay, message: Message) -> bool:
    return message.is_longer_than(VERY_LONG) or relay.may_take_long(message)


async def relay_client(relay: Relay, message: Message) -> Relayed:
    """Return `relay.from_client(message)`, computed in a thread where it can take seconds, as a fetch can."""
    return await off_loop(inf if _takes_long(relay, message) else 0, relay.from_client, message)


async def relay_server(relay: Relay, message: Message) -> Relayed:
    """Return `relay.from_server(message)`, computed in a thread unless it takes next to no time."""
    size = inf if _takes_long(relay, message) else VERY_LONG if message.is_longer_than(LONG) else 0
    return await off_loop(size, relay.from_server, message)
