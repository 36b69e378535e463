"""`accp serve`: a handler of ACCP, an agent of ACP, or the compression that gateways call."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Coroutine
from typing import Any

import typer

from accp_adapters.cli.commands.serve.agent import prepare_agent
from accp_adapters.cli.commands.serve.compression import prepare_compression
from accp_adapters.cli.commands.serve.entrance import Entrance, entrance_of
from accp_adapters.cli.commands.serve.handler import prepare_handler
from accp_adapters.cli.commands.serve.options import (
    AgentId,
    Ascii,
    Compress,
    DecimalOption,
    Decimals,
    Http,
    KeepBytes,
    KeepSeconds,
    Log,
    MakeToken,
    Preset,
    PresetOption,
    RelayAddress,
    Sequence,
    SequenceOption,
    Served,
    Stdio,
    Target,
    Tcp,
    check_options,
    given_options,
)
from accp_adapters.cli.errors import ExtraMissing, InputRefused
from accp_adapters.cli.serving import AllowedNames, CertificateFile, KeyFile, TokenVariable, imported
from accp_adapters.cli.tool_forms import ToolOption

__all__ = ["serve"]


def serve(
    context: typer.Context,
    target: Target = None,
    *,
    http: Http = None,
    token_env: TokenVariable = None,
    allow_host: AllowedNames = None,
    certificate: CertificateFile = None,
    key: KeyFile = None,
    agent_id: AgentId = "agent",
    log: Log = "memory",
    sequence: SequenceOption = Sequence.RECOGNIZED,
    ascii_only: Ascii = False,
    decimal: DecimalOption = Decimals.EXACT,
    tcp: Tcp = None,
    relay: RelayAddress = None,
    make_token: MakeToken = False,
    stdio: Stdio = False,
    compress: Compress = False,
    policy: PresetOption = Preset.LOSSLESS,
    tool: ToolOption = None,
    keep_seconds: KeepSeconds = 3_600.0,
    keep_bytes: KeepBytes = 16 << 20,
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
            written = {"ascii_only": ascii_only, "decimal": decimal.value}
            start = prepare_handler(found, entrance, written, agent_id=agent_id, log=log, sequence=sequence.value)
        elif served is Served.AGENT:
            start = prepare_agent(found, entrance, given, relay=relay, stdio=stdio)
        else:
            start = prepare_compression(entrance, policy, tools=tool, seconds=keep_seconds, max_bytes=keep_bytes)
    except ImportError as error:
        raise ExtraMissing("accp serve", extra="bindings") from error
    _run(start, entrance)


def _compression_or_none(target: str | None, given: list[str], *, compress: bool) -> Served | None:
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
