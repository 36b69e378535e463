"""`connect(url)`: one client for ACCP over HTTP and WebSocket (ACCP sections 11.1 and 11.2)."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Final

import httpx2
import websockets
from websockets.asyncio.client import ClientConnection

from accp_adapters.backoff import Backoff
from accp_adapters.bindings.accp import client_session
from accp_adapters.stores import embedded_store
from accp_adapters.tokens import o200k_base
from accp_adapters.wire_log import WEBSOCKET_LOG, log_frame
from accp_core.accp.budget import PRACTICAL_LIMITS
from accp_core.accp.codec import Codec
from accp_core.accp.debug import Direction
from accp_core.accp.frame import ACKNOWLEDGED, MEDIA_TYPE, Intent
from accp_core.accp.parser import frame_head, parse_frame
from accp_core.accp.serializer import DecimalRule
from accp_core.accp.session.delivery import FrameText, SequenceScope
from accp_core.accp.session.events import SessionOptions
from accp_core.accp.session.session import Session
from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError
from accp_core.ports import ColdStore

__all__ = ["ClientOptions", "HttpCarrier", "WebSocketCarrier", "connect"]


_HEARTBEAT: Final = 30
"""Seconds: "ping/pong intent frames every 30 seconds" (section 11.2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientOptions:
    """How a client behaves; times are in seconds."""

    timeout: int | None = 300
    """How long a request waits for an answer or a sign of work, then E3001; None: without end."""
    first_time: float = 30.0
    """How long the first connection may take, with all its attempts."""
    close_time: float = 10.0
    """How long the end waits for frames that are still to be sent."""
    backoff: Backoff = field(default_factory=Backoff)
    """The delays between two attempts."""
    parallel: int = 8
    """HTTP requests at once."""
    answer_time: float = 660.0
    """How long the next part of an HTTP response may take."""
    frame_bytes: int = 1 << 20
    """Bytes of a received frame."""
    allow_plain_text: bool = False
    """Whether a token may be sent to another machine without TLS, as where something else encrypts."""


# ACCP over HTTP, the client's end: each frame is sent again until its answer is whole (ACCP section 11.1).

_MAX_WAITING: Final = 64
"""Frames that wait for one of the parallel requests."""
_REGISTRY_TIME: Final = 5.0
"""Seconds for the answer to our registry, before the first message is sent."""
_CANCEL: Final = re.compile(r"@[^>]*>cancel:")
# Inside a frame no unescaped "@" follows a bracket.
_END: Final = re.compile(rb"[\r\n]+|(?<=[\]}])(?=@)")
_ANSWERED: Final = (HTTPStatus.OK, HTTPStatus.BAD_REQUEST)
_MAX_REASON: Final = 4_096
"""Bytes of an answer that says why the server refuses a request."""
_AGAIN: Final = frozenset({408, 425, 429, 500, 502, 503, 504})


@dataclass
class _Carrier:
    """Carries the frames of a session to an address."""

    session: client_session.ClientSession
    url: str
    token: client_session.TokenSource
    tls: ssl.SSLContext | None
    options: ClientOptions
    last_failure: str = ""
    """Why the last attempt failed; empty: none has."""


@dataclass
class HttpCarrier(_Carrier):
    """Carries several frames at once; the server puts them in order."""

    def __post_init__(self) -> None:
        timeout = httpx2.Timeout(30.0, read=self.options.answer_time)
        places = self.options.parallel
        limits = httpx2.Limits(max_connections=places, max_keepalive_connections=places)
        self._client = httpx2.AsyncClient(verify=self.tls or True, timeout=timeout, limits=limits)
        self._places = asyncio.Semaphore(places)
        self._posts: set[asyncio.Task[None]] = set()
        self._unanswered: set[asyncio.Task[None]] = set()
        self.session.max_outgoing, self.session.posted = _MAX_WAITING, 0

    async def run(self, ready: asyncio.Event) -> None:
        """Carry until cancelled; `ready` is set once the server has answered the registry, or has not in time."""
        await self.session.open()
        try:
            while not self.session.is_lost:
                await self.session.has_outgoing.wait()
                frames = self.session.take_outgoing()
                self.session.count_posted(len(frames))
                for frame in frames:
                    # A server that has not said that it puts frames in order gets one after the other.
                    if self._unanswered and not self.session.resumes and not _CANCEL.match(frame):
                        await asyncio.wait(self._unanswered)
                    await self._places.acquire()
                    post = self._begin(frame)
                    if not ready.is_set():
                        await asyncio.wait([post], timeout=_REGISTRY_TIME)
                        if self.last_failure:  # nobody is there: this is no session yet
                            await asyncio.wait([post])
                        self._answered(post)
                ready.set()
        finally:
            for post in self._posts:
                post.cancel()
            await asyncio.gather(*self._posts, return_exceptions=True)
            await self._client.aclose()

    def _begin(self, frame: FrameText) -> asyncio.Task[None]:
        post = asyncio.ensure_future(self._post(frame))
        self._posts.add(post)
        self._unanswered.add(post)
        post.add_done_callback(self._posts.discard)
        post.add_done_callback(self._answered)
        return post

    def _answered(self, post: asyncio.Task[None]) -> None:
        if post in self._unanswered:
            self._unanswered.discard(post)
            self.session.count_posted(-1)

    async def _post(self, frame: FrameText) -> None:
        failures = 0
        try:
            while not self.session.is_lost:
                wait: float | None = 0.0
                try:
                    wait = await self._exchange(frame)
                except httpx2.TransportError as failure:
                    self.last_failure = str(failure) or type(failure).__name__
                if wait is None:
                    return
                failures += 1
                await asyncio.sleep(self.options.backoff.delay(failures, wait))
        except client_session.SessionLost as lost:
            self.session.lose(lost)
        finally:
            self._places.release()

    async def _exchange(self, frame: FrameText) -> float | None:
        """Send a frame and take the frames that answer it; return None, or how long the server asks to wait first.

        Raises:
            SessionLost: The server refuses this client, or what it sends, or the session is another client's.
            httpx2.TransportError: The answer is not whole: the same frame again gets it.
        """
        fields = {
            "content-type": MEDIA_TYPE,
            "accept-encoding": "identity",
            client_session.RESUME_FIELD: "1",
            **client_session.token_fields(self.token),
        }
        log_frame(Direction.SENT, self.url, frame)
        async with self._client.stream("POST", self.url, content=frame.encode(), headers=fields) as response:
            status = response.status_code
            # "If hashes match, no further exchange is needed" (section 6.4): an answer may be without frames.
            kind = response.headers.get("content-type", MEDIA_TYPE).lower()
            if status == HTTPStatus.NO_CONTENT or (status in _ANSWERED and kind.startswith(MEDIA_TYPE)):
                self.session.meet(client_session.RESUME_FIELD in response.headers)
                is_early = await self._take(response, frame) and self.session.resumes
                if is_early and frame.envelope.sequence == 1:  # nothing comes before it
                    reason = f"expected a new session, found that another client has used {self.session.session_id!r}"
                    raise client_session.SessionLost(reason, code=ErrorCode.SEQUENCE_GAP)
                return 0.0 if is_early else None
            if status in _AGAIN:
                self.last_failure = f"HTTP {status}"
                wait = response.headers.get("retry-after", "")
                return float(wait) if wait.isdecimal() and len(wait) < 6 else 0.0
            said = "" if int(response.headers.get("content-length", 1 << 20)) > _MAX_REASON else await response.aread()
            reason = f"expected the frames of an answer of {self.url}, found HTTP {status} {said!r:.300}"
            raise client_session.ConnectionRefused(reason, status=status)

    async def _take(self, response: httpx2.Response, sent: FrameText) -> bool:
        """Take the frames of a response; return whether the last one only says that an earlier frame is missing."""
        frames, last = _FrameSplitter(), ""
        async for chunk in response.aiter_raw():
            for last in frames.feed(chunk):
                await self._take_frame(last, sent)
            if len(frames.rest) > (most := self.options.frame_bytes):
                raise client_session.ConnectionRefused(f"expected frames of at most {most} bytes, found a longer one")
        for last in frames.feed(b"\n"):
            await self._take_frame(last, sent)
        return _is_gap(last, sent.envelope.msg_id)

    async def _take_frame(self, text: str, sent: FrameText) -> None:
        log_frame(Direction.RECEIVED, self.url, text)
        with suppress(DecodeError):
            head = frame_head(text)
            if head.envelope.sequence == 0 and head.intent is Intent.FAILURE and self.session.resumes:
                raise client_session.ConnectionRefused(f"the server refuses a frame: {text:.200}")
        answered = "" if self.session.resumes else sent.envelope.correlation_id or sent.envelope.msg_id or ""
        await self.session.receive(text, answered=answered)


class _FrameSplitter:
    """Splits a response into frames. A frame ends with its metadata, a chunk anywhere (sections 3.1 and 11.1)."""

    def __init__(self) -> None:
        self.rest = bytearray()

    def feed(self, data: bytes) -> list[str]:
        """Return the frames that `data` completes."""
        start, found = max(0, len(self.rest) - 1), list[str]()
        self.rest += data
        while end := _END.search(self.rest, start):
            found.append(self.rest[: end.start()].decode("utf-8", "replace"))
            del self.rest[: end.end()]
            start = 0
        if self.rest.endswith(b"]") and _is_whole(text := self.rest.decode("utf-8", "replace")):
            found.append(text)
            self.rest.clear()
        return [each for each in found if each]


def _is_whole(text: str) -> bool:
    """Return whether a text that ends with a bracket is a frame with its metadata, to which nothing can be added."""
    try:
        return parse_frame(text).envelope.sequence is not None
    except DecodeError:
        return False


# The missing frame is on its way in another request: the server takes this one when it is its turn.
def _is_gap(text: str, msg_id: str | None) -> bool:
    """Return whether a frame refuses the one with `msg_id` with E3003."""
    try:
        frame = parse_frame(text)
    except DecodeError:
        return False
    is_error = frame.intent is Intent.FAILURE and frame.params.get("code") == ErrorCode.SEQUENCE_GAP
    return is_error and msg_id is not None and frame.envelope.correlation_id == msg_id


# ACCP over WebSocket, the client's end: one connection after the other, until the session is over (ACCP 11.2).

_LOG: Final = logging.getLogger(__name__)

_GREETING_TIME: Final = 1.0
"""Seconds for the server's registry, before the first message is sent."""
_FINAL_CODES: Final = {
    1009: (ErrorCode.BUDGET_EXCEEDED, "a frame is longer than the server takes"),
    4409: (ErrorCode.POLICY_DENIED, "another connection has taken over the session"),
}


@dataclass
class WebSocketCarrier(_Carrier):
    """Carries frames over one connection after the other."""

    def __post_init__(self) -> None:
        self._socket: ClientConnection | None = None
        self._was_heard = False
        self.session.on_silence = self.abort

    def abort(self) -> None:
        """Cut the connection, as one that does not answer; another one follows."""
        if self._socket is not None:
            self._socket.transport.abort()

    async def run(self, ready: asyncio.Event) -> None:
        """Carry until cancelled or lost; `ready` is set once the server has answered the registry."""
        failures = 0
        while not self.session.is_lost:
            self._was_heard = False
            try:
                await self._connect(ready)
            except client_session.ConnectionRefused as error:
                self.session.lose(error)
            except websockets.InvalidStatus as refused:
                status = refused.response.status_code
                self.last_failure = f"HTTP {status}"
                if status not in _AGAIN:
                    reason = f"expected a WebSocket at {self.url}, found HTTP {status}"
                    self.session.lose(client_session.ConnectionRefused(reason, status=status))
            except (OSError, TimeoutError, websockets.WebSocketException) as failure:
                # The next connection goes on where this one ended.
                self.last_failure = str(failure) or type(failure).__name__
            failures = 1 if self._was_heard else failures + 1
            if not self.session.is_lost:
                await asyncio.sleep(self.options.backoff.delay(failures))

    async def _connect(self, ready: asyncio.Event) -> None:
        socket = await websockets.connect(
            self.url,
            additional_headers=client_session.token_fields(self.token),
            compression=None,
            max_size=self.options.frame_bytes,
            logger=WEBSOCKET_LOG,
            ssl=self.tls or self.url.startswith("wss:") or None,
        )
        if self.session.is_lost:  # the session was closed meanwhile, and has nobody to end what begins here
            await socket.close()
            return
        self._socket = socket
        await self.session.connected()
        # "At session start, agents MUST exchange registry versions" (section 6.4); one that does not is waited for.
        asyncio.get_running_loop().call_later(_GREETING_TIME, ready.set)
        writing = asyncio.ensure_future(self._write(socket))
        try:
            await self._read(socket, ready)
            await socket.close()
        finally:
            socket.transport.abort()
            self._socket = None
            await self.session.disconnected()
            writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)

    async def _read(self, socket: ClientConnection, ready: asyncio.Event) -> None:
        try:
            async for text in socket:
                await self._take(text if isinstance(text, str) else text.decode("utf-8", "replace"), ready)
        except websockets.ConnectionClosed:
            pass
        if socket.close_code in _FINAL_CODES:
            code, reason = _FINAL_CODES[socket.close_code]
            raise client_session.ConnectionRefused(reason, code=code)

    async def _take(self, text: str, ready: asyncio.Event) -> None:
        text = text.rstrip("\r\n")  # a line end after a frame is not part of it
        log_frame(Direction.RECEIVED, self.url, text)
        with suppress(DecodeError):
            head = frame_head(text)
            if head.envelope.sequence == 0 and head.intent is Intent.FAILURE:
                self._take_refusal(text)
                return
            self.session.meet(ACKNOWLEDGED in head.envelope.extra)
        self._was_heard = True
        await self.session.receive(text)
        ready.set()

    def _take_refusal(self, text: str) -> None:
        """Handle a frame with the sequence number 0: the server refuses this connection, or a frame that came by it."""
        _LOG.warning("the server refuses a frame or a connection: %.200s", text)
        # Before anything was heard the refusal is that of the session; later it may be that of a token which has ended.
        if not self._was_heard and ErrorCode.POLICY_DENIED in text:
            raise client_session.ConnectionRefused(f"the server refuses the session: {text:.200}")
        if ErrorCode.SEQUENCE_GAP in text:
            self.session.lose(
                client_session.SessionLost("the server cannot resume the session", code=ErrorCode.SEQUENCE_GAP)
            )

    async def _write(self, socket: ClientConnection) -> None:
        with suppress(websockets.ConnectionClosed):
            while not self.session.is_lost:
                await self.session.has_outgoing.wait()
                for frame in self.session.take_outgoing():
                    log_frame(Direction.SENT, self.url, frame)
                    await socket.send(str(frame))
            await socket.close()


@asynccontextmanager
async def connect(
    url: str,
    *,
    agent_id: str = "client",
    token: client_session.TokenSource = None,
    tls: ssl.SSLContext | None = None,
    session_id: str | None = None,
    codec: Codec | None = None,
    store: ColdStore | None = None,
    options: ClientOptions | None = None,
) -> AsyncIterator[client_session.ClientSession]:
    """Connect to a server and yield a session; connect again, and resume it, whenever the connection is lost.

    ```python
    async with connect("wss://agents.example", token=token) as session:
        answer = await session.request(message)
    ```

    Args:
        url: An http(s) URL: each frame is a request; or a ws(s) URL: one connection.
        agent_id: The agent at this end, in whose name it may send.
        token: A bearer token, or what returns the one that is valid now; it is sent in a header field only.
        tls: Which certificates are trusted, and our own; None: the usual ones.
        session_id: The id of the session; None: a new one.
        codec: Encodes and decodes; None: one that counts with `o200k_base`.
        store: Where cold texts are; None: in this process.
        options: Limits and times.

    Raises:
        ValueError: `url` is no such URL, or a token would be sent in plain text to another machine.
        ConnectionRefused: The server does not let this client in, or cannot be reached in time (E3001).
    """
    chosen = options or ClientOptions()
    target = client_session.parse_address(url, token=token, allow_plain_text=chosen.allow_plain_text)
    is_websocket, agreed = target.startswith("ws"), codec or Codec(counter=o200k_base())

    exact: DecimalRule = "refuse" if agreed.decimal == "exact" else agreed.decimal
    unknown, resuming = _session_options(is_websocket, chosen)

    def new_session() -> Session:
        return Session(
            session_id or f"s-{secrets.token_hex(8)}",
            agent_id,
            # To a server that has not agreed to more, a message is one frame of the draft's grammar.
            codec=replace(agreed.literal(), limits=PRACTICAL_LIMITS, decimal=exact),
            new_id=lambda: secrets.token_hex(6),
            options=unknown,
        )

    session = client_session.ClientSession(new_session, store or embedded_store(), resuming, agreed)
    carrier = (WebSocketCarrier if is_websocket else HttpCarrier)(session, target, token, tls, chosen)
    ready = asyncio.Event()
    tasks = [asyncio.ensure_future(carrier.run(ready)), asyncio.ensure_future(_tick(session))]
    try:
        await _first_connection(carrier, ready, tasks[0])
        yield session
        await _finish(session, tasks[0], chosen.close_time)
    finally:
        session.lose(None)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _session_options(is_websocket: bool, chosen: ClientOptions) -> tuple[SessionOptions, SessionOptions]:
    """Return the options of a session with a server of which nothing is known, and with one that resumes.

    Over HTTP the answers of parallel requests overtake each other.
    """
    unknown = SessionOptions(
        scope=SequenceScope.RECOGNIZED,
        name_session=True,
        timeout=chosen.timeout,
        heartbeat=_HEARTBEAT if is_websocket else None,
    )
    options = replace(unknown, scope=SequenceScope.RECEIVED, first=1, registry_first=True)
    return unknown, options if is_websocket else replace(options, reorder=256, gap_delay=int(chosen.answer_time))


async def _first_connection(carrier: _Carrier, ready: asyncio.Event, carrying: asyncio.Task[None]) -> None:
    seconds = carrier.options.first_time
    waiting = asyncio.ensure_future(ready.wait())
    await asyncio.wait([waiting, carrying], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if carrying.done():
        carrying.result()
        carrier.session.check()
    elif not ready.is_set():
        cause = carrier.last_failure or "no answer"
        reason = f"expected a connection to {carrier.url} within {seconds} seconds, found {cause}"
        raise client_session.ConnectionRefused(reason, code=ErrorCode.TIMEOUT)


async def _finish(session: client_session.ClientSession, carrying: asyncio.Task[None], seconds: float) -> None:
    """Send what is still to be sent, and close the connection."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while (session.posted or session.has_outgoing.is_set()) and not session.is_lost:
                await asyncio.sleep(0.01)
            session.lose(None)
            await asyncio.wait([carrying])


async def _tick(session: client_session.ClientSession) -> None:
    while True:
        await asyncio.sleep(1.0)
        await session.tick()
