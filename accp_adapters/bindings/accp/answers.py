"""Our requests and what answers them, as the events of a session tell (ACCP sections 3.7 and 10.4)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from accp_adapters.bindings.accp.client_errors import RequestFailed
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

__all__ = ["Answers", "PendingAnswer", "join_parts"]

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
