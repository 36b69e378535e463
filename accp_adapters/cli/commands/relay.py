"""`accp relay`: the relay of ACP, for agents that cannot connect directly (ACP transport 0.3, section 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from accp_adapters.cli.commands.serve.entrance import tls_files, url_of
from accp_adapters.cli.errors import ExtraMissing, InputRefused
from accp_adapters.cli.serving import AllowedNames, CertificateFile, KeyFile, host_and_port
from accp_adapters.cli.sources import say

if TYPE_CHECKING:
    from accp_adapters.serving.listening import TlsFiles

__all__ = ["relay"]

_DRAIN_SECONDS = 5
_HEADER_SECONDS = 10.0
_MAX_SECONDS = 86_400.0

Http = Annotated[str, typer.Option(metavar="HOST:PORT", help="Serve HTTP there; port 0: any.")]
Ttl = Annotated[
    float, typer.Option(min=1.0, max=_MAX_SECONDS, help="Seconds after which a message or an unused room is deleted.")
]
Rooms = Annotated[int, typer.Option(min=1, help="Rooms at the same time.")]


def relay(
    *,
    http: Http = "127.0.0.1:7900",
    ttl: Ttl = 60.0,
    rooms: Rooms = 500,
    allow_host: AllowedNames = None,
    certificate: CertificateFile = None,
    key: KeyFile = None,
) -> None:
    """Serve a relay of ACP (binding C) until a signal ends it.

    Whoever knows the token of a room is in it, and reads all that passes. Nothing is stored on a disk. Agents use it
    with `accp serve … --relay acp+ws://HOST:PORT`, guests with the link that holds the token.

    Example: `accp relay --http 0.0.0.0:7900 --allow-host relay.example --certificate c.pem --key k.pem`
    """
    place = host_and_port(http, "--http")
    try:
        from accp_adapters.bindings.acp import RelayLimits, relay_app

        tls, limits = tls_files(certificate, key), RelayLimits(rooms=rooms, ttl_seconds=ttl, join_seconds=ttl)
    except ImportError as error:
        raise ExtraMissing("accp relay", extra="bindings") from error
    import asyncio

    try:
        asyncio.run(_serve(relay_app(limits=limits, hosts=[place[0], *(allow_host or ())]), place, tls))
    except OSError as error:
        raise InputRefused(f"expected an address to listen at, found: {error}", path=http) from error


async def _serve(app: Any, place: tuple[str, int], tls: TlsFiles | None) -> None:
    from accp_adapters.serving.listening import http_server, listen_at

    with listen_at(*place) as listening:
        server = http_server(app, header_seconds=_HEADER_SECONDS, tls=tls, drain_seconds=_DRAIN_SECONDS)
        url = url_of("acp+wss" if tls else "acp+ws", place[0], listening.getsockname()[1])
        say(f"relaying at {url}")
        await server.serve(sockets=[listening])
