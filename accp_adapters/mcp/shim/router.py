"""Which way a message goes after a shim has seen it: to the server, or to the client."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from accp_adapters.mcp.shim.protocol import JsonObject

__all__ = ["Routed", "Router", "Shim", "ShimRouter"]


class Routed(NamedTuple):
    """A message and its direction."""

    message: JsonObject
    """The very object that was passed in where nothing is changed."""
    to_client: bool
    """Whether the client gets it; if not, the server does."""
    is_own: bool = False
    """Whether it is a request of ours, whose response is passed to `from_server` and never to the client."""
    received: JsonObject | None = None
    """The server's message that it was made of, where that is not the one that was passed in; an empty one: none."""


class Shim(Protocol):
    """An `Encoder` or `Decoder` of one session; it returns the same object for a message that stays the same."""

    def from_client(self, message: JsonObject) -> JsonObject:
        """Return a client's message as the server gets it."""
        ...

    def from_server(self, message: JsonObject) -> JsonObject:
        """Return a server's message as the client gets it."""
        ...


class Router(Protocol):
    """Decides where each message of a session goes, and as what."""

    def may_take_long(self, message: JsonObject) -> bool:
        """Return whether routing this message may take seconds, however short it is."""
        ...

    def from_client(self, message: JsonObject) -> Routed:
        """Return what becomes of a client's message."""
        ...

    def from_server(self, message: JsonObject) -> Routed:
        """Return what becomes of a server's message."""
        ...


class ShimRouter:
    """Sends each message on to the other side, but for requests that the shim answers itself."""

    def __init__(
        self,
        shim: Shim,
        answer_own: Callable[[JsonObject], JsonObject | None] = lambda _: None,
        may_take_long: Callable[[JsonObject], bool] = lambda _: False,
    ) -> None:
        """Route what `shim` makes of messages.

        Args:
            shim: Rewrites messages.
            answer_own: Returns the response to a request that the server does not get; None for any other message.
            may_take_long: Returns whether `answer_own` may take seconds for a message.
        """
        self._shim = shim
        self._answer_own = answer_own
        self.may_take_long = may_take_long

    def from_client(self, message: JsonObject) -> Routed:
        """Return what becomes of a client's message."""
        answer = self._answer_own(message)
        return Routed(self._shim.from_client(message), to_client=False) if answer is None else Routed(answer, True)

    def from_server(self, message: JsonObject) -> Routed:
        """Return what becomes of a server's message."""
        return Routed(self._shim.from_server(message), to_client=True)
