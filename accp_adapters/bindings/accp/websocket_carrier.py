"""ACCP over WebSocket, the client's end: one connection after the other, until the session is over (ACCP 11.2)."""

from __future__ import annotations

import asyncio
import logging
import ssl
from contextlib import suppress
from typing import Any, Final

import websockets
from websockets.asyncio.client import ClientConnection

from accp_adapters.backoff import Backoff
from accp_adapters.bindings.accp.answers import Address, ConnectionRefused, SessionLost, TokenSource, token_fields
from accp_adapters.bindings.accp.client_session import ClientSession
from accp_adapters.bindings.client_logs import WEBSOCKET_LOG
from accp_adapters.wire_log import log_frame
from accp_core.accp.debug import Direction
from accp_core.accp.frame import ACKNOWLEDGED, Intent
from accp_core.accp.parser import frame_head
from accp_core.accp.session.delivery import FrameText
from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError

__all__ = ["WebSocketCarrier"]

_LOG: Final = logging.getLogger(__name__)

_REGISTRY_TIME: Final = 1.0
"""Seconds for the server's registry, before the first message is sent."""
_AGAIN: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_FINAL_CODES: Final = {
    1009: "a frame is longer than the server takes",
    4409: "another connection has taken over the session",
}


class WebSocketCarrier:
    """Carries the frames of a session over one connection after the other."""

    def __init__(
        self,
        session: ClientSession,
        address: Address,
        *,
        token: TokenSource,
        tls: ssl.SSLContext | None,
        frame_bytes: int,
        backoff: Backoff,
    ) -> None:
        """Carry the frames of `session` to `address`."""
        self._session, self._address, self._token = session, address, token
        self._backoff = backoff
        self._options: dict[str, Any] = {"compression": None, "max_size": frame_bytes, "logger": WEBSOCKET_LOG}
        if tls is not None:
            self._options["ssl"] = tls
        self._socket: ClientConnection | None = None
        self._was_heard = False
        self.url: Final = address.url
        self.last_failure = ""
        """Why the last attempt to connect failed; empty: none has."""
        self.connections = 0
        """How often the client has connected."""
        session.on_silence = self.abort

    def abort(self) -> None:
        """Cut the connection, as one that does not answer; another one follows."""
        if self._socket is not None:
            self._socket.transport.abort()

    async def run(self, ready: asyncio.Event) -> None:
        """Carry until cancelled or lost; `ready` is set once the server has answered the registry."""
        failures = 0
        while not self._session.is_lost:
            self._was_heard = False
            try:
                await self._connect(ready)
            except ConnectionRefused as refused:
                self._session.lose(refused)
            except websockets.InvalidStatus as refused:
                self._check_status(refused)
            except (OSError, TimeoutError, websockets.WebSocketException) as failure:
                # The next connection goes on where this one ended.
                self.last_failure = str(failure) or type(failure).__name__
            failures = 1 if self._was_heard else failures + 1
            if not self._session.is_lost:
                await asyncio.sleep(self._backoff.delay(failures))

    async def drain(self) -> None:
        """Return when every frame was handed to the connection."""
        while self._session.has_outgoing.is_set() and not self._session.is_lost:
            await asyncio.sleep(0.01)

    async def close(self) -> None:
        """Close the connection, once the session is over."""
        if self._socket is not None:
            await self._socket.close()

    async def _connect(self, ready: asyncio.Event) -> None:
        fields = token_fields(self._token)
        socket = await websockets.connect(self._address.url, additional_headers=fields, **self._options)
        if self._session.is_lost:  # the session was closed meanwhile, and has nobody to end what begins here
            await socket.close()
            return
        self._socket = socket
        self.connections += 1
        await self._session.connected()
        # "At session start, agents MUST exchange registry versions" (section 6.4); one that does not is waited for.
        asyncio.get_running_loop().call_later(_REGISTRY_TIME, ready.set)
        writing = asyncio.ensure_future(self._write(socket))
        try:
            await self._read(socket, ready)
            await socket.close()
        finally:
            socket.transport.abort()
            self._socket = None
            await self._session.disconnected()
            writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)

    async def _read(self, socket: ClientConnection, ready: asyncio.Event) -> None:
        try:
            async for text in socket:
                await self._take(text if isinstance(text, str) else text.decode("utf-8", "replace"), ready)
        except websockets.ConnectionClosed:
            pass
        if socket.close_code in _FINAL_CODES:
            code = ErrorCode.BUDGET_EXCEEDED if socket.close_code == 1009 else ErrorCode.POLICY_DENIED
            raise ConnectionRefused(_FINAL_CODES[socket.close_code], code=code)

    async def _take(self, text: str, ready: asyncio.Event) -> None:
        log_frame(Direction.RECEIVED, self._address.url, text)
        with suppress(DecodeError):
            head = frame_head(text)
            if head.envelope.sequence == 0 and head.intent is Intent.FAILURE:
                self._take_refusal(text)
                return
            self._session.meet(ACKNOWLEDGED in head.envelope.extra)
        self._was_heard = True
        await self._session.receive(text)
        ready.set()

    def _take_refusal(self, text: str) -> None:
        """Handle a frame with the sequence number 0: the server refuses this connection, or a frame that came by it."""
        _LOG.warning("the server refuses a frame or a connection: %.200s", text)
        # Before anything was heard the refusal is that of the session; later it may be that of a token which has ended.
        if not self._was_heard and ErrorCode.POLICY_DENIED in text:
            raise ConnectionRefused(f"the server refuses the session: {text:.200}")
        if ErrorCode.SEQUENCE_GAP in text:
            self._session.lose(SessionLost("the server cannot resume the session", code=ErrorCode.SEQUENCE_GAP))

    async def _write(self, socket: ClientConnection) -> None:
        with suppress(websockets.ConnectionClosed):
            while True:
                await self._session.has_outgoing.wait()
                frames: list[FrameText] = self._session.take_outgoing()
                for frame in frames:
                    log_frame(Direction.SENT, self._address.url, frame)
                    await socket.send(str(frame))

    def _check_status(self, refused: websockets.InvalidStatus) -> None:
        status = refused.response.status_code
        self.last_failure = f"HTTP {status}"
        if status not in _AGAIN:
            reason = f"expected a WebSocket at {self.url}, found HTTP {status}"
            self._session.lose(ConnectionRefused(reason, status=status))
