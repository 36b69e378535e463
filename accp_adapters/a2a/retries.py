"""A request that comes again is answered with what it started (Idempotent Receiver; ACCP section 3.7).

A2A: "Agents may utilize the messageId to detect duplicate messages." Only what is identical, from the same caller, is a
repetition: two callers may both use the messageId "1", and a caller may use it for two messages; plain A2A runs both,
and so does this. A caller is the principal that the transport authenticated, else the client that an
`AccpClientInterceptor` names by a random id in the header of its calls. Callers without either cannot be told apart;
theirs are never taken for repetitions.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from hashlib import sha256
from typing import Final, TypeAlias

from a2a.server.context import ServerCallContext
from a2a.server.request_handlers import RequestHandler
from a2a.types import GetTaskRequest, Message, SendMessageRequest, SubscribeToTaskRequest, Task, TaskState
from a2a.utils.errors import TaskNotFoundError

from accp_adapters.a2a.wire.envelope_flag import A2aEvent
from accp_core.bounded import SizedCache

__all__ = ["CLIENT_HEADER", "StartedRequests"]

CLIENT_HEADER: Final = "ACCP-Client"
"""The header with the random id of a client; it identifies the sender of a retry where no user is authenticated."""
MAX_BYTES: Final = 8 << 20
"""Bytes of all requests that are remembered; each takes ENTRY_BYTES, and a reply without a task its own size, too."""
ENTRY_BYTES: Final = 1024
_PAUSED: Final = frozenset(
    {
        TaskState.TASK_STATE_COMPLETED,
        TaskState.TASK_STATE_FAILED,
        TaskState.TASK_STATE_CANCELED,
        TaskState.TASK_STATE_REJECTED,
        TaskState.TASK_STATE_INPUT_REQUIRED,
        TaskState.TASK_STATE_AUTH_REQUIRED,
    }
)
"""States in which the stream of a task has ended."""

Started: TypeAlias = "asyncio.Future[str | Message]"
"""What a request started: the id of a task, or a reply; an error where it started nothing."""


class StartedRequests:
    """What the requests of each caller started, bounded in bytes; the oldest are forgotten."""

    def __init__(self, inner: RequestHandler) -> None:
        """Remember the requests that `inner` runs."""
        self._inner: Final = inner
        self._started: Final[SizedCache[bytes, Started]] = SizedCache(MAX_BYTES)

    async def send(self, params: SendMessageRequest, context: ServerCallContext) -> Task | Message:
        """Run a plain request, or return what an identical one started, as it is now."""
        key = _key(params, context)
        if key is None:
            return await self._inner.on_message_send(params, context)
        known = await self._known(key, params, context)
        if known is not None:
            return known
        started = self._begin(key)
        # The run goes on when this caller disconnects: a retry that arrives meanwhile waits for its result.
        run = asyncio.ensure_future(self._inner.on_message_send(params, context))
        run.add_done_callback(lambda done: self._finish(key, started, done))
        return await asyncio.shield(run)

    async def stream(self, params: SendMessageRequest, context: ServerCallContext) -> AsyncGenerator[A2aEvent, None]:
        """Run a plain request as a stream, or yield the task or the reply that an identical one started."""
        key = _key(params, context)
        known = None if key is None else await self._known(key, params, context)
        if key is None:
            events = self._inner.on_message_send_stream(params, context)
        elif known is None:
            events = self._first(key, params, context)
        else:
            events = self._again(known, context)
        async with aclosing(events):
            async for event in events:
                yield event

    async def _first(
        self, key: bytes, params: SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[A2aEvent, None]:
        started = self._begin(key)
        try:
            async with aclosing(self._inner.on_message_send_stream(params, context)) as events:
                async for event in events:
                    if not started.done():
                        self._keep(key, started, event)
                    yield event
        finally:
            if not started.done():
                self._forget(key, started)

    async def _again(self, known: Task | Message, context: ServerCallContext) -> AsyncGenerator[A2aEvent, None]:
        """Yield what a request started: the task and, while it is worked on, its events."""
        if isinstance(known, Message) or known.status.state in _PAUSED:
            yield known
            return
        async with aclosing(self._inner.on_subscribe_to_task(SubscribeToTaskRequest(id=known.id), context)) as events:
            async for event in events:
                yield event

    async def _known(self, key: bytes, params: SendMessageRequest, context: ServerCallContext) -> Task | Message | None:
        """Return what an identical request started, None where there was none, or what it started is gone."""
        while (started := self._started.get(key)) is not None:
            try:
                result = await asyncio.shield(started)
            except _NothingStartedError:
                continue
            if isinstance(result, Message):
                return result
            return await self._task(result, params, context)
        return None

    async def _task(self, task_id: str, params: SendMessageRequest, context: ServerCallContext) -> Task | None:
        """Return the task as the caller of the request may see it now."""
        asked = GetTaskRequest(id=task_id)
        if params.configuration.HasField("history_length"):
            asked.history_length = params.configuration.history_length
        try:
            return await self._inner.on_get_task(asked, context)
        except TaskNotFoundError:
            return None

    def _begin(self, key: bytes) -> Started:
        started: Started = asyncio.get_running_loop().create_future()
        # Reading the exception keeps asyncio from logging it as "never retrieved" where no retry waits for it.
        started.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._started.put(key, started, ENTRY_BYTES)
        return started

    def _finish(self, key: bytes, started: Started, run: asyncio.Future[Task | Message]) -> None:
        if run.cancelled() or run.exception() is not None:
            self._forget(key, started)
        else:
            self._keep(key, started, run.result())

    def _keep(self, key: bytes, started: Started, event: A2aEvent) -> None:
        """Remember what the first event of a request is, or belongs to."""
        if isinstance(event, Message):
            # A sent message never changes, so the object itself can be kept.
            self._started.put(key, started, ENTRY_BYTES + event.ByteSize())
            started.set_result(event)
        else:
            started.set_result(event.id if isinstance(event, Task) else event.task_id)

    def _forget(self, key: bytes, started: Started) -> None:
        """Let the request be sent again: it was not accepted."""
        if self._started.get(key) is started:
            self._started.pop(key)
        started.set_exception(_NothingStartedError())


class _NothingStartedError(Exception):
    """A request failed before it started anything."""


def _key(params: SendMessageRequest, context: ServerCallContext) -> bytes | None:
    """Return the digest of a caller and its request, None where the caller is not known."""
    if context.user.is_authenticated:
        caller = f"user\0{context.user.user_name}"
    elif client := _client_id(context):
        caller = f"client\0{client}"
    else:
        return None
    digest = sha256()
    for text in (context.tenant, caller):
        digest.update(f"{len(text)}:{text}".encode("utf-8", "surrogatepass"))
    digest.update(params.SerializeToString(deterministic=True))
    return digest.digest()


def _client_id(context: ServerCallContext) -> str:
    """Return the id in the header of a call, over HTTP or gRPC; empty where there is none."""
    headers = context.state.get("headers")
    if headers is None:
        metadata: Callable[[], object] = getattr(context.state.get("grpc_context"), "invocation_metadata", dict)
        headers = dict(metadata() or ())  # type: ignore[call-overload]  # pairs of a name and a value
    return str(headers.get(CLIENT_HEADER.lower(), ""))
