"""Work that would hold the event loop, done in threads beside it.

The threads are our own: those of the loop may be full of an agent's own work, which may itself wait for what is done
here. Principals take turns, and so do the sessions of each: whoever has much to do waits for its own work.
"""

from __future__ import annotations

import time
from asyncio import CancelledError
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from itertools import chain
from math import inf
from threading import Event
from typing import Any, Final, TypeVar
from weakref import WeakValueDictionary

from anyio import CapacityLimiter, from_thread, get_cancelled_exc_class, sleep, to_thread
from anyio.lowlevel import RunVar

from accp_core.bounded import WATCH, BoundedDict

__all__ = ["LONG", "OWNER", "SESSION", "in_thread", "off_loop", "size_of", "until_cancelled"]

T = TypeVar("T")
_REST: Final = 4
"""The rest of a principal after long work while others ask, in multiples of the time that the work took."""
_LONGEST_REST: Final = 2.0
"""Seconds of such a rest, at most."""
_BYTE: Final = 3e-8
"""Seconds that the event loop takes for a byte of what is large: it is read, copied and written there."""
_PRESENT: Final = 1.0
"""Seconds for which a principal that asked something counts as one that asks."""
_ASKED: Final = BoundedDict[str, float](2)
"""When the last two principals asked that did."""
_RESTS: Final = BoundedDict[str, float](10_000)
"""Until when each principal rests."""

LONG: Final = 4_096
"""Characters or bytes beyond which work is done in a thread: it takes milliseconds, a thread a tenth of one."""
OWNER: Final[ContextVar[str]] = ContextVar("accp_owner", default="")
"""The principal that the running task serves."""
SESSION: Final[ContextVar[str]] = ContextVar("accp_session", default="")
"""The session of that principal."""


class _Threads:
    """Some threads, of which each owner has a part at most, and each session of it no more than that in its queue."""

    def __init__(self, total: int, each: int) -> None:
        self._all, self._each = CapacityLimiter(total), each
        self._owned: Final[WeakValueDictionary[str, CapacityLimiter]] = WeakValueDictionary()

    async def run(self, work: Callable[[], T], size: float = 0) -> T:
        """Return `work()`, which handles `size` bytes, when it is the turn of its principal and session."""
        owner, spent = OWNER.get(), list[float]()
        async with self._turn(f"{owner} {SESSION.get()}"), self._turn(owner):
            while (seconds := _RESTS.get(owner, 0.0) - time.monotonic()) > 0 and _is_beside_others(owner):
                await sleep(seconds)
            try:
                return await until_cancelled(partial(_timed, spent, work), self._all)
            finally:
                if spent and _is_beside_others(owner):
                    rest = min(_REST * (spent[0] + size * _BYTE), _LONGEST_REST)
                    _RESTS.put(owner, time.monotonic() + rest)

    def _turn(self, name: str) -> CapacityLimiter:
        return self._owned.setdefault(name, CapacityLimiter(self._each))


async def until_cancelled(work: Callable[[], T], threads: CapacityLimiter | None = None) -> T:
    """Return `work()`, done in a thread, in which `WATCH` raises as soon as this task is cancelled."""
    left = Event()
    before = WATCH.set(partial(_raise_if, left))
    try:
        return await to_thread.run_sync(work, limiter=threads)
    except get_cancelled_exc_class():
        left.set()
        raise
    finally:
        WATCH.reset(before)


def _raise_if(left: Event) -> None:
    """Raise in a thread whose task was cancelled, by a cancel scope or alone, so that long work ends."""
    from_thread.check_cancelled()
    if left.is_set():
        raise CancelledError


_WORKING: Final[RunVar[_Threads]] = RunVar("accp_working")
_WAITING: Final[RunVar[_Threads]] = RunVar("accp_waiting")


async def off_loop(size: float, work: Callable[..., T], *arguments: Any) -> T:
    """Return `work(*arguments)`, done in a thread where `size` is over `LONG`; no other task may use the arguments.

    Args:
        size: Characters or bytes; infinite where the work may take a second whatever its size.
        work: Is called once.
        arguments: Its arguments.
    """
    _ASKED.put(OWNER.get(), time.monotonic())
    if size <= LONG:
        return work(*arguments)
    # One thread of Python runs at a time: with more of them, the event loop waits longer for its turn.
    return await _threads(_WORKING, 2, 1).run(partial(work, *arguments), 0 if size == inf else size)


async def in_thread(work: Callable[..., T], *arguments: Any) -> T:
    """Return `work(*arguments)`, done in a thread because it waits, as for a store."""
    return await _threads(_WAITING, 16, 4).run(partial(work, *arguments))


def _threads(kind: RunVar[_Threads], total: int, each: int) -> _Threads:
    kind.set(threads := kind.get(None) or _Threads(total, each))
    return threads


def _is_beside_others(owner: str) -> bool:
    # A copy, as threads may ask meanwhile.
    return any(name != owner and time.monotonic() - asked < _PRESENT for name, asked in [*_ASKED.items()])


def _timed(spent: list[float], work: Callable[[], T]) -> T:
    """Return what `work` does; add the processor time that it took."""
    begun = time.thread_time()
    try:
        return work()
    finally:
        spent.append(time.thread_time() - begun)


def size_of(value: object, limit: int = LONG) -> int:
    """Return the characters, keys and members of a JSON value; what is over `limit` is not measured further."""
    size, level = 0, [value]
    while level and size <= limit:
        held = [part for part in level if isinstance(part, str | dict | list | tuple)]
        size += len(level) - len(held) + sum(map(len, held))
        inner = [part for part in held if not isinstance(part, str)]
        level = [*chain(*inner), *chain(*[part.values() for part in inner if isinstance(part, dict)])]
    return size
