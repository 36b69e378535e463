"""HTTP responses whose bytes count until the client has read them, and whose client must read.

A server takes a body of any size into its buffer and returns at once. Here a body is written in pieces, each as soon as
the one before it has left, and within a time: when a response is complete, what the server still holds of it is less
than its buffer. So whoever holds the bytes of a response until it is complete counts them until they are read.
"""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any, Final, Protocol

from accp_adapters.serving.bodies import ByteBudget, Receive, Scope, Send
from accp_adapters.serving.hosts import Headers
from accp_adapters.serving.off_loop import one_piece_a_turn

__all__ = ["BUFFERED", "WRITE_SECONDS", "CompleteResponse", "HeldResponse", "ResponseWriter"]

WRITE_SECONDS: Final = 30.0
"""How long a peer may take to read a piece of a response; then its connection is closed."""
BUFFERED: Final = 16 * 1024
"""Bytes that a connection holds without waiting for its peer; a shorter body is written at once."""
_PIECE: Final = 64 * 1024
"""Bytes that are written at once."""


class ResponseWriter:
    """The response to one request; a peer that does not read it in time loses its connection (TimeoutError)."""

    def __init__(self, send: Send, seconds: float = WRITE_SECONDS) -> None:
        """Write by the ASGI callable `send`, each piece within `seconds`."""
        self._to_peer, self._seconds = send, seconds
        self.started = False
        """Whether status and headers were sent."""

    async def start(self, status: int, headers: Headers = ()) -> None:
        """Send status and headers."""
        self.started = True
        await self._send({"type": "http.response.start", "status": int(status), "headers": list(headers)})

    async def write(self, data: bytes, *, more: bool = True) -> None:
        """Send a part of the body; the last one has left when this returns, but for less than `BUFFERED` bytes."""
        if len(data) <= BUFFERED:
            await self._send_body(data, more=more)
            return
        for position in range(0, len(data), _PIECE):
            await self._send_body(data[position : position + _PIECE], more=True)
            await one_piece_a_turn(_PIECE)
        await self._send_body(b"", more=more)

    async def send_all(self, status: int, headers: Headers, body: bytes) -> None:
        """Send a complete response."""
        await self.start(status, [*headers, (b"content-length", str(len(body)).encode())])
        await self.write(body, more=False)

    async def send(self, event: MutableMapping[str, Any]) -> None:
        """Send an event of ASGI, as responses of Starlette do."""
        if event["type"] == "http.response.body":
            await self.write(event.get("body", b""), more=event.get("more_body", False))
        else:
            self.started = self.started or event["type"] == "http.response.start"
            await self._send(event)

    async def _send_body(self, data: bytes, *, more: bool) -> None:
        await self._send({"type": "http.response.body", "body": data, "more_body": more})

    async def _send(self, event: MutableMapping[str, Any]) -> None:
        async with asyncio.timeout(self._seconds):
            await self._to_peer(event)


class CompleteResponse(Protocol):
    """A response of Starlette."""

    body: bytes | memoryview

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        ...


class HeldResponse:
    """A response of Starlette whose bytes count in a budget until they are read."""

    def __init__(
        self,
        response: CompleteResponse,
        budget: ByteBudget,
        *,
        owner: str = "",
        seconds: float = WRITE_SECONDS,
        refusal: CompleteResponse,
    ) -> None:
        """Hold the bytes of `response`.

        Args:
            response: The response; nothing is counted here of one that is written piece by piece.
            budget: Counts the bytes for `owner`.
            owner: Whose they are.
            seconds: How long a piece may take.
            refusal: What is sent instead where the bytes are not free.
        """
        self._response, self._refusal = response, refusal
        self._budget, self._owner, self._seconds = budget, owner, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        with self._budget.lease(self._owner) as lease:
            if not lease.add(len(self._response.body)):
                self._response = self._refusal
            await self._response(scope, receive, ResponseWriter(send, self._seconds).send)
