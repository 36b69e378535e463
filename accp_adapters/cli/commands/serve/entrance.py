"""Where `accp serve` listens, who may come in, and how it speaks TLS: the same for everything that is served."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from accp_adapters.cli.serving import authentication, host_and_port, tokens_of

if TYPE_CHECKING:
    from accp_adapters.bindings.identity import Authenticate
    from accp_adapters.serving.listening import TlsFiles

__all__ = ["Entrance", "entrance_of", "tls_files", "url_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrance:
    """What the network sees of a server."""

    places: Mapping[str, tuple[str, int]]
    """Host and port by the option that gives them."""
    authenticate: Authenticate
    allowed: Sequence[str]
    """Names of the server, beside the host of `--http`."""
    tls: TlsFiles | None
    tokens: Sequence[str] = ()
    """The tokens that are let in; without any, who is on this machine."""
    made_token: str = ""
    """The token that was made for this run; empty: none."""

    @property
    def http(self) -> tuple[str, int]:
        """Host and port of `--http`; without it, a refusal that asks for it."""
        if "--http" not in self.places:
            raise typer.BadParameter("expected HOST:PORT, found none", param_hint="--http")
        return self.places["--http"]

    @property
    def hosts(self) -> list[str]:
        """The names by which clients may call the server over HTTP."""
        return [self.http[0], *self.allowed]

    @property
    def scheme(self) -> str:
        """Of a URL over HTTP."""
        return "https" if self.tls else "http"


def entrance_of(
    places: Mapping[str, str | None],
    *,
    token_env: str | None,
    allowed: Sequence[str] | None,
    certificate: Path | None,
    key: Path | None,
    makes_token: bool = False,
) -> Entrance:
    """Return the entrance at `places`, HOST:PORT by option; each is refused without tokens but on this machine.

    `makes_token`: a new token, beside none of `token_env`, is let in.

    Raises:
        ImportError: the extra `bindings` is not installed.
    """
    from accp_adapters.bindings.identity import BearerTokens, Principal

    found = {option: host_and_port(place, option) for option, place in places.items() if place}
    made = f"tok_{secrets.token_hex(8)}" if makes_token else ""  # "tok_ + 16 hex chars" (ACP 3.2)
    authenticate = authentication(token_env, "127.0.0.1", "--token-env")
    for option, (host, _) in found.items():
        authenticate = authentication(token_env, "127.0.0.1" if made else host, option)
    tokens = {made: Principal("guest")} if made else tokens_of(token_env) if token_env else {}
    return Entrance(
        places=found,
        authenticate=BearerTokens(tokens) if made else authenticate,
        allowed=allowed or (),
        tls=tls_files(certificate, key),
        tokens=tuple(tokens),
        made_token=made,
    )


def tls_files(certificate: Path | None, key: Path | None) -> TlsFiles | None:
    """Return the files for TLS, None without them; raises as `entrance_of`."""
    from accp_adapters.serving.listening import TlsFiles

    if (certificate is None) != (key is None):
        raise typer.BadParameter("expected --certificate and --key together")
    return TlsFiles(certificate=certificate, key=key) if certificate and key else None


def url_of(scheme: str, host: str, port: int) -> str:
    """Return the URL of an address."""
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"
