"""How often each principal may do something (token bucket)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final

from accp_adapters.serving.shares import TooMany
from accp_core.bounded import BoundedDict

__all__ = ["RateLimit"]

_MAX_NAMES: Final = 10_000


class RateLimit:
    """How many frames, messages or requests each name may send in a second; everybody starts with a full burst."""

    def __init__(self, rate: float, burst: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Bound the rate of each name.

        Args:
            rate: Frames of one name in a second.
            burst: Frames that a name may send at once after a pause.
            clock: Returns seconds, of which only differences count.
        """
        self._rate, self._burst, self._clock = rate, float(burst), clock
        self._left: Final[BoundedDict[str, tuple[float, float]]] = BoundedDict(_MAX_NAMES)

    def delay(self, name: str = "") -> float:
        """Return the seconds until `name` may send a frame, 0 for now."""
        return max(0.0, (1 - self._now(name)[0]) / self._rate)

    def take(self, name: str = "") -> float:
        """Take one frame of `name`; return 0, or without taking it, the seconds until it may be taken."""
        left, now = self._now(name)
        self._left.put(name, (left - 1 if left >= 1 else left, now))
        return 0.0 if left >= 1 else (1 - left) / self._rate

    def check(self, name: str = "") -> None:
        """Take one frame.

        Raises:
            TooMany: It has to wait.
        """
        if seconds := self.take(name):
            raise TooMany("expected fewer frames in a second", is_own=True, retry_after=seconds)

    async def wait(self, name: str = "") -> None:
        """Take one frame, as soon as that is allowed."""
        while seconds := self.take(name):
            await asyncio.sleep(seconds)

    def _now(self, name: str) -> tuple[float, float]:
        """Return how many frames a name may send, and the time."""
        now = self._clock()
        left, then = self._left.get(name, (self._burst, now))
        return min(self._burst, left + (now - then) * self._rate), now
