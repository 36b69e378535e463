"""A connection over which the frames of a session are pushed (ACCP section 11.2)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

__all__ = ["Attachment"]


class Attachment:
    """One connection of a session: give it what was received, send what it yields."""

    def __init__(self, name: str, receive: Callable[[str], Awaitable[None]]) -> None:
        """Start without frames; the host makes it."""
        self.name: Final = name
        """The id of the connection."""
        self._receive: Final = receive
        self._frames: Final[asyncio.Queue[str | None]] = asyncio.Queue()
        self._is_connected = False
        self.is_replaced = False
        """Whether the session has another connection; else, once the iteration has ended, the peer connects again."""

    async def receive(self, text: str) -> None:
        """Take a received frame; what answers it is yielded, and requests are handled in the background.

        Raises:
            DecodeError: The text has no readable head: send `SessionHost.refusal` of it.
            ProtocolError: E5001, the frame is of another session; E3001, the store is unreachable: close the
                connection.
        """
        await self._receive(text)

    def listen(self, connection: str, frames: list[str] | None) -> None:
        """Take the frames of a step.

        Args:
            connection: The connection of the session after the step. Once that was this one, another one ends it.
            frames: What to send; None: frames were missed, so that the peer has to connect again.
        """
        if connection == self.name and frames is not None:
            self._is_connected = True
            for frame in frames:
                self._frames.put_nowait(frame)
        elif self._is_connected:
            self.end(is_replaced=connection != self.name)

    def end(self, *, is_replaced: bool) -> None:
        """End the iteration."""
        self._is_connected, self.is_replaced = False, is_replaced
        self._frames.put_nowait(None)

    def __aiter__(self) -> Attachment:
        """Return itself."""
        return self

    async def __anext__(self) -> str:
        """Return the next frame to send; the iteration ends when the peer has, or needs, another connection."""
        frame = await self._frames.get()
        if frame is None:
            self._frames.put_nowait(None)
            raise StopAsyncIteration
        return frame
