"""A proxy in front of a server that talks streamable HTTP; what else that server's origin offers passes as it is.

Requests go through byte for byte, streams event by event. One shim serves a session up to the protocol of 2025-11-25
and one exchange from 2026-07-28 on, which has no sessions; request ids of different clients never meet. The OAuth
metadata documents under `/.well-known/` are passed on as they are: they name the server's own URL.
"""

from __future__ import annotations

import socket
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

import httpx
import uvicorn

from accp_adapters.mcp.proxy.exchange import Answer, Receive, Scope, Send, failure, pass_on, read_body, until_gone
from accp_adapters.mcp.proxy.headers import Headers, Hosts, header, to_server
from accp_adapters.mcp.proxy.relay import LIMIT, Relay

__all__ = ["MAX_SESSIONS", "SESSION", "HttpProxy", "Sessions", "connect", "listen_at", "serve_http"]

MAX_SESSIONS: Final = 10_000
"""A session beyond is forgotten, the one that was silent for the longest time: its results come plain from then on."""
SESSION: Final = "mcp-session-id"
# No session has such a name: it would not fit into a header.
_CALLER: Final = "\n"
_BACKLOG: Final = 2048
# Seconds; a thousand calls at once keep the event loop busy for some.
_CONNECT: Final = 30.0


class Sessions:
    """The relay of each session; and, for requests without one, what those of one caller have in common."""

    def __init__(self, new_relay: Callable[[], Relay], limit: int = MAX_SESSIONS) -> None:
        self._new_relay = new_relay
        self._limit = limit
        self._relays: OrderedDict[str, Relay] = OrderedDict()

    def __len__(self) -> int:
        return len(self._relays)

    def find(self, session: str) -> Relay:
        """Return the relay of `session`, a new one where it is not known."""
        relay = self._relays.get(session)
        if relay is None:
            return self._new_relay()
        self._relays.move_to_end(session)
        return relay

    def exchange(self, caller: str) -> Relay:
        """Return a relay for one exchange, by 2026-07-28, of whoever has the credentials `caller`."""
        key = f"{_CALLER}{caller}"
        common = self.find(key)
        self.keep(key, common)
        return common.exchange() if common.exchange else self._new_relay()

    def keep(self, session: str, relay: Relay) -> None:
        """Remember `relay` as that of `session`."""
        self._relays[session] = relay
        while len(self._relays) > self._limit:
            self._relays.popitem(last=False)

    def forget(self, session: str) -> None:
        """Forget `session`, if it is known."""
        self._relays.pop(session, None)


@asynccontextmanager
async def connect() -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client without a limit on connections or on the time an answer takes: both are the peers' to set."""
    timeout = httpx.Timeout(None, connect=_CONNECT)
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=100)
    async with httpx.AsyncClient(timeout=timeout, limits=limits) as client:
        yield client


class HttpProxy:
    """The ASGI application in front of the server at `url`.

    Args:
        url: the server's endpoint; requests for another path are passed on without being looked into.
        new_relay: makes the relay of a session or an exchange.
        client: asks the server.
        hosts: the names under which we may be reached; none: the loopback names.
        extra: fields for every request to the endpoint, such as `authorization`.
        limit: the bytes of the longest request, and of the longest answer or event that a relay is shown.
    """

    def __init__(
        self,
        url: str,
        new_relay: Callable[[], Relay],
        client: httpx.AsyncClient,
        *,
        hosts: Hosts | None = None,
        extra: Headers = (),
        limit: int = LIMIT,
    ) -> None:
        parts = urlsplit(url)
        self._origin = f"{parts.scheme}://{parts.netloc}"
        self.path = parts.path or "/"
        self._sessions = Sessions(new_relay)
        self._client = client
        self._hosts = hosts or Hosts()
        self._extra = extra
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; a client that goes away ends the exchange with the server, too."""
        answer = Answer(send)
        if refused := self._hosts.refusal(scope["headers"]):
            await answer.refuse(*refused)
            return
        body = await read_body(receive, self._limit)
        if body is None:
            reason = f"expected a body of at most {self._limit} bytes"
            await answer.refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason)
            return
        await until_gone(receive, self._exchange(scope, body, answer))

    async def _exchange(self, scope: Scope, body: bytes, answer: Answer) -> None:
        relay = None
        if scope["path"] == self.path:
            relay = self._relay(scope["headers"])
            passage = relay.from_client(body)
            if passage.answered:
                await answer.message(passage.data)
                return
            body = passage.data
        try:
            await self._forward(scope, body, relay, answer)
        except httpx.HTTPError as error:
            # Once the answer has begun, its end is missing: the connection is cut, as the server's was.
            if not answer.started:
                reason = f"the server at {self._origin} cannot be reached: {error!r}"
                await answer.message(failure(reason, body), HTTPStatus.BAD_GATEWAY)

    def _relay(self, headers: Headers) -> Relay:
        session = header(headers, SESSION.encode())
        if not session and header(headers, b"mcp-method"):
            return self._sessions.exchange(header(headers, b"authorization"))
        return self._sessions.find(session)

    async def _forward(self, scope: Scope, body: bytes, relay: Relay | None, answer: Answer) -> None:
        request = self._request(scope, body, extra=self._extra if relay else ())
        response = await self._client.send(request, stream=True)
        try:
            if relay is not None:
                self._note(scope, response, relay)
            headers = [(name.lower(), self._here(name, value)) for name, value in response.headers.raw]
            await pass_on(response.status_code, headers, response.aiter_raw(), relay, answer, self._limit)
        finally:
            await response.aclose()

    def _request(self, scope: Scope, body: bytes, *, extra: Headers) -> httpx.Request:
        target = scope["raw_path"] + (b"?" + scope["query_string"] if scope["query_string"] else b"")
        url = self._origin + target.decode("latin-1")
        return httpx.Request(scope["method"], url, headers=to_server(scope["headers"], extra), content=body)

    def _here(self, name: bytes, value: bytes) -> bytes:
        """Return the value of a field of the answer: a redirect within the server's origin stays within ours."""
        return value.removeprefix(self._origin.encode()) if name.lower() == b"location" else value

    def _note(self, scope: Scope, response: httpx.Response, relay: Relay) -> None:
        """Remember the session that begins, forget the one that has ended."""
        if response.status_code == HTTPStatus.NOT_FOUND or (scope["method"] == "DELETE" and response.is_success):
            self._sessions.forget(header(scope["headers"], SESSION.encode()))
        elif begun := response.headers.get(SESSION):
            self._sessions.keep(begun, relay)


def listen_at(host: str, port: int) -> socket.socket:
    """Return a socket that listens at `host` and `port`, a free one for 0.

    Raises:
        OSError: the address cannot be listened on.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    family, kind, protocol, _, address = found[0]
    # Only of a socket that says it is TCP's does asyncio switch Nagle's algorithm off; with it each answer takes 40 ms.
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
    hosts: Hosts | None = None,
    extra: Headers = (),
    announce: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve the proxy in front of `url` at `host` and `port`, a free one for 0, until a signal ends it.

    `announce` is called with our URL once connections are accepted. The other arguments are those of `HttpProxy`.

    Raises:
        OSError: the address cannot be listened on.
    """
    with listen_at(host, port) as listening:
        async with connect() as client:
            proxy = HttpProxy(url, new_relay, client, hosts=hosts, extra=extra)
            shown = f"[{host}]" if ":" in host else host
            announce(f"http://{shown}:{listening.getsockname()[1]}{proxy.path}")
            await _server(proxy).serve(sockets=[listening])


def _server(proxy: HttpProxy) -> uvicorn.Server:
    # Streams stay open as long as the client likes: they do not keep us from ending.
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
