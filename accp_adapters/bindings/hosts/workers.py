"""Which workers are alive: each holds a lease in its own name while it runs."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import suppress
from typing import Final

from accp_adapters.bindings.logs import Fence, Fenced, FrameLog
from accp_core.errors import ProtocolError

__all__ = ["Worker", "end_task"]

_AGAIN: Final = 0.05


class Worker:
    """This worker, and what it knows of the others."""

    def __init__(self, log: FrameLog, seconds: float) -> None:
        """Choose a name; `seconds` after its last sign of life a worker counts as gone."""
        self.name: Final = secrets.token_hex(6)
        """The name, which no other worker has or had."""
        self._log: Final = log
        self._seconds: Final = seconds
        self._fence: Fence | None = None
        self._seen: Final[dict[str, float]] = {}

    async def sign(self) -> None:
        """Give a sign of life; to be called often enough, about three times in `seconds`.

        Raises:
            ProtocolError: E3001, the store is unreachable.
        """
        try:
            if self._fence is not None:
                await self._log.renew(self._fence, self._seconds)
                return
        except Fenced:
            self._fence = None
        self._fence = await self._log.lease(_lease_of(self.name), self.name, self._seconds)

    async def start(self) -> None:
        """Give the first sign of life."""
        if self._fence is None:
            await self.sign()

    async def is_gone(self, other: str) -> bool:
        """Return whether another worker gave no sign of life for too long."""
        now = asyncio.get_running_loop().time()
        if other == self.name or self._seen.get(other, 0.0) > now:
            return False
        fence = await self._log.lease(_lease_of(other), self.name, self._seconds)
        if fence is None:
            self._seen[other] = now + self._seconds / 4
            return False
        await self._log.release(fence)
        return True

    async def stop(self) -> None:
        """Announce that this worker is gone, so that no other worker waits for it."""
        if self._fence is not None:
            with suppress(ProtocolError):
                await self._log.release(self._fence)


async def end_task(task: asyncio.Task[None]) -> None:
    """Cancel a task until it ends: a client of a server may take one cancellation for its own timeout."""
    while not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=_AGAIN)
    if not task.cancelled():
        task.exception()


def _lease_of(worker: str) -> str:
    return f"w/{worker}"
