"""`accp mcp run`, or `accp mcp` alone: a proxy for any MCP server that compresses the results of its tools."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from accp_adapters.cli.commands.mcp.gateway import (
    announcing,
    command_server,
    configured_servers,
    listen_for_servers,
    run_listening,
    serve_servers,
)
from accp_adapters.cli.commands.mcp.headers import header_fields
from accp_adapters.cli.commands.mcp.install import StateFolder
from accp_adapters.cli.commands.mcp.meter import Terminated, metering, server_name
from accp_adapters.cli.errors import ExtraMissing
from accp_adapters.cli.serving import TokenVariable, admission, host_and_port
from accp_adapters.cli.tool_forms import ChangesOption, FetchOption, ToolOption, tool_forms

if TYPE_CHECKING:
    from accp_adapters.bindings.identity import Authenticate
    from accp_adapters.mcp.gateway.configuration import ServerSettings
    from accp_adapters.mcp.proxy.relay import Relay
    from accp_adapters.mcp.savings.meter import Meter
    from accp_adapters.serving.hosts import Headers
    from accp_core.ports import ColdStore

__all__ = ["run"]

_STORE_MINUTES: Final = 24 * 60.0


Command = Annotated[
    list[str] | None,
    typer.Argument(metavar="-- COMMAND ARGS…", help="The server, which is started as a child process."),
]
Url = Annotated[str, typer.Option(help="The streamable HTTP endpoint of the server, instead of a command.")]
UrlVariable = Annotated[
    str, typer.Option("--url-env", metavar="VARIABLE", help="The same, read from an environment variable.")
]
Name = Annotated[str, typer.Option(help="What this server is called where counts and messages name it.")]
Config = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="A client's configuration file: all its servers behind this one endpoint."),
]
BareNames = Annotated[
    bool, typer.Option("--bare-names", help="With --config and one server: names without the server's name before.")
]
Listen = Annotated[
    str,
    typer.Option(metavar="HOST:PORT", help="Serve HTTP at this address; without it, serve standard streams."),
]
Policy = Annotated[
    Literal["negotiate", "always", "never"] | None,
    typer.Option(
        help="Compress results for clients that ask for it, for all clients, or for none. "
        "By default for all on standard streams, where a host of today asks for nothing, and on request over HTTP."
    ),
]
Carrier = Annotated[
    Literal["resource", "text"], typer.Option(help="Send a frame as an embedded resource or as a text block.")
]
Host = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="What shows results to a model: claude-code, cursor, vscode…, or any that shows text, structured, both; "
        "auto: by the name that the client gives.",
    ),
]
Structured = Annotated[
    Literal["auto", "keep", "drop"],
    typer.Option(help="What becomes of structured content that the text repeats; auto: what the host needs."),
]
Tools = Annotated[
    Literal["full", "signatures", "names", "lazy", "auto"],
    typer.Option(help="List all tool definitions, or one tool that has signatures, names or a search of the others."),
]
Include = Annotated[
    list[str] | None,
    typer.Option(metavar="PATTERN", help="List and call only tools whose name matches, such as get_*; repeatable."),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(metavar="PATTERN", help="Neither list nor call tools whose name matches; repeatable."),
]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATTERN",
        help="Let a list of calls run tools whose name matches, besides those that only read; repeatable.",
    ),
]
Store = Annotated[
    str,
    typer.Option(
        metavar="ADDRESS",
        envvar="ACCP_STORE",
        help="With --fetch: where full texts are kept, sqlite:PATH or redis://HOST, for several proxies of one server "
        "and after a restart. Without it, in memory.",
    ),
]
Decode = Annotated[
    bool, typer.Option("--decode", help="The inverse: ask the server for frames and give the client plain results.")
]
HeaderFields = Annotated[
    list[str] | None,
    typer.Option("--header", metavar="NAME: VALUE", help="With --url: a header field of every request; repeatable."),
]
HeaderVariables = Annotated[
    list[str] | None,
    typer.Option(
        "--header-env",
        metavar="NAME=VARIABLE",
        help="The same, its value read from an environment variable, where no list of processes shows it; repeatable.",
    ),
]
HeaderFile = Annotated[
    Path | None,
    typer.Option("--header-file", metavar="FILE", help="The same, read from a file with a NAME: VALUE in each line."),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Say nothing on standard error.")]
AllowedHosts = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-host",
        metavar="NAME",
        help="With --listen: another name that Host and Origin may have; repeatable.",
    ),
]
MaxBody = Annotated[
    int, typer.Option(min=1, metavar="BYTES", help="With --listen: a longer body of a request is refused.")
]
RequestSeconds = Annotated[
    float,
    typer.Option(
        "--request-timeout",
        min=0.1,
        metavar="SECONDS",
        help="With --listen: how long the header of a request may take, and its body.",
    ),
]


def run(
    command: Command = None,
    *,
    url: Url = "",
    url_env: UrlVariable = "",
    config: Config = None,
    bare_names: BareNames = False,
    name: Name = "",
    listen: Listen = "",
    token_env: TokenVariable = None,
    policy: Policy = None,
    carrier: Carrier = "resource",
    host: Host = "auto",
    structured: Structured = "auto",
    tools: Tools = "full",
    include: Include = None,
    exclude: Exclude = None,
    allow: Allow = None,
    tool: ToolOption = None,
    fetch: FetchOption = False,
    changes: ChangesOption = False,
    store: Store = "",
    decode: Decode = False,
    header: HeaderFields = None,
    header_env: HeaderVariables = None,
    header_file: HeaderFile = None,
    allow_host: AllowedHosts = None,
    max_body: MaxBody = 4 * 1024 * 1024,
    request_timeout: RequestSeconds = 30,
    state_dir: StateFolder = None,
    quiet: Quiet = False,
) -> None:
    """Run a proxy for an MCP server in any language, and compress the results of its tools.

    Requests pass byte for byte, and so does every result that would not get smaller. Environment, standard error,
    signals and exit code are those of the server. On standard streams every host gets views, and two lines on
    standard error say what is done and what it saved. Over HTTP a client that does not ask for frames notices nothing.

    Example: `accp mcp -- uvx mcp-server-git --repository .`

    Example: `accp mcp --url https://example.com/mcp --listen 127.0.0.1:8931`
    """
    url = url or os.environ.get(url_env, "")
    given = [bool(command), bool(url), config is not None]
    if sum(given) != 1:
        found = "more than one" if any(given) else "none"
        raise typer.BadParameter(f"expected a command after --, or --url, or --config; found {found}")
    address, admit = _entrance(listen, token_env)
    extra = header_fields(header or [], header_env or [], header_file)
    chosen = policy or ("negotiate" if listen else "always")
    server = server_name(name or (config.stem if config else ""), command or [], url)
    servers = _servers(config, bare=bare_names, quiet=quiet)
    if command and listen:
        servers = [command_server(server, command)]
    if not listen and not decode and chosen == "always":
        # No daemon: a thread that ends with the process while tiktoken counts in it aborts the process.
        threading.Thread(target=_warm_up).start()
    options: dict[str, Any] = {"policy": chosen, "carrier": carrier, "host": host, "structured": structured}
    options |= _tool_options(tools, include, exclude, allow)
    options |= {"forms": tool_forms(tool), "fetch": fetch, "changes": changes}
    options["store"] = _store(store) if fetch else None
    limits: dict[str, Any] = {"body_bytes": max_body, "request_seconds": request_timeout}
    try:
        with _relays(server, None if decode else options, state_dir=state_dir, quiet=quiet) as new_relay:
            if servers and address:
                limits |= {"admit": admit, "is_bare": bare_names or bool(command)}
                listen_for_servers(servers, new_relay, address, allow_host or [], **limits)
            elif servers:
                serve_servers(servers, new_relay(), is_bare=bare_names)
            elif address:
                _listen(url, address, new_relay, extra, allow_host or [], admit=admit, **limits)
            elif url:
                _serve_remote(url, new_relay(), extra)
            code = _serve_command(command, new_relay()) if command and not servers else 0
    except Terminated as ended:
        code = -ended.number
    raise typer.Exit(_end_like(code))


def _entrance(listen: str, token_env: str | None) -> tuple[tuple[str, int] | None, Authenticate | None]:
    """Return where to listen, and whose tokens are asked for there."""
    if listen:
        address = host_and_port(listen, "--listen")
        return address, admission(token_env, address[0], "--listen")
    if token_env is not None:
        raise typer.BadParameter("expected --listen, found none", param_hint="--token-env")
    return None, None


@contextmanager
def _relays(
    server: str, options: dict[str, Any] | None, *, state_dir: Path | None, quiet: bool
) -> Iterator[Callable[[], Relay]]:
    """Yield what returns a new relay: of an encoder with `options`, which is counted, or of a decoder for None."""
    if options is None:
        yield _decoder
        return
    with metering(server, options["policy"], state_dir=state_dir, quiet=quiet) as meter:
        yield _encoder(meter, **options)


def _servers(config: Path | None, *, bare: bool, quiet: bool) -> list[ServerSettings]:
    """Return the servers of a configuration file, none without one."""
    servers = configured_servers(config, quiet=quiet) if config else []
    if bare and len(servers) != 1:
        reason = f"expected a configuration with one server, found {len(servers)}"
        raise typer.BadParameter(reason, param_hint="--bare-names")
    return servers


def _tool_options(
    tools: str, include: list[str] | None, exclude: list[str] | None, allow: list[str] | None
) -> dict[str, Any]:
    patterns = {"include": include, "exclude": exclude, "allow": allow}
    given = {name: tuple(each or ()) for name, each in patterns.items()}
    from accp_adapters.mcp.gateway.names import server_of_name

    return {"tools": tools, "call_lists": True, "server_of": server_of_name, **given}


def _decoder() -> Relay:
    from accp_adapters.mcp import Decoder
    from accp_adapters.mcp.proxy.relay import Relay
    from accp_adapters.mcp.shim.router import ShimRouter

    return Relay(ShimRouter(Decoder()))


def _encoder(meter: Meter, **options: Any) -> Callable[[], Relay]:
    from accp_adapters.mcp import Encoder, EncoderOptions
    from accp_adapters.mcp.savings.meter import metered_relay

    try:
        EncoderOptions(**options)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    return lambda: metered_relay(Encoder(**options), meter)


def _store(address: str) -> ColdStore | None:
    """Return the store at `address`, None for none; in Redis, texts of a session expire a day after the last one."""
    from accp_adapters.stores import open_store

    try:
        return open_store(address, ttl=_STORE_MINUTES) if address else None
    except (ValueError, sqlite3.Error) as error:
        raise typer.BadParameter(str(error), param_hint="--store") from error
    except ImportError as error:
        raise ExtraMissing("a store in Redis", extra="redis") from error


def _warm_up() -> None:
    """Load the vocabulary before the first client is served."""
    from accp_adapters.mcp import Encoder

    Encoder().warm_up()


def _serve_command(command: list[str], relay: Relay) -> int:
    from accp_adapters.mcp.proxy.pipes import run_stdio

    try:
        return run_stdio(command, relay)
    except OSError as error:
        raise typer.BadParameter(f"cannot start {command[0]!r}: {error.strerror}") from error


def _end_like(code: int) -> int:
    from accp_adapters.mcp.proxy.pipes import end_like

    return end_like(code)


def _listen(
    url: str,
    address: tuple[str, int],
    new_relay: Callable[[], Relay],
    extra: Headers,
    allow_host: list[str],
    *,
    admit: Authenticate | None,
    **limits: Any,
) -> None:
    try:
        from accp_adapters.mcp.proxy.admission import ProxyLimits
        from accp_adapters.mcp.proxy.endpoint import ServerUrl
        from accp_adapters.mcp.proxy.http import serve_http
        from accp_adapters.serving.hosts import AllowedHosts
    except ImportError as error:
        raise ExtraMissing("an HTTP proxy", extra="mcp") from error
    host, port = address
    with _url_refused():
        server = ServerUrl.parse(url).shown
    _warm_up()
    serving = serve_http(
        url,
        new_relay,
        host=host,
        port=port,
        hosts=AllowedHosts.of([host, *allow_host]),
        extra=extra,
        limits=ProxyLimits(**limits),
        admit=admit,
        announce=announcing(f"is a proxy for {server}"),
    )
    run_listening(serving, address)


def _serve_remote(url: str, relay: Relay, extra: Headers) -> None:
    import asyncio

    try:
        from accp_adapters.mcp.links.url_link import UrlLink
        from accp_adapters.mcp.proxy.endpoint import ServerUrl
        from accp_adapters.mcp.proxy.lines import serve_lines
    except ImportError as error:
        raise ExtraMissing("an HTTP proxy", extra="mcp") from error
    with _url_refused():
        ServerUrl.parse(url)
    with suppress(KeyboardInterrupt):
        asyncio.run(serve_lines(UrlLink(url, extra=extra), relay))


@contextmanager
def _url_refused() -> Iterator[None]:
    """Refuse a URL that is none, without showing it: it may hold a password."""
    try:
        yield
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--url") from error
