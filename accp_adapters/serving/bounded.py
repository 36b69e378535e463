"""An ASGI middleware that bounds what the requests of one caller take of an SDK's memory and event loop.

The SDKs of A2A and MCP read, check and write JSON on their event loop: 20,000 values hold it for a second. Nobody
outside an SDK can divide that second. So bodies with more values are refused before they are read, and the requests of
a caller begin one after the other: while others ask, it rests after each step for its share, and far longer after an
expensive one.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import islice
from typing import Any, Final, TypeAlias

from starlette.requests import Request
from starlette.responses import JSONResponse

from accp_adapters.serving.limits import Quota, TooMany, weight_of
from accp_adapters.serving.principals import Scope, caller_of
from accp_adapters.serving.requests import Receive, RequestRefused, Send, read_body, refusal_of, too_large
from accp_adapters.serving.threads import OWNER
from accp_adapters.serving.turns import Turns, timed

__all__ = ["WEIGHT", "BoundedRequests"]

WEIGHT: Final = "accp_weight"
"""The entry of a scope with about the bytes of memory that the body takes once it is read."""

Application: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
_LARGE: Final = 16_384
"""Bytes of memory from which on a body is large, about those of 200 values: so many take a hundredth of a second."""
_BODY_SECONDS: Final = 30.0
_INVALID_REQUEST: Final = -32600
_VALUE: Final = re.compile(rb'(?:[^"\[,{]++|"[^"\\]*+(?:\\.[^"\\]*+)*+"?+)*+(?:[\[,{]|\Z)', re.DOTALL)
"""The text before a value of JSON, with the sign that begins it, or up to the end; signs in strings do not count."""


class BoundedRequests:
    """Passes requests to an application, those of one caller in turns.

    A caller is a token that middleware around this one has checked, else an address. What is expensive takes a tenth
    of the event loop while others ask, and half of it while nobody does, whatever else is in the requests. The other
    requests of a caller with several connections have an equal share of it while others ask.
    """

    _may_expand = re.compile(rb"\\u")
    """What is in a small body from which more is read."""

    def __init__(
        self, app: Application, *, max_bytes: int = 8 << 20, max_values: int = 10_000, memory: int = 128 << 20
    ) -> None:
        """Wrap an application.

        Args:
            app: An ASGI application, such as a Starlette with the SDK's routes.
            max_bytes: Bytes of one body; a longer one is refused before it is read (HTTP 413).
            max_values: About the values of JSON in one body; with more, it is refused (HTTP 413).
            memory: Bytes that the requests of one caller may take at once, those of all twice as many (HTTP 429, 503).
        """
        self._app: Final = app
        self._max_bytes: Final = max_bytes
        self._max_values: Final = max_values
        self._memory: Final = Quota(2 * memory, memory, "bytes of requests")
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
            scope[WEIGHT] = weight_of(body.decode("latin-1"))
            is_large = scope[WEIGHT] > _LARGE or bool(self._may_expand.search(body))
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
        # What is refused is not looked through.
        found = islice(_VALUE.finditer(body), self._max_values + 1)
        left = self._max_values - sum(each[0].endswith((b"[", b",", b"{")) for each in found)
        if left < 0:
            raise too_large(f"{self._max_values:,} values")

        self._allow(left)
        told = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def receive_all() -> Any:
            return next(told, None) or await receive()

        with self._memory.taken(OWNER.get(), scope[WEIGHT]):
            await self._app(scope, receive_all, send)

    def _allow(self, left: int) -> None:
        """Note how many more values the running request may hold."""
