"""A real server of ACCP on the loopback interface, in the loop of the test, and agents for it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import uvicorn

from accp_adapters.bindings import HostLimits, Request, ServerLimits, SessionHost, accp_app
from accp_core.accp import Codec
from tests.adapters.bindings.hosts.agents import CODEC

__all__ = ["count", "echo", "serve", "serving"]


async def echo(request: Request) -> Mapping[str, Any]:
    """Return the payload of the request."""
    return dict(request.message.payload)


async def count(request: Request) -> AsyncIterator[Mapping[str, Any]]:
    """Yield the numbers up to that of the request."""
    for number in range(int(str(request.message.payload["n"]))):
        yield {"data": str(number)}


@asynccontextmanager
async def serve(app: Any, **options: Any) -> AsyncIterator[str]:
    """Serve an application by plain uvicorn, with its `options`; yield host and port."""
    config = uvicorn.Config(app, lifespan="off", log_level="critical", timeout_graceful_shutdown=1, **options)
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)  # what a peer does not read is noticed early
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
