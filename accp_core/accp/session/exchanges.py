"""The exchange of one request and its correlated frames, and the exchanges of a session (ACCP sections 3.7 and 4.1).

The draft has no table of states; this one is ours. A chain may start with an answer, as in the draft's own examples
(a stream whose request is not shown, section 10.4), because its request may have been sent by another way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from accp_core.accp.vocabulary import Intent
from accp_core.bounded import BoundedDict
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["FINISHED", "TRANSITIONS", "UNMOVED", "Exchange", "ExchangeMove", "ExchangeState", "Exchanges"]


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
            id=self.id,
            state=after,
            request_id=self.request_id,
            parent=self.parent,
            cancelled=move is Intent.CANCEL,
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
