"""How long the event loop waits while a long answer is on its way: the longest stall, for `network`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from accp_adapters.bindings.accp.client_session import ClientSession
from accp_core.accp import Intent, Message

__all__ = ["LONG_TEXT", "Stall", "longest_stall", "watched"]

LONG_TEXT = "A text that nobody shows, word after word. " * 20_930
"""About 900,000 characters of an answer."""
_ASKED = Message(sender="ann", intent=Intent.REQUEST, operation="tell")


@dataclass(slots=True)
class Stall:
    """The longest time between two turns of a task that always wants to run, in seconds."""

    elapsed: float = 0.0
    """By the clock, other processes included."""
    worked: float = 0.0
    """Of the processor time of the loop's thread, or of the process: what the loop could not do meanwhile."""


async def longest_stall(session: ClientSession, answers: int) -> Stall:
    """Ask for the long text and return the longest stall meanwhile, of client and server in one loop."""
    async with watched(time.thread_time) as stall:
        for _ in range(answers):
            answer = await session.request(_ASKED)
            assert answer.payload["text"] == LONG_TEXT
    return stall


@asynccontextmanager
async def watched(processor_time: Callable[[], float]) -> AsyncIterator[Stall]:
    """Measure the longest stall of the block; `processor_time` is that of the loop's thread or of the process."""
    stall = Stall()
    task = asyncio.create_task(_watch(stall, processor_time))
    await asyncio.sleep(0)
    try:
        yield stall
    finally:
        task.cancel()


async def _watch(stall: Stall, processor_time: Callable[[], float]) -> None:
    clock, worked = time.perf_counter(), processor_time()
    while True:
        await asyncio.sleep(0.001)
        later, work = time.perf_counter(), processor_time()
        stall.elapsed = max(stall.elapsed, later - clock - 0.001)
        stall.worked = max(stall.worked, work - worked)
        clock, worked = later, work
