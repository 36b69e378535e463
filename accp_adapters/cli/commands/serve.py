"""`accp serve` and `accp relay`: our applications behind uvicorn; any other ASGI server takes them, too."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from contextlib import AbstractAsyncContextManager
from typing import Annotated, Any

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
    listening_at,
)
from accp_adapters.cli.sources import say

__all__ = ["relay", "serve"]

Http = Annotated[str, typer.Option(metavar="HOST:PORT", help="Where to listen; port 0: any.")]
Store = Annotated[str | None, typer.Option(help="Where sessions are kept: sqlite:PATH or redis://HOST.")]


def serve(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="Module and name, such as `agents.crm:answer`: of a function (ACCP), or of an object with a card and a"
            " method handle (ACP).",
        ),
    ],
    *,
    http: Http = "127.0.0.1:8930",
    stdio: Annotated[bool, typer.Option("--stdio", help="Serve the parent process: ACP over stdio.")] = False,
    token_env: TokenVariable = None,
    allow_host: AllowedNames = None,
    certificate: CertificateFile = None,
    key: KeyFile = None,
    agent_id: Annotated[str, typer.Option(help="The agent that a function is.")] = "agent",
    store: Store = None,
) -> None:
    """Serve a handler of ACCP or an agent of ACP, over HTTP and WebSocket, until a signal ends it.

    Without tokens, only clients on this machine are served.

    Example: `accp serve agents.crm:answer --http 127.0.0.1:8930 --store sqlite:sessions.db`
    """
    place = host_and_port(http, "--http")
    try:
        authenticate = authentication(token_env, place[0], "--http")
        with contextlib.redirect_stdout(sys.stderr):  # with --stdio, standard output belongs to the messages
            found = imported(target, "NAME")
        entrance: dict[str, Any] = {"authenticate": authenticate, "hosts": [place[0], *(allow_host or ())]}
        if hasattr(found, "card"):
            from accp_adapters.bindings.acp import acp_app, serve_stdio

            if stdio:
                asyncio.run(serve_stdio(found))
                return
            _run(acp_app(found, **entrance), contextlib.nullcontext(), place, certificate, key, f"{found.card.name!r}")
        elif not callable(found) or isinstance(found, type):
            reason = f"expected a function, or an object with a card, found {found!r:.80}"
            raise typer.BadParameter(reason, param_hint="TARGET")
        else:
            from accp_adapters.bindings import SessionHost, accp_app
            from accp_adapters.stores import open_store

            host = SessionHost(found, agent_id=agent_id, store=open_store(store) if store else None)
            _run(accp_app(host, **entrance), host, place, certificate, key, f"@{agent_id}")
    except ImportError as error:
        raise ExtraMissing("accp serve", extra="bindings") from error
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--store") from error


def relay(
    *,
    http: Http = "127.0.0.1:7900",
    allow_host: AllowedNames = None,
    certificate: CertificateFile = None,
    key: KeyFile = None,
) -> None:
    """Serve a relay of ACP (binding C) until a signal ends it; whoever knows the token of a room reads all in it."""
    place = host_and_port(http, "--http")
    try:
        from accp_adapters.bindings.acp import relay_app
    except ImportError as error:
        raise ExtraMissing("accp relay", extra="bindings") from error
    _run(relay_app(hosts=[place[0], *(allow_host or ())]), contextlib.nullcontext(), place, certificate, key, "a relay")


def _run(
    app: Any, host: AbstractAsyncContextManager[Any], place: tuple[str, int], certificate: Any, key: Any, name: str
) -> None:
    import uvicorn

    from accp_adapters.serving.paced import PacedHttp, PacedWebSocket

    config = uvicorn.Config(
        app,
        ssl_certfile=certificate,
        ssl_keyfile=key,
        # A few bytes of a compressed message can stand for its greatest length, and a path may hold a token.
        http=PacedHttp,
        ws=PacedWebSocket,
        backlog=100,
        ws_max_size=1 << 20,
        ws_per_message_deflate=False,
        access_log=False,
        log_level="error",
        lifespan="off",
        timeout_graceful_shutdown=10,
    )

    async def run() -> None:
        with listening_at(place) as listening:
            async with host:
                address = f"{place[0]}:{listening.getsockname()[1]}"
                say(f"serving {name} at {'https' if certificate else 'http'}://{address}")
                await uvicorn.Server(config).serve(sockets=[listening])

    try:
        asyncio.run(run())
    except OSError as error:
        raise InputRefused(
            f"expected an address to listen at, found: {error}", path=f"{place[0]}:{place[1]}"
        ) from error
