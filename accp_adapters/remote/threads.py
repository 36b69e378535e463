"""Work that takes long, done in threads beside the event loop.

The pools are our own: the default pool may be full of an agent's own work, which may itself wait for what is done here.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

__all__ = ["ThreadPool", "in_thread"]

Result = TypeVar("Result")


class ThreadPool:
    """A pool of threads; a process that is forked has none of its parent's threads and begins a pool of its own."""

    def __init__(self, threads: int, name: str) -> None:
        """Have so many threads at most, each with `name` before its number."""
        self._arguments: Final = (threads, name)
        self._begin()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self._executor = ThreadPoolExecutor(*self._arguments)

    async def run(self, work: Callable[[], Result]) -> Result:
        """Return `work()`, done in a thread of the pool."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)


_THREADS: Final = ThreadPool(4, "accp-remote")


async def in_thread(work: Callable[[], Result]) -> Result:
    """Return `work()`, done in a thread of the pool."""
    return await _THREADS.run(work)
