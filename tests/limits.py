"""How long tests wait for what must happen: so long that no test fails because the machine is busy.

A test that passes never waits that long. No test asserts that something was fast: work is counted, not timed.
"""

import asyncio
import os
import time
from collections.abc import Callable
from typing import Final

__all__ = ["LONG", "PATIENCE", "PROGRAM_PATIENCE", "async_wait_until", "wait_until"]

LONG: Final = bool(os.environ.get("ACCP_LONG"))
"""Whether tests take their full size: `ACCP_LONG=1`. Otherwise each takes a share that shows the same."""
PATIENCE: Final = 120.0
"""Seconds for one event: an answer, the start of a server, the end of a process that was told to end."""
PROGRAM_PATIENCE: Final = 900.0
"""Seconds for a program that does a whole job, such as an integration's check or a foreign test suite."""
_PAUSE: Final = 0.01


def wait_until(condition: Callable[[], object]) -> None:
    """Return as soon as `condition` returns something true, asked again and again.

    Raises:
        TimeoutError: it returned nothing true for `PATIENCE` seconds.
    """
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"expected {condition!r} to become true within {PATIENCE} seconds")
        time.sleep(_PAUSE)


async def async_wait_until(condition: Callable[[], object]) -> None:
    """Return as soon as `condition` returns something true, asked again and again; the event loop runs meanwhile.

    Raises:
        TimeoutError: it returned nothing true for `PATIENCE` seconds.
    """
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(_PAUSE)
