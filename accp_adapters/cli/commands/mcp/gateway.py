"""`accp mcp --config`: many servers behind one endpoint; and a command's server over HTTP."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from signal import SIGINT, SIGTERM
from typing import TYPE_CHECKING, Any

import typer

from accp_adapters.cli.errors import ExtraMissing, refusal
from accp_adapters.cli.sources import read_source, say

if TYPE_CHECKING:
    from accp_adapters.bindings.identity import Authenticate
    from accp_adapters.mcp.gateway.configuration import ServerSettings
    from accp_adapters.mcp.proxy.relay import Relay

__all__ = [
    "announcing", "command_server", "configured_servers", "listen_for_servers", "run_listening", "serve_servers",
]  # fmt: skip


def configured_servers(config: Path, *, quiet: bool) -> list[ServerSettings]:
    """Return the servers of a configuration file; say on standard error which names are replaced, unless `quiet`.

    Raises:
        InputRefused: The file is not understood; with line and column.
        typer.BadParameter: It cannot be read.
    """
    from accp_adapters.mcp.gateway.configuration import read_servers
    from accp_core.errors import DecodeError

    try:
        servers = read_servers(read_source(str(config)), os.environ)
    except DecodeError as error:
        raise refusal(error, path=str(config)) from error
    for each in servers:
        if each.given_name and not quiet:
            say(f"accp mcp: the server {each.given_name!r} is called {each.name!r}")
    return servers


def serve_servers(servers: Sequence[ServerSettings], relay: Relay, *, is_bare: bool) -> None:
    """Serve one client on standard streams, until it closes."""
    import asyncio

    try:
        from accp_adapters.mcp.gateway.session import GatewaySession
        from accp_adapters.mcp.proxy.lines import serve_lines
    except ImportError as error:
        raise ExtraMissing("a gateway", extra="mcp") from error
    with suppress(KeyboardInterrupt):
        asyncio.run(serve_lines(GatewaySession(servers, is_bare=is_bare), relay, ended_by=(SIGTERM, SIGINT)))


def command_server(name: str, command: Sequence[str]) -> ServerSettings:
    """Return the settings of a server that a command starts."""
    from accp_adapters.mcp.gateway.configuration import ServerSettings

    return ServerSettings(name, command)


def listen_for_servers(
    servers: Sequence[ServerSettings],
    new_relay: Callable[[], Relay],
    address: tuple[str, int],
    allow_host: Sequence[str],
    *,
    admit: Authenticate | None,
    is_bare: bool,
    **limits: Any,
) -> None:
    """Serve all clients that come by HTTP, until a signal ends it."""
    try:
        from accp_adapters.mcp.gateway.http_front import PATH, GatewayApp
        from accp_adapters.mcp.proxy.admission import ProxyLimits, serve_endpoint
        from accp_adapters.serving.hosts import AllowedHosts
    except ImportError as error:
        raise ExtraMissing("a gateway", extra="mcp") from error
    host, port = address
    bounds, hosts = ProxyLimits(**limits), AllowedHosts.of([host, *allow_host])
    names = ", ".join(server.name for server in servers)

    async def serve() -> None:
        app = GatewayApp(servers, new_relay, is_bare=is_bare, hosts=hosts, limits=bounds)
        try:
            await serve_endpoint(
                app, PATH, host=host, port=port, limits=bounds, admit=admit, announce=announcing(f"serves {names}")
            )
        finally:
            await app.close()

    run_listening(serve(), address)


def announcing(what: str) -> Callable[[str], None]:
    """Return what says on standard error at which URL `what` is done."""
    return lambda at: say(f"accp mcp: {at} {what}")


def run_listening(serving: Coroutine[Any, Any, None], address: tuple[str, int]) -> None:
    """Run what listens at `address`, until a signal ends it."""
    import asyncio

    try:
        with suppress(KeyboardInterrupt):
            asyncio.run(serving)
    except OSError as error:
        reason = f"cannot listen at {address[0]}:{address[1]}: {error.strerror}"
        raise typer.BadParameter(reason, param_hint="--listen") from error
