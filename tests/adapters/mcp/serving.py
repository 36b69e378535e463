"""Servers on free ports of the loopback, for as long as a test needs them."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager
from typing import Any

import uvicorn

from accp_adapters.mcp import Encoder
from accp_adapters.mcp.gateway.configuration import ServerSettings
from accp_adapters.mcp.gateway.http_front import PATH, GatewayApp
from accp_adapters.mcp.proxy.endpoint_client import connect
from accp_adapters.mcp.proxy.http import HttpProxy
from accp_adapters.mcp.proxy.relay import Relay, encoder_relay
from accp_adapters.serving.listening import listen_at
from tests.served import in_thread

__all__ = ["encoding", "free_port", "gateway", "proxying", "serving"]


def free_port() -> int:
    """Return a port that nobody listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(app: Any, *, lifespan: str = "off", bare: bool = False) -> Iterator[str]:
    """Serve an ASGI application in a thread; yield its origin. A `bare` server adds no headers of its own."""
    with listen_at("127.0.0.1", 0) as listening, in_thread(_server(app, lifespan, bare), listening) as origin:
        yield origin


def _server(app: Any, lifespan: Any, bare: bool) -> uvicorn.Server:
    config = uvicorn.Config(
        app,
        lifespan=lifespan,
        log_level="critical",
        http="h11",
        ws="none",
        timeout_graceful_shutdown=1,
        server_header=not bare,
        date_header=not bare,
    )
    return uvicorn.Server(config)


@contextmanager
def proxying(url: str, new_relay: Callable[[], Relay], **options: Any) -> Iterator[str]:
    """Serve a proxy in front of `url`; yield its URL."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[Any]:
        async with connect() as client:
            yield HttpProxy(url, new_relay, client, **options)

    with _living(opened) as origin:
        yield origin + "/" + url.split("/", 3)[3]


def encoding() -> Relay:
    """Return an encoder that waits for no client to ask."""
    return encoder_relay(Encoder(policy="always"))


@contextmanager
def gateway(*servers: ServerSettings, relay: Callable[[], Relay] = encoding, **options: Any) -> Iterator[str]:
    """Serve a gateway over `servers`; yield its URL."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[Any]:
        app = GatewayApp(servers, relay, **options)
        yield app
        await app.close()

    with _living(opened) as origin:
        yield origin + PATH


def _living(opened: Callable[[], AbstractAsyncContextManager[Any]]) -> AbstractContextManager[str]:
    """Serve the application that `opened` yields, which is left with the server; the origin is that of the server."""

    class App:
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] != "lifespan":
                await self.inner(scope, receive, send)
                return
            async with opened() as self.inner:
                await receive()
                await send({"type": "lifespan.startup.complete"})
                await receive()
            await send({"type": "lifespan.shutdown.complete"})

    return serving(App(), lifespan="on", bare=True)
