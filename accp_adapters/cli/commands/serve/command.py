"""`accp serve`: a handler of ACCP, or an agent of ACP."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Coroutine
from typing import Annotated, Any, Literal

import typer

from accp_adapters.cli.commands.serve.agent import prepare_agent
from accp_adapters.cli.commands.serve.entrance import Entrance, entrance_of
from accp_adapters.cli.commands.serve.handler import prepare_handler
from accp_adapters.cli.commands.serve.options import Served, check_options, given_options, option_of
from accp_adapters.cli.errors import ExtraMissing, InputRefused
from accp_adapters.cli.serving import AllowedNames, CertificateFile, KeyFile, TokenVariable, imported

__all__ = ["serve"]


def serve(
    context: typer.Context,
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="Module and name, such as `agents.crm:answer`: of a function (ACCP), or of an object with a card and a"
            " method handle (ACP).",
        ),
    ],
    *,
    http: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Serve HTTP and WebSocket; port 0: any."),
    ] = None,
    token_env: TokenVariable = None,
    allow_host: AllowedNames = None,
    certificate: CertificateFile = None,
    key: KeyFile = None,
    agent_id: Annotated[str, option_of(Served.HANDLER, "The agent that the handler is.")] = "agent",
    log: Annotated[
        str,
        option_of(Served.HANDLER, "Where sessions are kept: memory, sqlite:PATH, redis://HOST or nats://HOST."),
    ] = "memory",
    sequence: Annotated[
        Literal["recognized", "received", "shared"],
        option_of(
            Served.HANDLER,
            "How peers count: received: each end for itself; shared: both ends; recognized: as they begin.",
        ),
    ] = "recognized",
    ascii_only: Annotated[
        bool, option_of(Served.HANDLER, "Write only characters of the draft's grammar.", "--ascii")
    ] = False,
    decimal: Annotated[
        Literal["exact", "round6"],
        option_of(
            Served.HANDLER, "Decimals of more than six places: exact: whole, in a form of ours; round6: rounded."
        ),
    ] = "exact",
    tcp: Annotated[str | None, option_of(Served.AGENT, "Serve TCP (E) there.", metavar="HOST:PORT")] = None,
    relay: Annotated[
        str | None,
        option_of(
            Served.AGENT, "Serve the guest of each token in its room of this relay (C).", metavar="acp+wss://HOST"
        ),
    ] = None,
    make_token: Annotated[
        bool,
        option_of(
            Served.AGENT,
            "Make a token for this run, and print the links that hold it, for the guest.",
            "--make-token",
        ),
    ] = False,
    stdio: Annotated[
        bool,
        option_of(
            Served.AGENT, "Serve the process that started this one (B); no other option goes with it.", "--stdio"
        ),
    ] = False,
) -> None:
    """Serve a handler of ACCP or an agent of ACP until a signal ends it.

    A handler is an asynchronous function of a request; what it returns is the answer, what it yields is a stream.
    An agent is an object with a `card` and an asynchronous method `handle(message, peer)`, whose result is the reply.
    Without tokens, only clients on this machine are served.

    Example: `accp serve agents.crm:answer --http 127.0.0.1:8930 --log sqlite:sessions.db`

    Example: `accp serve agents.crm:agent --http 127.0.0.1:7901 --tcp 127.0.0.1:7902`

    Example: `accp serve agents.crm:agent --http 127.0.0.1:7801 --make-token`
    """
    given = given_options(context)
    places = {"--http": http, "--tcp": tcp}
    if make_token and token_env:
        raise typer.BadParameter("expected --make-token or --token-env, found both", param_hint="--make-token")
    try:
        entrance = entrance_of(
            places, token_env=token_env, allowed=allow_host, certificate=certificate, key=key, makes_token=make_token
        )
        found: Any = _found(target)
        served = _kind_of(found)
        check_options(given, served)
        if served is Served.HANDLER:
            written = {"ascii_only": ascii_only, "decimal": decimal}
            start = prepare_handler(found, entrance, written, agent_id=agent_id, log=log, sequence=sequence)
        else:
            start = prepare_agent(found, entrance, list(given), relay=relay, stdio=stdio)
    except ImportError as error:
        raise ExtraMissing("accp serve", extra="bindings") from error
    _run(start, entrance)


def _found(target: str) -> Any:
    if ":" not in target:
        reason = f"expected MODULE:NAME, such as agents.crm:answer, found {target!r}"
        raise typer.BadParameter(reason, param_hint="TARGET")
    with contextlib.redirect_stdout(sys.stderr):  # with --stdio, standard output belongs to the messages
        return imported(target, "NAME")


def _kind_of(found: Any) -> Served:
    if not isinstance(found, type):
        if callable(getattr(found, "handle", None)) and hasattr(found, "card"):
            return Served.AGENT
        if callable(found):
            return Served.HANDLER
    expected = "a function, or an object with a card and a method handle"
    raise typer.BadParameter(f"expected {expected}, found {found!r:.80}", param_hint="TARGET")


def _run(start: Callable[[], Coroutine[Any, Any, None]], entrance: Entrance) -> None:
    import asyncio

    try:
        asyncio.run(start())
    except OSError as error:
        if not entrance.places:
            raise
        places = ", ".join(f"{host}:{port}" for host, port in entrance.places.values())
        raise InputRefused(f"expected an address to listen at, found: {error}", path=places) from error
