"""HTTP headers at a reverse proxy: which fields are passed on, and which requests are accepted at all.

RFC 9110, 7.6.1: fields of one connection, and those that `Connection` names, are not forwarded. MCP's transport
demands that a local server checks `Host` and `Origin`, or a web page reaches it by DNS rebinding. The server behind
the proxy only sees the proxy's request, so the proxy checks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, TypeAlias
from urllib.parse import urlsplit

__all__ = ["LOOPBACK", "AllowedHosts", "Headers", "client_headers", "header", "server_headers"]

Headers: TypeAlias = Sequence[tuple[bytes, bytes]]
"""Names in lower case and values, in their order; a name may occur several times."""

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_HOP_BY_HOP: Final = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding"
    b" upgrade".split()
)
# Of two such fields, the proxy might read one and the server the other.
_SINGLE: Final = frozenset(
    b"host origin authorization content-type last-event-id mcp-method mcp-name mcp-protocol-version"
    b" mcp-session-id".split()
)
_SET_BY_PROXY: Final = frozenset({b"host", b"content-length", b"accept-encoding", b"expect"})


def header(headers: Headers, name: bytes) -> str:
    """Return the first value of the field `name` (in lower case), empty if there is none."""
    return next((value.decode("latin-1") for field, value in headers if field == name), "")


def _repeated(headers: Headers) -> str:
    """Return a field that is there twice though it must not be, empty if there is none."""
    names = [name for name, _ in headers if name in _SINGLE]
    return next((name.decode() for name in names if names.count(name) > 1), "")


def _end_to_end(headers: Headers) -> list[tuple[bytes, bytes]]:
    listed = {field.strip().lower() for name, value in headers if name == b"connection" for field in value.split(b",")}
    return [(name, value) for name, value in headers if name not in _HOP_BY_HOP | listed]


def server_headers(headers: Headers, extra: Headers = ()) -> list[tuple[bytes, bytes]]:
    """Return the fields of a client's request as the server gets them, `Authorization` among them.

    The server is asked for an uncompressed body, since a compressed one could not be rewritten.

    Args:
        headers: The fields of the client's request.
        extra: Fields that replace those of the same name.
    """
    replaced = _SET_BY_PROXY | {name for name, _ in extra}
    kept = [(name, value) for name, value in _end_to_end(headers) if name not in replaced]
    return [*kept, *extra, (b"accept-encoding", b"identity")]


def client_headers(headers: Headers, *, keep_length: bool = True) -> list[tuple[bytes, bytes]]:
    """Return the fields of a server's response as the client gets them.

    Args:
        headers: The fields of the server's response.
        keep_length: Whether the body keeps its length, so that `Content-Length` stays.
    """
    return [(name, value) for name, value in _end_to_end(headers) if keep_length or name != b"content-length"]


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """The names by which clients may reach the proxy, at any port."""

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
            name = urlsplit(address).hostname
        except ValueError:
            return False
        return (name or "") in self.names
