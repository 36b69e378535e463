"""What a session writes to a connection: our card, what waits for the peer, acknowledgements, refusals."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from accp_adapters.bindings.acp.sessions.channel import Channel, ChannelClosed
from accp_adapters.bindings.acp.sessions.limits import AcpLimits
from accp_adapters.bindings.acp.sessions.signal import Signal
from accp_adapters.wire_log import log_frame
from accp_core.accp.debug import Direction
from accp_core.acp import AcpError, Connection, ErrorMessage, serialize_envelope

__all__ = ["Writer"]

_BATCH: Final = 16
"""Messages that are taken from the log at a time."""


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes to the connections of a session, one after the other."""

    connection: Connection
    """What waits for the peer."""
    limits: AcpLimits
    """How long a text may take."""
    changed: Signal
    """Notified when there is something to write, and notifies when it is written."""
    is_current: Callable[[Channel], bool]
    """Returns whether a connection is that of the session."""

    async def write_all(self, channel: Channel, card: str) -> ChannelClosed:
        """Write our card and what waits, as long as the connection is that of the session; return why it ended."""
        try:
            await self._put(channel, card)
            while self.is_current(channel):
                seconds = self.limits.keepalive_seconds
                if not await self._write_waiting(channel) and not await self.changed.wait(seconds):
                    await channel.keep_alive()
        except ChannelClosed as closed:
            return closed
        return ChannelClosed("another connection took over")

    async def refuse(self, channel: Channel, code: str, reason: str, *, last: bool) -> None:
        """Tell the peer that its text is refused; a text that is too large, or the last one of many, is the end.

        Raises:
            ChannelClosed: It is the end.
        """
        await self._put(channel, serialize_envelope(ErrorMessage(code=code, extra={"error": reason})))
        if last or code == AcpError.TOO_LARGE:
            raise ChannelClosed(reason, code=code)

    async def _write_waiting(self, channel: Channel) -> bool:
        """Write what waits; return whether there was anything."""
        acknowledgement = self.connection.acknowledgement()
        if acknowledgement is not None:
            await self._put(channel, acknowledgement)
        is_full = channel.window is not None and self.connection.in_flight >= channel.window
        waiting = [] if is_full else self.connection.waiting(_BATCH)
        for number, text in waiting:
            await self._put(channel, text)
            if not self.is_current(channel):
                return True
            self.connection.mark_written(number)
        if waiting:
            self.changed.notify()
        return bool(waiting) or acknowledgement is not None

    async def _put(self, channel: Channel, text: str) -> None:
        seconds = self.limits.write_seconds
        try:
            async with asyncio.timeout(seconds):
                log_frame(Direction.SENT, "acp", text)
                await channel.send(text)
        except TimeoutError:
            raise ChannelClosed(f"the peer took nothing for {seconds:g} seconds") from None
