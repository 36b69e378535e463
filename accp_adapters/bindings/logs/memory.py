"""Logs in the memory of one process: nothing survives it."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Final

from accp_adapters.bindings.logs.frame_log import Fence, Fenced, check_texts

__all__ = ["MemoryFrameLog"]


@dataclass(slots=True)
class _Log:
    """One log."""

    texts: deque[tuple[int, str]] = field(default_factory=deque)
    last: int = 0
    snapshot: tuple[int, str] | None = None
    token: int = 0
    lease_ends: float = 0.0
    used_at: float = 0.0

    def append(self, number: int, text: str) -> bool:
        """Append a text; return whether its number was the next one."""
        if number != self.last + 1:
            return False
        check_texts(len(self.texts) + 1, text)
        self.texts.append((number, text))
        self.last = number
        return True


class MemoryFrameLog:
    """A `FrameLog` for the workers of one event loop."""

    def __init__(self, *, ttl: float = 86_400.0, clock: Callable[[], float] = time.monotonic) -> None:
        """Start empty. How many logs there are is bounded by the hosts (`HostLimits.sessions`).

        Args:
            ttl: Seconds after its last use until a log may be removed.
            clock: Returns seconds; only differences count.
        """
        self._ttl: Final = ttl
        self._clock: Final = clock
        self._logs: Final[dict[str, _Log]] = {}

    def __len__(self) -> int:
        """Return the number of logs."""
        return len(self._logs)

    def size(self, name: str) -> int:
        """Return the bytes that a log and its snapshot take."""
        log = self._logs.get(name, _Log())
        return sum(sys.getsizeof(text) for _, text in log.texts) + (
            sys.getsizeof(log.snapshot[1]) if log.snapshot else 0
        )

    async def lease(self, name: str, owner: str, seconds: float) -> Fence | None:
        """Take the lease of `name`, as `FrameLog.lease`."""
        log, now = self._log(name), self._clock()
        if now < log.lease_ends:
            return None
        log.token += 1
        log.lease_ends = now + seconds
        return Fence(name=name, owner=owner, token=log.token, last=log.last)

    async def renew(self, fence: Fence, seconds: float) -> None:
        """Let the lease end `seconds` from now, as `FrameLog.renew`."""
        self._held(fence).lease_ends = self._clock() + seconds

    async def release(self, fence: Fence) -> None:
        """End the lease, as `FrameLog.release`."""
        log = self._logs.get(fence.name)
        if log is not None and log.token == fence.token:
            log.lease_ends = 0.0

    async def append(self, fence: Fence, number: int, text: str) -> bool:
        """Append a text, as `FrameLog.append`."""
        return self._held(fence).append(number, text)

    async def append_next(self, name: str, number: int, text: str) -> bool:
        """Append a text without a lease, as `FrameLog.append_next`."""
        log = self._log(name)
        return self._clock() >= log.lease_ends and log.append(number, text)

    async def read(self, name: str, after: int) -> AsyncIterator[tuple[int, str]]:
        """Return the texts after number `after`, as `FrameLog.read`."""
        log = self._logs.get(name, _Log())
        for number, text in list(log.texts):
            if number > after:
                yield number, text

    async def save(self, fence: Fence, number: int, text: str) -> None:
        """Replace the snapshot, as `FrameLog.save`."""
        log = self._held(fence)
        log.snapshot = number, text
        while log.texts and log.texts[0][0] <= number:
            log.texts.popleft()

    async def snapshot(self, name: str) -> tuple[int, str] | None:
        """Return the snapshot, as `FrameLog.snapshot`."""
        return self._logs.get(name, _Log()).snapshot

    async def delete(self, name: str) -> None:
        """Remove everything of `name`."""
        self._logs.pop(name, None)

    async def aclose(self) -> None:
        """Do nothing: what is in memory needs no closing."""

    def _log(self, name: str) -> _Log:
        """Return the log of `name`, which is now the one used last."""
        log = self._logs.pop(name, None)
        if log is None:
            self._remove_old()
            log = _Log()
        log.used_at = self._clock()
        self._logs[name] = log
        return log

    def _remove_old(self) -> None:
        """Remove the logs that were not used for `ttl`: they stand first. The holder of a lease uses its log."""
        now = self._clock()
        for name, log in list(self._logs.items()):
            if log.used_at + self._ttl > now:
                break
            if log.lease_ends <= now:
                del self._logs[name]

    def _held(self, fence: Fence) -> _Log:
        log = self._logs.get(fence.name)
        if log is None or log.token != fence.token or self._clock() >= log.lease_ends:
            raise Fenced(fence)
        return log
