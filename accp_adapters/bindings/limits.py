"""What peers may use of a server's memory and time, one by one and together."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from accp_adapters.serving.responses import WRITE_SECONDS
from accp_adapters.serving.shares import TooMany
from accp_core.bounded import BoundedDict

__all__ = ["BindingLimits", "Places", "RateLimit"]

_MIB: Final = 1024 * 1024
_MAX_PRINCIPALS: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BindingLimits:
    """The limits of one server; times are in seconds."""

    frame_bytes: int = _MIB
    """Bytes of one frame; a longer one is refused (HTTP 413, WebSocket 1009)."""
    buffered_bytes: int = 64 * _MIB
    """Bytes of all frames that are being received at once; further ones are refused (503)."""
    places: int = 1_024
    """Requests and connections at once; further ones are refused (503)."""
    places_each: int = 128
    """Requests and connections of one principal at once; further ones are refused (429)."""
    rate: float = 1_000.0
    """Frames of one principal in a second: more are refused (429), or wait on a connection that stays open."""
    burst: int = 2_000
    """Frames that a principal may send at once after a pause."""
    body_time: float = 30.0
    """How long a frame may take to arrive (408), and how long a header may."""
    write_time: float = WRITE_SECONDS
    """How long a peer may take to receive a frame, or a piece of a response; then its connection is closed."""
    idle_time: float = 75.0
    """After how long without any frame a connection is closed: more than two heartbeats of 30 seconds."""


class RateLimit:
    """How many frames each principal may send (token bucket)."""

    def __init__(self, rate: float, burst: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Start with a full burst for everybody.

        Args:
            rate: Frames of one principal in a second.
            burst: Frames that a principal may send at once after a pause.
            clock: Returns seconds, of which only differences count.
        """
        self._rate, self._burst, self._clock = rate, burst, clock
        self._left: BoundedDict[str, tuple[float, float]] = BoundedDict(_MAX_PRINCIPALS)

    def delay(self, name: str) -> float:
        """Return the seconds until principal `name` may send a frame, 0 for now."""
        return max(0.0, (1 - self._now(name)[0]) / self._rate)

    def take(self, name: str) -> float:
        """Take one frame of principal `name`; return 0, or without taking it, the seconds until it may be taken."""
        left, now = self._now(name)
        self._left.put(name, (left - 1 if left >= 1 else left, now))
        return 0.0 if left >= 1 else (1 - left) / self._rate

    def _now(self, name: str) -> tuple[float, float]:
        """Return how many frames a principal may send, and the time."""
        now = self._clock()
        left, then = self._left.get(name, (float(self._burst), now))
        return min(float(self._burst), left + (now - then) * self._rate), now

    def check(self, name: str) -> None:
        """Take one frame.

        Raises:
            TooMany: It has to wait.
        """
        if seconds := self.take(name):
            raise TooMany("expected fewer frames in a second", is_own=True, retry_after=seconds)

    async def wait(self, name: str) -> None:
        """Take one frame, as soon as that is allowed."""
        while seconds := self.take(name):
            await asyncio.sleep(seconds)


class Places:
    """The places for requests and connections."""

    def __init__(self, places: int, each: int) -> None:
        """Have `places`, and at most `each` for one principal."""
        self._places, self._each = places, each
        self._taken: dict[str, int] = {}

    def __len__(self) -> int:
        """Return how many are taken."""
        return sum(self._taken.values())

    @contextmanager
    def take(self, name: str) -> Iterator[None]:
        """Take a place for principal `name` until the end of the block.

        Raises:
            TooMany: There is none.
        """
        taken = self._taken.get(name, 0)
        if taken >= self._each:
            raise TooMany(f"expected at most {self._each} requests and connections", is_own=True)
        if len(self) >= self._places:
            raise TooMany("expected fewer requests and connections of all", is_own=False)
        self._taken[name] = taken + 1
        try:
            yield
        finally:
            self._taken[name] -= 1
            if not self._taken[name]:
                del self._taken[name]
