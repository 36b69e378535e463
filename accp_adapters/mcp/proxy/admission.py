"""Serving an endpoint of ours: its limits, and admission by a token, which the servers behind it do not get."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from hashlib import sha256
from http import HTTPStatus
from typing import Any, Final, TypeAlias

from accp_adapters.mcp.proxy.exchange import ClientResponse
from accp_adapters.mcp.proxy.message import error_message
from accp_adapters.mcp.proxy.relay import MAX_MESSAGE_BYTES
from accp_adapters.serving.bodies import Receive, Scope, Send
from accp_adapters.serving.hosts import header
from accp_adapters.serving.listening import http_server, listen_at
from accp_adapters.serving.responses import WRITE_SECONDS
from accp_core.errors import ProtocolError

__all__ = ["TOKEN_FIELD", "TOKEN_OWNER", "Admission", "Admit", "ProxyLimits", "serve_endpoint"]

TOKEN_FIELD: Final = b"authorization"
"""The field with the token."""
TOKEN_OWNER: Final = "accp.owner"
"""The member of a scope that says whose token it has."""

Admit: TypeAlias = Callable[[Scope], Awaitable[object]]
"""Raises ProtocolError for a request that may not come in; an `Authenticate` of `accp_adapters.bindings`, say."""
_Application: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[Any]]


_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyLimits:
    """The limits of one proxy."""

    body_bytes: int = 4 * _MIB
    """Bytes of the body of a request, as the SDKs' servers limit it; a longer one is refused (413)."""
    message_bytes: int = MAX_MESSAGE_BYTES
    """Bytes of a response or event that is rewritten; a longer one passes unchanged."""
    buffered_bytes: int = 256 * _MIB
    """Bytes of all bodies and messages that are held at once: further requests are refused (503), responses pass."""
    stored_bytes: int = 128 * _MIB
    """Bytes of the texts that previews cite; beyond, the session that was silent for longest loses its texts."""
    request_seconds: float = 30.0
    """Seconds for the header of a request, and as many for its body (408)."""
    write_seconds: float = WRITE_SECONDS
    """Seconds for which a client may leave a piece of a response unread; then its connection is cut."""


class Admission:
    """The ASGI application in front of another one."""

    def __init__(self, app: _Application, admit: Admit) -> None:
        """Pass requests to `app` that `admit` does not refuse."""
        self._app: Final = app
        self._admit: Final = admit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        try:
            await self._admit(scope)
            # Several tokens may be of one name.
            scope[TOKEN_OWNER] = sha256(header(scope["headers"], TOKEN_FIELD).encode()).hexdigest()
        except ProtocolError as refused:
            fields = [
                (b"content-type", b"application/json"),
                (b"www-authenticate", b"Bearer"),
                (b"connection", b"close"),
            ]
            await ClientResponse(send).send_all(HTTPStatus.UNAUTHORIZED, fields, error_message(str(refused)).data)
            return
        await self._app(scope, receive, send)


async def serve_endpoint(
    app: _Application,
    path: str,
    *,
    host: str,
    port: int,
    limits: ProxyLimits,
    admit: Admit | None = None,
    announce: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve an application until a signal ends it.

    Args:
        app: The application.
        path: The path of its endpoint.
        host: The address to listen at.
        port: The port to listen at; 0: a free one.
        limits: The limits of time.
        admit: Refuses requests without a token, which the servers do not get; None: each request is served.
        announce: Called with the endpoint's URL once it accepts connections.

    Raises:
        OSError: The address is not available.
    """
    with listen_at(host, port) as listening:
        shown = f"[{host}]" if ":" in host else host
        announce(f"http://{shown}:{listening.getsockname()[1]}{path}")
        served = app if admit is None else Admission(app, admit)
        server = http_server(served, header_seconds=limits.request_seconds, write_seconds=limits.write_seconds)
        await server.serve(sockets=[listening])
