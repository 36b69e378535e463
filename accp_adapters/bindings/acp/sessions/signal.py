"""Wakes everybody who waits for a change, without keeping what changed."""

from __future__ import annotations

import asyncio

__all__ = ["Signal"]


class Signal:
    """Tasks of one event loop wait for the next `notify`; later tasks wait for the one after."""

    def __init__(self) -> None:
        """Start without waiting tasks."""
        self._event = asyncio.Event()

    def notify(self) -> None:
        """Wake all who wait."""
        self._event.set()
        self._event = asyncio.Event()

    async def wait(self, seconds: float | None = None) -> bool:
        """Return whether there was a `notify` within `seconds`; None: wait for it as long as it takes."""
        event = self._event
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            return False
        return True
