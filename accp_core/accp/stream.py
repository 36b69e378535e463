"""One stream in many frames: chunks in order again, a big frame cut into chunks (ACCP sections 3.4 and 10.4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from accp_core.accp.frame import Frame, Value
from accp_core.accp.keys import SCHEMA_KEY, KeyTable
from accp_core.accp.message import Message
from accp_core.accp.vocabulary import Intent
from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError, ProtocolError

__all__ = ["FRAME_OPERATION", "FrameJoiner", "StreamBuffer", "StreamLimits", "chunk_frame", "cut", "is_piece", "swap"]

FRAME_OPERATION: Final = "frame"
"""The operation of chunks whose data are the pieces of the swapped text of a frame that was too big for one."""

_DELIMITERS: Final = "@>:{}[]|$,~\\"
_STAND_INS: Final = "&<=()!?^#;`'"
_SWAPPED: Final = str.maketrans(_DELIMITERS + _STAND_INS, _STAND_INS + _DELIMITERS)


def swap(text: str) -> str:
    """Return `text` with each delimiter and its stand-in exchanged; doing it twice changes nothing.

    A frame is full of delimiters, and in the data of a chunk each would need a backslash: a quarter more tokens
    instead of a twentieth.
    """
    return text.translate(_SWAPPED)


_Stream: TypeAlias = tuple[str, str | None]


def is_piece(message: Message) -> bool:
    """Return whether `message` is a piece of a frame that was cut, and not of a stream of its sender's own."""
    return message.schema == "ST" and message.intent is Intent.STREAM and message.operation == FRAME_OPERATION


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


def chunk_frame(frame: Frame, keys: KeyTable, piece: str, index: int, total: int) -> Frame:
    """Return one chunk of `frame`."""
    payload: dict[str, Value] = {"chunk_index": index, "total_chunks": total, "data": piece}
    if index + 1 == total:
        payload["is_final"] = True
    params = {keys.to_wire(key): value for key, value in payload.items()}
    return replace(frame, intent=Intent.STREAM, operation=FRAME_OPERATION, params={**params, SCHEMA_KEY: "ST"})


def cut(text: str, fits: Callable[[str], bool], guess: int) -> list[str]:
    """Return `text` in pieces that fit, each nearly as long as can be; `guess` is about their length.

    Raises: EncodeError E2003 when not even one character fits.
    """
    pieces, position = [], 0
    while position < len(text):
        guess = longest(text, position, guess, fits)
        pieces.append(text[position : position + guess])
        position += guess
    return pieces


def longest(text: str, position: int, guess: int, fits: Callable[[str], bool]) -> int:
    """Return how many characters from `position` on fit; up to one in 32 less, because asking is dear."""
    rest = len(text) - position
    low, high, length = 0, rest, min(guess, rest)
    while high - low > low // 32:
        if fits(text[position : position + length]):
            low = length
        else:
            high = length - 1
        length = min(high, low * 5 // 4 + 1) if high == rest else (low + high + 1) // 2
    if low == 0:
        raise EncodeError("the frame cannot be cut small enough", code=ErrorCode.BUDGET_EXCEEDED)
    return low
