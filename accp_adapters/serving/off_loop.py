"""Work that would hold the event loop, done in threads beside it.

The pools are our own: the default one may be full of an agent's own work, which may itself wait for what is done here.
Very long work waits for its own kind only. What is done for one owner, which the door of a request names, is done one
after the other: each owner has one piece of work in the pools at a time, so that the one who asks for much waits for
himself. The same holds for the large pieces of bodies and responses, which the loop itself moves: of each owner it
moves one in a turn.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Any, Final, TypeGuard, TypeVar
from weakref import WeakValueDictionary

__all__ = ["LONG", "OWNER", "VERY_LONG", "ThreadPool", "in_thread", "off_loop", "one_piece_a_turn", "size_of"]

T = TypeVar("T")

LONG: Final = 4_096
"""Characters or bytes beyond which work is done in a thread: it takes milliseconds, a thread a tenth of one."""
VERY_LONG: Final = 65_536
"""Characters or bytes beyond which work may take a second."""
OWNER: Final = ContextVar("accp_owner", default="")
"""For whom this task works: a principal, or an address; empty for nobody in particular, who waits for no turn."""


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

    async def run(self, work: Callable[..., T], *arguments: Any) -> T:
        """Return `work(*arguments)`, done in a thread of the pool."""
        call = partial(copy_context().run, work, *arguments)
        return await asyncio.get_running_loop().run_in_executor(self._executor, call)


_PLAIN: Final = frozenset({str, int, float, bool, type(None), list})
"""The types of most parts of a JSON value, which are no maps."""
_LONG_WORK: Final = ThreadPool(4, "accp-long")
_VERY_LONG_WORK: Final = ThreadPool(2, "accp-very-long")
_WAITING: Final = ThreadPool(8, "accp-waiting")
_TURNS: Final[WeakValueDictionary[tuple[int, str, str], asyncio.Lock]] = WeakValueDictionary()
"""The turn of each owner in each event loop, for work and for pieces, as long as something is done or waits."""


async def off_loop(size: float, work: Callable[..., T], *arguments: Any) -> T:
    """Return `work(*arguments)`, done in a thread where `size` is over `LONG`; no other task may use the arguments.

    Args:
        size: Characters or bytes; infinite where the work may take a second whatever its size.
        work: Is called once.
        arguments: Its arguments.
    """
    if size <= LONG:
        return work(*arguments)
    pool = _VERY_LONG_WORK if size > VERY_LONG else _LONG_WORK
    if not (owner := OWNER.get()):
        return await pool.run(work, *arguments)
    turn = _turn("work", owner)
    await turn.acquire()
    # Who is cancelled leaves his turn when the thread is done: others of him must not run beside it.
    done = asyncio.ensure_future(pool.run(work, *arguments))
    done.add_done_callback(lambda _: turn.release())
    return await asyncio.shield(done)


def _turn(kind: str, owner: str) -> asyncio.Lock:
    return _TURNS.setdefault((id(asyncio.get_running_loop()), kind, owner), asyncio.Lock())


async def one_piece_a_turn(size: int) -> None:
    """Wait after `size` bytes of a body or a response, where these are many, until all others had their turn."""
    if size > LONG:
        async with _turn("piece", OWNER.get()):
            await asyncio.sleep(0)


async def in_thread(work: Callable[..., T], *arguments: Any) -> T:
    """Return `work(*arguments)`, done in a thread because it waits, as for a store."""
    return await _WAITING.run(work, *arguments)


def _is_other_map(part: object) -> TypeGuard[Mapping[str, Any]]:
    # The check for any mapping is written in Python: a million numbers must not pay for it.
    return part.__class__ not in _PLAIN and isinstance(part, Mapping)


def size_of(value: object, limit: int = LONG) -> int:
    """Return the characters, keys and members of a JSON value; what is over `limit` is not measured further."""
    size, level = 0, [value]
    while level and size <= limit:
        texts = [part for part in level if isinstance(part, str)]
        maps = [part for part in level if isinstance(part, dict) or _is_other_map(part)]
        lists = [part for part in level if isinstance(part, list | tuple)]
        size += len(level) - len(texts) - len(maps) - len(lists)
        size += sum(map(len, texts)) + sum(map(len, maps)) + sum(map(len, lists))
        level = [part for members in maps for part in (*members, *members.values())]
        level += [part for members in lists for part in members]
    return size
