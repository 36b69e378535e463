"""`accp serve-acp`: an agent of ACP over WebSocket and HTTP, TCP, a relay, or standard input and output."""

from __future__ import annotations

import contextlib
import signal
import sys
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
    imported,
    tokens_of,
)

if TYPE_CHECKING:
    from accp_adapters.bindings.acp import AcpAgent, AcpHost
    from accp_adapters.serving.listening import TlsFiles

__all__ = ["serve_acp"]

_DRAIN_SECONDS = 5


def serve_acp(
    agent: Annotated[str, typer.Argument(help="Module and name of the agent, such as `agents.crm:agent`.")],
    *,
    http: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Serve WebSocket and HTTP (A, D) there; port 0: a free one.")
    ] = None,
    tcp: Annotated[str | None, typer.Option(metavar="HOST:PORT", help="Serve TCP (E) there.")] = None,
    relay: Annotated[
        str | None,
        typer.Option(metavar="acp+wss://HOST", help="Serve the guest of each token in its room of this relay (C)."),
    ] = None,
    stdio: Annotated[
        bool, typer.Option("--stdio", help="Serve the process that started this one (B); no other option goes with it.")
    ] = False,
    token_env: TokenVariable = None,
    allow_host: AllowedNames = None,
    certificate: CertificateFile = None,
    key: KeyFile = None,
) -> None:
    """Serve an agent of ACP until a signal ends it, or the end of its standard input.

    The agent is an object with a `card` and an asynchronous method `handle(message, peer)`, whose result is the reply.
    Without tokens, only clients on this machine are served.

    Example: `accp serve-acp agents.crm:agent --http 127.0.0.1:7901 --tcp 127.0.0.1:7902`
    """
    import asyncio

    network = {"--http": http, "--tcp": tcp, "--relay": relay}
    given = [
        name for name, value in {**network, "--token-env": token_env, "--certificate": certificate}.items() if value
    ]
    if stdio and given:
        raise typer.BadParameter(f"expected --stdio alone, found {given[0]} beside it", param_hint="--stdio")
    if not stdio and not any(network.values()):
        raise typer.BadParameter("expected at least one of --http, --tcp, --relay and --stdio, found none")
    if (certificate is None) != (key is None):
        raise typer.BadParameter("expected --certificate and --key together")
    try:
        from accp_adapters.bindings.acp import AcpHost
        from accp_adapters.serving.listening import TlsFiles
    except ImportError as error:
        raise ExtraMissing("accp serve-acp", extra="bindings") from error
    places = {name: host_and_port(value, name) for name, value in {"--http": http, "--tcp": tcp}.items() if value}
    allowed = [authentication(token_env, host, name) for name, (host, _) in places.items()]
    links = _links(relay, token_env) if relay else []
    served = _agent(agent)
    if stdio:
        asyncio.run(_serve_parent(served))
        return
    host = AcpHost(served, authenticate=(allowed or [authentication(token_env, "127.0.0.1", "--relay")])[0])
    tls = TlsFiles(certificate=certificate, key=key) if certificate and key else None
    try:
        asyncio.run(_serve_network(host, places, links, names=allow_host or [], tls=tls))
    except OSError as error:
        raise InputRefused(f"expected an address to listen at, found: {error}", path=http or tcp or "") from error


def _agent(place: str) -> AcpAgent:
    with contextlib.redirect_stdout(sys.stderr):  # with --stdio, standard output belongs to the messages
        found = imported(place, "AGENT")
    if not callable(getattr(found, "handle", None)) or not hasattr(found, "card"):
        raise typer.BadParameter(f"expected an object with a card and a method handle as agent, found {found!r:.80}")
    return found  # type: ignore[no-any-return]  # its calls are checked when they are made


# "The P2P token (acp://) and the relay token (acp+wss://) are the same value." (ACP 5.1)
def _links(relay: str, token_env: str | None) -> list[str]:
    """Return the link of each token on a relay; a refusal shows no token."""
    from accp_core.acp import parse_link
    from accp_core.errors import DecodeError

    tokens = tokens_of(token_env) if token_env else {}
    if not tokens:
        raise typer.BadParameter("expected --token-env with the tokens of the rooms", param_hint="--relay")
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


async def _serve_network(
    host: AcpHost, places: dict[str, tuple[str, int]], links: list[str], *, names: list[str], tls: TlsFiles | None
) -> None:
    import asyncio

    from accp_adapters.bindings.acp import serve_relay, serve_tcp

    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    tasks = [asyncio.create_task(serve_relay(host, link)) for link in links]
    try:
        async with contextlib.AsyncExitStack() as stack:
            if "--tcp" in places:
                name, port = places["--tcp"]
                port = await stack.enter_async_context(serve_tcp(host, host=name, port=port, ssl=_server_tls(tls)))
                _say(host, f"{'tls' if tls else 'tcp'}://{_shown(name)}:{port}")
            if links:
                _say(host, links[0].rpartition("/acp/")[0])
            if "--http" in places:
                await _serve_http(host, places["--http"], names, tls)
            else:
                await stop.wait()
    finally:
        host.end()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _serve_http(host: AcpHost, place: tuple[str, int], names: list[str], tls: TlsFiles | None) -> None:
    """Serve until a signal comes, which uvicorn takes."""
    from accp_adapters.bindings.acp import acp_app
    from accp_adapters.serving.listening import http_server, listen_at
    from accp_adapters.serving.websockets import WebSocketConnection

    app: Any = acp_app(host, hosts=[place[0], *names])
    with listen_at(*place) as listening:
        server = http_server(
            app,
            header_seconds=host.limits.body_seconds,
            websocket=WebSocketConnection,
            message_bytes=host.limits.message_bytes,
            tls=tls,
            drain_seconds=_DRAIN_SECONDS,
        )
        _say(host, f"{'https' if tls else 'http'}://{_shown(place[0])}:{listening.getsockname()[1]}")
        await server.serve(sockets=[listening])


def _server_tls(files: TlsFiles | None) -> Any:
    import ssl

    if files is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(files.certificate, files.key)
    return context


def _say(host: AcpHost, address: str) -> None:
    typer.echo(f"serving {host.card.name!r} at {address}", err=True)


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
