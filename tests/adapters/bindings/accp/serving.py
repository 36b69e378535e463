"""A real server of ACCP on the loopback interface, in the loop of the test, and agents for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from accp_adapters.bindings.accp.app import accp_app
from accp_adapters.bindings.hosts import HostLimits, Request, SessionHost
from accp_adapters.serving.limits import ServerLimits
from accp_adapters.serving.listening import TlsFiles, http_server, listen_at
from accp_adapters.serving.websockets import WebSocketConnection
from accp_core.accp import Codec
from tests.adapters.bindings.hosts.agents import CODEC
from tests.limits import PATIENCE

__all__ = ["count", "echo", "secured", "serve", "serving"]


async def echo(request: Request) -> Mapping[str, Any]:
    """Return the payload of the request."""
    return dict(request.message.payload)


async def count(request: Request) -> AsyncIterator[Mapping[str, Any]]:
    """Yield the numbers up to that of the request."""
    for number in range(int(str(request.message.payload["n"]))):
        yield {"data": str(number)}


@asynccontextmanager
async def serve(app: Any, *, tls: TlsFiles | None = None, header_seconds: float = PATIENCE) -> AsyncIterator[str]:
    """Serve an application; yield host and port."""
    with listen_at("127.0.0.1", 0) as listening:
        server = http_server(app, header_seconds=header_seconds, websocket=WebSocketConnection, tls=tls)
        serving = asyncio.ensure_future(server.serve(sockets=[listening]))
        try:
            yield f"127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            await serving


@asynccontextmanager
async def serving(
    handler: Any = echo,
    *,
    limits: dict[str, Any] | None = None,
    host_limits: dict[str, Any] | None = None,
    codec: Codec = CODEC,
    **more: Any,
) -> AsyncIterator[str]:
    """Serve sessions of `handler`; yield host and port."""
    async with (
        SessionHost(handler, codec=codec, limits=HostLimits(**(host_limits or {}))) as host,
        serve(accp_app(host, limits=ServerLimits(**(limits or {})), **more)) as address,
    ):
        yield address


@asynccontextmanager
async def secured(handler: Any, tls: TlsFiles, *, codec: Any = CODEC, **more: Any) -> AsyncIterator[str]:
    """Serve sessions of `handler` over TLS; yield host and port."""
    async with SessionHost(handler, codec=codec) as host, serve(accp_app(host, **more), tls=tls) as address:
        yield address
