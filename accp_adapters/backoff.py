"""How long to wait before the next attempt, so that those that were cut off together do not come back together."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Backoff"]

_MAX_DOUBLINGS = 16


@dataclass(frozen=True, slots=True)
class Backoff:
    """Delays that double with each failure, of which a random half to all is waited."""

    first: float = 0.1
    """Seconds after the first failure, at most."""
    longest: float = 30.0
    """Seconds after any failure, at most."""
    chance: Callable[[], float] = random.random
    """Returns a random number from 0 to 1."""

    def delay(self, failures: int, at_least: float = 0.0) -> float:
        """Return the seconds to wait after `failures` in a row, and at least what the server asked for."""
        longest = min(self.longest, self.first * 2.0 ** min(failures - 1, _MAX_DOUBLINGS))
        return max(longest * (0.5 + self.chance() / 2), min(at_least, self.longest))
