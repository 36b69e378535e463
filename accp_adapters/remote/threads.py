"""Work that takes long, done in threads beside the event loop.

The pool is our own: the default pool may be full of an agent's own work, which may itself wait for what is done here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

__all__ = ["in_thread"]

_THREADS: Final = ThreadPoolExecutor(max_workers=4, thread_name_prefix="accp-remote")

Result = TypeVar("Result")


async def in_thread(work: Callable[[], Result]) -> Result:
    """Return `work()`, done in a thread of the pool."""
    return await asyncio.get_running_loop().run_in_executor(_THREADS, work)
