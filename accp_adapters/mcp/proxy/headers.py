"""HTTP headers at a reverse proxy: which fields are passed on.

RFC 9110, 7.6.1: fields of one connection, and those that `Connection` names, are not forwarded.
"""

from __future__ import annotations

from typing import Final

from accp_adapters.serving.hosts import Headers

__all__ = ["client_headers", "server_headers"]

_HOP_BY_HOP: Final = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding"
    b" upgrade".split()
)
_SET_BY_PROXY: Final = frozenset({b"host", b"content-length", b"accept-encoding", b"expect"})


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
