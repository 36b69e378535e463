"""`accp inspect`: a page about a running or a recorded graph."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Annotated, Final

import typer

from accp_adapters.cli.errors import ExtraMissing, InputRefused

if TYPE_CHECKING:
    from accp_adapters.inspector.live.access import Access
    from accp_adapters.inspector.live.sources.cold_texts import ColdTexts
    from accp_adapters.inspector.live.sources.source import Source
    from accp_adapters.replay import StrategyName

__all__ = ["inspect"]

_HOST: Final = "127.0.0.1"
_HEADER_SECONDS: Final = 10.0
_HEADER_BYTES: Final = 160_000
"""More than an address of the page may have, so that the page says so itself."""


def inspect(
    source: Annotated[
        str | None,
        typer.Argument(
            help="Checkpoints (a SQLite file, a `postgresql://` URL), frames (JSON lines, a frame log in SQLite, "
            "`redis://` or `nats://`), or recorded runs as `accp replay` reads them."
        ),
    ] = None,
    *,
    example: Annotated[bool, typer.Option("--example", help="Show the run that comes with this package.")] = False,
    run_format: Annotated[
        str | None,
        typer.Option(
            "--format", help="How recorded runs are written, see docs/replay.md; without it, found by content."
        ),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option("--store", help="Where references are kept: sqlite:PATH, redis://HOST or postgresql://HOST/DB."),
    ] = None,
    policy: Annotated[
        str, typer.Option("--policy", help="The policy of projected prompts: lossless, default or tight.")
    ] = "default",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Where to listen on this machine; 0: a free port.")] = 0,
    browser: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Show a running or a recorded graph on a page: who said what to whom, each prompt, each frame, each reference.

    The page is read-only and for this machine only. The address that is printed opens it once, in one browser. While
    the source grows, the page follows. Values behind keys such as `password` are hidden. Ctrl-C ends it.

    Example: `accp inspect --example`

    Example: `accp inspect threads.sqlite`

    Example: `accp inspect frames.jsonl`

    Example: `accp inspect redis://localhost:6379/0`
    """
    import asyncio

    address = _address(source, example=example)
    try:
        opened, texts = _opened(address, run_format, store)
        chosen = _policy(policy)
        app, token = _app(opened, chosen, texts)
    except ImportError as error:
        raise ExtraMissing("accp inspect", extra=_extra(store or address)) from error
    try:
        asyncio.run(_serve(app, token, port, chosen, browser=browser))
    except OSError as error:
        raise InputRefused(f"expected a port to listen at, found: {error}", path=f"{_HOST}:{port}") from error


def _address(source: str | None, *, example: bool) -> str:
    from accp_adapters.cli.replaying import EXAMPLE

    if bool(source) is example:
        found = "both" if example else "none; try `accp inspect --example`"
        raise typer.BadParameter(f"expected a source or --example, found {found}")
    return source or str(EXAMPLE)


def _opened(address: str, run_format: str | None, store: str | None) -> tuple[Source, ColdTexts | None]:
    """Return source and store; the source is read once, so that an unreadable one ends the command."""
    from accp_adapters.inspector.live import open_source, open_texts
    from accp_adapters.replay import UnreadableRun
    from accp_core.errors import ProtocolError

    try:
        opened = open_source(address, run_format)
        opened.read()
        return opened, open_texts(store) if store else None
    except UnreadableRun as error:
        raise InputRefused(error.reason, path=error.path, line=error.line, column=error.column) from error
    except ProtocolError as error:
        raise InputRefused(error.reason, path="source", code=error.code) from error
    except OSError as error:
        raise typer.BadParameter(f"{error.filename or address}: {error.strerror or error}") from error
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def _policy(name: str) -> StrategyName:
    from accp_adapters.replay import StrategyName

    names = [StrategyName.LOSSLESS, StrategyName.DEFAULT, StrategyName.TIGHT]
    if name not in names:
        raise typer.BadParameter(f"expected one of {', '.join(names)}, found {name!r}", param_hint="--policy")
    return StrategyName(name)


def _app(source: Source, policy: StrategyName, store: ColdTexts | None) -> tuple[Access, str]:
    """Return the application, and the token that opens its page."""
    from accp_adapters.inspector.live import inspector_app

    token = secrets.token_urlsafe(32)
    return inspector_app(source, token=token, policy=policy, store=store), token


def _extra(address: str) -> str:
    scheme = address.partition(":")[0]
    return {"redis": "redis", "rediss": "redis", "unix": "redis", "nats": "nats", "tls": "nats"}.get(scheme, "bindings")


async def _serve(app: Access, token: str, port: int, policy: StrategyName, *, browser: bool) -> None:
    import asyncio
    import webbrowser

    from accp_adapters.inspector.live.prompts import warm_up
    from accp_adapters.serving.listening import http_server, listen_at

    with listen_at(_HOST, port) as listening:
        address = f"http://{_HOST}:{listening.getsockname()[1]}/?token={token}"
        typer.echo(f"Open once: {address}")
        if browser:
            webbrowser.open(address)
        loading = asyncio.get_running_loop().run_in_executor(None, warm_up, policy)
        server = http_server(app, header_seconds=_HEADER_SECONDS, header_bytes=_HEADER_BYTES)
        await server.serve(sockets=[listening])
        await loading
