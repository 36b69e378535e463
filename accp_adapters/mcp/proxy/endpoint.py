"""The server's endpoint behind the proxy: which request targets lead to it, and what a message may say about it.

RFC 9112, 3.2.1: "origin-form = absolute-path [ "?" query ]". A URL is never put together from the text of a request:
scheme, host and port are those of the endpoint, and only its own path and `/.well-known/` are served. User info and
query of the endpoint may be secrets; they are sent, but never shown.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Final
from urllib.parse import unquote

import httpx2

from accp_adapters.serving.hosts import Headers

__all__ = ["ServerUrl"]

# Percent signs are not needed there, and could hide a dot or a slash from one of the two servers; to some, `..;x` is
# `..` with a parameter.
_WELL_KNOWN: Final = re.compile(rb"/\.well-known(?:/(?!\.{1,2}(?:/|\Z))[A-Za-z0-9._~!$&'()*+,=:@-]+)+/?")
_QUERY: Final = re.compile(rb"[\x21\x24-\x7e]*")
_KEEPING_METHOD: Final = (HTTPStatus.TEMPORARY_REDIRECT, HTTPStatus.PERMANENT_REDIRECT)
_MAX_PORT: Final = 65_535
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class ServerUrl:
    """The address to which the proxy sends a client's requests."""

    url: httpx2.URL
    """The URL without user info and fragment."""
    credentials: Headers = ()
    """The `Authorization` field with the user info of the URL."""

    @classmethod
    def parse(cls, url: str) -> ServerUrl:
        """Return the endpoint at `url`.

        Raises:
            ValueError: `url` is no http or https URL; the message shows its scheme at most.
        """
        try:
            parsed = httpx2.URL(url)
        except (httpx2.InvalidURL, TypeError) as error:
            raise ValueError("expected a URL, found none") from error
        if parsed.scheme not in _DEFAULT_PORTS or not parsed.host:
            raise ValueError(f"expected an http or https URL with a host, found the scheme {parsed.scheme!r:.20}")
        if parsed.port is not None and parsed.port > _MAX_PORT:
            raise ValueError(f"expected a port of at most {_MAX_PORT}, found {parsed.port}")
        return cls(parsed.copy_with(userinfo=b"", fragment=None), _basic(parsed.userinfo))

    @property
    def path(self) -> str:
        """The path at which the proxy serves the endpoint."""
        return self.url.raw_path.partition(b"?")[0].decode()

    @property
    def shown(self) -> str:
        """The URL as a message may show it: scheme, host, port and path."""
        return str(self.url.copy_with(query=None))

    def is_endpoint(self, raw_path: bytes) -> bool:
        """Return whether `raw_path` is the endpoint's own path; a slash at the end makes no difference."""
        return raw_path.startswith(b"/") and raw_path.rstrip(b"/") == self.path.encode().rstrip(b"/")

    def resolve(self, raw_path: bytes, query: bytes) -> httpx2.URL | None:
        """Return the URL of a request target; None if the target is not served.

        Args:
            raw_path: The path of the target, percent-encoded as it was received.
            query: Its query, which follows that of the endpoint.
        """
        if not _QUERY.fullmatch(query):
            return None
        if self.is_endpoint(raw_path):
            both = [part for part in (self.url.query, query) if part]
            return self.url.copy_with(query=b"&".join(both)) if query else self.url
        if _WELL_KNOWN.fullmatch(raw_path):
            return self.url.copy_with(path=raw_path.decode(), query=query or None)
        return None

    def follow(self, answer: httpx2.Response) -> httpx2.URL | None:
        """Return where a redirect of this endpoint leads; None if `answer` is none that may be followed.

        Only a redirect which keeps the method, to the same origin: credentials go nowhere else.
        """
        location = answer.headers.get("location")
        if answer.status_code not in _KEEPING_METHOD or not location:
            return None
        try:
            target = answer.request.url.join(location).copy_with(userinfo=b"", fragment=None)
        except httpx2.InvalidURL:
            return None
        return target if _origin(target) == _origin(self.url) else None

    def moved(self, target: httpx2.URL) -> ServerUrl:
        """Return the endpoint after a redirect to `target`: there, if only the slash at the end differs."""
        path = target.raw_path.partition(b"?")[0]
        return replace(self, url=self.url.copy_with(path=path.decode())) if self.is_endpoint(path) else self

    def local_location(self, location: bytes) -> bytes:
        """Return the `Location` of a redirect as the proxy's client gets it: without the server's origin."""
        origin = str(self.url.copy_with(raw_path=b"/")).rstrip("/").encode()
        rest = location.removeprefix(origin)
        return rest if rest.startswith(b"/") else location


def _basic(userinfo: bytes) -> Headers:
    if not userinfo:
        return ()
    user, _, password = userinfo.decode().partition(":")
    token = base64.b64encode(f"{unquote(user)}:{unquote(password)}".encode())
    return ((b"authorization", b"Basic " + token),)


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port or _DEFAULT_PORTS.get(url.scheme)
