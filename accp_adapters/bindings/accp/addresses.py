"""Where a client connects to, and what it may send there (ACCP sections 11.1 and 11.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias
from urllib.parse import urlsplit, urlunsplit

from accp_adapters.bindings.identity import is_loopback

__all__ = ["FRAMES_PATH", "RESUME_FIELD", "WEBSOCKET_PATH", "Address", "TokenSource", "parse_address"]

# "Method: POST /accp/v1/frames" (section 11.1); the draft gives the WebSocket no path.
FRAMES_PATH: Final = "/accp/v1/frames"
WEBSOCKET_PATH: Final = "/accp/v1/ws"
RESUME_FIELD: Final = "accp-resume"
"""Our header field, of requests and answers: this end counts from 1, and knows a frame that comes again."""
_PATHS: Final = {"http": FRAMES_PATH, "https": FRAMES_PATH, "ws": WEBSOCKET_PATH, "wss": WEBSOCKET_PATH}

TokenSource: TypeAlias = str | Callable[[], str] | None
"""A bearer token, or what returns the one that is valid now."""


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a server."""

    url: str
    """The whole URL."""
    is_websocket: bool
    """Whether it is that of a WebSocket."""


def parse_address(url: str, *, has_token: bool, allow_plain_text: bool = False) -> Address:
    """Return the address at `url`; the draft's path is added where `url` does not end with it.

    Args:
        url: An http, https, ws or wss URL, such as "wss://agents.example" or "https://example.org/crm".
        has_token: Whether a token will be sent there.
        allow_plain_text: Whether a token may be sent to another machine without TLS.

    Raises:
        ValueError: It is another URL, it holds user info or a query, which stand in logs, or the token would be sent in
            plain text. The message shows neither.
    """
    parts = urlsplit(url)
    if parts.scheme not in _PATHS or not parts.hostname:
        raise ValueError(f"expected an http, https, ws or wss URL with a host, found the scheme {parts.scheme!r:.20}")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("expected a URL without user info, query and fragment; a token is an argument of its own")
    is_plain = parts.scheme in ("http", "ws") and not is_loopback(parts.hostname)
    if is_plain and has_token and not allow_plain_text:
        raise ValueError(f"expected https or wss for a token, found {parts.scheme!r} to {parts.hostname!r:.100}")
    suffix = _PATHS[parts.scheme]
    path = parts.path.rstrip("/")
    path = path if path.endswith(suffix) else path + suffix
    return Address(urlunsplit((parts.scheme, parts.netloc, path, "", "")), parts.scheme in ("ws", "wss"))


def token_fields(token: TokenSource) -> dict[str, str]:
    """Return the header field for a token."""
    current = token() if callable(token) else token
    return {"authorization": f"Bearer {current}"} if current else {}
