"""What the commands that serve have in common: where to listen, who may connect, the object that is served."""

from __future__ import annotations

import importlib
import os
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

if TYPE_CHECKING:
    from accp_adapters.bindings.identity import Authenticate, Principal

__all__ = [
    "AllowedNames",
    "CertificateFile",
    "KeyFile",
    "TokenVariable",
    "admission",
    "authentication",
    "host_and_port",
    "imported",
    "listening_at",
    "tokens_of",
]

TokenVariable: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The environment variable with the tokens: TOKEN, or AGENT:TOKEN for each, between commas or spaces.",
    ),
]
AllowedNames: TypeAlias = Annotated[
    list[str] | None, typer.Option(help="A name by which clients reach the server; may be repeated.")
]
CertificateFile: TypeAlias = Annotated[Path | None, typer.Option(exists=True, help="The server's certificate, in PEM.")]
KeyFile: TypeAlias = Annotated[
    Path | None, typer.Option(exists=True, help="The private key of the certificate, in PEM.")
]


def host_and_port(address: str, option: str) -> tuple[str, int]:
    """Return what HOST:PORT says, refused in the name of `option`."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or int(port[:6]) > 65_535:
        raise typer.BadParameter(f"expected HOST:PORT, found {address!r}", param_hint=option)
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


def authentication(token_env: str | None, host: str, option: str) -> Authenticate:
    """Return who may connect at `host`, given with `option`; the message of a refusal never shows a token."""
    from accp_adapters.bindings.identity import BearerTokens, is_loopback, loopback_only

    if token_env is None:
        if not is_loopback(host):
            reason = f"expected --token-env to listen at {host!r}: without tokens, only this machine is served"
            raise typer.BadParameter(reason, param_hint=option)
        return loopback_only
    try:
        return BearerTokens(tokens_of(token_env))
    except ValueError as error:
        raise typer.BadParameter(f"{token_env}: {error}", param_hint="--token-env") from error


def admission(token_env: str | None, host: str, option: str) -> Authenticate | None:
    """Return the check of tokens for a server that listens at `host`; None: no tokens, which only loopback allows.

    `option` is the option that gave `host`, for the refusal. The server behind may authenticate its users itself.
    """
    authenticate = authentication(token_env, host, option)
    return None if token_env is None else authenticate


def tokens_of(token_env: str) -> dict[str, Principal]:
    """Return the tokens in an environment variable, each with whom it is of: TOKEN, or AGENT:TOKEN.

    Commas or white space separate them.

    Raises:
        ValueError: The name of an agent has another form, or a token comes twice; the message shows no token.
    """
    from accp_adapters.bindings.identity import Principal
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


def imported(place: str, kind: str) -> Any:
    """Return the object at MODULE:NAME, from the working directory too; `kind` is what it is to be, for a refusal."""
    module, _, name = place.partition(":")
    if not module or not name:
        form = f"a module and a {kind} with a colon between them, as in agents.crm:{kind.lower()}"
        raise typer.BadParameter(f"expected MODULE:{kind}, found {place!r}: {form}")
    sys.path.insert(0, "")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise typer.BadParameter(f"expected MODULE:{kind}, found {place!r}: {error}") from error
