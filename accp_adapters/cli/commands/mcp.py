"""`accp mcp`: a proxy for any MCP server that compresses the results of its tools."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from accp_adapters.cli.errors import ExtraMissing

if TYPE_CHECKING:
    from accp_adapters.mcp.proxy.headers import Headers
    from accp_adapters.mcp.proxy.relay import Relay

__all__ = ["mcp"]


Command = Annotated[
    list[str] | None,
    typer.Argument(metavar="-- COMMAND ARGS…", help="The server, which is started as a child process."),
]
Url = Annotated[str, typer.Option(help="The streamable HTTP endpoint of the server, instead of a command.")]
Listen = Annotated[
    str,
    typer.Option(
        metavar="HOST:PORT", help="With --url: serve HTTP at this address; without it, serve standard streams."
    ),
]
Policy = Annotated[
    Literal["negotiate", "always", "never"],
    typer.Option(help="Compress results for clients that ask for it, for all clients, or for none."),
]
Carrier = Annotated[
    Literal["resource", "text"], typer.Option(help="Send a frame as an embedded resource or as a text block.")
]
Structured = Annotated[
    Literal["keep", "drop"], typer.Option(help="What becomes of structured content that the text repeats.")
]
Tools = Annotated[
    Literal["plain", "lazy"],
    typer.Option(help="List all tool definitions at once, or an index with definitions on demand."),
]
Fetch = Annotated[
    bool, typer.Option("--fetch", help="Show large results as previews, and offer accp_fetch, which opens them.")
]
Decode = Annotated[
    bool, typer.Option("--decode", help="The inverse: ask the server for frames and give the client plain results.")
]
HeaderFields = Annotated[
    list[str] | None,
    typer.Option("--header", metavar="NAME: VALUE", help="With --url: a header field of every request; repeatable."),
]
AllowedHosts = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-host",
        metavar="NAME",
        help="With --listen: another name that Host and Origin may have; repeatable.",
    ),
]


def mcp(
    command: Command = None,
    *,
    url: Url = "",
    listen: Listen = "",
    policy: Policy = "negotiate",
    carrier: Carrier = "resource",
    structured: Structured = "keep",
    tools: Tools = "plain",
    fetch: Fetch = False,
    decode: Decode = False,
    header: HeaderFields = None,
    allow_host: AllowedHosts = None,
) -> None:
    """Run a proxy for an MCP server in any language, and compress the results of its tools.

    Requests pass byte for byte, and so does every result that would not get smaller. Environment, standard error,
    signals and exit code are those of the server. A client that does not ask for frames notices nothing, unless
    `--policy always` gives every client views as text.

    Example: `accp mcp --policy always -- uvx mcp-server-git --repository .`

    Example: `accp mcp --url https://example.com/mcp --listen 127.0.0.1:8931`
    """
    if bool(command) == bool(url):
        raise typer.BadParameter("expected either a command after -- or --url, found " + ("both" if url else "neither"))
    if listen and not url:
        raise typer.BadParameter("expected --url with --listen, found none", param_hint="--listen")
    new_relay = (
        _decoder
        if decode
        else _encoder(policy=policy, carrier=carrier, structured=structured, tools=tools, fetch=fetch)
    )
    if command:
        raise typer.Exit(_serve_command(command, new_relay()))
    if not url.startswith(("http://", "https://")):
        raise typer.BadParameter(f"expected an http or https URL, found {url!r}", param_hint="--url")
    if listen:
        _listen(url, listen, new_relay, header or [], allow_host or [])
    else:
        _serve_remote(url, new_relay(), header or [])


def _decoder() -> Relay:
    from accp_adapters.mcp import Decoder
    from accp_adapters.mcp.proxy.relay import Relay

    return Relay(Decoder())


def _encoder(**options: Any) -> Callable[[], Relay]:
    from accp_adapters.mcp import Encoder
    from accp_adapters.mcp.proxy.relay import encoder_relay

    return lambda: encoder_relay(Encoder(**options))


def _serve_command(command: list[str], relay: Relay) -> int:
    from accp_adapters.mcp.proxy.stdio import end_like, run_stdio

    try:
        return end_like(run_stdio(command, relay))
    except OSError as error:
        raise typer.BadParameter(f"cannot start {command[0]!r}: {error.strerror}") from error


def _listen(url: str, listen: str, new_relay: Callable[[], Relay], header: list[str], allow_host: list[str]) -> None:
    try:
        from accp_adapters.mcp.proxy.headers import AllowedHosts
        from accp_adapters.mcp.proxy.http import serve_http
    except ImportError as error:
        raise ExtraMissing("an HTTP proxy", extra="mcp") from error
    host, port = _address(listen)
    hosts = AllowedHosts.of([host, *allow_host])
    serving = serve_http(
        url,
        new_relay,
        host=host,
        port=port,
        hosts=hosts,
        extra=_fields(header),
        announce=lambda at: typer.echo(f"accp mcp: {at} is a proxy for {url}", err=True),
    )
    try:
        with suppress(KeyboardInterrupt):
            asyncio.run(serving)
    except OSError as error:
        raise typer.BadParameter(f"cannot listen at {listen}: {error.strerror}", param_hint="--listen") from error


def _serve_remote(url: str, relay: Relay, header: list[str]) -> None:
    try:
        from accp_adapters.mcp.proxy.remote import run_remote
    except ImportError as error:
        raise ExtraMissing("an HTTP proxy", extra="mcp") from error
    with suppress(KeyboardInterrupt):
        asyncio.run(run_remote(url, relay, extra=_fields(header)))


def _address(listen: str) -> tuple[str, int]:
    host, _, port = listen.rpartition(":")
    if not port.isdecimal() or int(port) > 65_535:
        raise typer.BadParameter(f"expected HOST:PORT, found {listen!r}", param_hint="--listen")
    return host.strip("[]") or "127.0.0.1", int(port)


def _fields(lines: list[str]) -> Headers:
    fields = []
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name.strip().isascii() or not value.strip().isprintable():
            raise typer.BadParameter(f"expected NAME: VALUE, found {name!r}", param_hint="--header")
        fields.append((name.strip().lower().encode(), value.strip().encode()))
    return fields
