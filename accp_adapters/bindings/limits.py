"""What peers may use of a server's memory and time, one by one and together."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from accp_core.bounded import BoundedDict
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["BindingLimits", "Places", "RateLimit", "TooMany"]

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
    write_time: float = 30.0
    """How long a peer may take to receive a frame; then its connection is closed."""
    idle_time: float = 75.0
    """After how long without any frame a connection is closed: more than two heartbeats of 30 seconds."""


class TooMany(ProtocolError):
    """A limit is reached; the same may be accepted later (E2003)."""

    def __init__(self, reason: str, *, is_own: bool, retry_after: float = 1.0) -> None:
        """Refuse, and say why.

        Args:
            reason: The reason.
            is_own: Whether it is the principal's own limit (429), not that of all (503).
            retry_after: When to try again, in seconds from now.
        """
        super().__init__(reason, code=ErrorCode.BUDGET_EXCEEDED)
        self.is_own: Final = is_own
        self.retry_after: Final = retry_after


class RateLimit:
    """How many frames each principal may send (token bucket)."""

    def __init__(self, limits: BindingLimits, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Start with a full burst for everybody; `clock` returns seconds, of which only differences count."""
        self._rate, self._burst, self._clock = limits.rate, limits.burst, clock
        self._left: BoundedDict[str, tuple[float, float]] = BoundedDict(_MAX_PRINCIPALS)

    def take(self, name: str) -> float:
        """Take one frame of principal `name`; return 0, or without taking it, the seconds until it may be taken."""
        left, then = self._left.get(name, (float(self._burst), self._clock()))
        now = self._clock()
        left = min(self._burst, left + (now - then) * self._rate)
        is_free = left >= 1
        self._left.put(name, (left - 1 if is_free else left, now))
        return 0.0 if is_free else (1 - left) / self._rate

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

    def __init__(self, limits: BindingLimits) -> None:
        """Start empty."""
        self._limits = limits
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
        if taken >= self._limits.places_each:
            raise TooMany(f"expected at most {self._limits.places_each} requests and connections", is_own=True)
        if len(self) >= self._limits.places:
            raise TooMany("expected fewer requests and connections of all", is_own=False)
        self._taken[name] = taken + 1
        try:
            yield
        finally:
            self._taken[name] -= 1
            if not self._taken[name]:
                del self._taken[name]
