"""Servers on free ports of the loopback, for as long as a test needs them."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from accp_adapters.mcp.proxy.endpoint_client import connect
from accp_adapters.mcp.proxy.http import HttpProxy
from accp_adapters.mcp.proxy.relay import Relay
from accp_adapters.serving.listening import listen_at
from tests.served import in_thread

__all__ = ["free_port", "proxying", "serving"]


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

    class App:
        proxy: HttpProxy

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "lifespan":
                await self.live(receive, send)
            else:
                await self.proxy(scope, receive, send)

        async def live(self, receive: Any, send: Any) -> None:
            async with connect() as client:
                self.proxy = HttpProxy(url, new_relay, client, **options)
                await receive()
                await send({"type": "lifespan.startup.complete"})
                await receive()
            await send({"type": "lifespan.shutdown.complete"})

    with serving(App(), lifespan="on", bare=True) as origin:
        yield origin + "/" + url.split("/", 3)[3]
