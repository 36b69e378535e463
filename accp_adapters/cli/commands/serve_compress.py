"""`accp serve-compress`: the compression service that gateways such as LiteLLM call."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from accp_adapters.cli.errors import ExtraMissing, InputRefused
from accp_adapters.cli.serving import (
    AllowedNames,
    CertificateFile,
    KeyFile,
    TokenVariable,
    authentication,
    host_and_port,
)

if TYPE_CHECKING:
    from accp_adapters.policy import Policy
    from accp_adapters.serving.listening import TlsFiles

__all__ = ["serve_compress"]


class Preset(StrEnum):
    """What becomes a preview."""

    LOSSLESS = "lossless"
    DEFAULT = "default"
    TIGHT = "tight"


def serve_compress(
    *,
    http: Annotated[str, typer.Option(metavar="HOST:PORT", help="Where to listen; port 0: a free one.")],
    policy: Annotated[
        Preset, typer.Option(help="lossless: nothing is hidden; default and tight: large results become previews.")
    ] = Preset.LOSSLESS,
    keep_seconds: Annotated[float, typer.Option(help="How long the text behind a preview is kept.")] = 3_600.0,
    keep_bytes: Annotated[int, typer.Option(help="Bytes of the texts that are kept for one token.")] = 16 << 20,
    token_env: TokenVariable = None,
    allow_host: AllowedNames = None,
    certificate: CertificateFile = None,
    key: KeyFile = None,
) -> None:
    """Compress the messages of gateways (POST /v1/compress, as LiteLLM's guardrail headroom calls it), until a signal.

    Without tokens, only clients on this machine are served.

    Example: `accp serve-compress --http 127.0.0.1:8787`
    """
    import asyncio

    host, port = host_and_port(http, "--http")
    if (certificate is None) != (key is None):
        raise typer.BadParameter("expected --certificate and --key together")
    try:
        from accp_adapters.gateway import KeptTexts, compress_app
        from accp_adapters.serving.listening import TlsFiles
    except ImportError as error:
        raise ExtraMissing("accp serve-compress", extra="bindings") from error
    authenticate = authentication(token_env, host, "--http")
    try:
        kept = KeptTexts(seconds=keep_seconds, max_bytes=keep_bytes)
        names = [host, *(allow_host or [])]
        app = compress_app(policy=_policy(policy), authenticate=authenticate, hosts=names, kept=kept)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--keep-seconds, --keep-bytes") from error
    tls = TlsFiles(certificate=certificate, key=key) if certificate and key else None
    try:
        asyncio.run(_run(app, (host, port), tls))
    except OSError as error:
        raise InputRefused(f"expected an address to listen at, found: {error}", path=http) from error


def _policy(preset: Preset) -> Policy | None:
    from dataclasses import replace

    from accp_adapters.policy import Policy

    chosen = {Preset.LOSSLESS: Policy.lossless(), Preset.DEFAULT: Policy(), Preset.TIGHT: Policy.tight()}[preset]
    # What a gateway withholds of a conversation must not change the rest.
    return replace(chosen, cache_aware=False)


async def _run(app: Any, address: tuple[str, int], tls: TlsFiles | None) -> None:
    from accp_adapters.gateway import GATEWAY_LIMITS
    from accp_adapters.serving.listening import http_server, listen_at

    with listen_at(*address) as listening:
        server = http_server(app, header_seconds=GATEWAY_LIMITS.body_time, tls=tls, drain_seconds=10)
        shown = f"[{address[0]}]" if ":" in address[0] else address[0]
        typer.echo(f"compressing at {'https' if tls else 'http'}://{shown}:{listening.getsockname()[1]}", err=True)
        await server.serve(sockets=[listening])
