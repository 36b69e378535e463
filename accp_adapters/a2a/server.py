"""Frames at the edge of an A2A server, whichever transport it has: everything inside it stays plain.

    AccpRequestHandler(DefaultRequestHandler(executor, store, card))

Every transport of the SDK, the compatibility routes for 0.3 included, calls a `RequestHandler`, so this is the one
place. The executor, the task store and push notifications never see a frame, and neither does a caller who did not
ask for one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import aclosing
from copy import deepcopy
from typing import Any, Final, TypeVar

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

from accp_adapters.a2a.wire.chunks import Chunks
from accp_adapters.a2a.wire.envelope_flag import Event
from accp_adapters.a2a.wire.errors import refusal
from accp_adapters.a2a.wire.events import decode, encode
from accp_adapters.a2a.wire.extension import is_requested
from accp_core.accp import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["AccpRequestHandler"]

_REMEMBERED: Final = 10_000
"""Message ids of live sends, by caller."""
_ENCODED: Final = 256
"""Updates whose frames are kept for the other streams of their task."""
AnyEvent = TypeVar("AnyEvent", bound=Event)


class AccpRequestHandler(RequestHandler):
    """A request handler that speaks frames with those who ask for them, and passes everybody else through."""

    def __init__(self, inner: RequestHandler, *, never_larger: bool = True) -> None:
        """Wrap `inner`, such as the SDK's `DefaultRequestHandler`.

        With `never_larger`, what would take more bytes or tokens with frames goes without them; else every text and
        every data part is a frame.
        """
        self.inner: Final = inner
        self._never_larger: Final = never_larger
        self._sent: Final[OrderedDict[tuple[str, str, str], None]] = OrderedDict()
        self._encoded: Final[OrderedDict[tuple[int, int], tuple[Event, Event]]] = OrderedDict()

    def __getattr__(self, name: str) -> Any:
        """Give what only `inner` has, such as `aclose`."""
        if name == "inner":
            raise AttributeError(name)  # a copy that is being made has none yet, and would look for it forever
        return getattr(self.inner, name)

    async def on_message_send(self, params: SendMessageRequest, context: ServerCallContext) -> Task | Message:
        """Run the plain request; the result has frames for a caller who asked."""
        if not is_requested(context, params):
            return await self.inner.on_message_send(params, context)
        sent = self._admit(params, context)
        try:
            result = await self.inner.on_message_send(_plain(params), context)
        except BaseException:
            # What was not accepted may be sent again as it is.
            self._sent.pop(sent, None)
            raise
        return self._encode(result)

    async def on_message_send_stream(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        """Run the plain request; each event has frames for a caller who asked."""
        if not is_requested(context, params):
            async with aclosing(self.inner.on_message_send_stream(params, context)) as events:
                async for event in events:
                    yield event
            return
        sent = self._admit(params, context)
        accepted = False
        try:
            async with aclosing(self._stream(self.inner.on_message_send_stream(_plain(params), context))) as events:
                async for event in events:
                    accepted = True
                    yield event
        finally:
            if not accepted:
                self._sent.pop(sent, None)

    async def on_subscribe_to_task(
        self, params: SubscribeToTaskRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event, None]:
        """Give the task and then its events, with frames for a caller who asked."""
        inner = self.inner.on_subscribe_to_task(params, context)
        async with aclosing(self._stream(inner) if is_requested(context) else inner) as events:
            async for event in events:
                yield event

    async def on_get_task(self, params: GetTaskRequest, context: ServerCallContext) -> Task | None:
        """Return the task, with frames for a caller who asked; reading it again is no repetition."""
        return self._answer(await self.inner.on_get_task(params, context), context)

    async def on_cancel_task(self, params: CancelTaskRequest, context: ServerCallContext) -> Task | None:
        """Cancel the task and return it, with frames for a caller who asked."""
        return self._answer(await self.inner.on_cancel_task(params, context), context)

    async def on_list_tasks(self, params: ListTasksRequest, context: ServerCallContext) -> ListTasksResponse:
        """Return the tasks, each with frames for a caller who asked."""
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
        """Return the extended card of the agent."""
        return await self.inner.on_get_extended_agent_card(params, context)

    async def on_create_task_push_notification_config(
        self, params: TaskPushNotificationConfig, context: ServerCallContext
    ) -> TaskPushNotificationConfig:
        """Pass through: notifications name no extension and stay plain."""
        return await self.inner.on_create_task_push_notification_config(params, context)

    async def on_get_task_push_notification_config(
        self, params: GetTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> TaskPushNotificationConfig:
        """Pass through."""
        return await self.inner.on_get_task_push_notification_config(params, context)

    async def on_list_task_push_notification_configs(
        self, params: ListTaskPushNotificationConfigsRequest, context: ServerCallContext
    ) -> ListTaskPushNotificationConfigsResponse:
        """Pass through."""
        return await self.inner.on_list_task_push_notification_configs(params, context)

    async def on_delete_task_push_notification_config(
        self, params: DeleteTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> None:
        """Pass through."""
        await self.inner.on_delete_task_push_notification_config(params, context)

    async def _stream(self, inner: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        chunks = Chunks()
        async with aclosing(inner) as events:
            async for event in events:
                first = chunks.first(event)
                chunks.add(event)
                yield self._encode_once(event, first)

    def _encode_once(self, event: AnyEvent, first: int) -> AnyEvent:
        """Return the event with frames: the streams of a task are given one object, and its frames are made once."""
        # A task is changed in place as it goes on; an update is not.
        if isinstance(event, Task | Message):
            return self._encode(event)
        key = id(event), first
        known = self._encoded.get(key)
        # The event is kept with its frames, or another could come to have its id.
        if known is None:
            known = self._encoded[key] = event, self._encode(event, first)
            if len(self._encoded) > _ENCODED:
                self._encoded.popitem(last=False)
        return known[1]  # type: ignore[return-value]  # it is of the type of the event under this id

    def _answer(self, task: Task | None, context: ServerCallContext) -> Task | None:
        return self._encode(task) if task is not None and is_requested(context) else task

    def _encode(self, event: AnyEvent, first: int = 0) -> AnyEvent:
        return encode(event, first, never_larger=self._never_larger)

    # "Frames with a previously seen "msg_id" MUST be rejected with error E3002 DUPLICATE." (section 3.7)
    def _admit(self, params: SendMessageRequest, context: ServerCallContext) -> tuple[str, str, str]:
        """Remember a live send of this caller, or refuse it as one that was here."""
        key = context.tenant, context.user.user_name, params.message.message_id
        if key in self._sent:
            reason = f"expected a new message, found {params.message.message_id!r} again"
            raise refusal(ProtocolError(reason, code=ErrorCode.DUPLICATE))
        self._sent[key] = None
        if len(self._sent) > _REMEMBERED:
            self._sent.popitem(last=False)
        return key


def _plain(params: SendMessageRequest) -> SendMessageRequest:
    """Return the request with the parts that its frames say, as the agent is to see it."""
    try:
        message = decode(params.message)
    except ProtocolError as error:
        raise refusal(error) from error
    if message is params.message:
        return params
    plain = deepcopy(params)
    plain.message.CopyFrom(message)
    return plain
