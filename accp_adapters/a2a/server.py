"""Frames at the edge of an A2A server, on every transport: the objects inside the server stay plain.

    AccpRequestHandler(DefaultRequestHandler(executor, store, card))

Every transport of the SDK, the compatibility routes for A2A 0.3 included, calls a `RequestHandler`, so this is the one
place to convert. The executor, the task store, push notifications and callers that do not request frames never see one.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from copy import deepcopy
from typing import Any, Final

from a2a.server.context import ServerCallContext
from a2a.server.request_handlers import RequestHandler
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    ListTasksResponse,
    Message,
    SendMessageRequest,
    SubscribeToTaskRequest,
    Task,
)

from accp_adapters.a2a.extension import VIEWS, is_requested
from accp_adapters.a2a.frames import AnyEvent, EventEncoder, Safely, decode
from accp_adapters.a2a.walk import A2aEvent

__all__ = ["AccpRequestHandler"]


def _unchanged(name: str) -> Any:
    """Return the method of a handler that passes a call to the inner handler, and returns its answer, as they are."""

    async def call(handler: AccpRequestHandler, params: Any, context: ServerCallContext) -> Any:
        """Return what the inner handler returns."""
        return await getattr(handler.inner, name)(params, context)

    return call


class AccpRequestHandler(RequestHandler):
    """A request handler that exchanges frames with callers that request them, and passes all other calls through."""

    def __init__(self, inner: RequestHandler, *, never_larger: bool = True) -> None:
        """Wrap a handler.

        Args:
            inner: Handles the plain requests, such as the SDK's `DefaultRequestHandler`.
            never_larger: Send an object plain where frames would take more bytes or tokens; False: frame every text
                and every data part.
        """
        self.inner: Final = inner
        self._never_larger: Final = never_larger
        self._safely: Final = Safely()

    @property
    def faults(self) -> int:
        """How many objects were passed on as they came, because our own work on them failed."""
        return self._safely.faults

    def __getattr__(self, name: str) -> Any:
        """Return an attribute that only `inner` has, such as `aclose`."""
        if name == "inner":
            raise AttributeError(name)  # an unfinished copy has no `inner`; looking for it here would never end
        return getattr(self.inner, name)

    async def on_message_send(self, params: SendMessageRequest, context: ServerCallContext) -> Task | Message:
        """Run the plain request and encode the result for a caller that requests frames."""
        if not is_requested(context):
            return await self.inner.on_message_send(params, context)
        result = await self.inner.on_message_send(await self._decoded(params), context)
        return await self._encode(result, context)

    async def on_message_send_stream(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[A2aEvent, None]:
        """Run the plain request and encode each event for a caller that requests frames."""
        if is_requested(context):
            inner = self.inner.on_message_send_stream(await self._decoded(params), context)
            stream = self._encode_stream(inner, context)
        else:
            stream = self.inner.on_message_send_stream(params, context)
        async with aclosing(stream) as events:
            async for event in events:
                yield event

    async def on_subscribe_to_task(
        self, params: SubscribeToTaskRequest, context: ServerCallContext
    ) -> AsyncGenerator[A2aEvent, None]:
        """Yield the task and then its events, encoded for a caller that requests frames."""
        inner = self.inner.on_subscribe_to_task(params, context)
        async with aclosing(self._encode_stream(inner, context) if is_requested(context) else inner) as events:
            async for event in events:
                yield event

    async def on_get_task(self, params: GetTaskRequest, context: ServerCallContext) -> Task | None:
        """Return the task, encoded for a caller that requests frames; it may be read any number of times."""
        return await self._encode_if_requested(await self.inner.on_get_task(params, context), context)

    async def on_cancel_task(self, params: CancelTaskRequest, context: ServerCallContext) -> Task | None:
        """Cancel the task and return it, encoded for a caller that requests frames."""
        return await self._encode_if_requested(await self.inner.on_cancel_task(params, context), context)

    async def on_list_tasks(self, params: ListTasksRequest, context: ServerCallContext) -> ListTasksResponse:
        """Return the tasks, each encoded for a caller that requests frames."""
        response = await self.inner.on_list_tasks(params, context)
        if not is_requested(context):
            return response
        tasks = [await self._encode(task, context) for task in response.tasks]
        framed = deepcopy(response)
        for task, encoded in zip(framed.tasks, tasks, strict=True):
            task.CopyFrom(encoded)
        return framed

    on_get_extended_agent_card = _unchanged("on_get_extended_agent_card")
    # Push notifications carry no request for frames and stay plain.
    on_create_task_push_notification_config = _unchanged("on_create_task_push_notification_config")
    on_get_task_push_notification_config = _unchanged("on_get_task_push_notification_config")
    on_list_task_push_notification_configs = _unchanged("on_list_task_push_notification_configs")
    on_delete_task_push_notification_config = _unchanged("on_delete_task_push_notification_config")

    async def _encode_stream(
        self, inner: AsyncGenerator[A2aEvent, None], context: ServerCallContext
    ) -> AsyncGenerator[A2aEvent, None]:
        encoder = self._encoder(context)
        async with aclosing(inner) as events:
            async for event in events:
                yield await self._safely.run(encoder.encode, event)

    async def _encode_if_requested(self, task: Task | None, context: ServerCallContext) -> Task | None:
        return await self._encode(task, context) if task is not None and is_requested(context) else task

    async def _encode(self, event: AnyEvent, context: ServerCallContext) -> AnyEvent:
        return await self._safely.run(self._encoder(context).encode, event)

    def _encoder(self, context: ServerCallContext) -> EventEncoder:
        return EventEncoder(never_larger=self._never_larger, views=is_requested(context, VIEWS))

    async def _decoded(self, params: SendMessageRequest) -> SendMessageRequest:
        """Return the request with plain parts, for the executor."""
        message = await self._safely.run(decode, params.message)
        if message is params.message:
            return params
        plain = deepcopy(params)
        plain.message.CopyFrom(message)
        return plain
