"""The client of binding D: messages by POST, the agent's by server-sent events (ACP transport 0.3, section 6)."""

from __future__ import annotations

import asyncio
import ssl
from collections import deque
from typing import Any, Final

import httpx2

from accp_adapters.backoff import Backoff
from accp_adapters.bindings.acp.http import STREAM_READY
from accp_adapters.bindings.acp.session import TOKEN_REFUSED, AcpSession, ChannelClosed, Signal
from accp_adapters.bindings.client_logs import hide_tokens
from accp_core.acp import AcpError, Binding
from accp_core.acp.connection import ACK, CURSOR, RESUME
from accp_core.acp.envelope import read_object
from accp_core.errors import DecodeError
from accp_core.strict_json import compact_json

__all__ = ["HttpClient", "open_http"]

_SECONDS: Final = httpx2.Timeout(30.0, read=60.0)
"""The stream says something every 20 seconds, see `KEEPALIVE_SECONDS`."""
_BUFFERED: Final = 64
_EVENT_OVERHEAD: Final = 256
"""Bytes of an event besides its data: the names of its fields, its name and its id."""
_ATTEMPTS: Final = 5
_BACKOFF: Final = Backoff(first=0.25)


class HttpClient:
    """Requests to one server, with a bounded answer each."""

    def __init__(self, base: str, *, token: str, tls: ssl.SSLContext | None, limit: int) -> None:
        """Call the server at `base` as the owner of `token`, if it is not empty."""
        hide_tokens()
        headers = {"authorization": f"Bearer {token}"} if token else {}
        self._client = httpx2.AsyncClient(
            base_url=base, headers=headers, verify=tls or True, timeout=_SECONDS, trust_env=False
        )
        self._limit = limit

    async def call(self, method: str, path: str, body: str | None = None) -> tuple[int, dict[str, Any]]:
        """Return the status and the JSON object of an answer, {} where it is none.

        Raises:
            ChannelClosed: There is no answer; the code is "invalid_token" where the server does not know us.
        """
        try:
            headers = {} if body is None else {"content-type": "application/json"}
            async with self._client.stream(method, path, content=body, headers=headers) as response:
                data = await self._read(response)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise ChannelClosed(f"no answer: {type(error).__name__} {error}") from None
        if response.status_code in (401, 403):
            raise ChannelClosed(f"the server refuses the token: {response.status_code}", code=TOKEN_REFUSED)
        try:
            return response.status_code, read_object(data.decode(), limit=4 * self._limit)
        except (DecodeError, UnicodeDecodeError):
            return response.status_code, {}

    async def stream(self, path: str) -> httpx2.Response:
        """Return an open answer, raises as `call`."""
        try:
            request = self._client.build_request("GET", path, headers={"accept": "text/event-stream"})
            response = await self._client.send(request, stream=True)
        except httpx2.HTTPError as error:
            raise ChannelClosed(f"no answer: {type(error).__name__} {error}") from None
        if response.status_code != 200:
            await response.aclose()
            code = TOKEN_REFUSED if response.status_code in (401, 403) else ""
            raise ChannelClosed(f"the server refuses the stream: {response.status_code}", code=code)
        return response

    async def aclose(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def _read(self, response: httpx2.Response) -> bytes:
        data = bytearray()
        async for piece in response.aiter_bytes():
            data += piece
            if len(data) > 4 * self._limit:
                raise ChannelClosed(f"expected an answer of at most {4 * self._limit} bytes, found more")
        return bytes(data)


async def open_http(url: str, session: AcpSession, *, token: str = "", tls: ssl.SSLContext | None = None) -> _Channel:
    """Return a connection to a server: an open stream, which goes on after what the session has received.

    Raises:
        ChannelClosed: There is none.
    """
    connection, limit = session.connection, session.limits.frame_bytes
    client = HttpClient(url.rstrip("/"), token=token, tls=tls, limit=limit)
    try:
        _, card = await client.call("GET", "/.well-known/acp.json")
        after = f"&since={connection.last_received}&log={connection.peer_log}" if connection.peer_log else ""
        return _Channel(client, await client.stream(f"/stream?ack=1{after}"), card, session)
    except BaseException:
        await client.aclose()
        raise


class _Channel:
    """One stream, and requests beside it. What a request has delivered counts as acknowledged."""

    binding = Binding.HTTP_SSE
    window: int | None = None

    def __init__(self, client: HttpClient, stream: httpx2.Response, card: dict[str, Any], session: AcpSession) -> None:
        self._client, self._stream, self._card = client, stream, card
        self._connection = session.connection
        self._limit: Final = session.limits.frame_bytes + _EVENT_OVERHEAD
        self._texts: deque[str] = deque()
        self._changed = Signal()
        self._ended: ChannelClosed | DecodeError | None = None
        self._reading = asyncio.create_task(self._read())

    async def send(self, text: str) -> None:
        data = read_object(text)
        if data["type"] == "acp.agent_card":
            return  # this binding has nowhere to put it
        for attempt in range(1, _ATTEMPTS + 1):
            status, answer = await self._client.call("POST", "/message:send", text)
            if status < 500 and status != 408:
                self._delivered(data, status, answer)
                return
            await asyncio.sleep(_BACKOFF.delay(attempt))
        raise ChannelClosed(f"the server answers with {status}: {answer.get('error', '')!s:.200}")

    async def receive(self) -> str:
        while not self._texts:
            if self._ended is not None:
                raise self._ended
            await self._changed.wait()
        self._changed.notify()
        return self._texts.popleft()

    async def keep_alive(self) -> None:
        """Do nothing: the server writes comments."""

    async def aclose(self, code: str = "") -> None:
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)
        await self._stream.aclose()
        await self._client.aclose()

    def _delivered(self, data: dict[str, Any], status: int, answer: dict[str, Any]) -> None:
        """Acknowledge a message in the name of the server, and report one that it refused."""
        if status >= 400 and data["type"] == "acp.message":
            refusal = {"type": "error", "code": str(answer.get("error_code", "ERR_INVALID_REQUEST"))}
            about = {"error": str(answer.get("error", status)), "correlation_id": data.get("message_id")}
            self._put(compact_json({**refusal, **about}))
        if data["type"] != ACK and type(data.get("server_seq")) is int:
            self._put(compact_json({"type": ACK, CURSOR: data["server_seq"], "log": self._connection.log_id}))

    def _put(self, text: str) -> None:
        self._texts.append(text)
        self._changed.notify()

    async def _read(self) -> None:
        try:
            async for event in httpx2.EventSource(self._stream, self._limit):
                if event.data:
                    self._put(self._card_of(event.data) if event.event == STREAM_READY else event.data)
                while len(self._texts) > _BUFFERED:
                    await self._changed.wait()
            self._ended = ChannelClosed("the stream has ended")
        except httpx2.SSEError as error:
            self._ended = DecodeError(str(error), code=AcpError.TOO_LARGE, text="", position=0)
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            self._ended = ChannelClosed(f"the stream is broken: {type(error).__name__} {error}")
        except DecodeError as error:
            self._ended = error
        finally:
            self._changed.notify()

    def _card_of(self, ready: str) -> str:
        """Return the card of the server as another binding brings it, with what it has received of us.

        A server whose log is another one than before has forgotten us.
        """
        connection, data = self._connection, read_object(ready)
        knows_us = connection.peer_log in (None, data.get("log"))
        resume = {
            "log": data.get("log"),
            "peer_log": connection.log_id if knows_us else None,
            "window": data.get("window"),
        }
        return compact_json(
            {"type": "acp.agent_card", "card": self._card, CURSOR: connection.log.acknowledged, RESUME: resume}
        )
