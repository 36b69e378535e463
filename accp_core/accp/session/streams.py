"""Streams that are arriving: their chunks in order again, frames that came in chunks joined (ACCP section 10.4)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final, TypeAlias

from accp_core.accp.message import Message
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["FrameJoiner", "StreamBuffer", "StreamLimits", "Streams"]

_Stream: TypeAlias = tuple[str, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamLimits:
    """How much of unfinished streams is kept; more is refused with E2003."""

    ahead: int = 256
    """Chunks of one stream that wait for an earlier one."""
    characters: int = 1 << 20
    """Characters of the data that wait in one stream."""
    streams: int = 64
    """Frames that are being joined at one time."""
    pieces: int = 10_000
    """Chunks of one frame."""


DEFAULT_LIMITS: Final = StreamLimits()


def refusal(reason: str, code: ErrorCode = ErrorCode.INVALID_TYPE) -> ProtocolError:
    """Return the exception that refuses a chunk."""
    return ProtocolError(reason, code=code)


class StreamBuffer:
    """The chunks of one stream, given out in the order of their indices (Resequencer).

    A refused chunk leaves everything as it was.
    """

    def __init__(self, limits: StreamLimits = DEFAULT_LIMITS) -> None:
        """Wait for the chunk with index 0."""
        self._limits = limits
        self._waiting: dict[int, Message] = {}
        self._characters = 0
        self._next = 0
        self._total: int | None = None

    @property
    def complete(self) -> bool:
        """Whether the final chunk and all before it were given out."""
        return self._total is not None and self._next >= self._total

    def missing(self) -> tuple[int, ...]:
        """Return the indices that others wait for."""
        end = self._total if self._total is not None else max(self._waiting, default=self._next - 1) + 1
        first = range(self._next, min(end, self._next + self._limits.ahead))
        return tuple(index for index in first if index not in self._waiting)

    # "Consumers MUST buffer and reorder by `chunk_index` before processing." (section 10.4)
    def add(self, chunk: Message) -> tuple[Message, ...]:
        """Return the chunks whose turn it is now, perhaps none.

        Raises: ProtocolError: E1004 for a chunk without index, behind the end or of another total, E3002 for
            an index seen before, E2003 when too much waits.
        """
        index, total = read_place(chunk)
        self._check(index, total, chunk)
        self._total = total if self._total is None else self._total
        self._waiting[index] = chunk
        self._characters += size(chunk)
        return self._take()

    # "The final chunk MUST set `is_final=true`." (section 10.4); the intent `end` closes a stream, too.
    def close(self) -> None:
        """Take note that no chunk follows.

        Raises: ProtocolError E3003 when one is missing; it may be sent again.
        """
        if self._waiting or not (self.complete or self._total is None):
            raise refusal(f"chunks {self.missing()} are missing", ErrorCode.SEQUENCE_GAP)
        self._total = self._next

    def _check(self, index: int, total: int | None, chunk: Message) -> None:
        if index < self._next or index in self._waiting:
            raise refusal(f"chunk {index} came before", ErrorCode.DUPLICATE)
        known = total if self._total is None else self._total
        if known is not None and (total not in (None, known) or max((index, *self._waiting)) >= known):
            raise refusal(f"chunk {index} is not of a stream of {known}")
        room = self._limits.characters - self._characters - size(chunk)
        if room < 0 or (index != self._next and len(self._waiting) >= self._limits.ahead):
            raise refusal("too many chunks wait for an earlier one", ErrorCode.BUDGET_EXCEEDED)

    def _take(self) -> tuple[Message, ...]:
        ready = []
        while self._next in self._waiting:
            ready.append(self._waiting.pop(self._next))
            self._characters -= size(ready[-1])
            self._next += 1
        return tuple(ready)


def read_place(chunk: Message) -> tuple[int, int | None]:
    """Return the index of a chunk and the number of chunks, None where the chunk does not tell."""
    index, total = chunk.payload.get("chunk_index"), chunk.payload.get("total_chunks")
    if type(index) is not int or index < 0 or not (total is None or type(total) is int):
        raise refusal("a chunk has an index from 0")
    if chunk.payload.get("is_final") is not True:
        return index, total
    if total not in (None, index + 1):
        raise refusal(f"chunk {index} is final, of {total}")
    return index, index + 1


def size(chunk: Message) -> int:
    """Return about how many characters the data of a chunk has."""
    return len(str(chunk.payload.get("data", "")))


class FrameJoiner:
    """The pieces of all frames that are on their way; a stream is one sender's chunks of one correlation_id."""

    def __init__(self, limits: StreamLimits = DEFAULT_LIMITS) -> None:
        """Begin with no stream."""
        self._limits = limits
        self._streams: dict[_Stream, tuple[StreamBuffer, list[Message]]] = {}
        self._characters: Counter[_Stream] = Counter()

    def add(self, piece: Message) -> tuple[Message, ...] | None:
        """Return all pieces in their order when `piece` was the last one missing, else None.

        Raises: ProtocolError as `StreamBuffer.add`, E2003 also for a stream too many or a frame too long;
            then the pieces of that frame are forgotten.
        """
        stream = piece.sender, piece.envelope.correlation_id
        if stream not in self._streams and len(self._streams) >= self._limits.streams:
            raise refusal("too many frames are being joined", ErrorCode.BUDGET_EXCEEDED)
        buffer, pieces = self._streams.setdefault(stream, (StreamBuffer(self._limits), []))
        try:
            pieces += buffer.add(piece)
            self._check_length(stream, piece, pieces)
        except ProtocolError as error:
            # A piece that came twice harms nothing.
            if error.code != ErrorCode.DUPLICATE:
                self.drop(*stream)
            raise
        if not buffer.complete:
            return None
        self.drop(*stream)
        return tuple(pieces)

    def drop(self, sender: str, correlation_id: str | None) -> None:
        """Forget a stream that was cancelled or will never be finished."""
        self._streams.pop((sender, correlation_id), None)
        del self._characters[sender, correlation_id]

    def _check_length(self, stream: _Stream, piece: Message, pieces: list[Message]) -> None:
        self._characters[stream] += size(piece)
        if self._characters[stream] > self._limits.characters or len(pieces) > self._limits.pieces:
            raise refusal("the frame is too long", ErrorCode.BUDGET_EXCEEDED)


class Streams:
    """The streams that are arriving, each with its own buffer."""

    def __init__(self, limits: StreamLimits) -> None:
        """Begin with no stream."""
        self._limits = limits
        self._buffers: dict[str, StreamBuffer] = {}

    def __len__(self) -> int:
        return len(self._buffers)

    # "Consumers MUST buffer and reorder by "chunk_index" before processing." (section 10.4)
    def add(self, chain: str, chunk: Message) -> tuple[tuple[Message, ...], bool]:
        """Return the chunks whose turn it is, and whether the last one of the stream is among them.

        Raises: ProtocolError as `StreamBuffer.add`; E2003 also for a stream too many.
        """
        if chain not in self._buffers and len(self._buffers) >= self._limits.streams:
            raise ProtocolError(f"at most {self._limits.streams} streams", code=ErrorCode.BUDGET_EXCEEDED)
        buffer = self._buffers.get(chain) or StreamBuffer(self._limits)
        ready = buffer.add(chunk)
        self._buffers[chain] = buffer
        if buffer.complete:
            self.drop(chain)
        return ready, buffer.complete

    def close(self, chain: str) -> bool:
        """End a stream whose last chunk did not say so; return whether it was one that was arriving.

        Raises: ProtocolError E3003 when a chunk is missing.
        """
        if chain not in self._buffers:
            return False
        self._buffers[chain].close()
        self.drop(chain)
        return True

    def drop(self, chain: str) -> None:
        """Forget a stream."""
        self._buffers.pop(chain, None)
