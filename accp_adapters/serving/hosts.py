"""Which requests an HTTP server accepts at all: the names by which clients may reach it, and fields that count once.

A web page reaches a local server by DNS rebinding unless the server checks `Host` and `Origin`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from ipaddress import IPv6Address, ip_address
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

__all__ = ["LOOPBACK", "AllowedHosts", "Headers", "header", "network_of"]

Headers: TypeAlias = Sequence[tuple[bytes, bytes]]
"""Names in lower case and values, in their order; a name may occur several times."""

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
# Of two such fields, a proxy might read one and its server the other.
_SINGLE: Final = frozenset(
    b"host origin authorization content-type last-event-id mcp-method mcp-name mcp-protocol-version"
    b" mcp-session-id".split()
)


def header(headers: Headers, name: bytes) -> str:
    """Return the first value of the field `name` (in lower case), empty if there is none."""
    return next((value.decode("latin-1") for field, value in headers if field == name), "")


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


def _repeated(headers: Headers) -> str:
    """Return a field that is there twice though it must not be, empty if there is none."""
    names = [name for name, _ in headers if name in _SINGLE]
    return next((name.decode() for name in names if names.count(name) > 1), "")


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """The names by which clients may reach the server, at any port."""

    names: frozenset[str] = LOOPBACK

    @classmethod
    def of(cls, names: Iterable[str]) -> AllowedHosts:
        """Return the loopback names and `names`: host names or addresses, without ports."""
        return cls(LOOPBACK | {name.strip("[]").lower() for name in names if name})

    def refusal(self, headers: Headers) -> tuple[HTTPStatus, str] | None:
        """Return the status and the reason for a request that is refused, None for one that is accepted."""
        if repeated := _repeated(headers):
            return HTTPStatus.BAD_REQUEST, f"expected one field {repeated!r}, found several"
        host, origin = header(headers, b"host"), header(headers, b"origin")
        if not self._allows(f"//{host}"):
            return HTTPStatus.MISDIRECTED_REQUEST, f"expected a host in {sorted(self.names)}, found {host!r:.200}"
        if origin and not self._allows(origin):
            return HTTPStatus.FORBIDDEN, f"expected an origin in {sorted(self.names)}, found {origin!r:.200}"
        return None

    def _allows(self, address: str) -> bool:
        try:
            parts = urlsplit(address)
            is_bare = parts.netloc == address.partition("//")[2] and "@" not in parts.netloc
            return is_bare and (parts.hostname or "") in self.names
        except ValueError:
            return False
