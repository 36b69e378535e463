"""A proxy in front of a server that speaks streamable HTTP; other paths of that server's origin pass unchanged.

Requests pass byte for byte, streams event by event. One shim serves one session up to the protocol of 2025-11-25, and
one exchange from 2026-07-28 on, which has no sessions; the request ids of different clients never meet. The OAuth
metadata documents under `/.well-known/` pass unchanged: they name the server's own URL.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

import httpx
import uvicorn

from accp_adapters.mcp.proxy.exchange import (
    ClientResponse,
    Receive,
    Scope,
    Send,
    error_response,
    forward_response,
    read_body,
    run_until_disconnect,
)  # fmt: skip
from accp_adapters.mcp.proxy.headers import AllowedHosts, Headers, header, server_headers
from accp_adapters.mcp.proxy.relay import MAX_MESSAGE_BYTES, Relay
from accp_core.bounded import BoundedDict

__all__ = ["MAX_SESSIONS", "SESSION_HEADER", "HttpProxy", "Sessions", "connect", "listen_at", "serve_http"]

MAX_SESSIONS: Final = 10_000
"""Sessions of one proxy; beyond, the one that was silent for longest is dropped, and its results pass unchanged."""
SESSION_HEADER: Final = "mcp-session-id"
# A line end cannot occur in a header, so no session has such an id.
_CALLER_PREFIX: Final = "\n"
_BACKLOG: Final = 2048
# Seconds; a thousand calls at once keep the event loop busy for several.
_CONNECT_SECONDS: Final = 30.0


class Sessions:
    """The relay of each session; for requests without a session, one relay for each caller."""

    def __init__(self, new_relay: Callable[[], Relay], limit: int = MAX_SESSIONS) -> None:
        """Start empty.

        Args:
            new_relay: Returns the relay of a new session.
            limit: Sessions that are remembered.
        """
        self._new_relay = new_relay
        self._relays: Final[BoundedDict[str, Relay]] = BoundedDict(limit)

    def __len__(self) -> int:
        return len(self._relays)

    def find(self, session_id: str) -> Relay:
        """Return the relay of a session, a new one if the session is unknown."""
        relay = self._relays.get(session_id)
        if relay is None:
            return self._new_relay()
        self._relays.move_to_end(session_id)
        return relay

    def exchange(self, caller: str) -> Relay:
        """Return a relay for one exchange by 2026-07-28 of the client with the credentials `caller`."""
        key = f"{_CALLER_PREFIX}{caller}"
        common = self.find(key)
        self.keep(key, common)
        return common.exchange() if common.exchange else self._new_relay()

    def keep(self, session_id: str, relay: Relay) -> None:
        """Remember the relay of a session."""
        self._relays.put(session_id, relay)

    def forget(self, session_id: str) -> None:
        """Drop a session, if it is known."""
        self._relays.pop(session_id, None)


@asynccontextmanager
async def connect() -> AsyncIterator[httpx.AsyncClient]:
    """Yield an HTTP client that limits neither connections nor response times: client and server set those limits."""
    timeout = httpx.Timeout(None, connect=_CONNECT_SECONDS)
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=100)
    async with httpx.AsyncClient(timeout=timeout, limits=limits) as client:
        yield client


class HttpProxy:
    """The ASGI application in front of a server."""

    def __init__(
        self,
        url: str,
        new_relay: Callable[[], Relay],
        client: httpx.AsyncClient,
        *,
        hosts: AllowedHosts | None = None,
        extra: Headers = (),
        limit: int = MAX_MESSAGE_BYTES,
    ) -> None:
        """Serve the server at `url`.

        Args:
            url: The server's endpoint; requests for other paths pass unchanged.
            new_relay: Returns the relay of a new session or exchange.
            client: Sends the requests to the server.
            hosts: The names by which clients may reach the proxy; None: the loopback names.
            extra: Fields for every request to the endpoint, such as `authorization`.
            limit: Bytes of a request, which is refused if it is longer, and of a response or event that is rewritten.
        """
        parts = urlsplit(url)
        self._origin = f"{parts.scheme}://{parts.netloc}"
        self.path = parts.path or "/"
        self._sessions = Sessions(new_relay)
        self._client = client
        self._hosts = hosts or AllowedHosts()
        self._extra = extra
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; if the client disconnects, the request to the server is cancelled, too."""
        response = ClientResponse(send)
        if refusal := self._hosts.refusal(scope["headers"]):
            await response.refuse(*refusal)
            return
        # RFC 9112, 3.2.1: "origin-form = absolute-path [ "?" query ]". Any other form, such as "@other.example/", would
        # name another host behind the server's origin.
        if not scope["raw_path"].startswith(b"/"):
            reason = f"expected a path that starts with '/', found {scope['raw_path'][:100]!r}"
            await response.refuse(HTTPStatus.BAD_REQUEST, reason)
            return
        body = await read_body(receive, self._limit)
        if body is None:
            reason = f"expected a body of at most {self._limit} bytes, found a longer one"
            await response.refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason)
            return
        await run_until_disconnect(receive, self._exchange(scope, body, response))

    async def _exchange(self, scope: Scope, body: bytes, response: ClientResponse) -> None:
        relay = None
        if scope["path"] == self.path:
            relay = self._relay(scope["headers"])
            relayed = relay.from_client(body)
            if relayed.is_answer:
                await response.send_message(relayed.data)
                return
            body = relayed.data
        try:
            await self._forward(scope, body, relay, response)
        except httpx.HTTPError as error:
            # A response that has started lacks its end: the client's connection is cut, as the server's was.
            if not response.started:
                reason = f"the server at {self._origin} cannot be reached: {error!r}"
                await response.send_message(error_response(reason, body), HTTPStatus.BAD_GATEWAY)

    def _relay(self, headers: Headers) -> Relay:
        session_id = header(headers, SESSION_HEADER.encode())
        if not session_id and header(headers, b"mcp-method"):
            return self._sessions.exchange(header(headers, b"authorization"))
        return self._sessions.find(session_id)

    async def _forward(self, scope: Scope, body: bytes, relay: Relay | None, response: ClientResponse) -> None:
        request = self._request(scope, body, extra=self._extra if relay else ())
        answer = await self._client.send(request, stream=True)
        try:
            if relay is not None:
                self._track_session(scope, answer, relay)
            headers = [(name.lower(), self._local_value(name, value)) for name, value in answer.headers.raw]
            await forward_response(answer.status_code, headers, answer.aiter_raw(), relay, response, self._limit)
        finally:
            await answer.aclose()

    def _request(self, scope: Scope, body: bytes, *, extra: Headers) -> httpx.Request:
        target = scope["raw_path"] + (b"?" + scope["query_string"] if scope["query_string"] else b"")
        url = self._origin + target.decode("latin-1")
        return httpx.Request(scope["method"], url, headers=server_headers(scope["headers"], extra), content=body)

    def _local_value(self, name: bytes, value: bytes) -> bytes:
        """Return the value of a response's field; a redirect within the server's origin becomes one within ours."""
        return value.removeprefix(self._origin.encode()) if name.lower() == b"location" else value

    def _track_session(self, scope: Scope, answer: httpx.Response, relay: Relay) -> None:
        """Remember a session that starts, drop one that has ended."""
        if answer.status_code == HTTPStatus.NOT_FOUND or (scope["method"] == "DELETE" and answer.is_success):
            self._sessions.forget(header(scope["headers"], SESSION_HEADER.encode()))
        elif session_id := answer.headers.get(SESSION_HEADER):
            self._sessions.keep(session_id, relay)


def listen_at(host: str, port: int) -> socket.socket:
    """Return a socket that listens at `host` and `port`, at a free port for 0.

    Raises:
        OSError: The address is not available.
    """
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    family, kind, protocol, _, address = addresses[0]
    # asyncio switches Nagle's algorithm off only for a socket that names TCP; with it, every response takes 40 ms.
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(_BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening


async def serve_http(
    url: str,
    new_relay: Callable[[], Relay],
    *,
    host: str,
    port: int,
    hosts: AllowedHosts | None = None,
    extra: Headers = (),
    announce: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve the proxy in front of `url` until a signal ends it.

    Args:
        url: As in `HttpProxy`.
        new_relay: As in `HttpProxy`.
        host: The address to listen at.
        port: The port to listen at; 0: a free one.
        hosts: As in `HttpProxy`.
        extra: As in `HttpProxy`.
        announce: Called with the proxy's URL once it accepts connections.

    Raises:
        OSError: The address is not available.
    """
    with listen_at(host, port) as listening:
        async with connect() as client:
            proxy = HttpProxy(url, new_relay, client, hosts=hosts, extra=extra)
            shown = f"[{host}]" if ":" in host else host
            announce(f"http://{shown}:{listening.getsockname()[1]}{proxy.path}")
            await _server(proxy).serve(sockets=[listening])


def _server(proxy: HttpProxy) -> uvicorn.Server:
    # Streams stay open as long as clients want; after a second they no longer delay the end.
    return uvicorn.Server(
        uvicorn.Config(
            proxy,
            lifespan="off",
            ws="none",
            log_level="critical",
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=1,
        )
    )
