"""`accp serve` and `accp relay`: our applications behind uvicorn: where they listen, and who may connect."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from accp_adapters.cli.sources import ExtraMissing, InputRefused, PrintableRecords, say

if TYPE_CHECKING:
    from accp_adapters.serving.principals import Authenticate, Principal

__all__ = ["relay", "serve", "tokens_of"]


# What the commands that serve have in common: where to listen, who may connect, the object that is served.

TokenVariable: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The environment variable with the tokens: TOKEN, or AGENT:TOKEN for each, between commas or spaces.",
    ),
]
RelayVariable: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Serve at a relay: the environment variable with acp+wss://HOST/acp/TOKEN."),
]
AllowedNames: TypeAlias = Annotated[
    list[str] | None, typer.Option(help="A name by which clients reach the server; may be repeated.")
]


def host_and_port(address: str) -> tuple[str, int]:
    """Return what HOST:PORT says."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or int(port[:6]) > 65_535:
        raise typer.BadParameter(f"expected HOST:PORT, found {address!r}", param_hint="--http")
    return host.strip("[]"), int(port)


def listening_at(place: tuple[str, int]) -> socket.socket:
    """Return a socket that listens at a host and a port, at a free port for 0.

    Raises:
        OSError: The address is not available.
    """
    family = socket.AF_INET6 if ":" in place[0] else socket.AF_INET
    listening = socket.create_server(place, family=family, backlog=2048)
    # With Nagle's algorithm, which asyncio leaves on for such a socket, every response takes 40 ms.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def authentication(token_env: str | None, host: str) -> Authenticate:
    """Return who may connect at `host`; the message of a refusal never shows a token."""
    from accp_adapters.serving.principals import BearerTokens, is_loopback, loopback_only

    if token_env is None:
        if not is_loopback(host):
            reason = f"expected --token-env to listen at {host!r}: without tokens, only this machine is served"
            raise typer.BadParameter(reason, param_hint="--http")
        return loopback_only
    try:
        return BearerTokens(tokens_of(token_env))
    except ValueError as error:
        raise typer.BadParameter(f"{token_env}: {error}", param_hint="--token-env") from error


def tokens_of(token_env: str) -> dict[str, Principal]:
    """Return the tokens in an environment variable, each with whom it is of: TOKEN, or AGENT:TOKEN.

    Commas or white space separate them.

    Raises:
        ValueError: The name of an agent has another form, or a token comes twice; the message shows no token.
    """
    from accp_adapters.serving.principals import Principal
    from accp_core.accp.grammar import AGENT_ID

    principals: dict[str, Principal] = {}
    for number, word in enumerate(os.environ.get(token_env, "").replace(",", " ").split(), 1):
        agent, colon, token = word.rpartition(":")
        if colon and not AGENT_ID.fullmatch(agent):
            raise ValueError(f"expected AGENT:TOKEN as entry {number}, with an AGENT of letters, digits, '-' and '_'")
        if token in principals:
            raise ValueError(f"expected each token once, found that of entry {number} again")
        principals[token] = Principal(agent, frozenset({agent})) if colon else Principal("client")
    return principals


def imported(place: str) -> Any:
    """Return the object at MODULE:NAME, from the working directory too."""
    module, _, name = place.partition(":")
    if not module or not name:
        raise typer.BadParameter(f"expected MODULE:NAME, such as agents.crm:answer, found {place!r}")
    sys.path.insert(0, "")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise typer.BadParameter(f"expected MODULE:NAME, found {place!r}: {error}") from error


Http = Annotated[str, typer.Option(metavar="HOST:PORT", help="Where to listen; port 0: any.")]
Store = Annotated[str | None, typer.Option(help="Where sessions of ACCP are kept: sqlite:PATH or redis://HOST.")]


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
    relay_env: RelayVariable = None,
    token_env: TokenVariable = None,
    allow_host: AllowedNames = None,
    agent_id: Annotated[str, typer.Option(help="The agent that a function is.")] = "agent",
    store: Store = None,
) -> None:
    """Serve a handler of ACCP or an agent of ACP, over HTTP and WebSocket, until a signal ends it.

    Without tokens, only clients on this machine are served.

    Example: `accp serve agents.crm:answer --http 127.0.0.1:8930 --store sqlite:sessions.db`
    """
    place = host_and_port(http)
    try:
        authenticate = authentication(token_env, place[0])
        with contextlib.redirect_stdout(sys.stderr):  # with --stdio, standard output belongs to the messages
            found = imported(target)
        entrance: dict[str, Any] = {"authenticate": authenticate, "hosts": [place[0], *(allow_host or ())]}
        is_acp = hasattr(found, "card")
        of_agents = "--stdio" if stdio else "--relay-env" if relay_env is not None else ""
        if unused := "--store" if store and is_acp else "" if is_acp else of_agents:
            wanted = "a function (ACCP)" if is_acp else "an agent (ACP)"
            raise typer.BadParameter(f"expected {wanted} with this option", param_hint=unused)
        if is_acp:
            from accp_adapters.bindings.acp import acp_app, serve_relay, serve_stdio

            name = repr(found.card.name)
            if relay_env is not None:
                link = _room(relay_env, token_env)
                _run_alone(lambda: serve_relay(found, link, authenticate=authenticate), f"{name} at a relay")
            elif stdio:
                _run_alone(lambda: serve_stdio(found), f"{name} over stdio")
            else:
                _run(acp_app(found, **entrance), contextlib.nullcontext(), place, name)
        elif not callable(found) or isinstance(found, type):
            reason = f"expected a function, or an object with a card, found {found!r:.80}"
            raise typer.BadParameter(reason, param_hint="TARGET")
        else:
            from accp_adapters.bindings import SessionHost, accp_app
            from accp_adapters.stores import open_store

            host = SessionHost(found, agent_id=agent_id, store=open_store(store) if store else None)
            _run(accp_app(host, **entrance), host, place, f"@{agent_id}")
    except ImportError as error:
        raise ExtraMissing("accp serve", extra="bindings") from error
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--store") from error


def _room(relay_env: str, token_env: str | None) -> str:
    """Return the link in an environment variable; where `token_env` names some tokens, its token is one of them."""
    from accp_adapters.serving.principals import check_token
    from accp_core.acp import parse_link

    text = os.environ.get(relay_env, "")
    try:
        token = parse_link(text).token
        check_token(token, text, allow_plain_text=False)
        if token_env is not None and token not in tokens_of(token_env):
            raise ValueError(f"expected a room whose token is one of {token_env}, found another one")
    except ValueError as error:
        reason = error if text else "expected acp+wss://HOST/acp/TOKEN in this variable, found nothing"
        raise typer.BadParameter(f"{relay_env}: {reason}", param_hint="--relay-env") from None
    return text


def relay(*, http: Http = "127.0.0.1:7900", allow_host: AllowedNames = None) -> None:
    """Serve a relay of ACP (binding C) until a signal ends it; whoever knows the token of a room reads all in it."""
    place = host_and_port(http)
    try:
        from accp_adapters.bindings.acp import relay_app
    except ImportError as error:
        raise ExtraMissing("accp relay", extra="bindings") from error
    _run(relay_app(hosts=[place[0], *(allow_host or ())]), contextlib.nullcontext(), place, "a relay")


def _print_log() -> None:
    """Write to standard error, with the time, who comes to an agent or a relay, leaves and is refused."""
    logging.getLogger("accp.acp").setLevel(logging.INFO)
    if (handler := logging.lastResort) is not None:
        handler.setLevel(logging.INFO)
        handler.setFormatter(PrintableRecords("%(asctime)s %(levelname)s %(message)s"))


def _run_alone(serving: Callable[[], Awaitable[object]], name: str) -> None:
    async def run() -> None:
        task: Any = asyncio.current_task()
        with contextlib.suppress(NotImplementedError):  # Windows has none
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        say(f"serving {name}")
        await serving()

    _print_log()
    with contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError):
        asyncio.run(run())
    say(f"ended: {name}")
    os._exit(0)  # a thread may wait for the parent process, which neither writes nor reads


def _run(app: Any, host: AbstractAsyncContextManager[Any], place: tuple[str, int], name: str) -> None:
    import uvicorn

    from accp_adapters.serving.paced import PacedHttp, PacedWebSocket

    config = uvicorn.Config(
        app,
        # A few bytes of a compressed message can stand for its greatest length, and a path may hold a token.
        http=PacedHttp,
        ws=PacedWebSocket,
        backlog=50,
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
                _print_log()
                say(f"serving {name} at http://{place[0]}:{listening.getsockname()[1]}")
                await uvicorn.Server(config).serve(sockets=[listening])

    # The event loop waits for this time whenever a thread computes: for a few large frames, small ones would wait long.
    sys.setswitchinterval(0.0001)
    try:
        asyncio.run(run())
    except OSError as error:
        reason = f"expected an address to listen at, found: {error}"
        raise InputRefused(reason, path=f"{place[0]}:{place[1]}") from error
