"""Encoding and decoding for callers in an event loop: a long object goes to a thread."""

from __future__ import annotations

from copy import deepcopy
from functools import partial

from a2a.types import Task

from accp_adapters.a2a.wire.envelope_flag import is_flagged
from accp_adapters.a2a.wire.events import AnyEvent, decode, encode
from accp_adapters.a2a.wire.part_locations import located_parts
from accp_adapters.a2a.wire.parts import WHOLE, ChunkStart
from accp_adapters.serving.off_loop import LONG, off_loop

__all__ = ["decode_aside", "encode_aside"]


async def encode_aside(
    event: AnyEvent, start: ChunkStart = WHOLE, *, never_larger: bool = True, views: bool = True
) -> AnyEvent:
    """Return the same as `encode`, of the event as it is now; a task that stays as it is, is a copy."""
    # A task object is changed in place while the task goes on.
    now = deepcopy(event) if isinstance(event, Task) else event
    return await off_loop(_size(now), partial(encode, now, start, never_larger=never_larger, views=views))


async def decode_aside(event: AnyEvent, start: ChunkStart = WHOLE) -> AnyEvent:
    """Return the same as `decode`.

    Raises:
        ProtocolError: The codes of `decode`.
    """
    return await off_loop(_size(event), decode, event, start) if is_flagged(event) else event


def _size(event: AnyEvent) -> int:
    """Return the bytes of what is encoded: not of files; where it is more than `LONG`, of the whole object."""
    size = 0
    for part, _ in located_parts(event):
        size += 2 + (part.ByteSize() if part.WhichOneof("content") in {"text", "data"} else 0)
        if size > LONG:
            return max(size, event.ByteSize())
    return size
