"""Turns of the event loop for the callers of a server.

Nobody knows what a request takes of the loop before it has taken it. So the requests of a caller begin one after the
other: while others ask, it rests after each step for its share, and far longer after an expensive one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from types import coroutine
from typing import Any, Final, TypeVar, cast

from accp_core.bounded import BoundedDict

__all__ = ["Line", "Turns", "timed"]

T = TypeVar("T")
_REST, _SHORT_REST, _SMALL_REST = 9, 30, 2
"""The rest of a caller for each other one, in multiples of the processor time of a step: of a large request, of one so
short that others would otherwise meet too many, and of a small one, if its caller has several connections."""
_LONGEST: Final = 2.0
"""Seconds of the rest after a short step at most, unless nine times its own are more."""
_LONG_STEP: Final = 0.05
"""Seconds from which on a step of any request counts as one of a large request, if it is not the first for a while: in
one alone, the memory of others may have been collected."""
_PRESENT: Final = 1.0
"""Seconds after a small request, from another caller, in which requests wait."""
_UNSEEN: Final = 0.003
"""Seconds that count at most for what a request takes outside of its own steps, in other tasks."""


@dataclass(eq=False, slots=True)
class Line:
    """The large requests of a caller, or its others."""

    caller: str
    is_large: bool
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    client: object = None
    """The connection of the last request."""
    has_many: bool = False
    """Whether that came on another one than the request before."""
    warned: float = 0.0
    """Until when the next long step counts."""
    alone: float = 0.0
    """The end of its rest."""
    beside: float = 0.0
    """The later end while small requests of others keep coming."""


class Turns:
    """Lets the requests of each caller begin one after the other.

    What is expensive takes a tenth of the event loop while others ask, and half of it while nobody does. The other
    requests of a caller with several connections have an equal share of it while others ask.
    """

    def __init__(self) -> None:
        """Begin without any caller."""
        self._lines: Final = BoundedDict[tuple[str, bool], Line](1_000)
        """Of the callers that asked last."""
        self._small: Final = BoundedDict[str, float](2)
        """When the last two callers with small requests sent one, on a clock that stands while the loop is held."""
        self._waiting: Final = set[str]()
        """The callers that wait for the end of their rest."""
        self._dear = 0.0
        """Until when no large request of any caller begins while others ask."""
        self._held, self._alive = 0.0, time.monotonic()
        """Seconds for which expensive requests held the loop, when nobody could ask; and when the last step ended."""
        self._spent, self._each = 0.0, 2 * _UNSEEN
        """The processor time of the loop when the last request began, and its mean from one to the next."""

    def line(self, caller: str, client: object, *, is_large: bool = False) -> Line:
        """Return the line of a request of `caller` that has come on the connection `client`."""
        line = self._lines.get((caller, is_large)) or Line(caller, is_large)
        line.has_many, line.client = line.client != client, client
        self._lines.put((caller, is_large), line)
        if not is_large:
            self._small.put(caller, time.monotonic() - self._held)
        return line

    async def begin(self, line: Line, left: Callable[[], Awaitable[object]] = asyncio.Future) -> bool:
        """Return True when a request has its turn, False where `left` returns before: its client has left."""
        begun = time.monotonic() - self._held
        async with line.turn:
            self._waiting.add(line.caller)
            try:
                while (seconds := self._left(line, begun)) > 0:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(min(seconds, _PRESENT)):
                            await left()
                            return False
            finally:
                self._waiting.discard(line.caller)
            line.alone = line.beside = self._alive = time.monotonic()
            self.rest(line, self._unseen())
            return True

    def rest(self, line: Line, spent: float) -> None:
        """Let a line rest after a step that took `spent` seconds, the longer the more others wait."""
        now, is_dear = time.monotonic(), line.is_large
        if spent > _LONG_STEP:
            is_dear |= now < line.warned
            line.warned = now + 2 * spent * _SHORT_REST
        if is_dear or line.has_many:
            rest = max(spent * _REST, min(spent * _SHORT_REST, _LONGEST)) if is_dear else spent * _SMALL_REST
            others = len(self._waiting) - (line.caller in self._waiting)
            line.alone = max(now, line.alone) + (rest * others or spent * is_dear)
            line.beside = max(now, line.beside) + rest * (others + 1)
        if is_dear:
            self._dear = max(now, self._dear) + spent * _REST
            self._held += min(now - self._alive, spent * _REST)  # a step may last longer than the processor works
        self._alive = now

    # Rests are twice as long, and end late: so several callers together still begin what the loop can serve.
    def _unseen(self) -> float:
        """Return a third of the seconds that the loop takes for a request, when another one begins."""
        spent, self._spent = time.thread_time() - self._spent, time.thread_time()
        self._each += (min(abs(spent), 2 * _UNSEEN) - self._each) / 16
        return self._each / 3

    def _left(self, line: Line, begun: float) -> float:
        """Return the seconds that a line still rests, for a request that came at `begun` on that clock."""
        now = time.monotonic()
        free = now - self._held
        # Behind the own address may be others, too.
        own = {line.caller: begun if line.is_large else free}
        asks = any(asked > max(free - _PRESENT, own.get(each, 0.0)) for each, asked in self._small.items())
        dear = self._dear if line.is_large else 0.0
        return (max(line.beside, dear) if asks else line.alone) - now


@coroutine
def timed(work: Coroutine[Any, Any, T], spend: Callable[[float], None]) -> Generator[Any, Any, T]:
    """Await `work`, and tell `spend` the processor time of each step, in seconds."""
    step = partial(work.send, None)
    while True:
        begun = time.thread_time()
        try:
            awaited = step()
        except StopIteration as done:
            return cast("T", done.value)
        finally:
            spend(time.thread_time() - begun)
        try:
            yield awaited
            step = partial(work.send, None)
        except BaseException as error:
            step = partial(work.throw, error)
