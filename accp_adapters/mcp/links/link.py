"""The way to a server: what a front for clients may do with a process, a URL or many servers at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias

from accp_adapters.mcp.proxy.message import Message

__all__ = ["Deliver", "Ended", "Link"]

Deliver: TypeAlias = Callable[[Message], Awaitable[None]]
"""Takes a message of the server."""
Ended: TypeAlias = Callable[[str], None]
"""Takes the reason why the server says no more."""


class Link(Protocol):
    """A server that messages are sent to; what it says is delivered to a callback."""

    async def start(self, deliver: Deliver, ended: Ended) -> None:
        """Reach the server.

        Raises:
            OSError: It cannot be started.
        """
        ...

    async def send(self, message: Message) -> None:
        """Send a message; one for a server that has ended is lost."""
        ...

    async def close(self, *, drain: bool = False) -> None:
        """End the connection; with `drain`, wait for pending calls first, for a limited time."""
        ...
