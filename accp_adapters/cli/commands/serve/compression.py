"""The compression service that gateways such as LiteLLM call."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import typer

from accp_adapters.cli.commands.serve.entrance import Entrance, url_of
from accp_adapters.cli.sources import say
from accp_adapters.cli.tool_forms import tool_forms

if TYPE_CHECKING:
    from accp_adapters.policy import Policy
    from accp_core.projection import ToolForm

__all__ = ["prepare_compression"]


def prepare_compression(
    entrance: Entrance, policy: str, *, tools: list[str] | None, seconds: float, max_bytes: int
) -> Callable[[], Coroutine[Any, Any, None]]:
    """Return what serves `POST /v1/compress` at the place of `--http`."""
    from accp_adapters.gateway import KeptTexts, compress_app

    hosts, forms = entrance.hosts, tool_forms(tools)
    try:
        kept = KeptTexts(seconds=seconds, max_bytes=max_bytes)
        app = compress_app(policy=_policy(policy, forms), authenticate=entrance.authenticate, hosts=hosts, kept=kept)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--keep-seconds, --keep-bytes") from error
    return partial(_serve, app, entrance)


def _policy(preset: str, forms: Mapping[str, ToolForm]) -> Policy:
    from dataclasses import replace

    from accp_adapters.policy import Policy

    # What a gateway withholds of a conversation must not change the rest.
    return replace(Policy.named(preset), tools=forms, cache_aware=False)


async def _serve(app: Any, entrance: Entrance) -> None:
    from accp_adapters.gateway import GATEWAY_LIMITS
    from accp_adapters.serving.listening import http_server, listen_at

    with listen_at(*entrance.http) as listening:
        server = http_server(app, header_seconds=GATEWAY_LIMITS.body_time, tls=entrance.tls, drain_seconds=10)
        url = url_of(entrance.scheme, entrance.http[0], listening.getsockname()[1])
        say(f"compressing at {url}")
        await server.serve(sockets=[listening])
