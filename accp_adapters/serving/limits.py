"""What the clients of a server may use of its memory and time, one by one and together."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from accp_core.bounded import BoundedDict
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["Quota", "RateLimit", "ServerLimits", "Shares", "TooMany", "weight_of"]

_MIB: Final = 1024 * 1024
_MAX_NAMES: Final = 10_000
_VALUE_BYTES, _OBJECT_BYTES = 72, 200
"""About the memory of a value of JSON in a list, and of an object with one member."""


def weight_of(text: str) -> int:
    """Return about how many bytes a text of JSON takes once it is read, at most: its values take more than its text."""
    values = _VALUE_BYTES * (text.count(",") + text.count("[")) + _OBJECT_BYTES * text.count("{")
    # A string may be as wide as its widest character, which may be escaped.
    return sys.getsizeof(text) + values + (4 * len(text) if "\\u" in text else sys.getsizeof(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    """The limits of one server, or of a client of ACP; times are in seconds. A frame of ACP is a message."""

    frame_bytes: int = _MIB
    """Bytes of one frame; a longer one is refused (HTTP 413, WebSocket 1009)."""
    buffered_bytes: int = 64 * _MIB
    """Bytes of all frames that are being received at once, half of them of one principal, or that wait for an agent of
    ACP, a quarter of them of one principal; further ones are refused (503, 429) or not read."""
    places: int = 1_024
    """Requests and connections at once; further ones are refused (503)."""
    places_each: int = 128
    """Requests and connections of one principal at once; further ones are refused (429)."""
    rate: float = 1_000.0
    """Frames of one principal in a second: more are refused (429), or wait on a connection that stays open."""
    burst: int = 2_000
    """Frames that a principal may send at once after a pause."""
    body_time: float = 30.0
    """How long a frame may take to arrive (408)."""
    write_time: float = 30.0
    """How long a peer may take to receive a frame; then its connection is closed."""
    idle_time: float = 75.0
    """After how long without any frame a connection is closed: more than two heartbeats of 30 seconds."""
    window: int = 256
    """Messages of ACP that wait for a peer, or for the agent; then both wait."""


class TooMany(ProtocolError):
    """A limit is reached; the same may be accepted later (E2003)."""

    def __init__(self, reason: str, *, is_own: bool, retry_after: float = 1.0) -> None:
        """Refuse, and say why.

        Args:
            reason: The reason.
            is_own: Whether it is the principal's own limit (429), not the limit of all (503).
            retry_after: When to try again, in seconds from now.
        """
        super().__init__(reason, code=ErrorCode.BUDGET_EXCEEDED)
        self.is_own: Final = is_own
        self.retry_after: Final = retry_after


class Quota:
    """An amount that all principals share, of which each may hold a part at most."""

    def __init__(self, total: int, each: int, things: str) -> None:
        """Allow `total` at once, and `each` of one owner; `things` names them in refusals."""
        self._total, self._each, self._things = total, each, things
        self._held: Final[dict[str, int]] = {}
        self._sum = 0

    def __len__(self) -> int:
        """Return how much is held."""
        return self._sum

    def has_room(self, owner: str, count: int) -> bool:
        """Return whether `owner` may take `count`."""
        return self._sum + count <= self._total and self._held.get(owner, 0) + count <= self._each

    def take(self, owner: str, count: int = 1) -> None:
        """Take `count` for `owner`, give them back if negative.

        Raises:
            TooMany: They are not free; nothing was taken.
        """
        held = self._held.get(owner, 0) + count
        if count > 0 and self._sum + count > self._total:
            raise TooMany(f"expected at most {self._total:,} {self._things} of all principals", is_own=False)
        if count > 0 and held > self._each:
            raise TooMany(f"expected at most {self._each:,} {self._things} of one principal", is_own=True)
        self._sum += count
        self._held[owner] = held
        if not held:
            del self._held[owner]

    @contextmanager
    def taken(self, owner: str, count: int = 1) -> Iterator[None]:
        """Hold `count` for `owner` until the end of the block.

        Raises:
            TooMany: They are not free.
        """
        self.take(owner, count)
        try:
            yield
        finally:
            self.take(owner, -count)


class Shares:
    """The names of what is stored, by their owners, in the order of their last use.

    Where there is no room, whoever has most gives way, never others.
    """

    def __init__(self, total: int, each: int) -> None:
        """Allow names of the size `total`, and `each` of one owner."""
        self._total, self._each = total, each
        self._sizes: Final[dict[str, dict[str, int]]] = {}
        self._owned: Final[dict[str, int]] = {}
        self._sum = 0

    def admit(
        self, owner: str, name: str, is_busy: Callable[[str], bool] = lambda _: False, *, size: int = 1
    ) -> list[str]:
        """Store `name`, of `size`, as the one that `owner` has used last; return the names that give way.

        Raises:
            TooMany: E2003, `owner` is the one who has to give way, and all that it has is busy; nothing has changed.
        """
        more = size - self._sizes.get(owner, {}).get(name, 0)
        owned, giving = self._owned.get(owner, 0), list[tuple[str, str]]()
        left, freed = self._total - self._sum, dict[str, int]()
        while more > 0 and (owned + more - freed.get(owner, 0) > self._each or more - sum(freed.values()) > left):
            most = self._who_has_most(owner, more, freed)
            names = [each for each in self._sizes.get(most, {}) if each != name and (most, each) not in giving]
            free = next((each for each in names if not is_busy(each)), None)
            if not names or (free is None and most == owner):
                raise TooMany(f"expected at most {len(names)} at once, found all of them in use", is_own=True)
            giving.append((most, names[0] if free is None else free))
            freed[most] = freed.get(most, 0) + self._sizes[most][giving[-1][1]]
        for other in giving:
            self.remove(*other)
        self.remove(owner, name)
        self._sizes.setdefault(owner, {})[name] = size
        self._owned[owner] = self._owned.get(owner, 0) + size
        self._sum += size
        return [each for _, each in giving]

    def remove(self, owner: str, name: str) -> None:
        """Forget a name, if it is stored."""
        mine = self._sizes.get(owner, {})
        if name in mine:
            size = mine.pop(name)
            self._owned[owner] -= size
            self._sum -= size
            if not mine:
                del self._sizes[owner], self._owned[owner]

    def _who_has_most(self, owner: str, more: int, freed: dict[str, int]) -> str:
        """Return who gives way: `owner`, who wants `more`, beyond the own part; else who has most."""
        owned = {each: size - freed.get(each, 0) for each, size in self._owned.items()}
        owned[owner] = owned.get(owner, 0) + more
        if owned[owner] > self._each:
            return owner
        return max(owned, key=lambda each: (owned[each], each == owner))


class RateLimit:
    """How many frames each name may send in a second (token bucket); everybody starts with a full burst."""

    def __init__(self, rate: float, burst: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Bound the rate of each name: `rate` frames in a second, `burst` frames at once after a pause."""
        self._rate, self._burst, self._clock = rate, float(burst), clock
        self._left: Final[BoundedDict[str, tuple[float, float]]] = BoundedDict(_MAX_NAMES)

    def take(self, name: str = "") -> float:
        """Take one frame of `name`; return 0, or without taking it, the seconds until it may be taken."""
        now = self._clock()
        left, then = self._left.get(name, (self._burst, now))
        left = min(self._burst, left + (now - then) * self._rate)
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
