"""One transport connection that carries texts: what each binding provides and what a session uses."""

from __future__ import annotations

from typing import Final, Protocol

from accp_core.acp import Binding

__all__ = ["REPLACED", "TOKEN_REFUSED", "UNTRUSTED", "Channel", "ChannelClosed", "EndOfInput"]


REPLACED: Final = "replaced"
"""The code for `Channel.aclose` where a newer connection of the same peer takes over."""


TOKEN_REFUSED: Final = "invalid_token"
"""The code of a server that does not know us, or not any more."""


UNTRUSTED: Final = "untrusted_certificate"
"""Our own code for a server whose certificate TLS does not accept; trying again does not help."""


class ChannelClosed(Exception):
    """The connection is over; `code` is the peer's error code or empty."""

    def __init__(self, reason: str, *, code: str = "") -> None:
        """Say why, and with which code of the peer."""
        super().__init__(reason)
        self.code = code


class EndOfInput(ChannelClosed):
    """The peer writes nothing more, but may still read."""


class Channel(Protocol):
    """One connection with a peer. Texts are envelopes of ACP, whole and in order."""

    binding: Binding
    """The binding that it is of."""
    window: int | None
    """Messages that may be under way without acknowledgement; None: as many as the session allows."""

    async def send(self, text: str) -> None:
        """Write a text.

        Raises:
            ChannelClosed: The connection is over; the text may have arrived or not.
        """

    async def receive(self) -> str:
        """Return the next text of the peer.

        Raises:
            ChannelClosed: The connection is over.
            DecodeError: The peer broke the framing, so that the connection cannot go on.
        """

    async def keep_alive(self) -> None:
        """Show the peer that we are there, where the binding does not do that by itself; raises as `send`."""

    async def aclose(self, code: str = "") -> None:
        """Close the connection; `code` is an error code for the peer, where the binding can say it. Never raises."""
