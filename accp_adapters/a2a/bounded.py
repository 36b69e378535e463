"""An ASGI middleware that bounds what the requests of one caller take of the SDK's memory and event loop.

    app = BoundedRequests(Starlette(routes=create_jsonrpc_routes(handler, "/")))

The SDK reads, checks and writes JSON on its event loop: 45,000 values hold it for a second. Nobody outside the SDK can
divide that second. So bodies with more values are refused, those in frames included, and while others ask, a caller
rests after each large body nine times as long as that held the loop.
"""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import closing, suppress
from contextvars import ContextVar
from functools import partial
from types import coroutine
from typing import Any, Final, TypeAlias, TypeVar

from a2a.utils.errors import InvalidParamsError
from starlette.requests import Request
from starlette.responses import JSONResponse

from accp_adapters.a2a.values import count_values
from accp_adapters.serving.limits import Quota, TooMany, weight_of
from accp_adapters.serving.principals import Scope, caller_of
from accp_adapters.serving.requests import Receive, RequestRefused, Send, read_body, refusal_of, too_large
from accp_adapters.serving.threads import LONG, OWNER
from accp_core.bounded import BoundedDict
from accp_core.error_codes import ErrorCode

__all__ = ["ADMIT", "BoundedRequests"]

Application: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
T = TypeVar("T")
_REST: Final = 9
"""The rest after a step of a large request for each other caller, in multiples of the time that the step took."""
_PRESENT: Final = 1.0
"""Seconds after a small request, from anybody, in which the larger ones still wait."""
_CHEAP: Final = 0.001
"""Seconds that a step may take without a rest."""
_BODY_SECONDS: Final = 30.0
_MAX_CALLERS: Final = 10_000
_INVALID_REQUEST: Final = -32600
_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_MAY_EXPAND: Final = re.compile(rb"accp|\\u")
"""A short body without it holds no frame, from which more would be read."""
ADMIT: Final[ContextVar[Callable[[Any], object]]] = ContextVar("accp_a2a_admit", default=id)
"""What refuses the values of frames beyond those that the running request may hold."""


class BoundedRequests:
    """Passes requests to an A2A application, those with large bodies one after the other for each caller.

    A caller is a token that middleware around this one has checked, else an address. All bodies over 4 KB together take
    a tenth of the event loop while others ask, and half of it while nobody does, whatever else is in the requests.
    """

    def __init__(self, app: Application, *, max_bytes: int = 8 << 20, max_values: int = 50_000) -> None:
        """Wrap an application.

        Args:
            app: An ASGI application, such as a Starlette with the SDK's routes.
            max_bytes: Bytes of one body; a longer one is refused before it is read (HTTP 413).
            max_values: About the values of JSON in one body; with more, it is refused (HTTP 413).
        """
        self._app: Final = app
        self._max_bytes: Final = max_bytes
        self._max_values: Final = max_values
        self._memory: Final = Quota(256 << 20, 128 << 20, "bytes of requests")
        self._until: Final = BoundedDict[str, tuple[float, float]](_MAX_CALLERS)
        """For each caller the end of its rest, and the later end while small requests keep coming."""
        self._small = self._small_before = (-math.inf, "")
        """When the last small request came and whose it was, and the last one of anybody else."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request when its caller has its turn, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        caller = caller_of(scope)
        OWNER.set(caller)
        read = read_body(Request(scope, receive), self._memory, caller, limit=self._max_bytes, seconds=_BODY_SECONDS)
        spent = list[float]()
        try:
            body: bytes = await _timed(read.__await__(), spent.append)
            pass_on = self._pass_on(scope, receive, send, body)
            if len(body) <= LONG:
                if caller != self._small[1]:
                    self._small_before = self._small
                self._small = time.monotonic(), caller
                if not _MAY_EXPAND.search(body):
                    await pass_on
                    return
            self._rest(caller, sum(spent))
            with closing(pass_on), self._memory.taken(caller, len(body)):
                if await self._has_turn(caller, receive):
                    await _timed(pass_on.__await__(), partial(self._rest, caller))
        except (RequestRefused, TooMany) as error:
            await _refused(error)(scope, receive, send)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send, body: bytes) -> None:
        left = self._max_values - sum(map(_STRING.sub(b"", body).count, b"[,{"))
        if left < 0:
            raise too_large(f"{self._max_values:,} values")
        ADMIT.set(_Values(self._max_values, left).take)
        told = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def receive_all() -> Any:
            return next(told, None) or await receive()

        with self._memory.taken(OWNER.get(), weight_of(body.decode("latin-1"))):
            await self._app(scope, receive_all, send)

    async def _has_turn(self, caller: str, receive: Receive) -> bool:
        """Return whether the client is still there when `caller` has rested."""
        begun = time.monotonic()
        while (seconds := self._left(caller, begun)) > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(min(seconds, _PRESENT)):
                    await receive()  # after the body, nothing but its end
                    return False
        return True

    def _left(self, caller: str, begun: float) -> float:
        """Return the seconds that `caller` still rests, whose request came at `begun`."""
        now = time.monotonic()
        alone, beside = self._until.get(caller, (now, now))
        small, whose = self._small
        others = small if whose != caller else self._small_before[0]
        # Behind the own address may be others, too.
        return (beside if max(others, small if small > begun else 0.0) > now - _PRESENT else alone) - now

    def _rest(self, caller: str, spent: float) -> None:
        """Let `caller` rest after a step that took `spent` seconds, the longer the more others are there."""
        if spent > _CHEAP:
            now = time.monotonic()
            others = sum(end > now for name, (end, _) in self._until.items() if name != caller)
            alone, beside = (max(now, each) for each in self._until.get(caller, (now, now)))
            self._until.put(caller, (alone + spent * (_REST * others or 1), beside + spent * _REST * (others + 1)))


@coroutine
def _timed(work: Generator[Any, Any, T], spend: Callable[[float], None]) -> Generator[Any, Any, T]:
    """Await `work`, and tell `spend` how long it held the event loop in each step, in seconds."""
    step = partial(work.send, None)
    while True:
        begun = time.monotonic()
        try:
            awaited = step()
        except StopIteration as done:
            found: T = done.value
            return found
        finally:
            spend(time.monotonic() - begun)
        try:
            yield awaited
            step = partial(work.send, None)
        except BaseException as error:
            step = partial(work.throw, error)


class _Values:
    """How many values the frames of one request may still hold."""

    def __init__(self, most: int, left: int) -> None:
        self._most, self._left = most, left

    def take(self, value: Any) -> None:
        self._left -= count_values(value, self._left)
        if self._left < 0:
            reason = f"expected a message of at most {self._most:,} values, found more in its frames"
            raise InvalidParamsError(reason, {"accp": str(ErrorCode.BUDGET_EXCEEDED)})


def _refused(error: RequestRefused | TooMany) -> JSONResponse:
    """Return a refusal that a client of JSON-RPC can read; others read the status."""
    refusal = refusal_of(error)
    told = {"jsonrpc": "2.0", "id": None, "error": {"code": _INVALID_REQUEST, "message": str(error)}}
    return JSONResponse(told, refusal.status, dict(refusal.headers))
