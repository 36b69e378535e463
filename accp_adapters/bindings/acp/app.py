"""The ASGI application of an agent: bindings A and D on one port (ACP transport 0.3, sections 3 and 6)."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket

from accp_adapters.bindings.acp.host import AcpAgent, AcpHost, host_of
from accp_adapters.bindings.acp.limits import DEFAULT_LIMITS, AcpLimits
from accp_adapters.bindings.acp.web_socket import serve_web_socket
from accp_adapters.bindings.identity import Authenticate, loopback_only

__all__ = ["acp_app"]


def acp_app(
    agent: AcpAgent | AcpHost, *, authenticate: Authenticate = loopback_only, limits: AcpLimits = DEFAULT_LIMITS
) -> Starlette:
    """Return the application of an agent."""
    host = host_of(agent, authenticate, limits)

    async def web_socket(socket: WebSocket) -> None:
        await serve_web_socket(host, socket)

    return Starlette(routes=[WebSocketRoute("/", web_socket), WebSocketRoute("/{token}", web_socket)])
