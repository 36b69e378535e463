"""The end of a child process that reads its standard input until it is closed."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import Process as ChildProcess
from contextlib import suppress
from typing import Final

from anyio.abc import Process

__all__ = ["end_process"]

_GRACE_SECONDS: Final = 2.0
"""For a process to end by itself once its input has ended, and again once it was told to."""


async def end_process(process: Process | ChildProcess) -> None:
    """Wait until a process has ended whose input is closed, and end it by signals if it does not end by itself."""
    for stop in (process.terminate, process.kill):
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE_SECONDS):
                await process.wait()
                return
        with suppress(ProcessLookupError):
            stop()
    await process.wait()
