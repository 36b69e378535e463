"""The ASGI application of an agent: bindings A and D on one port (ACP transport 0.3, sections 3 and 6)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from http import HTTPStatus
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket

from accp_adapters.bindings.acp.http_sse.endpoints import HttpEndpoints
from accp_adapters.bindings.acp.http_sse.requests import AcpGate, refuse
from accp_adapters.bindings.acp.sessions.host import AcpAgent, AcpHost, host_of
from accp_adapters.bindings.acp.sessions.limits import DEFAULT_ACP_LIMITS, AcpLimits
from accp_adapters.bindings.acp.web_socket import serve_web_socket
from accp_adapters.bindings.identity import Authenticate, loopback_only
from accp_adapters.serving.hosts import AllowedHosts
from accp_core.acp import AcpError, Binding

__all__ = ["acp_app"]

_MEMORY: Final = 64 << 20
"""Bytes that the bodies of all requests may take at the same time."""


def acp_app(
    agent: AcpAgent | AcpHost,
    *,
    authenticate: Authenticate = loopback_only,
    limits: AcpLimits = DEFAULT_ACP_LIMITS,
    hosts: Iterable[str] = (),
    controllers: Collection[str] = (),
    require_role: bool = False,
) -> Starlette:
    """Return the application of an agent, to be served alone or mounted in another one.

    Args:
        agent: The agent, or a host that other bindings share, which then brings `authenticate` and `limits`.
        authenticate: Who is let in; without it, only clients on this machine.
        limits: What each peer may use.
        hosts: Names of this server besides those of the loopback interface, which `Host` and `Origin` may have.
        controllers: The names of the principals that may see all peers and send to them in the agent's name.
        require_role: Whether to refuse a message over HTTP without a role; otherwise its role is "user".
    """
    host = host_of(agent, authenticate, limits)
    allowed = AllowedHosts.of(hosts)
    gate = AcpGate(host, allowed, memory=_MEMORY)
    host.announce(Binding.WS_P2P, Binding.HTTP_SSE)

    async def web_socket(socket: WebSocket) -> None:
        if allowed.refusal(socket.scope["headers"]):
            await socket.close()  # before it is accepted: 403
        else:
            await serve_web_socket(host, socket)

    endpoints = HttpEndpoints(gate, require_role=require_role, controllers=controllers)
    sockets = [WebSocketRoute("/", web_socket), WebSocketRoute("/{token}", web_socket)]
    return Starlette(routes=[*endpoints.routes(), *sockets], exception_handlers={HTTPException: _refuse})


async def _refuse(_: Request, error: Exception) -> Response:
    """Return the response for a path or a method that there is not."""
    status = error.status_code if isinstance(error, HTTPException) else HTTPStatus.INTERNAL_SERVER_ERROR
    code = AcpError.NOT_FOUND if status == HTTPStatus.NOT_FOUND else AcpError.INVALID_REQUEST
    return refuse(code, HTTPStatus(status).phrase, status=status)
