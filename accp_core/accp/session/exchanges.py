"""The exchange of one request and its frames, the exchanges of a session, and streams (ACCP sections 3.7, 4.1, 10.4).

The draft has no table of states; this one is ours. A chain may start with an answer, as in the draft's own examples
(a stream whose request is not shown, section 10.4), because its request may have been sent by another way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final, TypeAlias

from accp_core.accp.frame import Intent, Message
from accp_core.bounded import BoundedDict
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = [
    "FINISHED", "TRANSITIONS", "UNMOVED", "Exchange", "ExchangeMove", "ExchangeState", "Exchanges", "FrameJoiner",
    "StreamBuffer", "StreamLimits", "Streams",
]  # fmt: skip


class ExchangeState(StrEnum):
    """The state of a request."""

    IDLE = "idle"
    """Unknown, or without any frame."""
    OPEN = "open"
    """The receiver works on it."""
    WAITING = "waiting"
    """The receiver waits for something itself, such as a person."""
    STREAMING = "streaming"
    """Its result arrives in chunks."""
    STREAMED = "streamed"
    """The last chunk was sent; a completion may follow, as with A2A tasks."""
    CLOSED = "closed"
    """Answered or aborted; only a retry opens it again."""


class ExchangeMove(StrEnum):
    """What moves an exchange and is not an intent."""

    FINAL_CHUNK = "final"
    """A `stream` frame whose `is_final` is true (section 10.4)."""


_ANSWERS: Final[Mapping[Intent | ExchangeMove, ExchangeState]] = {
    Intent.WAITING: ExchangeState.WAITING,
    Intent.ESCALATE: ExchangeState.OPEN,
    Intent.STREAM: ExchangeState.STREAMING,
    ExchangeMove.FINAL_CHUNK: ExchangeState.STREAMED,
    Intent.COMPLETE: ExchangeState.CLOSED,
    Intent.FAILURE: ExchangeState.CLOSED,
    Intent.CANCEL: ExchangeState.CLOSED,
}

# "Frames with retryable error codes MAY be retransmitted with the same "correlation_id"" (3.7, item 3): a request
# for a chain that is open, or closed by a failure, is a retry.
_REQUESTED: Final[Mapping[Intent | ExchangeMove, ExchangeState]] = {
    Intent.REQUEST: ExchangeState.OPEN,
    Intent.QUERY: ExchangeState.OPEN,
}

_TABLE: Final[Mapping[ExchangeState, Mapping[Intent | ExchangeMove, ExchangeState]]] = {
    ExchangeState.IDLE: {**_REQUESTED, **_ANSWERS, Intent.END_STREAM: ExchangeState.STREAMED},
    ExchangeState.OPEN: {**_REQUESTED, **_ANSWERS},
    ExchangeState.WAITING: {**_REQUESTED, **_ANSWERS},
    ExchangeState.STREAMING: {
        Intent.STREAM: ExchangeState.STREAMING,
        ExchangeMove.FINAL_CHUNK: ExchangeState.STREAMED,
        Intent.END_STREAM: ExchangeState.STREAMED,
        Intent.COMPLETE: ExchangeState.CLOSED,
        Intent.FAILURE: ExchangeState.CLOSED,
        Intent.CANCEL: ExchangeState.CLOSED,
    },
    ExchangeState.STREAMED: {
        **_REQUESTED,
        Intent.END_STREAM: ExchangeState.STREAMED,
        Intent.COMPLETE: ExchangeState.CLOSED,
        Intent.FAILURE: ExchangeState.CLOSED,
        Intent.CANCEL: ExchangeState.CLOSED,
    },
    ExchangeState.CLOSED: {**_REQUESTED, Intent.CANCEL: ExchangeState.CLOSED},
}

TRANSITIONS: Final[Mapping[tuple[ExchangeState, Intent | ExchangeMove], ExchangeState]] = MappingProxyType(
    {(state, move): after for state, moves in _TABLE.items() for move, after in moves.items()}
)
"""State and move to the next state; an absent pair is refused with E1002, and nothing changes."""

UNMOVED: Final = frozenset({Intent.ACKNOWLEDGE, Intent.SYNCHRONIZE, Intent.COMPRESS, Intent.PING, Intent.PONG})
"""Intents that belong to no exchange or do not change its state."""

FINISHED: Final = frozenset({ExchangeState.STREAMED, ExchangeState.CLOSED})
"""States in which no answer is awaited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request chain; its id is the correlation_id of its frames."""

    id: str
    """The correlation_id of the request, or its msg_id where it has none."""
    state: ExchangeState = ExchangeState.IDLE
    """Its state."""
    request_id: str | None = None
    """The msg_id of the request, which an error frame names; None where no request was seen."""
    parent: str | None = None
    """The chain that caused this one; cancelling it cancels this one."""
    cancelled: bool = False
    """Whether a `cancel` closed it; nothing of it may be processed any more."""

    @property
    def is_live(self) -> bool:
        """Whether an answer is awaited."""
        return self.state not in FINISHED and self.state is not ExchangeState.IDLE

    def moved(self, move: Intent | ExchangeMove) -> Exchange:
        """Return the exchange after `move`.

        Raises:
            ProtocolError: E1002, the move is not allowed in this state.
        """
        after = TRANSITIONS.get((self.state, move))
        if after is None:
            reason = f"expected an intent that is allowed in state {self.state.value!r}, found {move.value!r}"
            raise ProtocolError(reason, code=ErrorCode.INVALID_INTENT)
        return Exchange(
            id=self.id, state=after, request_id=self.request_id, parent=self.parent, cancelled=move is Intent.CANCEL
        )


class Exchanges:
    """The exchanges of a session: at most `limit` live ones, and as many finished and as many cancelled ones.

    The finished ones without a frame for the longest time are forgotten first. Once a cancelled one was forgotten,
    answers to unknown chains count as cancelled: no chain may go on after its cancel because it was forgotten.
    """

    def __init__(self, limit: int) -> None:
        """Start without exchanges."""
        self._limit = limit
        self._live: dict[str, Exchange] = {}
        self._finished: BoundedDict[str, Exchange] = BoundedDict(limit)
        self._cancelled: BoundedDict[str, Exchange] = BoundedDict(limit)
        self._names: BoundedDict[str, str] = BoundedDict(limit)
        self._forgot_cancelled = False

    def __len__(self) -> int:
        """Return the number of exchanges and names that are kept."""
        return len(self._live) + len(self._finished) + len(self._cancelled) + len(self._names)

    def find(self, name: str) -> str:
        """Return the chain whose request has the msg_id `name`; else `name`, which is the chain's id."""
        return self._names.get(name, name)

    def get(self, chain: str) -> Exchange:
        """Return the exchange with id `chain`, an idle one where it is unknown."""
        return self._known(chain) or Exchange(id=chain)

    def _known(self, chain: str) -> Exchange | None:
        return self._live.get(chain) or self._finished.get(chain) or self._cancelled.get(chain)

    def is_stopped(self, chain: str, intent: Intent) -> bool:
        """Return whether a frame of `chain` must not be processed any more, because of a `cancel`."""
        exchange = self._known(chain)
        if exchange is None or exchange.state == ExchangeState.IDLE:
            return self._forgot_cancelled and intent not in _REQUESTED and intent not in UNMOVED
        return exchange.cancelled

    def check(self, exchange: Exchange) -> bool:
        """Return whether `exchange` is live, if there is room for it.

        Raises:
            ProtocolError: E2003, too many requests are open.
        """
        is_live = not exchange.cancelled and exchange.state not in FINISHED
        if is_live and exchange.id not in self._live and len(self._live) >= self._limit:
            reason = f"expected at most {self._limit} open requests, found another one"
            raise ProtocolError(reason, code=ErrorCode.BUDGET_EXCEEDED)
        return is_live

    def put(self, exchange: Exchange) -> None:
        """Keep `exchange` in its new state.

        Raises:
            ProtocolError: E2003, too many requests are open; nothing has changed.
        """
        is_live = self.check(exchange)
        for known in (self._live, self._finished, self._cancelled):
            known.pop(exchange.id, None)
        if exchange.request_id not in (None, exchange.id):
            self._names.put(str(exchange.request_id), exchange.id)
        if is_live:
            self._live[exchange.id] = exchange
        elif exchange.cancelled:
            self._forgot_cancelled |= self._cancelled.put(exchange.id, exchange) is not None
        else:
            self._finished.put(exchange.id, exchange)

    # "A "cancel" intent frame referencing a "correlation_id" MUST stop all processing for that request chain."
    def cancel(self, chain: str) -> list[str]:
        """Cancel a chain and every live chain that it caused, directly or not; return their ids."""
        stopped = {chain}
        known = [*self._live.values(), *self._finished.values()]
        while caused := {exchange.id for exchange in known if exchange.parent in stopped} - stopped:
            stopped |= caused
        live = [each for each in self._live if each in stopped]
        cancelled = list(dict.fromkeys([chain, *live]))
        for each in cancelled:
            self.put(self.get(each).moved(Intent.CANCEL))
        return cancelled


# Streams that arrive: their chunks in order, and frames that were cut into chunks joined (ACCP section 10.4).

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
