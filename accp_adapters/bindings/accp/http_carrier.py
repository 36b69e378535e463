"""ACCP over HTTP, the client's end: each frame is sent again until its answer is whole (ACCP section 11.1)."""

from __future__ import annotations

import asyncio
import re
import ssl
from contextlib import suppress
from http import HTTPStatus
from typing import Final

import httpx2

from accp_adapters.backoff import Backoff
from accp_adapters.bindings.accp.answers import RESUME_FIELD, Address, ConnectionRefused, TokenSource, token_fields
from accp_adapters.bindings.accp.client_session import ClientSession
from accp_adapters.wire_log import log_frame
from accp_core.accp.debug import Direction
from accp_core.accp.frame import MEDIA_TYPE, Intent
from accp_core.accp.parser import frame_head, parse_frame
from accp_core.accp.session.delivery import FrameText
from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError

__all__ = ["HttpCarrier"]

_MAX_WAITING: Final = 64
"""Frames that wait for one of the parallel requests."""
_REGISTRY_TIME: Final = 5.0
"""Seconds for the answer to our registry, before the first message is sent."""
_CANCEL: Final = re.compile(r"@[^>]*>cancel:")
# Inside a frame no unescaped "@" follows a bracket.
_END: Final = re.compile(rb"[\r\n]+|(?<=[\]}])(?=@)")
_ANSWERED: Final = (HTTPStatus.OK, HTTPStatus.BAD_REQUEST)
_AGAIN: Final = frozenset({408, 425, 429, 500, 502, 503, 504})


class HttpCarrier:
    """Carries the frames of a session, several at once; the server puts them in order."""

    def __init__(
        self,
        session: ClientSession,
        address: Address,
        *,
        token: TokenSource,
        tls: ssl.SSLContext | None,
        parallel: int,
        answer_time: float,
        frame_bytes: int,
        backoff: Backoff,
    ) -> None:
        """Carry the frames of `session` to `address`, at most `parallel` at once."""
        self._session, self._address, self._token = session, address, token
        self._backoff, self._frame_bytes = backoff, frame_bytes
        self.url: Final = address.url
        self.last_failure = ""
        """Why the last request failed; empty: none has."""
        timeout = httpx2.Timeout(30.0, read=answer_time)
        limits = httpx2.Limits(max_connections=parallel, max_keepalive_connections=parallel)
        verify = True if tls is None else tls
        self._client = httpx2.AsyncClient(verify=verify, timeout=timeout, limits=limits)
        self._places = asyncio.Semaphore(parallel)
        self._posts: set[asyncio.Task[None]] = set()
        self._unanswered: set[asyncio.Task[None]] = set()
        session.max_outgoing, session.posted = _MAX_WAITING, 0

    async def run(self, ready: asyncio.Event) -> None:
        """Carry until cancelled; `ready` is set once the server has answered the registry, or has not in time."""
        await self._session.open()
        try:
            while not self._session.is_lost:
                await self._session.has_outgoing.wait()
                frames = self._session.take_outgoing()
                self._session.count_posted(len(frames))
                for frame in frames:
                    # A server that has not said that it puts frames in order gets one after the other.
                    if self._unanswered and not self._session.resumes and not _CANCEL.match(frame):
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
            self._session.count_posted(-1)

    async def drain(self) -> None:
        """Return when every frame was answered."""
        while (self._posts or self._session.has_outgoing.is_set()) and not self._session.is_lost:
            await asyncio.sleep(0.01)

    async def close(self) -> None:
        """Do nothing: there is no connection to close."""

    async def _post(self, frame: FrameText) -> None:
        failures = 0
        try:
            while not self._session.is_lost:
                wait: float | None = 0.0
                try:
                    wait = await self._exchange(frame)
                except httpx2.TransportError as failure:
                    self.last_failure = str(failure) or type(failure).__name__
                if wait is None:
                    return
                failures += 1
                await asyncio.sleep(self._backoff.delay(failures, wait))
        except ConnectionRefused as refused:
            self._session.lose(refused)
        finally:
            self._places.release()

    async def _exchange(self, frame: FrameText) -> float | None:
        """Send a frame and take the frames that answer it; return None, or how long the server asks to wait first.

        Raises:
            ConnectionRefused: The server refuses this client, or what it sends.
            httpx2.TransportError: The answer is not whole: the same frame again gets it.
        """
        fields = {
            "content-type": MEDIA_TYPE,
            "accept-encoding": "identity",
            RESUME_FIELD: "1",
            **token_fields(self._token),
        }
        url, body = self._address.url, frame.encode()
        log_frame(Direction.SENT, url, frame)
        async with self._client.stream("POST", url, content=body, headers=fields) as response:
            status = response.status_code
            # "If hashes match, no further exchange is needed" (section 6.4): an answer may be without frames.
            kind = response.headers.get("content-type", MEDIA_TYPE).lower()
            if status == HTTPStatus.NO_CONTENT or (status in _ANSWERED and kind.startswith(MEDIA_TYPE)):
                self._session.meet(RESUME_FIELD in response.headers)
                is_early = await self._take(response, frame) and self._session.resumes
                return 0.0 if is_early else None
            if status in _AGAIN:
                self.last_failure = f"HTTP {status}"
                wait = response.headers.get("retry-after", "")
                return float(wait) if wait.isdecimal() and len(wait) < 6 else 0.0
            raise ConnectionRefused(
                f"expected the frames of an answer of {self.url}, found HTTP {status}", status=status
            )

    async def _take(self, response: httpx2.Response, sent: FrameText) -> bool:
        """Take the frames of a response; return whether the last one only says that an earlier frame is missing."""
        frames, last = _FrameSplitter(), ""
        async for chunk in response.aiter_raw():
            for last in frames.feed(chunk):
                await self._take_frame(last, sent)
            if len(frames) > self._frame_bytes:
                raise ConnectionRefused(f"expected frames of at most {self._frame_bytes} bytes, found a longer one")
        for last in frames.feed(b"\n"):
            await self._take_frame(last, sent)
        return _is_gap(last, sent.envelope.msg_id)

    async def _take_frame(self, text: str, sent: FrameText) -> None:
        log_frame(Direction.RECEIVED, self._address.url, text)
        with suppress(DecodeError):
            head = frame_head(text)
            if head.envelope.sequence == 0 and head.intent is Intent.FAILURE and self._session.resumes:
                raise ConnectionRefused(f"the server refuses a frame: {text:.200}")
        answered = "" if self._session.resumes else sent.envelope.correlation_id or sent.envelope.msg_id or ""
        await self._session.receive(text, answered=answered)


class _FrameSplitter:
    """Finds the frames in a response: each ends with its metadata, whatever chunks it comes in (sections 3.1, 11.1)."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def __len__(self) -> int:
        return len(self._rest)

    def feed(self, data: bytes) -> list[str]:
        """Return the frames that `data` completes."""
        start, found = max(0, len(self._rest) - 1), list[str]()
        self._rest += data
        while end := _END.search(self._rest, start):
            found.append(self._rest[: end.start()].decode("utf-8", "replace"))
            del self._rest[: end.end()]
            start = 0
        if self._rest.endswith(b"]") and _is_whole(text := self._rest.decode("utf-8", "replace")):
            found.append(text)
            self._rest.clear()
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
