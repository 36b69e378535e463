"""Encoding and decoding for callers in an event loop: what takes long runs in a thread.

An object of a few kilobytes is encoded in milliseconds, at once; a larger one in a thread.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

from a2a.types import Part
from google.protobuf.struct_pb2 import Value

from accp_adapters.a2a.wire.envelope_flag import Event
from accp_adapters.a2a.wire.events import AnyEvent, decode, encode
from accp_adapters.a2a.wire.part_locations import located_parts
from accp_adapters.remote.threads import in_thread

__all__ = ["decode_aside", "encode_aside", "run_aside"]

MAX_LOOP_SIZE: Final = 4096
"""Characters and values in an object that is encoded in the event loop: 5 ms of work or less."""

Result = TypeVar("Result")


async def encode_aside(event: AnyEvent, first_index: int = 0, *, never_larger: bool = True) -> AnyEvent:
    """Return the same as `encode`, of the event as it is now."""
    return await run_aside(partial(encode, never_larger=never_larger), event, first_index)


async def decode_aside(event: AnyEvent, first_index: int = 0) -> AnyEvent:
    """Return the same as `decode`.

    Raises:
        ProtocolError: The codes of `decode`.
    """
    return await run_aside(decode, event, first_index)


async def run_aside(work: Callable[[AnyEvent, int], Result], event: AnyEvent, first_index: int) -> Result:
    """Return `work(event, first_index)`, done in a thread where the event is large.

    The event must not change meanwhile: the caller gives a copy of a task that goes on.
    """
    if is_small(event):
        return work(event, first_index)
    return await in_thread(partial(work, event, first_index))


def is_small(event: Event) -> bool:
    """Return whether the parts of `event` hold few characters and values; a large event is not looked at further."""
    # Not its size in bytes: protobuf would serialize all of it to tell.
    left = MAX_LOOP_SIZE
    for part, _ in located_parts(event):
        left -= _part_size(part, left)
        if left < 0:
            return False
    return True


def _part_size(part: Part, limit: int) -> int:
    """Return the characters and values in a part, or a number over `limit`."""
    kind = part.WhichOneof("content")
    return 1 + (len(part.text) if kind == "text" else _value_size(part.data, limit) if kind == "data" else 0)


def _value_size(value: Value, limit: int) -> int:
    """Return the characters and values in a value, or a number over `limit`."""
    size, waiting = 0, [value]
    while waiting and size <= limit:
        found = waiting.pop()
        kind = found.WhichOneof("kind")
        size += 1 + (len(found.string_value) if kind == "string_value" else 0)
        if kind == "struct_value":
            fields = found.struct_value.fields
            size += len(fields)
            if size <= limit:
                size += sum(map(len, fields))
                waiting.extend(fields.values())
        elif kind == "list_value":
            size += len(found.list_value.values)
            if size <= limit:
                waiting.extend(found.list_value.values)
    return size
