"""The time of this process: that of the wall clock at its start, and from then on that of a clock that only goes on.

A wall clock is set, forwards and backwards; deadlines that are measured with it come at once, or hours late.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Final

__all__ = ["SteadyClock"]

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
