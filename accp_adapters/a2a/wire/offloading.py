"""Encoding and decoding for callers in an event loop: what takes long runs elsewhere.

An object of a few kilobytes is encoded in milliseconds, at once; a larger one in a thread; one of over a hundred
kilobytes in a process of its own (`worker`). The loop itself only takes down which parts the object has.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass
from functools import partial
from typing import Final

from a2a.types import Part, Task

from accp_adapters.a2a.wire.envelope_flag import Event, is_flagged
from accp_adapters.a2a.wire.events import AnyEvent, decode, encode
from accp_adapters.a2a.wire.part_locations import located_parts
from accp_adapters.a2a.wire.pieces import Piece, cut, join, take, value_size
from accp_adapters.a2a.wire.worker import NoWorker, ask
from accp_adapters.remote.threads import ThreadPool, in_thread
from accp_core.errors import ProtocolError

__all__ = ["MAX_LOOP_SIZE", "decode_aside", "encode_aside", "event_size", "is_small"]

MAX_LOOP_SIZE: Final = 4096
"""Characters and values in an object that is encoded in the event loop: 5 ms of work or less."""
MAX_THREAD_BYTES: Final = 1 << 17
"""Bytes of an object that is encoded in a thread of this process."""
_WAITING: Final = ThreadPool(2, "accp-a2a")
"""The threads that wait for processes, each for one of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """What is to be done with an event."""

    decode: bool = False
    never_larger: bool = True
    first_index: int = 0

    def do(self, event: AnyEvent) -> AnyEvent:
        if self.decode:
            return decode(event, self.first_index)
        return encode(event, self.first_index, never_larger=self.never_larger)


async def encode_aside(
    event: AnyEvent, first_index: int = 0, *, never_larger: bool = True, into: AnyEvent | None = None
) -> AnyEvent:
    """Return the same as `encode`, of the event as it is now; a task that stays as it is, is a copy.

    Args:
        event: As of `encode`; a task may change meanwhile.
        first_index: As of `encode`.
        never_larger: As of `encode`.
        into: An empty object, or a field of one, that becomes what is returned if that is not the event itself.
    """
    return await _aside(event, _Work(never_larger=never_larger, first_index=first_index), into)


async def decode_aside(event: AnyEvent, first_index: int = 0, *, into: AnyEvent | None = None) -> AnyEvent:
    """Return the same as `decode`; `into` as in `encode_aside`.

    Raises:
        ProtocolError: The codes of `decode`.
    """
    return await _aside(event, _Work(decode=True, first_index=first_index), into)


async def _aside(event: AnyEvent, work: _Work, into: AnyEvent | None) -> AnyEvent:
    if work.decode and not is_flagged(event):
        return event
    if is_small(event):
        # A task object is changed in place while the task goes on.
        now = deepcopy(event) if isinstance(event, Task) and not work.decode else event
        return _put(work.do(now), now, into)
    snapshot = take(event)
    pieces = await in_thread(lambda: list(cut(snapshot)))
    if sum(len(data) for _, _, data in pieces) <= MAX_THREAD_BYTES:
        return await in_thread(partial(_do_here, event, work, pieces, into))
    return await _WAITING.run(partial(_do_there, event, work, pieces, into))


def _do_here(event: AnyEvent, work: _Work, pieces: Sequence[Piece], into: AnyEvent | None) -> AnyEvent:
    """Return the result of the work in this process."""
    now = type(event)()
    join(pieces, now)
    made = work.do(now)
    return _put(made if made is not now or isinstance(event, Task) else event, event, into)


def _do_there(event: AnyEvent, work: _Work, pieces: Sequence[Piece], into: AnyEvent | None) -> AnyEvent:
    """Return the result of the work in a process of its own, where there can be one."""
    try:
        answer, made = ask({"kind": type(event).__name__, **asdict(work)}, pieces)
    except NoWorker:
        return _do_here(event, work, pieces, into)
    if "code" in answer:
        raise ProtocolError(answer["reason"], code=answer["code"])
    if not made and not isinstance(event, Task):
        return event
    target = type(event)() if into is None else into
    join(made or pieces, target)
    return target


def _put(made: AnyEvent, event: AnyEvent, into: AnyEvent | None) -> AnyEvent:
    """Return what was made of an event, in `into` where that is given."""
    if made is event or into is None:
        return made
    into.CopyFrom(made)  # type: ignore[arg-type]  # both are of the type of the event
    into.SetInParent()
    return into


def is_small(event: Event) -> bool:
    """Return whether the parts of `event` hold few characters and values; a large event is not looked at further."""
    return event_size(event, MAX_LOOP_SIZE) <= MAX_LOOP_SIZE


def event_size(event: Event, limit: int) -> int:
    """Return the characters and values in the parts of an event, or a number over `limit`."""
    size = 0
    for part, _ in located_parts(event):
        size += _part_size(part, limit - size)
        if size > limit:
            break
    return size


def _part_size(part: Part, limit: int) -> int:
    """Return the characters and values in a part, or a number over `limit`."""
    kind = part.WhichOneof("content")
    if kind == "data":
        return 1 + value_size(part.data, limit)
    # protobuf knows the bytes of a text; those of data it would have to write all.
    return 1 + (part.ByteSize() if kind == "text" else 0)
