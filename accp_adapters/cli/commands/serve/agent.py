"""An agent of ACP over WebSocket and HTTP, TCP, a relay, or standard input and output."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import typer

from accp_adapters.cli.commands.serve.entrance import Entrance, url_of
from accp_adapters.cli.sources import say

if TYPE_CHECKING:
    from accp_adapters.bindings.acp import AcpAgent, AcpHost

__all__ = ["prepare_agent"]

_DRAIN_SECONDS = 5


def prepare_agent(
    agent: AcpAgent, entrance: Entrance, given: Sequence[str], *, relay: str | None, stdio: bool
) -> Callable[[], Coroutine[Any, Any, None]]:
    """Return what serves an agent, at each place of `entrance` and in the rooms of `relay`, or to the parent process.

    `given` are the names of all options that the command line gives.
    """
    from accp_adapters.bindings.acp import AcpHost

    beside = [name for name in given if name != "--stdio"]
    if stdio and beside:
        raise typer.BadParameter(f"expected --stdio alone, found {beside[0]} beside it", param_hint="--stdio")
    if stdio:
        return partial(_serve_parent, agent)
    if not entrance.places and not relay:
        raise typer.BadParameter("expected at least one of --http, --tcp, --relay and --stdio, found none")
    links = _links(relay, entrance.tokens) if relay else []
    return partial(_serve_network, AcpHost(agent, authenticate=entrance.authenticate), entrance, links)


# "The P2P token (acp://) and the relay token (acp+wss://) are the same value." (ACP 5.1)
def _links(relay: str, tokens: Sequence[str]) -> list[str]:
    """Return the link of each token on a relay; a refusal shows no token."""
    from accp_core.acp import parse_link
    from accp_core.errors import DecodeError

    if not tokens:
        reason = "expected --token-env with the tokens of the rooms, or --make-token; found neither"
        raise typer.BadParameter(reason, param_hint="--relay")
    links = [f"{relay.rstrip('/')}/acp/{token}" for token in tokens]
    try:
        for link in links:
            parse_link(link)
    except DecodeError as error:
        reason = f"expected acp+wss://HOST, found {relay!r}: {error.reason}"
        raise typer.BadParameter(reason, param_hint="--relay") from None
    return links


async def _serve_parent(agent: AcpAgent) -> None:
    from accp_adapters.bindings.acp import serve_stdio

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the thread that reads would outlive a KeyboardInterrupt
    await serve_stdio(agent)


async def _serve_network(host: AcpHost, entrance: Entrance, links: list[str]) -> None:
    import asyncio

    from accp_adapters.bindings.acp import serve_relay, serve_tcp

    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    tasks = [asyncio.create_task(serve_relay(host, link)) for link in links]
    try:
        async with contextlib.AsyncExitStack() as stack:
            if "--tcp" in entrance.places:
                name, port = entrance.places["--tcp"]
                tls = entrance.tls.context() if entrance.tls else None
                port = await stack.enter_async_context(serve_tcp(host, host=name, port=port, ssl=tls))
                _say(host, url_of("tls" if tls else "tcp", name, port))
            if links:
                _say(host, links[0] if entrance.made_token else links[0].rpartition("/acp/")[0])
            if "--http" in entrance.places:
                await _serve_http(host, entrance)
            else:
                await stop.wait()
    finally:
        host.end()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _serve_http(host: AcpHost, entrance: Entrance) -> None:
    """Serve until a signal comes, which uvicorn takes."""
    from accp_adapters.bindings.acp import acp_app
    from accp_adapters.serving.listening import http_server, listen_at
    from accp_adapters.serving.websockets import WebSocketConnection

    app: Any = acp_app(host, hosts=entrance.hosts)
    with listen_at(*entrance.http) as listening:
        server = http_server(
            app,
            header_seconds=host.limits.body_seconds,
            write_seconds=host.limits.write_seconds,
            websocket=WebSocketConnection,
            message_bytes=host.limits.message_bytes,
            tls=entrance.tls,
            drain_seconds=_DRAIN_SECONDS,
        )
        port = listening.getsockname()[1]
        _say(host, url_of(entrance.scheme, entrance.http[0], port))
        if entrance.made_token:  # a token that outlives this run is not ours to print
            place = url_of("wss" if entrance.tls else "acp", entrance.http[0], port)
            host.link = f"{place}/{entrance.made_token}"
            _say(host, host.link)
        await server.serve(sockets=[listening])


def _say(host: AcpHost, address: str) -> None:
    say(f"serving {host.card.name!r} at {address}")
