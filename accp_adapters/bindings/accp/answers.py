"""What the client and the host of ACCP share: answers, errors, addresses (ACCP sections 3.7, 10.4 and 11)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, TypeAlias
from urllib.parse import urlsplit, urlunsplit

from accp_adapters.serving.principals import is_loopback
from accp_core.accp.frame import Intent, Message
from accp_core.accp.profiles import read_error, reply_correlation
from accp_core.accp.session.events import (
    Event,
    ExchangeClosed,
    FrameRefused,
    MessageReceived,
    StreamChunkReceived,
    StreamEnded,
)
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = [
    "FRAMES_PATH", "RESUME_FIELD", "WEBSOCKET_PATH", "Address", "Answers", "ConnectionRefused", "PendingAnswer",
    "RequestFailed", "SessionLost", "TokenSource", "join_parts", "parse_address",
]  # fmt: skip


# What can go wrong for a client of ACCP over a network.


class SessionLost(ProtocolError):
    """The session is over: nothing else is sent or received in it."""


class ConnectionRefused(SessionLost):
    """The server does not let this client in, or cannot be reached; another attempt would end alike."""

    def __init__(self, reason: str, *, status: int | None = None, code: str = ErrorCode.POLICY_DENIED) -> None:
        """Refuse, and say why; `status` is that of the server's HTTP response."""
        super().__init__(reason, code=code)
        self.status: Final = status


class RequestFailed(ProtocolError):
    """The answer to a request is a failure, or there is none in time (E3001)."""

    def __init__(self, reason: str, *, code: str, message: Message | None = None) -> None:
        """Fail with the code of the answer."""
        super().__init__(reason, code=code)
        self.message: Final = message
        """The answer; None where there is none."""


# The request that these errors name goes on.
_STILL_OPEN: Final = frozenset({ErrorCode.DUPLICATE, ErrorCode.SEQUENCE_GAP})


@dataclass(slots=True)
class PendingAnswer:
    """A request without a complete answer."""

    parts: asyncio.Queue[Message | ProtocolError | None] = field(default_factory=asyncio.Queue)
    """What was received of it; then None, or why there is no more."""
    closed: ExchangeClosed | None = None
    """How its exchange ended, while the last message was not reported."""

    async def next_part(self) -> Message | None:
        """Return the next part, None after the last one.

        Raises:
            RequestFailed: The answer is a failure.
            ProtocolError: The session is over.
        """
        part = await self.parts.get()
        if isinstance(part, ProtocolError):
            raise part
        return part


class Answers:
    """The requests that wait for an answer; a caller takes the parts of the answer as they arrive."""

    def __init__(self) -> None:
        """Start without requests."""
        self._pending: dict[str, PendingAnswer] = {}
        self.may_go_on = True
        """Whether a request goes on after E3002 and E3003, because what is missing is sent again."""

    def __len__(self) -> int:
        """Return the number of requests."""
        return len(self._pending)

    def expect(self, chain: str) -> PendingAnswer:
        """Expect the answer of a request that was sent; `chain` is the correlation_id of its frames."""
        self._pending[chain] = PendingAnswer()
        return self._pending[chain]

    def forget(self, chain: str) -> bool:
        """Stop to wait; return whether the answer was not complete."""
        return self._pending.pop(chain, None) is not None

    def take(self, events: Iterable[Event], answered: str = "") -> list[Message]:
        """Take what belongs to requests; return the other messages, in order.

        A message without a correlation_id answers the request `answered`.
        """
        others = [
            event.message for event in events if not self._take(event, answered) and isinstance(event, MessageReceived)
        ]
        for chain, pending in list(self._pending.items()):
            if pending.closed is not None:
                self._end(chain, _failure(pending.closed))
        return others

    def fail(self, error: ProtocolError) -> None:
        """End all requests: the session is over."""
        for chain in list(self._pending):
            self._end(chain, error)

    def _take(self, event: Event, answered: str) -> bool:
        if isinstance(event, MessageReceived):
            return self._take_message(event.message, answered)
        if isinstance(event, FrameRefused):
            return self._take_refused(event)
        if not isinstance(event, StreamChunkReceived | StreamEnded | ExchangeClosed):
            return False
        pending = self._pending.get(event.chain)
        if pending is None:
            return False
        if isinstance(event, StreamChunkReceived):
            pending.parts.put_nowait(event.message)
        elif isinstance(event, StreamEnded):
            self._end(event.chain, None)
        else:
            pending.closed = event
        return True

    # Nothing is sent again to us, or by us: without this the request would wait until its time is over.
    def _take_refused(self, event: FrameRefused) -> bool:
        if self.may_go_on or event.code not in _STILL_OPEN:
            return False
        chain = event.frame.envelope.correlation_id if event.frame else None
        for each in [chain] if chain in self._pending else list(self._pending):
            self._end(f"{each}", RequestFailed(event.reason, code=event.code))
        return True

    def _take_message(self, message: Message, answered: str) -> bool:
        is_unnamed = message.envelope.correlation_id is None and message.intent in (Intent.COMPLETE, Intent.FAILURE)
        chain = (answered if is_unnamed else "") or reply_correlation(message.envelope) or ""
        pending, error = self._pending.get(chain), read_error(message)
        if pending is None:
            return False
        if self.may_go_on and error is not None and error.code in _STILL_OPEN:
            return True
        if message.intent is Intent.FAILURE:
            code, reason = (error.code, error.message) if error else (ErrorCode.INTERNAL_ERROR, "the request failed")
            self._end(chain, RequestFailed(reason, code=code, message=message))
            return True
        pending.parts.put_nowait(message)
        if pending.closed is not None or is_unnamed:
            self._end(chain, None)
        return True

    def _end(self, chain: str, result: ProtocolError | None) -> None:
        pending = self._pending.pop(chain, None)
        if pending is not None:
            pending.parts.put_nowait(result)


def _failure(closed: ExchangeClosed) -> RequestFailed | None:
    """Return the failure of an exchange that ended without a last message; None for one that ended well."""
    if closed.cancelled:
        return RequestFailed("the request was cancelled", code=ErrorCode.TIMEOUT)
    return RequestFailed("expected an answer in time", code=closed.code) if closed.code else None


def join_parts(parts: list[Message]) -> Message:
    """Return the answer of which `parts` were received: the last one, or the chunks of a stream as one."""
    chunks = [part for part in parts if part.schema == "ST"]
    if not chunks or chunks[-1] is not parts[-1]:
        return parts[-1]
    data = [chunk.payload.get("data", "") for chunk in chunks]
    if len(data) > 1 and data[-1] == "":
        data.pop()
    is_text = all(isinstance(each, str) for each in data)
    joined = "".join(map(str, data)) if is_text else data
    payload = {"data": joined, "total_chunks": len(data), "is_final": True}
    return Message(
        sender=parts[-1].sender,
        intent=Intent.COMPLETE,
        operation=parts[-1].operation,
        payload=payload,
        envelope=parts[-1].envelope,
    )


# Where a client connects to, and what it may send there (ACCP sections 11.1 and 11.2).

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
