"""Servers on free ports of the loopback, for as long as a test needs them."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from accp_adapters.mcp.pump import HttpProxy
from accp_adapters.mcp.upstream import Upstream
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
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        in_thread(_server(app, lifespan, bare), listening) as origin,
    ):
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
def proxying(upstream: Upstream, new_shim: Callable[[], Any]) -> Iterator[str]:
    """Serve `accp mcp --listen` in front of a server; yield its URL."""
    with serving(HttpProxy(upstream, new_shim), lifespan="on") as origin:
        yield f"{origin}/mcp"
