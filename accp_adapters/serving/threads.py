"""Work that would hold the event loop, done in threads beside it.

The threads are our own: those of the loop may be full of an agent's own work, which may itself wait for what is done
here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeVar

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

__all__ = ["LONG", "in_thread", "off_loop", "size_of"]

T = TypeVar("T")

LONG: Final = 4_096
"""Characters or bytes beyond which work is done in a thread: it takes milliseconds, a thread a tenth of one."""
_THREADS: Final = 8
_WORKING: Final[RunVar[CapacityLimiter]] = RunVar("accp_working")
_WAITING: Final[RunVar[CapacityLimiter]] = RunVar("accp_waiting")


async def off_loop(size: float, work: Callable[..., T], *arguments: Any) -> T:
    """Return `work(*arguments)`, done in a thread where `size` is over `LONG`; no other task may use the arguments.

    Args:
        size: Characters or bytes; infinite where the work may take a second whatever its size.
        work: Is called once.
        arguments: Its arguments.
    """
    if size <= LONG:
        return work(*arguments)
    return await to_thread.run_sync(partial(work, *arguments), limiter=_limiter(_WORKING))


async def in_thread(work: Callable[..., T], *arguments: Any) -> T:
    """Return `work(*arguments)`, done in a thread because it waits, as for a store."""
    return await to_thread.run_sync(partial(work, *arguments), limiter=_limiter(_WAITING))


def _limiter(kind: RunVar[CapacityLimiter]) -> CapacityLimiter:
    try:
        return kind.get()
    except LookupError:
        kind.set(limiter := CapacityLimiter(_THREADS))
        return limiter


def size_of(value: object, limit: int = LONG) -> int:
    """Return the characters, keys and members of a JSON value; what is over `limit` is not measured further."""
    size, level = 0, [value]
    while level and size <= limit:
        texts = [part for part in level if isinstance(part, str)]
        maps = [part for part in level if isinstance(part, dict)]
        lists = [part for part in level if isinstance(part, list | tuple)]
        size += len(level) - len(texts) - len(maps) - len(lists)
        size += sum(map(len, texts)) + sum(map(len, maps)) + sum(map(len, lists))
        level = [part for members in maps for part in (*members, *members.values())]
        level += [part for members in lists for part in members]
    return size
