"""A source that is looked at again and again: what it holds now, and how often that has changed."""

from __future__ import annotations

import asyncio
import time
from typing import Final

from starlette.concurrency import run_in_threadpool

from accp_adapters.inspector.live.sources.source import Source
from accp_adapters.inspector.live.threads import Observed
from accp_adapters.replay import UnreadableRun
from accp_core.errors import ProtocolError

__all__ = ["INTERVAL", "Watched"]

INTERVAL: Final = 0.5
"""Seconds between two looks at least; a source that takes long to read is looked at more rarely."""
_SHARE: Final = 4
"""The time of a look, times this, passes before the next one."""


class Watched:
    """The last known content of a source; pages and streams of one event loop share it."""

    def __init__(self, source: Source) -> None:
        """Watch `source`."""
        self.name: Final = source.name
        self.version = 0
        """How often the content has changed."""
        self.observed: Observed = Observed()
        """The content."""
        self.problem = ""
        """Why the last look failed; empty: it did not."""
        self._source: Final = source
        self._lock: Final = asyncio.Lock()
        self._next = 0.0

    async def look(self) -> int:
        """Look at the source, unless it was looked at just now; return the version."""
        async with self._lock:
            begun = time.monotonic()
            if begun >= self._next:
                await self._read()
                taken = time.monotonic() - begun
                self._next = time.monotonic() + max(INTERVAL, _SHARE * taken)
        return self.version

    async def _read(self) -> None:
        problem, observed = "", self.observed
        try:
            observed = await run_in_threadpool(self._source.read)
        except UnreadableRun as error:
            problem = error.reason
        except (OSError, ProtocolError, ValueError) as error:
            problem = str(error)
        if observed is not self.observed or problem != self.problem:
            self.observed, self.problem = observed, problem
            self.version += 1
