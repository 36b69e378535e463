"""Encoding and decoding for callers in an event loop: a long object goes to a thread, a very long one to a process.

In a thread of this process, a very long object still stops the event loop: one call of C writes JSON of 3 MB in 40 ms,
and the garbage collector looks at all objects of the program while many are made.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Final

from a2a.types import Task

from accp_adapters.a2a.wire import child_process
from accp_adapters.a2a.wire.child_process import Job, NoProcess
from accp_adapters.a2a.wire.envelope_flag import is_flagged
from accp_adapters.a2a.wire.events import AnyEvent
from accp_adapters.a2a.wire.part_locations import located_parts
from accp_adapters.a2a.wire.parts import WHOLE, ChunkStart
from accp_adapters.serving.off_loop import LONG, ThreadPool, off_loop

__all__ = ["decode_aside", "encode_aside"]

MAX_THREAD_BYTES: Final = 1 << 17
"""Bytes of an object that is encoded in a thread of this process."""
_WAITING: Final = ThreadPool(2, "accp-a2a")
"""The threads that wait for processes, each for one of its own."""


async def encode_aside(
    event: AnyEvent, start: ChunkStart = WHOLE, *, never_larger: bool = True, views: bool = True
) -> AnyEvent:
    """Return the same as `encode`, of the event as it is now; a task that stays as it is, is a copy."""
    # A task object is changed in place while the task goes on.
    now = deepcopy(event) if isinstance(event, Task) else event
    return await _aside(now, Job(start=start, never_larger=never_larger, views=views))


async def decode_aside(event: AnyEvent, start: ChunkStart = WHOLE) -> AnyEvent:
    """Return the same as `decode`.

    Raises:
        ProtocolError: The codes of `decode`.
    """
    return await _aside(event, Job(decode=True, start=start)) if is_flagged(event) else event


async def _aside(event: AnyEvent, job: Job) -> AnyEvent:
    size = _size(event)
    if size <= MAX_THREAD_BYTES:
        return await off_loop(size, job.do, event)
    return await _WAITING.run(_in_process, event, job)


def _size(event: AnyEvent) -> int:
    """Return the bytes of what is encoded: not of files; where it is more than `LONG`, of the whole object."""
    size = 0
    for part, _ in located_parts(event):
        size += 2 + (part.ByteSize() if part.WhichOneof("content") in {"text", "data"} else 0)
        if size > LONG:
            return max(size, event.ByteSize())
    return size


def _in_process(event: AnyEvent, job: Job) -> AnyEvent:
    try:
        return child_process.run(job, event)
    except NoProcess:
        return job.do(event)
