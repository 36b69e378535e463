"""Streams that arrive: their chunks in order, and frames that were cut into chunks joined (ACCP section 10.4)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final, TypeAlias

from accp_core.accp.message import Message
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["FrameJoiner", "StreamBuffer", "StreamLimits", "Streams"]

_StreamId: TypeAlias = tuple[str, str | None]
"""Sender and correlation_id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamLimits:
    """How much of unfinished streams is kept; more is refused with E2003."""

    ahead: int = 256
    """Chunks of one stream that wait for an earlier one."""
    characters: int = 1 << 20
    """Characters of the waiting data of one stream."""
    streams: int = 64
    """Streams that arrive at the same time, and frames that are joined at the same time."""
    pieces: int = 10_000
    """Chunks of one frame."""


DEFAULT_LIMITS: Final = StreamLimits()


def refusal(reason: str, code: ErrorCode = ErrorCode.INVALID_TYPE) -> ProtocolError:
    """Return the exception that refuses a chunk."""
    return ProtocolError(reason, code=code)


class StreamBuffer:
    """The chunks of one stream, released in the order of their indices (Resequencer).

    A refused chunk changes nothing.
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
        """Whether the final chunk and all before it were released."""
        return self._total is not None and self._next >= self._total

    def missing(self) -> tuple[int, ...]:
        """Return the indices of the chunks for which others wait."""
        end = self._total if self._total is not None else max(self._waiting, default=self._next - 1) + 1
        candidates = range(self._next, min(end, self._next + self._limits.ahead))
        return tuple(index for index in candidates if index not in self._waiting)

    # "Consumers MUST buffer and reorder by `chunk_index` before processing." (section 10.4)
    def add(self, chunk: Message) -> tuple[Message, ...]:
        """Return the chunks whose turn it is now, which may be none.

        Raises:
            ProtocolError: E1004, the chunk has no index, is behind the end or has another total; E3002, its index was
                seen before; E2003, too much is waiting.
        """
        index, total = read_position(chunk)
        self._check(index, total, chunk)
        self._total = total if self._total is None else self._total
        self._waiting[index] = chunk
        self._characters += data_size(chunk)
        return self._take()

    # "The final chunk MUST set `is_final=true`." (section 10.4); the intent `end` closes a stream, too.
    def close(self) -> None:
        """End the stream: no chunk follows.

        Raises:
            ProtocolError: E3003, a chunk is missing; it may be sent again.
        """
        if self._waiting or not (self.complete or self._total is None):
            raise refusal(f"expected the chunks {self.missing()} before the end", ErrorCode.SEQUENCE_GAP)
        self._total = self._next

    def _check(self, index: int, total: int | None, chunk: Message) -> None:
        if index < self._next or index in self._waiting:
            raise refusal(f"chunk {index} was received before", ErrorCode.DUPLICATE)
        known = total if self._total is None else self._total
        if known is not None and (total not in (None, known) or max((index, *self._waiting)) >= known):
            raise refusal(f"expected a chunk of a stream of {known}, found chunk {index} of {total}")
        room = self._limits.characters - self._characters - data_size(chunk)
        if room < 0 or (index != self._next and len(self._waiting) >= self._limits.ahead):
            raise refusal("too many chunks wait for an earlier one", ErrorCode.BUDGET_EXCEEDED)

    def _take(self) -> tuple[Message, ...]:
        ready = []
        while self._next in self._waiting:
            ready.append(self._waiting.pop(self._next))
            self._characters -= data_size(ready[-1])
            self._next += 1
        return tuple(ready)


def read_position(chunk: Message) -> tuple[int, int | None]:
    """Return the index of a chunk and the number of chunks, None where the chunk does not name it."""
    index, total = chunk.payload.get("chunk_index"), chunk.payload.get("total_chunks")
    if type(index) is not int or index < 0 or not (total is None or type(total) is int):
        raise refusal("expected a chunk with an index from 0")
    if chunk.payload.get("is_final") is not True:
        return index, total
    if total not in (None, index + 1):
        raise refusal(f"expected {total} chunks, found chunk {index} marked as final")
    return index, index + 1


def data_size(chunk: Message) -> int:
    """Return about how many characters the data of a chunk has."""
    return len(str(chunk.payload.get("data", "")))


class FrameJoiner:
    """Joins frames that arrive in chunks; a stream is one sender's chunks with one correlation_id."""

    def __init__(self, limits: StreamLimits = DEFAULT_LIMITS) -> None:
        """Start without streams."""
        self._limits = limits
        self._streams: dict[_StreamId, tuple[StreamBuffer, list[Message]]] = {}
        self._characters: Counter[_StreamId] = Counter()

    def add(self, chunk: Message) -> tuple[Message, ...] | None:
        """Return all chunks of a frame in order, where `chunk` was the last one missing, else None.

        Raises:
            ProtocolError: E2003, too many frames arrive in chunks, or the frame is too long; or as `StreamBuffer.add`.
                The chunks of the frame are dropped then, except after a duplicate.
        """
        stream = chunk.sender, chunk.envelope.correlation_id
        if stream not in self._streams and len(self._streams) >= self._limits.streams:
            raise refusal(
                f"expected at most {self._limits.streams} frames in chunks, found another one",
                ErrorCode.BUDGET_EXCEEDED,
            )
        buffer, chunks = self._streams.setdefault(stream, (StreamBuffer(self._limits), []))
        try:
            chunks += buffer.add(chunk)
            self._check_length(stream, chunk, chunks)
        except ProtocolError as error:
            if error.code != ErrorCode.DUPLICATE:
                self.drop(*stream)
            raise
        if not buffer.complete:
            return None
        self.drop(*stream)
        return tuple(chunks)

    def drop(self, sender: str, correlation_id: str | None) -> None:
        """Drop a stream that was cancelled or cannot be completed."""
        self._streams.pop((sender, correlation_id), None)
        del self._characters[sender, correlation_id]

    def _check_length(self, stream: _StreamId, chunk: Message, chunks: list[Message]) -> None:
        self._characters[stream] += data_size(chunk)
        if self._characters[stream] > self._limits.characters or len(chunks) > self._limits.pieces:
            raise refusal(
                f"expected at most {self._limits.characters} characters in {self._limits.pieces} chunks of one frame",
                ErrorCode.BUDGET_EXCEEDED,
            )


class Streams:
    """The streams that arrive, each with its own buffer."""

    def __init__(self, limits: StreamLimits) -> None:
        """Start without streams."""
        self._limits = limits
        self._buffers: dict[str, StreamBuffer] = {}

    def __len__(self) -> int:
        return len(self._buffers)

    # "Consumers MUST buffer and reorder by "chunk_index" before processing." (section 10.4)
    def add(self, chain: str, chunk: Message) -> tuple[tuple[Message, ...], bool]:
        """Return the chunks whose turn it is, and whether the last one of the stream is among them.

        Raises:
            ProtocolError: E2003, too many streams; or as `StreamBuffer.add`.
        """
        if chain not in self._buffers and len(self._buffers) >= self._limits.streams:
            raise refusal(
                f"expected at most {self._limits.streams} streams, found another one", ErrorCode.BUDGET_EXCEEDED
            )
        buffer = self._buffers.get(chain) or StreamBuffer(self._limits)
        ready = buffer.add(chunk)
        self._buffers[chain] = buffer
        if buffer.complete:
            self.drop(chain)
        return ready, buffer.complete

    def close(self, chain: str) -> bool:
        """End a stream whose last chunk was not marked as final; return whether such a stream was arriving.

        Raises:
            ProtocolError: E3003, a chunk is missing.
        """
        if chain not in self._buffers:
            return False
        self._buffers[chain].close()
        self.drop(chain)
        return True

    def drop(self, chain: str) -> None:
        """Drop a stream, if it is known."""
        self._buffers.pop(chain, None)
