"""An ASGI middleware that bounds what the requests of one caller take of the SDK's memory and event loop.

    app = BoundedRequests(Starlette(routes=create_jsonrpc_routes(handler, "/")))

The SDK reads, checks and writes JSON on its event loop: 45,000 values hold it for a second. Nobody outside the SDK can
divide that second. So bodies with more values are refused, those in frames included, and the requests of a caller begin
one after the other: while others ask, it rests after each step for its share, and far longer after an expensive one.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
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
from accp_adapters.serving.threads import OWNER
from accp_core.bounded import BoundedDict
from accp_core.error_codes import ErrorCode

__all__ = ["ADMIT", "BoundedRequests"]

Application: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
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
"""About the seconds that a request takes outside of its own steps, in tasks of the SDK and of the server."""
_LARGE: Final = 16_384
"""Bytes of memory from which on a body is large, about those of 200 values: so many take a hundredth of a second."""
_BODY_SECONDS: Final = 30.0
_INVALID_REQUEST: Final = -32600
_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_MAY_EXPAND: Final = re.compile(rb"accp|\\u")
"""A small body without it holds no frame, from which more would be read."""
ADMIT: Final[ContextVar[Callable[[Any], object]]] = ContextVar("accp_a2a_admit", default=id)
"""What refuses the values of frames beyond those that the running request may hold."""


@dataclass(eq=False, slots=True)
class _Line:
    """The large requests of a caller, or its others."""

    caller: str
    is_large: bool
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    client: object = None
    """The connection of the last request."""
    has_many: bool = False
    """Whether that came on another one than the request before."""
    asked: float = 0.0
    """When it came."""
    warned: float = 0.0
    """Until when the next long step counts."""
    alone: float = 0.0
    """The end of its rest."""
    beside: float = 0.0
    """The later end while small requests of others keep coming."""


class BoundedRequests:
    """Passes requests to an A2A application, those of one caller in turns.

    A caller is a token that middleware around this one has checked, else an address. What is expensive takes a tenth
    of the event loop while others ask, and half of it while nobody does, whatever else is in the requests. The other
    requests of a caller with several connections have an equal share of it while others ask.
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
        self._lines: Final = BoundedDict[tuple[str, bool], _Line](1_000)
        """Of the callers that asked last."""

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
            line = self._line(caller, scope.get("client"), body)
            with self._memory.taken(caller, len(body)):
                self._rest(line, sum(spent))
                if await self._has_turn(line, receive):
                    pass_on = self._pass_on(scope, receive, send, body)
                    await _timed(pass_on.__await__(), partial(self._rest, line))
        except (RequestRefused, TooMany) as error:  # a client of JSON-RPC can read it, others read the status
            refusal = refusal_of(error)
            told = {"jsonrpc": "2.0", "id": None, "error": {"code": _INVALID_REQUEST, "message": str(error)}}
            await JSONResponse(told, refusal.status, dict(refusal.headers))(scope, receive, send)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send, body: bytes) -> None:
        left = self._max_values - sum(map(_STRING.sub(b"", body).count, b"[,{"))
        if left < 0:
            raise too_large(f"{self._max_values:,} values")

        def admit(value: Any) -> None:
            nonlocal left
            left -= count_values(value, left)
            if left < 0:
                reason = f"expected a message of at most {self._max_values:,} values, found more in its frames"
                raise InvalidParamsError(reason, {"accp": str(ErrorCode.BUDGET_EXCEEDED)})

        ADMIT.set(admit)
        told = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def receive_all() -> Any:
            return next(told, None) or await receive()

        with self._memory.taken(OWNER.get(), weight_of(body.decode("latin-1"))):
            await self._app(scope, receive_all, send)

    def _line(self, caller: str, client: object, body: bytes) -> _Line:
        is_large = weight_of(body.decode("latin-1")) > _LARGE or bool(_MAY_EXPAND.search(body))
        line = self._lines.get((caller, is_large)) or _Line(caller, is_large)
        line.has_many, line.client, line.asked = line.client != client, client, time.monotonic()
        self._lines.put((caller, is_large), line)
        return line

    async def _has_turn(self, line: _Line, receive: Receive) -> bool:
        """Return whether the client is still there when it is its turn."""
        begun = time.monotonic()
        async with line.turn:
            while (seconds := self._left(line, begun)) > 0:
                with suppress(TimeoutError):
                    async with asyncio.timeout(min(seconds, _PRESENT)):
                        await receive()  # after the body, nothing but its end
                        return False
            line.alone = line.beside = time.monotonic()
            self._rest(line, _UNSEEN)
            return True

    def _left(self, line: _Line, begun: float) -> float:
        """Return the seconds that a line still rests, for a request that came at `begun`."""
        now, small = time.monotonic(), [each for each in self._lines.values() if not each.is_large]
        # Behind the own address may be others, too.
        since = {line.caller: begun if line.is_large else now}
        asks = any(each.asked > max(now - _PRESENT, since.get(each.caller, 0.0)) for each in small)
        return (line.beside if asks else line.alone) - now

    def _rest(self, line: _Line, spent: float) -> None:
        """Let a line rest after a step that took `spent` seconds, the longer the more others are there."""
        now, is_dear = time.monotonic(), line.is_large
        if spent > _LONG_STEP:
            is_dear |= now < line.warned
            line.warned = now + 2 * spent * _SHORT_REST
        if is_dear or line.has_many:
            rest = max(spent * _REST, min(spent * _SHORT_REST, _LONGEST)) if is_dear else spent * _SMALL_REST
            others = sum(each.beside > now and each.caller != line.caller for each in self._lines.values())
            line.alone = max(now, line.alone) + (rest * others or spent * is_dear)
            line.beside = max(now, line.beside) + rest * (others + 1)


@coroutine
def _timed(work: Generator[Any, Any, T], spend: Callable[[float], None]) -> Generator[Any, Any, T]:
    """Await `work`, and tell `spend` the processor time of each step, in seconds."""
    step = partial(work.send, None)
    while True:
        begun = time.thread_time()
        try:
            awaited = step()
        except StopIteration as done:
            found: T = done.value
            return found
        finally:
            spend(time.thread_time() - begun)
        try:
            yield awaited
            step = partial(work.send, None)
        except BaseException as error:
            step = partial(work.throw, error)
