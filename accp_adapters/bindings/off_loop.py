"""Work on long frames is done in a thread: in the event loop it would delay every other session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

__all__ = ["LONG", "off_loop", "size_of"]

T = TypeVar("T")

LONG: Final = 32_768
"""Characters beyond which a frame is encoded and decoded in a thread. Shorter ones take a few milliseconds; a thread
costs a tenth of one."""


async def off_loop(size: int, work: Callable[..., T], *arguments: Any) -> T:
    """Return `work(*arguments)`, done in a thread where `size` is over `LONG`; no other task may use the arguments."""
    return await asyncio.to_thread(work, *arguments) if size > LONG else work(*arguments)


def size_of(value: object) -> int:
    """Return about how many characters a value takes in a frame; what is over `LONG` is not measured on."""
    size, left = 0, [value]
    while left and size <= LONG:
        each = left.pop()
        if isinstance(each, str):
            size += len(each)
        elif isinstance(each, Mapping):
            left += each.values()
            size += sum(len(key) for key in each if isinstance(key, str))
        elif isinstance(each, list | tuple):
            left += each
        size += 1
    return size
