"""The work that an answer may take, counted: no clock decides, so that every process comes to the same answer."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from accp_adapters.fetching.request import too_much

__all__ = ["WorkBudget", "memory_of_process"]

_STEP_CHARS: Final = 20
"""Characters that take as long as one instruction of SQLite's machine."""


class WorkBudget:
    """The steps of work that are left for one answer; a step is about an instruction of SQLite's machine."""

    def __init__(self, steps: float, reason: str) -> None:
        """Begin.

        Args:
            steps: The steps.
            reason: What was expected, for the refusal.
        """
        self.left = steps
        self._reason: Final = reason

    def use(self, steps: int) -> bool:
        """Count steps; return whether there were too many."""
        self.left -= steps
        return self.left < 0

    def spend(self, steps: int) -> None:
        """Count steps.

        Raises:
            ProtocolError: E2003, there were too many.
        """
        if self.use(steps):
            raise too_much(self._reason)

    def look_at(self, chars: int) -> None:
        """Count characters, or comparisons of one; E2003: there were too many."""
        self.spend(chars // _STEP_CHARS)


@contextmanager
def memory_of_process() -> Iterator[Callable[[], int]]:
    """Give a function that returns the bytes of memory of this process; 0 where the system does not tell them cheaply.

    SQLite has a limit of its own for its heap, but one for all connections of a process, which cannot be raised again.
    """
    with suppress(OSError):
        told = os.open("/proc/self/statm", os.O_RDONLY)
        try:
            page = os.sysconf("SC_PAGE_SIZE")
            yield lambda: int(os.pread(told, 100, 0).split()[1]) * page
        finally:
            os.close(told)
        return
    yield lambda: 0
