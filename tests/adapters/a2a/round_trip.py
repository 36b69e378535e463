"""A handler that gives plain results to callers who ask for frames, for suites that ask and cannot read them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from copy import deepcopy
from typing import Any

from a2a.server.context import ServerCallContext
from a2a.types import ListTasksRequest, ListTasksResponse, Message, SendMessageRequest, Task

from accp_adapters.a2a import AccpRequestHandler, decode, encode
from accp_adapters.a2a.extension import is_requested
from accp_adapters.a2a.walk import A2aEvent

__all__ = ["RoundTripHandler"]


def framed(params: SendMessageRequest, context: ServerCallContext) -> SendMessageRequest:
    """Return the request of a caller who asks for frames, with frames for parts."""
    if not is_requested(context):
        return params
    request = deepcopy(params)
    request.message.CopyFrom(encode(params.message, never_larger=False))
    return request


async def decoded(stream: AsyncGenerator[A2aEvent, None]) -> AsyncIterator[Any]:
    """Yield the events of a stream of frames as a client decodes them."""
    async with aclosing(stream) as events:
        async for event in events:
            yield decode(event)


class RoundTripHandler(AccpRequestHandler):
    """Is both ends of an exchange of frames, for those who ask for frames: `declare`, header and all, but no wire."""

    async def on_message_send(self, params: SendMessageRequest, context: ServerCallContext) -> Task | Message:
        """Send a request by frames, and decode its result."""
        return decode(await super().on_message_send(framed(params, context), context))

    async def on_message_send_stream(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[A2aEvent, None]:
        """Send a request by frames, and decode its events."""
        async for event in decoded(super().on_message_send_stream(framed(params, context), context)):
            yield event

    async def on_subscribe_to_task(self, params: Any, context: ServerCallContext) -> AsyncGenerator[A2aEvent, None]:
        """Decode the events of a task."""
        async for event in decoded(super().on_subscribe_to_task(params, context)):
            yield event

    async def on_get_task(self, params: Any, context: ServerCallContext) -> Task | None:
        """Decode a task."""
        task = await super().on_get_task(params, context)
        return task and decode(task)

    async def on_cancel_task(self, params: Any, context: ServerCallContext) -> Task | None:
        """Decode a task."""
        task = await super().on_cancel_task(params, context)
        return task and decode(task)

    async def on_list_tasks(self, params: ListTasksRequest, context: ServerCallContext) -> ListTasksResponse:
        """Decode every task."""
        response = await super().on_list_tasks(params, context)
        for task in response.tasks:
            task.CopyFrom(decode(task))
        return response
