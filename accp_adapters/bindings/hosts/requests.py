"""What an application gets and gives: a request, and its answer or its stream (ACCP sections 4.1, 10.2 and 10.4)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from inspect import isawaitable
from typing import Any, Final, TypeAlias

from accp_adapters.serving.requests import OutOfReach
from accp_core.accp.frame import Envelope, Intent, Message, Value
from accp_core.accp.profiles import error_message, reply_correlation, tool_error
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["Answer", "Handler", "Request", "answers_of", "failure_of"]

_NO_ANSWERS: Final = frozenset({Intent.REQUEST, Intent.QUERY, Intent.CANCEL})

Answer: TypeAlias = "Message | Mapping[str, Value]"
"""A whole message; or its payload alone, of a `done` with the operation and the schema of the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request or a query of a peer."""

    agent: str
    """The agent that is asked: this one."""
    message: Message
    """The request, with references resolved and defaults filled in."""
    idempotency_key: str
    """The msg_id of the request. A handler may run again for the same request, after the worker that ran it was killed:
    what it does beyond its answer, it must do once for each `(principal, session_id, idempotency_key)`."""
    session_id: str
    """The session; another principal may have one with the same id."""
    principal: str
    """Whom the transport has authenticated; the agent that asks is `message.sender`."""
    runs: int = 1
    """Which run this is; more than 1 where workers were lost."""


Handler: TypeAlias = Callable[[Request], "Awaitable[Answer | AsyncIterator[Answer]] | AsyncIterator[Answer]"]
"""The application. It returns one answer; or yields the chunks of a stream, each a payload, which becomes one ST frame.

A `ProtocolError` that it raises is the peer's answer, with its code; any other exception is E4002 or E9999 without a
word about its reason."""


async def answers_of(handler: Handler, request: Request) -> AsyncIterator[Message]:
    """Yield the messages that answer a request: one, or the chunks of a stream and its end."""
    result: Any = handler(request)
    if isawaitable(result):
        result = await result
    if not hasattr(result, "__aiter__"):
        yield _reply(request, result)
        return
    count = 0
    async for chunk in result:
        yield _chunk(request, chunk, count)
        count += 1
    yield _final(request, count)


def failure_of(request: Request, error: Exception) -> Message:
    """Return the answer to a request whose handler failed."""
    cid = reply_correlation(request.message.envelope)
    if isinstance(error, ProtocolError) and error.code in set(ErrorCode) and not isinstance(error, OutOfReach):
        return error_message(request.agent, ErrorCode(error.code), error.reason, correlation_id=cid)
    if isinstance(error, TimeoutError):
        return error_message(request.agent, ErrorCode.TIMEOUT, "the handler took too long", correlation_id=cid)
    if request.message.schema == "TC":
        return tool_error(request.agent, request.message, "the tool failed")
    return error_message(request.agent, ErrorCode.INTERNAL_ERROR, "internal error", correlation_id=cid)


def _reply(request: Request, answer: object) -> Message:
    """Return an answer as a message that names its request."""
    asked, envelope = request.message, Envelope(correlation_id=reply_correlation(request.message.envelope))
    if isinstance(answer, Message):
        if answer.intent in _NO_ANSWERS:
            raise TypeError(f"expected an answer, found a message of intent {answer.intent.value!r}")
        return replace(
            answer, sender=request.agent, envelope=replace(answer.envelope, correlation_id=envelope.correlation_id)
        )
    if not isinstance(answer, Mapping):
        raise TypeError(f"expected a Message, a mapping or an async iterator as answer, found {answer!r:.80}")
    return Message(
        sender=request.agent,
        intent=Intent.COMPLETE,
        operation=asked.operation,
        payload=answer,
        schema=asked.schema,
        envelope=envelope,
    )


def _chunk(request: Request, chunk: object, index: int) -> Message:
    """Return the ST message of one chunk of a stream."""
    if isinstance(chunk, Message):
        return _reply(request, chunk)
    data = chunk["data"] if isinstance(chunk, Mapping) and set(chunk) == {"data"} else chunk
    return _stream(request, {"chunk_index": index, "data": data})


def _final(request: Request, count: int) -> Message:
    """Return the last ST message of a stream, which is empty."""
    return _stream(request, {"chunk_index": count, "data": "", "is_final": True})


def _stream(request: Request, payload: Mapping[str, Any]) -> Message:
    return replace(_reply(request, payload), intent=Intent.STREAM, schema="ST")
