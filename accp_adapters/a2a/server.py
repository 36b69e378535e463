"""Frames at the edge of an A2A server, on every transport: the objects inside the server stay plain.

    AccpRequestHandler(DefaultRequestHandler(executor, store, card))

Every transport of the SDK, the compatibility routes for A2A 0.3 included, calls a `RequestHandler`, so this is the one
place to convert. The executor, the task store, push notifications and callers that do not request frames never see one.
With `ACCP_DISABLED=1` in the environment, frames that arrive are decoded and answers are plain.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from copy import deepcopy
from functools import partial
from typing import Any, Final

from a2a.server.context import ServerCallContext
from a2a.server.request_handlers import RequestHandler
from a2a.types import ListTasksRequest, ListTasksResponse, Message, SendMessageRequest, SubscribeToTaskRequest, Task

from accp_adapters.a2a.bounded import ADMIT
from accp_adapters.a2a.extension import VIEWS, is_requested
from accp_adapters.a2a.frames import AnyEvent, EventEncoder, Safely, decode, with_message
from accp_adapters.a2a.walk import A2aEvent
from accp_adapters.policy import is_disabled

__all__ = ["AccpRequestHandler"]


def _answering(name: str) -> Any:
    """Return the method of a handler that passes a call to the inner handler, and encodes a task that this returns."""

    async def call(handler: AccpRequestHandler, params: Any, context: ServerCallContext) -> Any:
        """Return what the inner handler returns, a task encoded for a caller that requests frames."""
        return await handler.encode(await getattr(handler.inner, name)(params, context), context)

    return call


class AccpRequestHandler(RequestHandler):
    """A request handler that exchanges frames with callers that request them, and passes all other calls through."""

    def __init__(self, inner: RequestHandler, *, never_larger: bool = True) -> None:
        """Wrap a handler.

        Args:
            inner: Handles the plain requests, such as the SDK's `DefaultRequestHandler`.
            never_larger: Send an object plain where frames would take more bytes or tokens; False: frame every text
                and every data part.

        Raises:
            ValueError: `ACCP_DISABLED` is neither yes nor no.
        """
        self.inner: Final = inner
        self._never_larger: Final = never_larger
        self._is_off: Final = is_disabled()
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
        return await self.encode(await self.inner.on_message_send(await self._plain(params, context), context), context)

    async def on_message_send_stream(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[A2aEvent, None]:
        """Run the plain request and encode each event for a caller that requests frames."""
        inner = self.inner.on_message_send_stream(await self._plain(params, context), context)
        async with aclosing(self._encode_stream(inner, context)) as events:
            async for event in events:
                yield event

    def on_subscribe_to_task(
        self, params: SubscribeToTaskRequest, context: ServerCallContext
    ) -> AsyncGenerator[A2aEvent, None]:
        """Return a stream of the task and then its events, encoded for a caller that requests frames."""
        return self._encode_stream(self.inner.on_subscribe_to_task(params, context), context)

    async def on_list_tasks(self, params: ListTasksRequest, context: ServerCallContext) -> ListTasksResponse:
        """Return the tasks, each encoded for a caller that requests frames."""
        response = await self.inner.on_list_tasks(params, context)
        if self._encoder(context) is None:
            return response
        framed = deepcopy(response)
        for task in framed.tasks:
            task.CopyFrom(await self.encode(task, context))
        return framed

    on_get_task = _answering("on_get_task")
    on_cancel_task = _answering("on_cancel_task")
    on_get_extended_agent_card = _answering("on_get_extended_agent_card")
    # Push notifications carry no request for frames and stay plain.
    on_create_task_push_notification_config = _answering("on_create_task_push_notification_config")
    on_get_task_push_notification_config = _answering("on_get_task_push_notification_config")
    on_list_task_push_notification_configs = _answering("on_list_task_push_notification_configs")
    on_delete_task_push_notification_config = _answering("on_delete_task_push_notification_config")

    async def encode(self, event: AnyEvent, context: ServerCallContext) -> AnyEvent:
        """Return a task or message encoded for a caller that requests frames, anything else as it is."""
        encoder = self._encoder(context)
        if encoder is None or not isinstance(event, A2aEvent):
            return event
        return await self._safely.run(encoder.encode, event)

    async def _encode_stream(
        self, inner: AsyncGenerator[A2aEvent, None], context: ServerCallContext
    ) -> AsyncGenerator[A2aEvent, None]:
        encoder = self._encoder(context)
        async with aclosing(inner) as events:
            async for event in events:
                yield event if encoder is None else await self._safely.run(encoder.encode, event)

    def _encoder(self, context: ServerCallContext) -> EventEncoder | None:
        """Return what encodes answers to the caller, None where they stay plain."""
        if self._is_off or not is_requested(context):
            return None
        return EventEncoder(never_larger=self._never_larger, views=is_requested(context, VIEWS))

    async def _plain(self, params: SendMessageRequest, context: ServerCallContext) -> SendMessageRequest:
        """Return the request with plain parts, for the executor.

        Raises:
            InvalidParamsError: The frames hold more values than `BoundedRequests` lets a request have.
        """
        if not is_requested(context):
            return params
        return with_message(params, await self._safely.run(partial(decode, admit=ADMIT.get()), params.message))
