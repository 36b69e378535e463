"""`accp serve`: a handler of ACCP, an agent of ACP, or the compression that gateways call."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Coroutine, Mapping
from typing import Annotated, Any, Literal

import typer

from accp_adapters.cli.commands.serve.agent import prepare_agent
from accp_adapters.cli.commands.serve.compression import prepare_compression
from accp_adapters.cli.commands.serve.entrance import Entrance, entrance_of
from accp_adapters.cli.commands.serve.handler import prepare_handler
from accp_adapters.cli.commands.serve.options import Served, check_options, given_options, option_of
from accp_adapters.cli.errors import ExtraMissing, InputRefused
from accp_adapters.cli.serving import AllowedNames, CertificateFile, KeyFile, TokenVariable, imported
from accp_adapters.cli.tool_forms import TOOL_HELP

__all__ = ["serve"]


def serve(
    context: typer.Context,
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="TARGET",
            help="Module and name, such as `agents.crm:answer`: of a function (ACCP), or of an object with a card and a"
            " method handle (ACP).",
        ),
    ] = None,
    *,
    http: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Serve HTTP and, but for --compress, WebSocket; port 0: any."),
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
    compress: Annotated[
        bool,
        option_of(
            Served.COMPRESSION, "Serve POST /v1/compress, as LiteLLM's guardrail headroom calls it.", "--compress"
        ),
    ] = False,
    policy: Annotated[
        Literal["lossless", "default", "tight"],
        option_of(Served.COMPRESSION, "lossless: nothing is hidden; default and tight: large results become previews."),
    ] = "lossless",
    tool: Annotated[list[str] | None, option_of(Served.COMPRESSION, TOOL_HELP, "--tool", metavar="NAME=FORM")] = None,
    keep_seconds: Annotated[
        float, option_of(Served.COMPRESSION, "How long the text behind a preview is kept.")
    ] = 3_600.0,
    keep_bytes: Annotated[int, option_of(Served.COMPRESSION, "Bytes of the texts that are kept for one token.")] = 16
    << 20,
) -> None:
    """Serve a handler of ACCP, an agent of ACP, or compression to gateways, until a signal ends it.

    A handler is an asynchronous function of a request; what it returns is the answer, what it yields is a stream.
    An agent is an object with a `card` and an asynchronous method `handle(message, peer)`, whose result is the reply.
    Without tokens, only clients on this machine are served.

    Example: `accp serve agents.crm:answer --http 127.0.0.1:8930 --log sqlite:sessions.db`

    Example: `accp serve agents.crm:agent --http 127.0.0.1:7901 --tcp 127.0.0.1:7902`

    Example: `accp serve agents.crm:agent --http 127.0.0.1:7801 --make-token`

    Example: `accp serve --compress --http 127.0.0.1:8787`
    """
    given = given_options(context)
    served = _compression_or_none(target, given, compress=compress)
    places = {"--http": http, "--tcp": tcp}
    if make_token and token_env:
        raise typer.BadParameter("expected --make-token or --token-env, found both", param_hint="--make-token")
    try:
        entrance = entrance_of(
            places, token_env=token_env, allowed=allow_host, certificate=certificate, key=key, makes_token=make_token
        )
        found: Any = _found(target) if target is not None else None
        served = served or _kind_of(found)
        check_options(given, served)
        if served is Served.HANDLER:
            written = {"ascii_only": ascii_only, "decimal": decimal}
            start = prepare_handler(found, entrance, written, agent_id=agent_id, log=log, sequence=sequence)
        elif served is Served.AGENT:
            start = prepare_agent(found, entrance, list(given), relay=relay, stdio=stdio)
        else:
            start = prepare_compression(entrance, policy, tools=tool, seconds=keep_seconds, max_bytes=keep_bytes)
    except ImportError as error:
        raise ExtraMissing("accp serve", extra="bindings") from error
    _run(start, entrance)


def _compression_or_none(target: str | None, given: Mapping[str, Served | None], *, compress: bool) -> Served | None:
    """Return what the command line alone decides; None: what TARGET is decides."""
    if (target is not None) == compress:
        both = "both" if compress else "neither"
        raise typer.BadParameter(f"expected a TARGET such as agents.crm:answer, or --compress; found {both}")
    if compress:
        check_options(given, Served.COMPRESSION)
    return Served.COMPRESSION if compress else None


def _found(target: str) -> Any:
    if ":" not in target:
        reason = f"expected MODULE:NAME, such as agents.crm:answer, or --compress without it; found {target!r}"
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
