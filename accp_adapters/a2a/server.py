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
    AgentCard,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse,
    ListTasksRequest,
    ListTasksResponse,
    Message,
    SendMessageRequest,
    SubscribeToTaskRequest,
    Task,
    TaskPushNotificationConfig,
)

from accp_adapters.a2a.wire.envelope_flag import Event
from accp_adapters.a2a.wire.errors import to_a2a_error
from accp_adapters.a2a.wire.events import AnyEvent, decode, encode
from accp_adapters.a2a.wire.extension import is_requested
from accp_adapters.a2a.wire.part_counter import PartCounter
from accp_core.accp import ErrorCode
from accp_core.bounded import BoundedDict
from accp_core.errors import ProtocolError

__all__ = ["AccpRequestHandler"]

MAX_MESSAGE_IDS: Final = 10_000
"""Message ids of live sends that are remembered, of all callers together."""
MAX_ENCODED_UPDATES: Final = 256
"""Updates whose encodings are kept for the other streams of their task."""


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
        self._message_ids: Final[BoundedDict[tuple[str, str, str], None]] = BoundedDict(MAX_MESSAGE_IDS)
        self._encoded: Final[BoundedDict[tuple[int, int], tuple[Event, Event]]] = BoundedDict(MAX_ENCODED_UPDATES)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute that only `inner` has, such as `aclose`."""
        if name == "inner":
            raise AttributeError(name)  # an unfinished copy has no `inner`; looking for it here would never end
        return getattr(self.inner, name)

    async def on_message_send(self, params: SendMessageRequest, context: ServerCallContext) -> Task | Message:
        """Run the plain request and encode the result for a caller that requests frames."""
        if not is_requested(context, params):
            return await self.inner.on_message_send(params, context)
        admitted = self._admit(params, context)
        try:
            result = await self.inner.on_message_send(_decoded_request(params), context)
        except BaseException:
            # A message that was not accepted may be sent again under its id.
            self._message_ids.pop(admitted, None)
            raise
        return self._encode(result)

    async def on_message_send_stream(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        """Run the plain request and encode each event for a caller that requests frames."""
        if not is_requested(context, params):
            async with aclosing(self.inner.on_message_send_stream(params, context)) as events:
                async for event in events:
                    yield event
            return
        admitted = self._admit(params, context)
        is_accepted = False
        try:
            inner = self.inner.on_message_send_stream(_decoded_request(params), context)
            async with aclosing(self._encode_stream(inner)) as events:
                async for event in events:
                    is_accepted = True
                    yield event
        finally:
            if not is_accepted:
                self._message_ids.pop(admitted, None)

    async def on_subscribe_to_task(
        self, params: SubscribeToTaskRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        """Yield the task and then its events, encoded for a caller that requests frames."""
        inner = self.inner.on_subscribe_to_task(params, context)
        async with aclosing(self._encode_stream(inner) if is_requested(context) else inner) as events:
            async for event in events:
                yield event

    async def on_get_task(self, params: GetTaskRequest, context: ServerCallContext) -> Task | None:
        """Return the task, encoded for a caller that requests frames; it may be read any number of times."""
        return self._encode_if_requested(await self.inner.on_get_task(params, context), context)

    async def on_cancel_task(self, params: CancelTaskRequest, context: ServerCallContext) -> Task | None:
        """Cancel the task and return it, encoded for a caller that requests frames."""
        return self._encode_if_requested(await self.inner.on_cancel_task(params, context), context)

    async def on_list_tasks(self, params: ListTasksRequest, context: ServerCallContext) -> ListTasksResponse:
        """Return the tasks, each encoded for a caller that requests frames."""
        response = await self.inner.on_list_tasks(params, context)
        if not is_requested(context):
            return response
        framed = deepcopy(response)
        del framed.tasks[:]
        framed.tasks.extend(self._encode(task) for task in response.tasks)
        return framed

    async def on_get_extended_agent_card(
        self, params: GetExtendedAgentCardRequest, context: ServerCallContext
    ) -> AgentCard:
        """Return the extended card of the agent, as the inner handler has it."""
        return await self.inner.on_get_extended_agent_card(params, context)

    async def on_create_task_push_notification_config(
        self, params: TaskPushNotificationConfig, context: ServerCallContext
    ) -> TaskPushNotificationConfig:
        """Let the inner handler create the configuration; notifications carry no request for frames and stay plain."""
        return await self.inner.on_create_task_push_notification_config(params, context)

    async def on_get_task_push_notification_config(
        self, params: GetTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> TaskPushNotificationConfig:
        """Return the configuration from the inner handler."""
        return await self.inner.on_get_task_push_notification_config(params, context)

    async def on_list_task_push_notification_configs(
        self, params: ListTaskPushNotificationConfigsRequest, context: ServerCallContext
    ) -> ListTaskPushNotificationConfigsResponse:
        """Return the configurations from the inner handler."""
        return await self.inner.on_list_task_push_notification_configs(params, context)

    async def on_delete_task_push_notification_config(
        self, params: DeleteTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> None:
        """Let the inner handler delete the configuration."""
        await self.inner.on_delete_task_push_notification_config(params, context)

    async def _encode_stream(self, inner: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        parts = PartCounter()
        async with aclosing(inner) as events:
            async for event in events:
                first_index = parts.first_index(event)
                parts.count(event)
                yield self._encode_once(event, first_index)

    def _encode_once(self, event: AnyEvent, first_index: int) -> AnyEvent:
        """Return the encoding of an event; all streams of a task get the same object, which is encoded once."""
        # A task object is changed in place while the task goes on; an update is not.
        if isinstance(event, Task | Message):
            return self._encode(event)
        key = id(event), first_index
        known = self._encoded.get(key)
        if known is None:
            # Keeping the event itself keeps its id from being given to another object.
            known = event, self._encode(event, first_index)
            self._encoded.put(key, known)
        return known[1]  # type: ignore[return-value]  # the encoding has the type of the event with this id

    def _encode_if_requested(self, task: Task | None, context: ServerCallContext) -> Task | None:
        return self._encode(task) if task is not None and is_requested(context) else task

    def _encode(self, event: AnyEvent, first_index: int = 0) -> AnyEvent:
        return encode(event, first_index, never_larger=self._never_larger)

    # "Frames with a previously seen "msg_id" MUST be rejected with error E3002 DUPLICATE." (section 3.7)
    def _admit(self, params: SendMessageRequest, context: ServerCallContext) -> tuple[str, str, str]:
        """Remember the id of a message that this caller sends; return the key under which it is remembered.

        Raises:
            A2AError: E3002, the caller sent a message of this id before.
        """
        key = context.tenant, context.user.user_name, params.message.message_id
        if key in self._message_ids:
            reason = f"expected a new message, found {params.message.message_id!r} again"
            raise to_a2a_error(ProtocolError(reason, code=ErrorCode.DUPLICATE))
        self._message_ids.put(key, None)
        return key


def _decoded_request(params: SendMessageRequest) -> SendMessageRequest:
    """Return the request with plain parts, for the executor.

    Raises:
        A2AError: The codes of `decode`.
    """
    try:
        message = decode(params.message)
    except ProtocolError as error:
        raise to_a2a_error(error) from error
    if message is params.message:
        return params
    plain = deepcopy(params)
    plain.message.CopyFrom(message)
    return plain
