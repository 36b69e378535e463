"""Binding A, WebSocket: one text frame is one message (ACP transport 0.3, section 3)."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from starlette.websockets import WebSocket, WebSocketDisconnect
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from accp_adapters.bindings.acp.host import AcpHost
from accp_adapters.bindings.acp.session import DUPLICATE, REPLACED, TOKEN_REFUSED, UNTRUSTED, ChannelClosed
from accp_adapters.bindings.client_logs import WEBSOCKET_LOG
from accp_adapters.serving.principals import AccessDenied, Principal, with_bearer_token
from accp_core.acp import AcpError, Binding, ErrorMessage, serialize_envelope
from accp_core.acp.card import ACP_VERSION
from accp_core.acp.connection import CLOSE_INVALID_TOKEN, TOKEN_HEADER
from accp_core.errors import DecodeError, LocalProtocolError

__all__ = ["open_web_socket", "serve_web_socket"]

CLOSE_CODES: Final[Mapping[str, int]] = {
    "": 1000,
    REPLACED: 1000,
    DUPLICATE: 1000,
    TOKEN_REFUSED: CLOSE_INVALID_TOKEN,
    AcpError.TOO_LARGE: 1009,
    AcpError.NOT_CONNECTED: 1013,
}
"""Error code to the code that a WebSocket is closed with; any other: 1008, a violation of the policy."""
PING_SECONDS: Final = 20.0
PING_TIMEOUT_SECONDS: Final = 10.0
_CLOSING_SECONDS: Final = 2.0


async def serve_web_socket(server: AcpHost, socket: WebSocket) -> None:
    """Admit the guest of a WebSocket and serve it until the connection ends.

    A wrong token is answered by an error frame and close code 4401; what cannot be served now, by 1013.
    """
    try:
        principal = await _admit(server, socket)
        with server.connection(principal):
            await socket.accept(headers=[(b"x-acp-version", ACP_VERSION.encode())])
            await server.serve(_ServerChannel(socket), principal)
    except (AccessDenied, LocalProtocolError) as error:
        await socket.accept()
        await _ServerChannel(socket).aclose(TOKEN_REFUSED if isinstance(error, AccessDenied) else error.code)


async def open_web_socket(
    url: str, *, token: str = "", agent: str = "", tls: ssl.SSLContext | None = None, limit: int
) -> _ClientChannel:
    """Return a connection to a host.

    Args:
        url: "ws://…" or "wss://…"; its path may end with the token.
        token: The token for the header instead; empty: none.
        agent: Our name, for the header; empty: none.
        tls: How to verify the host; None: as the system does.
        limit: Bytes of a message.

    Raises:
        OSError: There is no connection.
        ChannelClosed: The host refuses it.
    """
    given = {TOKEN_HEADER: token, "x-acp-agent": agent, "x-acp-version": ACP_VERSION}
    headers = {name: value for name, value in given.items() if value and value.isascii() and value.isprintable()}
    try:
        socket = await connect(
            url,
            ssl=tls,
            additional_headers=headers,
            max_size=limit,
            ping_interval=PING_SECONDS,
            ping_timeout=PING_TIMEOUT_SECONDS,
            close_timeout=_CLOSING_SECONDS,
            compression=None,
            proxy=None,
            logger=WEBSOCKET_LOG,
        )
    except ssl.SSLCertVerificationError as error:
        raise ChannelClosed(f"TLS failed: {error}", code=UNTRUSTED) from None
    except InvalidHandshake as error:
        raise ChannelClosed(f"the host refuses the WebSocket: {error}") from None
    return _ClientChannel(socket)


# "X-ACP-Token  Guest → Host  Alternative to token-in-URL" (section 3.6)
async def _admit(server: AcpHost, socket: WebSocket) -> Principal:
    """Return whom a WebSocket is of, by the token in its path or header, or by what the server asks for itself.

    Raises:
        AccessDenied: No principal is authenticated.
    """
    token = socket.headers.get(TOKEN_HEADER) or socket.path_params.get("token", "")
    scope: Any = with_bearer_token(socket.scope, token) if token else socket.scope
    return await server.authenticate(scope)


class _ServerChannel:
    """A WebSocket of an ASGI server, which sends pings by itself."""

    binding = Binding.WS_P2P
    window: int | None = None

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket

    async def send(self, text: str) -> None:
        try:
            await self._socket.send_text(text)
        except (WebSocketDisconnect, RuntimeError, OSError) as error:
            raise ChannelClosed(f"the WebSocket is closed: {type(error).__name__}") from None

    async def receive(self) -> str:
        try:
            message = await self._socket.receive()
        except RuntimeError:
            raise ChannelClosed("the WebSocket is closed") from None
        if message["type"] == "websocket.disconnect":
            raise ChannelClosed(f"the WebSocket was closed with {message.get('code')}")
        return text_of(message.get("text"))

    async def keep_alive(self) -> None:
        """Do nothing: the server sends pings."""

    async def aclose(self, code: str = "") -> None:
        with suppress(WebSocketDisconnect, RuntimeError, OSError, TimeoutError):
            async with asyncio.timeout(_CLOSING_SECONDS):
                if code and code != REPLACED:
                    await self._socket.send_text(serialize_envelope(ErrorMessage(code=code)))
                await self._socket.close(CLOSE_CODES.get(code, 1008))


class _ClientChannel:
    """A WebSocket of ours."""

    binding = Binding.WS_P2P
    window: int | None = None

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def send(self, text: str) -> None:
        try:
            await self._socket.send(text)
        except ConnectionClosed as closed:
            raise ChannelClosed(f"the WebSocket is closed: {closed}") from None

    async def receive(self) -> str:
        try:
            message = await self._socket.recv()
        except ConnectionClosed as closed:
            is_denied = closed.rcvd is not None and closed.rcvd.code == CLOSE_INVALID_TOKEN
            raise ChannelClosed(f"the WebSocket is closed: {closed}", code=TOKEN_REFUSED if is_denied else "") from None
        return text_of(message)

    async def keep_alive(self) -> None:
        """Do nothing: the library sends pings."""

    async def aclose(self, code: str = "") -> None:
        await self._socket.close(CLOSE_CODES.get(code, 1008))


def text_of(message: object) -> str:
    """Return the text of a frame.

    Raises:
        DecodeError: ERR_INVALID_REQUEST, it is a binary frame.
    """
    if not isinstance(message, str):
        reason = "expected a text frame, found a binary one"
        raise DecodeError(reason, code=AcpError.INVALID_REQUEST, text="", position=0)
    return message
