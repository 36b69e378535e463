"""Headers at a reverse proxy: which are passed on, and which requests are let in at all.

RFC 9110, 7.6.1: fields that concern one connection, and those that `Connection` names, are not forwarded. The
transport's security rule: a local server must check `Host` and `Origin`, or a web page reaches it by DNS rebinding;
the server behind us sees our request, so the check is ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, TypeAlias
from urllib.parse import urlsplit

__all__ = ["LOOPBACK", "Headers", "Hosts", "header", "to_client", "to_server"]

Headers: TypeAlias = Sequence[tuple[bytes, bytes]]
"""Names in lower case, and values, in their order; a name may come several times."""

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_HOP_BY_HOP: Final = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding"
    b" upgrade".split()
)
_OURS: Final = frozenset({b"host", b"content-length", b"accept-encoding", b"expect"})


def header(headers: Headers, name: bytes) -> str:
    """Return the first value of the field `name` (in lower case), empty where there is none."""
    return next((value.decode("latin-1") for each, value in headers if each == name), "")


def _end_to_end(headers: Headers) -> list[tuple[bytes, bytes]]:
    listed = {each.strip().lower() for name, value in headers if name == b"connection" for each in value.split(b",")}
    return [(name, value) for name, value in headers if name not in _HOP_BY_HOP | listed]


def to_server(headers: Headers, extra: Headers = ()) -> list[tuple[bytes, bytes]]:
    """Return the fields of a request for the server behind us, `extra` in place of fields of the same name.

    `Authorization` is among them. The body is asked for as it is, since a compressed one could not be read.
    """
    replaced = _OURS | {name for name, _ in extra}
    kept = [(name, value) for name, value in _end_to_end(headers) if name not in replaced]
    return [*kept, *extra, (b"accept-encoding", b"identity")]


def to_client(headers: Headers, *, sized: bool = True) -> list[tuple[bytes, bytes]]:
    """Return the fields of an answer for the client, without its length unless that stays the same (`sized`)."""
    return [(name, value) for name, value in _end_to_end(headers) if sized or name != b"content-length"]


@dataclass(frozen=True, slots=True)
class Hosts:
    """The names under which we may be reached; any port."""

    names: frozenset[str] = LOOPBACK

    @classmethod
    def of(cls, names: Iterable[str]) -> Hosts:
        """Return the loopback names and `names`, which are host names or addresses without ports."""
        return cls(LOOPBACK | {name.strip("[]").lower() for name in names if name})

    def refusal(self, headers: Headers) -> tuple[HTTPStatus, str] | None:
        """Return status and reason for a request that must not be let in, None for one that may."""
        host, origin = header(headers, b"host"), header(headers, b"origin")
        if not self._knows(f"//{host}"):
            return HTTPStatus.MISDIRECTED_REQUEST, f"expected a host among {sorted(self.names)}, got {host!r}"
        if origin and not self._knows(origin):
            return HTTPStatus.FORBIDDEN, f"expected an origin among {sorted(self.names)}, got {origin!r}"
        return None

    def _knows(self, address: str) -> bool:
        try:
            name = urlsplit(address).hostname
        except ValueError:
            return False
        return (name or "") in self.names
