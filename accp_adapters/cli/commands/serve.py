"""`accp serve`: a handler behind ACCP over HTTP and WebSocket."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from accp_adapters.cli.errors import ExtraMissing, InputRefused
from accp_adapters.cli.serving import (
    AllowedNames,
    CertificateFile,
    KeyFile,
    TokenVariable,
    authentication,
    host_and_port,
    imported,
)
from accp_core.errors import ProtocolError

if TYPE_CHECKING:
    from accp_adapters.bindings.hosts import Handler
    from accp_adapters.bindings.identity import Authenticate
    from accp_adapters.bindings.logs import FrameLog
    from accp_adapters.serving.listening import TlsFiles

__all__ = ["serve"]

_HEARTBEAT = 30
"""Seconds: "ping/pong intent frames every 30 seconds" (ACCP section 11.2)."""


def serve(
    handler: Annotated[str, typer.Argument(help="Module and name of the handler, such as `agents.crm:answer`.")],
    *,
    http: Annotated[str, typer.Option(metavar="HOST:PORT", help="Where to listen; port 0: a free one.")],
    agent_id: Annotated[str, typer.Option(help="The agent that the handler is.")] = "agent",
    log: Annotated[
        str, typer.Option(help="Where sessions are kept: memory, sqlite:PATH, redis://HOST or nats://HOST.")
    ] = "memory",
    token_env: TokenVariable = None,
    allow_host: AllowedNames = None,
    certificate: CertificateFile = None,
    key: KeyFile = None,
) -> None:
    """Serve a handler to agents on other machines, until a signal ends it.

    The handler is an asynchronous function of a request; what it returns is the answer, what it yields is a stream.
    Without tokens, only clients on this machine are served.

    Example: `accp serve agents.crm:answer --http 127.0.0.1:8930 --log sqlite:sessions.db`
    """
    import asyncio

    host, port = host_and_port(http, "--http")
    if (certificate is None) != (key is None):
        raise typer.BadParameter("expected --certificate and --key together")
    try:
        authenticate = authentication(token_env, host, "--http")
        opened = _open_log(log)
    except ImportError as error:
        raise ExtraMissing("accp serve", extra="bindings") from error
    called = _handler(handler)
    tls = None
    if certificate is not None and key is not None:
        from accp_adapters.serving.listening import TlsFiles

        tls = TlsFiles(certificate=certificate, key=key)
    names = [host, *(allow_host or [])]
    try:
        asyncio.run(_run(called, opened, authenticate, (host, port), agent_id=agent_id, names=names, tls=tls))
    except OSError as error:
        raise InputRefused(f"expected an address to listen at, found: {error}", path=http) from error
    except ProtocolError as error:  # it is unreachable, or that of other workers
        raise typer.BadParameter(str(error), param_hint="--log") from error


def _open_log(address: str) -> FrameLog:
    from accp_adapters.bindings.logs import open_log

    try:
        return open_log(address)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--log") from error


def _handler(place: str) -> Handler:
    found = imported(place, "HANDLER")
    if not callable(found):
        raise typer.BadParameter(f"expected a function as handler, found {found!r:.80}")
    return found  # type: ignore[no-any-return]  # its calls are checked when they are made


async def _run(
    handler: Handler,
    log: FrameLog,
    authenticate: Authenticate,
    address: tuple[str, int],
    *,
    agent_id: str,
    names: list[str],
    tls: TlsFiles | None,
) -> None:
    from dataclasses import replace

    from accp_adapters.bindings.accp.app import accp_app
    from accp_adapters.bindings.hosts import HOST_SESSION, SessionHost
    from accp_adapters.bindings.limits import BindingLimits
    from accp_adapters.serving.listening import http_server, listen_at
    from accp_adapters.serving.websockets import WebSocketConnection

    limits, options = BindingLimits(), replace(HOST_SESSION, heartbeat=_HEARTBEAT)
    try:
        with listen_at(*address) as listening:
            async with SessionHost(handler, agent_id=agent_id, log=log, options=options) as host:
                app = accp_app(host, authenticate=authenticate, limits=limits, hosts=names)
                server = http_server(
                    app,
                    header_seconds=limits.body_time,
                    websocket=WebSocketConnection,
                    message_bytes=limits.frame_bytes,
                    tls=tls,
                    drain_seconds=10,
                )
                shown = f"[{address[0]}]" if ":" in address[0] else address[0]
                scheme = "https" if tls else "http"
                typer.echo(f"serving @{agent_id} at {scheme}://{shown}:{listening.getsockname()[1]}", err=True)
                await server.serve(sockets=[listening])
    finally:
        await log.aclose()
