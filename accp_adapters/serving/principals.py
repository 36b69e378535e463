"""Who sent a request: the principal that the transport has authenticated, and what authenticates it.

ACCP signs no frame: "the sender is as certain as the transport's word". Each binding asks an `Authenticate` once for a
request or a connection; what it returns owns the sessions that are begun there.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = [
    "ANONYMOUS", "AccessDenied", "Authenticate", "BearerTokens", "Principal", "Scope", "bearer_token", "caller_of",
    "check_token", "is_loopback", "loopback_only", "network_of", "with_bearer_token",
]  # fmt: skip

Scope: TypeAlias = MutableMapping[str, Any]
"""What an ASGI server says of a request."""
_TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/-]{8,4096}=*")
"""The form of RFC 6750, section 2.1, and at least eight characters."""
_GRAPHIC: Final = re.compile(r"[!-~]+")
_ENCRYPTED: Final = frozenset({"https", "wss", "acp+wss", "tls"})
_FORWARDED: Final = frozenset({b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-real-ip"})


@dataclass(frozen=True, slots=True)
class Principal:
    """Whom the transport has authenticated."""

    name: str
    """Its name: sessions belong to it. Two principals never share one."""
    agents: frozenset[str] | None = None
    """The agents in whose names it may send; None: any name but the receiving agent's."""
    expires_at: float | None = None
    """When its right ends, as with its token, in seconds of the Unix epoch; None: never."""

    def may_send_as(self, agent: str) -> bool:
        """Return whether it may send in the name of `agent`."""
        return self.agents is None or agent in self.agents


ANONYMOUS: Final = Principal("local")
"""A client on this machine that need not authenticate."""


class AccessDenied(ProtocolError):
    """No principal is authenticated: HTTP 401, with E5001; the reason never holds what was presented."""

    def __init__(self, reason: str, *, is_temporary: bool = False) -> None:
        """Refuse, and say why."""
        super().__init__(reason, code=ErrorCode.POLICY_DENIED)
        self.is_temporary: Final = is_temporary
        """Whether the same request may be accepted later: HTTP 503 instead of 401."""


Authenticate: TypeAlias = Callable[[Scope], Awaitable[Principal]]
"""Returns the principal of a request, or raises `AccessDenied`."""


async def loopback_only(scope: Scope) -> Principal:
    """Return `ANONYMOUS` for a client on this machine.

    Raises:
        AccessDenied: The client has another address, or a proxy on this machine forwards its request.
    """
    client = scope.get("client")
    is_forwarded = any(name.lower() in _FORWARDED for name, _ in scope.get("headers", ()))
    if client is None or is_forwarded or not is_loopback(client[0]):
        raise AccessDenied("expected a client on this machine, as no authentication is configured")
    return ANONYMOUS


def network_of(scope: Mapping[str, Any]) -> str:
    """Return the address from which a request comes, empty for an unknown one.

    Of IPv6 it is the network of 64 bits, since each of its hosts has as many addresses as it likes.
    """
    address = str((scope.get("client") or ("",))[0])
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    return f"{IPv6Address(int(found) >> 64 << 64)}/64" if isinstance(found, IPv6Address) else address


def caller_of(scope: Mapping[str, Any]) -> str:
    """Return whose share a request counts for: a hash of the token that the server has checked, else the address."""
    if getattr(scope.get("user"), "is_authenticated", False):
        tokens = [value for name, value in scope["headers"] if name.lower() == b"authorization"]
        return hashlib.sha256(b"\n".join(tokens)).hexdigest()
    return network_of(scope)


def is_loopback(host: str) -> bool:
    """Return whether `host` is a loopback address or "localhost"."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


# "credentials = "Bearer" 1*SP b64token" (RFC 6750, section 2.1); a token in a URL would be written into logs.
def bearer_token(scope: Scope) -> str:
    """Return the bearer token of a request.

    Raises:
        AccessDenied: There is none, or more than one field `Authorization`.
    """
    fields: list[bytes] = [value for name, value in scope["headers"] if name.lower() == b"authorization"]
    if len(fields) != 1:
        raise AccessDenied(f"expected one field 'authorization', found {len(fields)}")
    scheme, _, token = fields[0].decode("latin-1").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise AccessDenied("expected a bearer token in the field 'authorization', found none")
    return token.strip()


def check_token(token: str, url: str, *, allow_plain_text: bool) -> None:
    """Refuse a token that no header can hold, or that would be sent in plain text to another machine.

    Raises:
        ValueError: It is one of these. The message shows the scheme and the host of the URL, never the token.
    """
    if token and not _GRAPHIC.fullmatch(token):
        raise ValueError("expected a token of visible ASCII characters, found a blank or another one: strip it")
    parts = urlsplit(url)
    if token and parts.scheme not in _ENCRYPTED and not (allow_plain_text or is_loopback(parts.hostname or "")):
        reason = "expected TLS (https, wss, acp+wss, tls) for a token to another machine, or allow_plain_text"
        raise ValueError(f"{reason}; found {parts.scheme!r} to {parts.hostname!r:.100}")


def with_bearer_token(scope: Mapping[str, Any], token: str) -> Scope:
    """Return a scope with `token` in place of any other, for a transport that carries it elsewhere."""
    kept = [(name, value) for name, value in scope.get("headers", ()) if name.lower() != b"authorization"]
    return {**scope, "headers": [*kept, (b"authorization", b"Bearer " + token.encode())]}


class BearerTokens:
    """Authenticates by a table of tokens; only their digests are kept."""

    def __init__(self, principals: Mapping[str, Principal]) -> None:
        """Accept each token of `principals` for its principal.

        Raises:
            ValueError: There is none, or one has another form than RFC 6750 gives it; the message does not show it.
        """
        if not principals:
            raise ValueError("expected at least one token, found none")
        for token, principal in principals.items():
            if not _TOKEN.fullmatch(token):
                reason = "8 or more of the letters, digits and marks of RFC 6750 (A-Z a-z 0-9 . _ ~ + / -)"
                raise ValueError(f"expected as token of {principal.name!r}: {reason}")
        self._principals = [(_digest(token), principal) for token, principal in principals.items()]

    async def __call__(self, scope: Scope) -> Principal:
        """Return the principal of the request's token.

        Raises:
            AccessDenied: There is no token, or an unknown one; how long it takes says nothing about the table.
        """
        digest, found = _digest(bearer_token(scope)), None
        for known, principal in self._principals:
            if hmac.compare_digest(known, digest):
                found = principal
        if found is None:
            raise AccessDenied("expected a known token, found another one")
        return found


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
