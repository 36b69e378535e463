"""Binding D and the ASGI application of an agent, which has binding A, too (ACP transport 0.3, sections 3 and 6).

POST /message:send          a message for the agent, a reply to one of its, or what was received of it
GET  /stream                what the agent says, as server-sent events
GET  /.well-known/acp.json  the card
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import ssl
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, Final

import httpx2
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from accp_adapters.backoff import Backoff
from accp_adapters.bindings.acp.channels import serve_web_socket
from accp_adapters.bindings.acp.host import AcpAgent, AcpHost, host_of, seconds_left
from accp_adapters.bindings.acp.session import (
    IDLE_SECONDS,
    KEEPALIVE_SECONDS,
    MISDIRECTED,
    TOKEN_REFUSED,
    AcpSession,
    Channel,
    ChannelClosed,
)
from accp_adapters.bindings.clock import Signal
from accp_adapters.serving import requests
from accp_adapters.serving.limits import ServerLimits
from accp_adapters.serving.principals import Authenticate, Scope, loopback_only
from accp_adapters.serving.threads import off_loop
from accp_core import acp
from accp_core.acp.connection import RESUME, TOKEN_HEADER
from accp_core.acp.envelope import KEEPALIVE, Json, read_object
from accp_core.errors import DecodeError, LocalProtocolError, ProtocolError
from accp_core.strict_json import compact_json

__all__ = ["HttpClient", "acp_app", "answer", "open_http", "refusing"]


_READY: Final = "acp.ready"
"""The first event of a stream: the card, as other bindings bring it."""
_BATCH: Final = 64


def acp_app(
    agent: AcpAgent | AcpHost,
    *,
    authenticate: Authenticate = loopback_only,
    limits: ServerLimits | None = None,
    hosts: Iterable[str] = (),
) -> Starlette:
    """Return the application of an agent, to be served alone or mounted in another one.

    Args:
        agent: The agent, or a host that other bindings share, which then brings `authenticate` and `limits`.
        authenticate: Who is let in; without it, only clients on this machine.
        limits: What each peer may use; None: the defaults.
        hosts: Names of this server besides those of the loopback interface, which `Host` and `Origin` may have.
    """
    host = host_of(agent, authenticate, limits)
    allowed = requests.AllowedHosts.of(hosts)
    host.announce(acp.Binding.WS_P2P, acp.Binding.HTTP_SSE)

    async def web_socket(socket: WebSocket) -> None:
        try:
            allowed.check(socket.scope["headers"])
        except requests.RequestRefused:
            await socket.close()  # before it is accepted: 403
        else:
            await serve_web_socket(host, socket)

    endpoints = _Endpoints(host, allowed)
    return Starlette(
        routes=[
            Route("/.well-known/acp.json", endpoints.card),
            Route("/stream", endpoints.stream),
            Route("/message:send", endpoints.send, methods=["POST"]),
            WebSocketRoute("/", web_socket),
            WebSocketRoute("/{token}", web_socket),
        ],
        exception_handlers=refusing(_refused),
    )


class _Endpoints:
    """The endpoints of one agent."""

    def __init__(self, host: AcpHost, allowed: requests.AllowedHosts) -> None:
        self._host = host
        self._allowed = allowed

    async def card(self, request: Request) -> Response:
        self._allowed.check(request.scope["headers"])
        card = self._host.card.to_json()
        return answer({**card, "self": card})

    async def stream(self, request: Request) -> Response:
        return _EventStream(self._host, await self._session(request), request)

    async def send(self, request: Request) -> Response:
        session = await self._session(request)
        limits, owner = self._host.limits, session.principal.name
        await session.until_room(int(request.headers.get("content-length", 0)))
        data = await requests.read_body(
            request, self._host.memory, owner, limit=limits.frame_bytes, seconds=limits.body_time
        )
        message_id: Json = None

        def complete(data: Mapping[str, Any]) -> dict[str, Any]:
            """Make it an `acp.message` unless it says otherwise, give it an id, and remember that."""
            nonlocal message_id
            told = {"type": "acp.message", **data}
            if told["type"] == "acp.message":
                told["message_id"] = told.get("message_id") or f"msg_{secrets.token_hex(6)}"
            message_id = told.get("message_id")
            return told

        event = await session.take(data.decode(), complete, wait=False)
        done: dict[str, Json] = {"ok": True, **({"message_id": message_id} if isinstance(message_id, str) else {})}
        match event:
            case acp.Refused():
                return refuse(acp.AcpError(event.code), event.reason, message_id=done.get("message_id"))
            case acp.UnknownReceived():
                reason = "expected a message, or a reply to one that awaits it; found neither"
                return refuse(acp.AcpError.NOT_FOUND, reason)
            case acp.AcpMessageReceived() | acp.DuplicateDropped():
                return answer({**done, "server_seq": event.number})
            case acp.Acknowledged():
                return answer({**done, "server_seq": event.server_seq})
        return answer(done)

    async def _session(self, request: Request) -> AcpSession:
        """Return the session of a request, whose principal is that of `Authorization` or `X-ACP-Token`."""
        self._allowed.check(request.scope["headers"])
        return self._host.shared_session(await self._host.admit(request.scope, request.headers.get(TOKEN_HEADER, "")))


class _EventStream(Response):
    """The open answer of one `GET /stream` (section 6.3).

    `?since=n` or `Last-Event-ID` begins after number n, otherwise it begins after what the peer has acknowledged, or
    where the last stream ended.
    """

    def __init__(self, host: AcpHost, session: AcpSession, request: Request) -> None:
        super().__init__(media_type="text/event-stream")
        self._host, self._session, self._log = host, session, session.connection.log
        since = request.query_params.get("since", request.headers.get("last-event-id"))
        if since is not None and not (since.isdecimal() and len(since) < 20):
            raise ValueError(f"since: expected a number, found {since!r:.40}")
        known = self._log.acknowledged if self._log.is_acknowledging else self._log.written
        self._cursor = known if since is None else int(since)

    async def __call__(self, scope: Scope, receive: requests.Receive, send: requests.Send) -> None:
        """Send events until the client leaves or stops reading."""
        try:
            with self._host.connection(self._session.principal):
                async with asyncio.timeout(seconds_left(self._session.principal)):
                    await requests.run_until_disconnect(receive, self._send_all(send))
        except TimeoutError:
            return  # the server closes a response that is not complete
        except LocalProtocolError as error:
            await refuse(acp.AcpError(error.code), error.reason)(scope, receive, send)

    async def _send_all(self, send: requests.Send) -> None:
        headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        ready = self._session.connection.greeting(time.time())
        await self._put(send, f"event: {_READY}\ndata: {ready}\n\n".encode())
        while True:
            if not await self._send_waiting(send) and not await self._session.changed.wait(IDLE_SECONDS):
                if acknowledgement := self._session.acknowledgement(at_once=True):
                    await self._put(send, f"data: {acknowledgement}\n\n".encode())
                elif not await self._session.changed.wait(KEEPALIVE_SECONDS):
                    await self._put(send, KEEPALIVE)

    async def _send_waiting(self, send: requests.Send) -> bool:
        """Send what waits; return whether there was anything."""
        acknowledgement, batch = self._session.acknowledgement(), self._log.after(self._cursor, _BATCH)
        events = [f"data: {acknowledgement}\n\n"] if acknowledgement else []
        events += [f"id: {number}\ndata: {text}\n\n" for number, text in batch]
        if events:
            await self._put(send, "".join(events).encode())
        if batch:
            self._cursor = batch[-1][0]
            self._log.mark_written(self._cursor)
            self._session.changed.notify()
        return bool(events)

    async def _put(self, send: requests.Send, data: bytes) -> None:
        """Write to the client; one that takes nothing for too long is left (TimeoutError)."""
        async with asyncio.timeout(self._session.limits.write_time):
            await send({"type": "http.response.body", "body": data, "more_body": True})


def refusing(refused: Callable[[Request, Exception], Awaitable[Response]]) -> dict[Any, Any]:
    """Return the exception handlers of an application that writes each refusal by `refused`."""
    return dict.fromkeys((HTTPException, requests.RequestRefused, ProtocolError, ValueError, Exception), refused)


def answer(value: Json, status: int = 200) -> Response:
    """Return a response of JSON."""
    return Response(compact_json(value), status, media_type="application/json")


def refuse(code: acp.AcpError, reason: str, *, status: int = 0, message_id: Any = None, **fields: str) -> Response:
    """Return the response that refuses a request; `status` in place of the code's, if it is not 0."""
    if code is acp.AcpError.NOT_CONNECTED:
        fields.setdefault("retry-after", "1")
    body = acp.error_body(code, reason, now=time.time(), failed_message_id=message_id)
    return Response(body, status or code.status, fields, media_type="application/json")


_CODES: Final = {429: acp.AcpError.NOT_CONNECTED, **{code.status: code for code in acp.AcpError}}


async def _refused(_: Request, error: Exception) -> Response:
    """Return the response that refuses a request, as ACP writes it."""
    if isinstance(error, HTTPException):
        code = _CODES.get(error.status_code, acp.AcpError.INVALID_REQUEST)
        return refuse(code, error.detail, status=error.status_code)
    if isinstance(error, ProtocolError) and error.code in set(acp.AcpError):
        return refuse(acp.AcpError(error.code), error.reason)
    if isinstance(error, ValueError):
        return refuse(acp.AcpError.INVALID_REQUEST, str(error)[:500])
    refused = requests.refusal_of(error)
    code = _CODES.get(refused.status, acp.AcpError.INVALID_REQUEST)
    reason = f"invalid_token: {refused.error.reason}" if refused.status == 401 else refused.error.reason
    return refuse(code, reason, status=refused.status, **dict(refused.headers))


# The client of binding D: messages by POST, the agent's by server-sent events (ACP transport 0.3, section 6).

_SECONDS: Final = httpx2.Timeout(30.0, read=60.0)
"""The stream says something every 20 seconds, see `KEEPALIVE_SECONDS`."""
_BUFFERED: Final = 64
_EVENT_OVERHEAD: Final = 256
"""Bytes of an event besides its data: the names of its fields, its name and its id."""
_ATTEMPTS: Final = 5
_BACKOFF: Final = Backoff(first=0.25)


# The library logs the address of each request, of which the token of a relay's room is a part (section 5).
logging.getLogger("httpx2").addFilter(lambda told: not any(each in told.getMessage() for each in ("/acp/", "token=")))


class HttpClient:
    """Requests to one server, with a bounded answer each."""

    def __init__(
        self, base: str, *, tls: ssl.SSLContext | None, limit: int, token: str = "", denied: str = TOKEN_REFUSED
    ) -> None:
        """Call the server at `base` as the owner of `token`, unless empty; `denied` is the code for 401 and 403."""
        headers = {"authorization": f"Bearer {token}"} if token else {}
        self._client = httpx2.AsyncClient(
            base_url=base, headers=headers, verify=tls or True, timeout=_SECONDS, trust_env=False
        )
        self._limit, self._denied = limit, denied

    async def call(self, method: str, path: str, body: str | None = None) -> tuple[int, dict[str, Any]]:
        """Return the status and the JSON object of an answer, {} where it is none; ask again where there is none now.

        Raises:
            ChannelClosed: There is no answer; the code is "invalid_token" where the server does not know us.
        """
        failure = ""
        for attempt in range(_ATTEMPTS):
            await asyncio.sleep(_BACKOFF.delay(attempt) if attempt else 0)
            try:
                status, answer = await self._ask(method, path, body)
                if status < 500 and status not in (408, 429):
                    return status, answer
                failure = f"{status} {answer.get('error', '')!s:.200}"
            except (httpx2.HTTPError, httpx2.InvalidURL) as error:
                failure = f"{type(error).__name__} {error}"
        raise ChannelClosed(f"the server does not answer: {failure}")

    async def _ask(self, method: str, path: str, body: str | None) -> tuple[int, dict[str, Any]]:
        headers = {} if body is None else {"content-type": "application/json"}
        data = bytearray()
        async with self._client.stream(method, path, content=body, headers=headers) as response:
            async for piece in response.aiter_bytes():
                data += piece
                if len(data) > 4 * self._limit:
                    raise ChannelClosed(f"expected an answer of at most {4 * self._limit} bytes, found more")
        if response.status_code in (401, 403):
            raise ChannelClosed(f"the server refuses the token: {response.status_code}", code=self._denied)
        if response.status_code == 421:
            host = response.url.host
            reason = f"the server does not serve {host!r}: start it with --allow-host {host}, or hosts=[{host!r}]"
            raise ChannelClosed(reason, code=MISDIRECTED)
        try:
            read = partial(read_object, limit=4 * self._limit)
            return response.status_code, await off_loop(len(data), read, data.decode())
        except (DecodeError, UnicodeDecodeError):
            return response.status_code, {}

    def stream(self, path: str) -> AbstractAsyncContextManager[httpx2.Response]:
        """Open an answer of events."""
        return self._client.stream("GET", path, headers={"accept": "text/event-stream"})

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aclose()


async def open_http(url: str, session: AcpSession, *, token: str = "", tls: ssl.SSLContext | None = None) -> _Channel:
    """Return a connection to a server.

    Raises:
        ChannelClosed: There is none.
    """
    client = HttpClient(url.rstrip("/"), token=token, tls=tls, limit=session.limits.frame_bytes)
    try:
        _, card = await client.call("GET", "/.well-known/acp.json")
        return _Channel(client, card, session.limits.frame_bytes)
    except BaseException:
        await client.aclose()
        raise


class _Channel(Channel):
    """One stream, and requests beside it."""

    binding = acp.Binding.HTTP_SSE

    def __init__(self, client: HttpClient, card: dict[str, Any], limit: int) -> None:
        self._client, self._card, self._limit = client, card, limit + _EVENT_OVERHEAD
        self._texts: deque[str] = deque()
        self._changed = Signal()
        self._ended: ChannelClosed | DecodeError | None = None
        self._reading: asyncio.Task[None] | None = None

    async def send(self, text: str) -> None:
        data = read_object(text)
        if data["type"] == "acp.agent_card":
            await self._begin(text)
            return
        status, answer = await self._client.call("POST", "/message:send", text)
        if status >= 400 and data["type"] == "acp.message":
            refusal = {"type": "error", "code": str(answer.get("error_code", "ERR_INVALID_REQUEST"))}
            about = {"error": str(answer.get("error", status)), "correlation_id": data.get("message_id")}
            self._put(compact_json({**refusal, **about}))

    async def _begin(self, card: str) -> None:
        """Post our card to a server that takes it, which then knows what we have received, and open the stream."""
        capabilities = self._card.get("capabilities")
        if isinstance(capabilities, dict) and capabilities.get(RESUME):
            await self._client.call("POST", "/message:send", card)
        else:
            self._put(compact_json({"type": "acp.agent_card", "card": self._card}))
        self._reading = asyncio.create_task(self._read())

    async def receive(self) -> str:
        while not self._texts:
            if self._ended is not None:
                raise self._ended
            await self._changed.wait()
        self._changed.notify()
        return self._texts.popleft()

    async def aclose(self, code: str = "") -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        await self._client.aclose()

    def _put(self, text: str) -> None:
        self._texts.append(text)
        self._changed.notify()

    async def _read(self) -> None:
        try:
            async with self._client.stream("/stream") as stream:
                if stream.status_code != 200:
                    code = TOKEN_REFUSED if stream.status_code in (401, 403) else ""
                    self._ended = ChannelClosed(f"the server refuses the stream: {stream.status_code}", code=code)
                    return
                async for event in httpx2.EventSource(stream, self._limit):
                    if event.data:
                        self._put(event.data)
                    while len(self._texts) > _BUFFERED:
                        await self._changed.wait()
            self._ended = ChannelClosed("the stream has ended")
        except httpx2.SSEError as error:
            self._ended = DecodeError(str(error), code=acp.AcpError.TOO_LARGE, text="", position=0)
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            self._ended = ChannelClosed(f"the stream is broken: {type(error).__name__} {error}")
        finally:
            self._changed.notify()
