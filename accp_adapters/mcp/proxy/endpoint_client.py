"""The server behind the proxy over HTTP: requests to its endpoint, with the proxy's own fields, through redirects.

RFC 9110, 7.6.1: fields of one connection, and those that `Connection` names, are not forwarded.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Final

import httpx2

from accp_adapters.mcp.proxy.endpoint import ServerUrl
from accp_adapters.serving.hosts import Headers

__all__ = ["EndpointClient", "client_headers", "connect", "server_headers"]

_HOP_BY_HOP: Final = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding"
    b" upgrade".split()
)
_SET_BY_PROXY: Final = frozenset({b"host", b"content-length", b"accept-encoding", b"expect"})
# Seconds; a thousand calls at once keep the event loop busy for several.
_CONNECT_SECONDS: Final = 30.0
_MAX_REQUESTS: Final = 4
"""Requests for one of a client's: the first, and those to which redirects lead."""


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


@asynccontextmanager
async def connect() -> AsyncIterator[httpx2.AsyncClient]:
    """Yield an HTTP client that limits neither connections nor response times: client and server set those limits."""
    timeout = httpx2.Timeout(None, connect=_CONNECT_SECONDS)
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=100)
    async with httpx2.AsyncClient(timeout=timeout, limits=limits, trust_env=True) as client:
        yield client


class EndpointClient:
    """A server at a URL, with the fields that the proxy adds to each request to its endpoint."""

    def __init__(
        self, url: str, client: httpx2.AsyncClient, extra: Headers = (), withheld: Collection[bytes] = ()
    ) -> None:
        """Send requests by `client` to the endpoint at `url`.

        Args:
            url: The endpoint; its user info becomes an `Authorization` field, its query is sent each time.
            client: Sends the requests.
            extra: Fields for every request, such as `authorization`.
            withheld: The names of the fields of clients that are for the proxy alone.

        Raises:
            ValueError: `url` is no http or https URL.
        """
        self.endpoint = ServerUrl.parse(url)
        """Where requests are sent; a redirect that adds or removes the slash at the end is remembered."""
        self._client: Final = client
        self._withheld: Final = frozenset(withheld)
        given = {name for name, _ in extra}
        self._extra: Final = (*(field for field in self.endpoint.credentials if field[0] not in given), *extra)

    @asynccontextmanager
    async def send(
        self, method: str, headers: Headers, content: bytes = b"", url: httpx2.URL | None = None
    ) -> AsyncIterator[httpx2.Response]:
        """Send a request to the endpoint and yield the response, whose body is read by the caller.

        Args:
            method: GET, POST or DELETE.
            headers: The fields of the client's request.
            content: The body.
            url: A URL of `endpoint.resolve`; None: that of the endpoint.

        Raises:
            httpx2.HTTPError: The server cannot be reached, or redirects too often.
        """
        url = url or self.endpoint.url
        for _ in range(_MAX_REQUESTS):
            request = httpx2.Request(method, url, headers=self._fields(headers, self._extra), content=content)
            response = await self._client.send(request, stream=True)
            target = self.endpoint.follow(response)
            if target is None:
                break
            await response.aclose()
            self.endpoint, url = self.endpoint.moved(target), target
        else:
            raise httpx2.TooManyRedirects("too many redirects")
        try:
            yield response
        finally:
            await response.aclose()

    @asynccontextmanager
    async def fetch_document(
        self, method: str, headers: Headers, content: bytes, url: httpx2.URL
    ) -> AsyncIterator[httpx2.Response]:
        """Send a request for a document about the server, without the credentials of the proxy itself."""
        request = httpx2.Request(method, url, headers=self._fields(headers), content=content)
        response = await self._client.send(request, stream=True)
        try:
            yield response
        finally:
            await response.aclose()

    def _fields(self, headers: Headers, extra: Headers = ()) -> Headers:
        return server_headers([field for field in headers if field[0] not in self._withheld], extra)

    def explain(self, error: httpx2.HTTPError) -> str:
        """Return why there is no response; only the kind of the error, since its text may hold a header."""
        return f"the server at {self.endpoint.shown} cannot be reached: {type(error).__name__}"
