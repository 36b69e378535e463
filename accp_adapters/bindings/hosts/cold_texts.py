"""The cold store of a worker's sessions, whose methods wait (ACCP section 5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from accp_adapters.bindings.logs import LogError
from accp_adapters.serving.off_loop import in_thread
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["in_store"]

T = TypeVar("T")


async def in_store(work: Callable[..., T], *arguments: str) -> T:
    """Return what a method of the store returns.

    Raises:
        LogError: The store is out of reach, which is no fault of the peer whose frame waits for it.
        ProtocolError: E2003, the text is longer than the store takes.
    """
    try:
        return await in_thread(work, *arguments)
    except ProtocolError as error:
        if error.code == ErrorCode.BUDGET_EXCEEDED:
            raise
        raise LogError(error.reason) from error
