"""`GET /stream`: what the agent says to one peer, as server-sent events (ACP transport 0.3, section 6.3)."""

from __future__ import annotations

import asyncio
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from accp_adapters.bindings.acp.http_sse.requests import refuse
from accp_adapters.bindings.acp.sessions.host import AcpHost, seconds_left
from accp_adapters.bindings.acp.sessions.session import AcpSession
from accp_adapters.serving.bodies import Receive, Scope, Send, run_until_disconnect
from accp_core.acp import AcpError
from accp_core.acp.framing import KEEPALIVE
from accp_core.errors import LocalProtocolError
from accp_core.strict_json import compact_json

__all__ = ["STREAM_READY", "EventStream"]

STREAM_READY: Final = "acp.ready"
"""The first event: `log`, the log that is numbered; `server_seq`, the last number; `window`, see `AcpLimits`."""
_BATCH: Final = 64


class EventStream(Response):
    """The open answer of one `GET /stream`.

    `?since=n` or `Last-Event-ID` begins after number n, otherwise it begins where the last stream or `/recv` ended;
    with `&log=`, n counts only for that log. `&ack=1` says that the reader will acknowledge by `POST /ack`, so that
    nothing is dropped before.
    """

    def __init__(self, host: AcpHost, session: AcpSession, request: Request) -> None:
        """Stream to the peer of `session`.

        Raises:
            ValueError: `since` is no number.
        """
        super().__init__(media_type="text/event-stream")
        self._host, self._session = host, session
        connection, query = session.connection, request.query_params
        since = query.get("since", request.headers.get("last-event-id"))
        if since is not None and not (since.isdecimal() and len(since) < 20):
            raise ValueError(f"since: expected a number, found {since!r:.40}")
        is_same = query.get("log", connection.log_id) == connection.log_id
        self._cursor = connection.written if since is None else int(since) if is_same else 0
        if query.get("ack"):
            connection.acknowledge(self._cursor if is_same and since is not None else 0)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until the client leaves or stops reading."""
        try:
            with self._host.connection(self._session.principal):
                async with asyncio.timeout(seconds_left(self._session.principal)):
                    await run_until_disconnect(receive, self._send_all(send))
        except TimeoutError:
            return  # the server closes a response that is not complete
        except LocalProtocolError as error:
            await refuse(AcpError(error.code), error.reason)(scope, receive, send)

    async def _send_all(self, send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        connection = self._session.connection
        ready = {
            "type": STREAM_READY,
            "log": connection.log_id,
            "server_seq": self._cursor,
            "window": self._session.limits.window,
        }
        await self._put(send, f"event: {STREAM_READY}\ndata: {compact_json(ready)}\n\n".encode())
        while True:
            batch = connection.sent_after(self._cursor, _BATCH)
            if batch:
                await self._put(send, b"".join(f"id: {number}\ndata: {text}\n\n".encode() for number, text in batch))
                self._cursor = batch[-1][0]
                connection.mark_written(self._cursor)
                self._session.changed.notify()
            elif not await self._session.changed.wait(self._session.limits.keepalive_seconds):
                await self._put(send, KEEPALIVE)

    async def _put(self, send: Send, data: bytes) -> None:
        """Write to the client; one that takes nothing for too long is left (TimeoutError)."""
        async with asyncio.timeout(self._session.limits.write_seconds):
            await send({"type": "http.response.body", "body": data, "more_body": True})
