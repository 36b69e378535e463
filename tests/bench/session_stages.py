"""Where the processor time of a session goes, stage by stage: the stages of one run add up to all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from time import process_time_ns
from typing import Any, Final, ParamSpec, TypeVar
from unittest.mock import patch

from accp_core.accp.codec import Codec
from accp_core.accp.session.chains import RequestChains
from accp_core.accp.session.context_tracker import ContextTracker
from accp_core.accp.session.delivery import Inbox, Outbox
from accp_core.accp.session.exchanges import Exchanges
from accp_core.accp.session.parts import SessionParts
from accp_core.accp.session.resumption import Resumption
from accp_core.accp.session.session import Session

__all__ = ["CALLER", "COUNTING", "StageClock", "timed"]

P = ParamSpec("P")
T = TypeVar("T")

CALLER: Final = "the caller: messages in and out"
COUNTING: Final = "count tokens"
STAGES: Final[Mapping[str, tuple[tuple[type, str], ...]]] = {
    "parse the text": ((Codec, "read"),),
    "decode: schema, keys, references": ((Codec, "decode"),),
    "encode: schema, keys, limits": ((Codec, "encode"),),
    "serialize": ((Codec, "write_parts"), (Codec, "complete")),
    "ids, order, window": (
        (Inbox, "admit"),
        (Inbox, "expected"),
        (Outbox, "add"),
        (Outbox, "is_half_full"),
        (Resumption, "read"),
    ),
    "request chains": (
        (RequestChains, "chain_of"),
        (RequestChains, "next_exchange"),
        (RequestChains, "update"),
        (Exchanges, "is_stopped"),
    ),
    "hot state": ((SessionParts, "remember"),),
    "checkpoints": ((ContextTracker, "checkpoint"),),
    "session: checks, effects, events": (
        (Session, "send"),
        (Session, "receive"),
        (Session, "texts_to_store"),
    ),
}
"""Stage to the methods that it consists of, without the stages that they call in turn."""


class StageClock:
    """Adds the time between two changes of the stage to the stage before; so no time is lost or counted twice."""

    def __init__(self) -> None:
        """Start in the stage of the caller."""
        self.spent = dict.fromkeys([CALLER, *STAGES, COUNTING], 0)
        """Stage to nanoseconds."""
        self._stage, self._since = CALLER, process_time_ns()

    def reset(self) -> None:
        """Forget what was measured so far."""
        self.spent = dict.fromkeys(self.spent, 0)

    def enter(self, stage: str) -> str:
        """Begin a stage; return the one before."""
        now, before = process_time_ns(), self._stage
        self.spent[before] += now - self._since
        self._stage, self._since = stage, process_time_ns()
        return before

    def measured(self, stage: str, step: Callable[P, T]) -> Callable[P, T]:
        """Return `step`, whose time counts to `stage`."""

        @wraps(step)
        def measured_step(*args: P.args, **kwargs: P.kwargs) -> T:
            before = self.enter(stage)
            try:
                return step(*args, **kwargs)
            finally:
                self.enter(before)

        return measured_step


@contextmanager
def timed() -> Iterator[StageClock]:
    """Measure the stages of all sessions meanwhile."""
    clock = StageClock()
    steps: list[Any] = [
        patch.object(owner, name, clock.measured(stage, getattr(owner, name)))
        for stage, methods in STAGES.items()
        for owner, name in methods
    ]
    for step in steps:
        step.start()
    try:
        yield clock
    finally:
        clock.enter(CALLER)
        for step in steps:
            step.stop()
