"""An ASGI middleware that bounds what the requests of one caller take of the SDK's memory and event loop.

    app = BoundedRequests(Starlette(routes=create_jsonrpc_routes(handler, "/")))

The SDK reads, checks and writes JSON on its event loop: 45,000 values hold it for a second. Nobody outside the SDK can
divide that second. So bodies with more values are refused, those in frames included, and the requests of a caller begin
one after the other: while others ask, it rests after each step for its share, and far longer after an expensive one.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from functools import partial
from typing import Any, Final, TypeAlias

from a2a.utils.errors import InvalidParamsError
from starlette.requests import Request
from starlette.responses import JSONResponse

from accp_adapters.a2a.values import count_values
from accp_adapters.serving.limits import Quota, TooMany, weight_of
from accp_adapters.serving.principals import Scope, caller_of
from accp_adapters.serving.requests import Receive, RequestRefused, Send, read_body, refusal_of, too_large
from accp_adapters.serving.threads import OWNER
from accp_adapters.serving.turns import Turns, timed
from accp_core.error_codes import ErrorCode

__all__ = ["ADMIT", "BoundedRequests"]

Application: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
_LARGE: Final = 16_384
"""Bytes of memory from which on a body is large, about those of 200 values: so many take a hundredth of a second."""
_BODY_SECONDS: Final = 30.0
_INVALID_REQUEST: Final = -32600
_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_MAY_EXPAND: Final = re.compile(rb"accp|\\u")
"""A small body without it holds no frame, from which more would be read."""
ADMIT: Final[ContextVar[Callable[[Any], object]]] = ContextVar("accp_a2a_admit", default=id)
"""What refuses the values of frames beyond those that the running request may hold."""


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
        self._turns: Final = Turns()

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
            body: bytes = await timed(read, spent.append)
            is_large = weight_of(body.decode("latin-1")) > _LARGE or bool(_MAY_EXPAND.search(body))
            line = self._turns.line(caller, scope.get("client"), is_large=is_large)
            with self._memory.taken(caller, len(body)):
                self._turns.rest(line, sum(spent))
                if await self._turns.begin(line, receive):  # after the body, nothing but the end of the connection
                    await timed(self._pass_on(scope, receive, send, body), partial(self._turns.rest, line))
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
