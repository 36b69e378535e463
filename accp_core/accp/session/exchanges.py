"""One request and every frame correlated with it, and the chains that a session knows (ACCP sections 3.7 and 4.1).

The draft has no table of states; this one is ours. It lets a chain begin with an answer, as the draft's own examples
do (a stream whose request is not shown, section 10.4), because its request may have gone another way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from accp_core.accp.vocabulary import Intent
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["FINISHED", "TRANSITIONS", "UNMOVED", "Exchange", "ExchangeState", "Exchanges", "Move"]


class ExchangeState(StrEnum):
    """Where a request stands."""

    IDLE = "idle"
    """Nothing was heard of it."""
    OPEN = "open"
    """Somebody works on it."""
    WAITING = "waiting"
    """Whoever works on it awaits something from outside."""
    STREAMING = "streaming"
    """Its result arrives in chunks."""
    STREAMED = "streamed"
    """The last chunk was sent; a completion may still say so, as A2A tasks do."""
    CLOSED = "closed"
    """It is answered or aborted; only a retry opens it again."""


class Move(StrEnum):
    """What moves an exchange and is no intent."""

    FINAL_CHUNK = "final"
    """A `stream` frame whose `is_final` is true (section 10.4)."""


_ANSWERS: Final[Mapping[Intent | Move, ExchangeState]] = {
    Intent.WAITING: ExchangeState.WAITING,
    Intent.ESCALATE: ExchangeState.OPEN,
    Intent.STREAM: ExchangeState.STREAMING,
    Move.FINAL_CHUNK: ExchangeState.STREAMED,
    Intent.COMPLETE: ExchangeState.CLOSED,
    Intent.FAILURE: ExchangeState.CLOSED,
    Intent.CANCEL: ExchangeState.CLOSED,
}

# "Frames with retryable error codes MAY be retransmitted with the same "correlation_id"" (3.7, item 3): a request
# for a chain that is open, or closed by a failure, asks again.
_ASKED: Final[Mapping[Intent | Move, ExchangeState]] = {
    Intent.REQUEST: ExchangeState.OPEN,
    Intent.QUERY: ExchangeState.OPEN,
}

_TABLE: Final[Mapping[ExchangeState, Mapping[Intent | Move, ExchangeState]]] = {
    ExchangeState.IDLE: {**_ASKED, **_ANSWERS, Intent.END_STREAM: ExchangeState.STREAMED},
    ExchangeState.OPEN: {**_ASKED, **_ANSWERS},
    ExchangeState.WAITING: {**_ASKED, **_ANSWERS},
    ExchangeState.STREAMING: {
        Intent.STREAM: ExchangeState.STREAMING,
        Move.FINAL_CHUNK: ExchangeState.STREAMED,
        Intent.END_STREAM: ExchangeState.STREAMED,
        Intent.COMPLETE: ExchangeState.CLOSED,
        Intent.FAILURE: ExchangeState.CLOSED,
        Intent.CANCEL: ExchangeState.CLOSED,
    },
    ExchangeState.STREAMED: {
        **_ASKED,
        Intent.END_STREAM: ExchangeState.STREAMED,
        Intent.COMPLETE: ExchangeState.CLOSED,
        Intent.FAILURE: ExchangeState.CLOSED,
        Intent.CANCEL: ExchangeState.CLOSED,
    },
    ExchangeState.CLOSED: {**_ASKED, Intent.CANCEL: ExchangeState.CLOSED},
}

TRANSITIONS: Final[Mapping[tuple[ExchangeState, Intent | Move], ExchangeState]] = MappingProxyType(
    {(state, move): after for state, moves in _TABLE.items() for move, after in moves.items()}
)
"""State and what happens to the state after; an absent pair is refused with E1002, and nothing changes."""

UNMOVED: Final = frozenset({Intent.ACKNOWLEDGE, Intent.SYNCHRONIZE, Intent.COMPRESS, Intent.PING, Intent.PONG})
"""Intents that belong to no exchange, or leave theirs as it is."""

FINISHED: Final = frozenset({ExchangeState.STREAMED, ExchangeState.CLOSED})
"""States in which nobody waits for an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request chain; its id is what its frames have as correlation_id."""

    id: str
    """The correlation_id of the request, or its msg_id where it has none."""
    state: ExchangeState = ExchangeState.IDLE
    """Where it stands."""
    request_id: str | None = None
    """The msg_id of the request, by which an error frame names what it refuses; None when nobody saw one."""
    parent: str | None = None
    """The chain that caused this one: cancelling that cancels this."""
    cancelled: bool = False
    """Whether a `cancel` closed it: "MUST stop all processing for that request chain"."""

    @property
    def is_live(self) -> bool:
        """Whether somebody works on it."""
        return self.state not in FINISHED and self.state is not ExchangeState.IDLE

    def moved(self, move: Intent | Move) -> Exchange:
        """Return the exchange after that.

        Raises: ProtocolError E1002 when it is not allowed now.
        """
        after = TRANSITIONS.get((self.state, move))
        if after is None:
            raise ProtocolError(f"{move} is no answer to what is {self.state}", code=ErrorCode.INVALID_INTENT)
        return replace(self, state=after, cancelled=move == Intent.CANCEL)


class Exchanges:
    """The chains of a session, as many as `limit`; the finished ones that nothing happened to longest go first.

    A chain that was cancelled stays known longest of all. When even such a one had to go, answers to unknown
    chains count as cancelled: nothing comes back after its cancel because it was forgotten.
    """

    def __init__(self, limit: int) -> None:
        """Know no chain."""
        self._limit = limit
        self._live: dict[str, Exchange] = {}
        self._finished: dict[str, Exchange] = {}
        self._cancelled: dict[str, Exchange] = {}
        self._names: dict[str, str] = {}
        self._forgot_cancelled = False

    def __len__(self) -> int:
        """Return how many chains and names are kept."""
        return len(self._live) + len(self._finished) + len(self._cancelled) + len(self._names)

    def find(self, name: str) -> str:
        """Return the chain that is called `name`, or whose request has that msg_id; else `name`."""
        return self._names.get(name, name)

    def get(self, chain: str) -> Exchange:
        """Return the exchange of that id, an idle one when it is not known."""
        for known in (self._live, self._finished, self._cancelled):
            if chain in known:
                return known[chain]
        return Exchange(id=chain)

    def is_stopped(self, chain: str, intent: Intent) -> bool:
        """Return whether a frame of that chain must not be processed any more, because a `cancel` came before it."""
        exchange = self.get(chain)
        if exchange.state == ExchangeState.IDLE and self._forgot_cancelled:
            return intent not in _ASKED and intent not in UNMOVED
        return exchange.cancelled

    def check(self, exchange: Exchange) -> bool:
        """Return whether somebody works on an exchange that is to be kept.

        Raises: ProtocolError E2003 when too many requests are open.
        """
        live = not exchange.cancelled and exchange.state not in FINISHED
        if live and exchange.id not in self._live and len(self._live) >= self._limit:
            raise ProtocolError(f"at most {self._limit} requests are open at once", code=ErrorCode.BUDGET_EXCEEDED)
        return live

    def put(self, exchange: Exchange) -> None:
        """Keep an exchange as it now is.

        Raises: ProtocolError E2003 when too many requests are open; then nothing changed.
        """
        live = self.check(exchange)
        for known in (self._live, self._finished, self._cancelled):
            known.pop(exchange.id, None)
        if exchange.request_id not in (None, exchange.id):
            self._names[str(exchange.request_id)] = exchange.id
            _drop_oldest(self._names, self._limit)
        if live:
            self._live[exchange.id] = exchange
        elif exchange.cancelled:
            self._cancelled[exchange.id] = exchange
            self._forgot_cancelled |= _drop_oldest(self._cancelled, self._limit)
        else:
            self._finished[exchange.id] = exchange
            _drop_oldest(self._finished, self._limit)

    # "A "cancel" intent frame referencing a "correlation_id" MUST stop all processing for that request chain."
    def cancel(self, chain: str) -> list[str]:
        """Close the chain and all that it caused; return its id and those of what somebody still worked on."""
        stopped = {chain}
        known = [*self._live.values(), *self._finished.values()]
        while caused := {each.id for each in known if each.parent in stopped} - stopped:
            stopped |= caused
        live = [each for each in self._live if each in stopped]
        stopped_now = list(dict.fromkeys([chain, *live]))
        for each in stopped_now:
            self.put(self.get(each).moved(Intent.CANCEL))
        return stopped_now


def _drop_oldest(known: dict[str, Any], limit: int) -> bool:
    """Drop what was put first where there are more than `limit`; return whether one went."""
    if len(known) <= limit:
        return False
    known.pop(next(iter(known)))
    return True
