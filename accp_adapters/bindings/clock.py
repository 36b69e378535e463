"""What sessions wait with: the time of this process, and signals.

The time is that of the wall clock at its start, and from then on that of a clock that only goes on.
A wall clock is set, forwards and backwards; deadlines that are measured with it come at once, or hours late.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import Final

__all__ = ["Signal", "SteadyClock"]

# On Linux it counts the time for which the machine was suspended, as the wall clock does.
_STEADY: Final[Callable[[], float]] = (
    partial(time.clock_gettime, time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic
)


class SteadyClock:
    """Returns seconds of the Unix epoch that do not jump when the wall clock is set."""

    def __init__(self, *, wall: Callable[[], float] = time.time, steady: Callable[[], float] = _STEADY) -> None:
        """Start with the time of `wall`; `steady` returns seconds, of which only differences count."""
        self._steady: Final = steady
        self._offset: Final = wall() - steady()

    def __call__(self) -> float:
        """Return the time now."""
        return self._offset + self._steady()


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
