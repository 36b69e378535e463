"""Frames at the edge of an A2A client: the application sends and receives plain objects.

    await create_client(url, interceptors=[AccpClientInterceptor()])

It acts where the agent's card declares the extension; calls to any other agent pass unchanged.
"""

from __future__ import annotations

import secrets
from copy import deepcopy
from typing import Any, Final, TypeVar, cast

from a2a.client import ClientCallContext, ClientCallInterceptor
from a2a.client.interceptors import AfterArgs, BeforeArgs
from a2a.client.service_parameters import ServiceParametersFactory, with_a2a_extensions
from a2a.types import (
    ListTasksResponse,
    SendMessageRequest,
    SendMessageResponse,
    StreamResponse,
    Task,
)
from pydantic import PrivateAttr

from accp_adapters.a2a.retries import CLIENT_HEADER
from accp_adapters.a2a.wire.envelope_flag import A2aEvent
from accp_adapters.a2a.wire.extension import EXTENSION, VIEWS, is_declared
from accp_adapters.a2a.wire.large_objects import decode_aside, encode_aside
from accp_adapters.a2a.wire.part_counter import PartCounter

__all__ = ["AccpClientInterceptor"]


Response = TypeVar("Response", SendMessageResponse, StreamResponse)


class _CountingContext(ClientCallContext):
    """The context of one call, which counts the parts that its stream has delivered."""

    _parts: PartCounter = PrivateAttr(default_factory=PartCounter)


class AccpClientInterceptor(ClientCallInterceptor):
    """Requests frames, sends them and decodes them; one interceptor may serve many clients."""

    def __init__(self, *, never_larger: bool = True) -> None:
        """Create an interceptor.

        Args:
            never_larger: Send a message plain where frames would take more bytes or tokens; False: always frame it.
        """
        self._never_larger: Final = never_larger
        # An agent recognizes a retry by this id; it is random, so that no other client can guess it.
        self._client_id: Final = secrets.token_hex(16)

    async def before(self, args: BeforeArgs) -> None:
        """Request frames by the call's header, and replace the parts of its message by frames."""
        if not is_declared(args.agent_card):
            return
        args.context = _requesting(args.context, self._client_id)
        if isinstance(args.input, SendMessageRequest):
            args.input = await self._encoded(args.input, views=is_declared(args.agent_card, VIEWS))

    async def after(self, args: AfterArgs) -> None:
        """Replace the frames of a result, or of one event of a stream, by plain parts.

        Raises:
            ProtocolError: E1001, E1004, E2003, a frame cannot be decoded; E3002, E3003, a chunk of a stream came
                twice, or the one before it is missing.
        """
        if not is_declared(args.agent_card):
            return
        parts = args.context._parts if isinstance(args.context, _CountingContext) else PartCounter()
        args.result = await _decoded(args.result, parts)

    async def _encoded(self, request: SendMessageRequest, *, views: bool) -> SendMessageRequest:
        message = await encode_aside(request.message, never_larger=self._never_larger, views=views)
        if message is request.message:
            return request
        framed = deepcopy(request)
        framed.message.CopyFrom(message)
        return framed


def _requesting(context: ClientCallContext | None, client_id: str) -> _CountingContext:
    """Return the context of a call that requests the extension; it shares the state of the caller's context."""
    given = context or ClientCallContext()
    parameters = ServiceParametersFactory.create_from(
        given.service_parameters, [with_a2a_extensions([EXTENSION, VIEWS])]
    )
    parameters.setdefault(CLIENT_HEADER, client_id)
    requesting = _CountingContext(timeout=given.timeout, service_parameters=parameters)
    requesting.state = given.state
    return requesting


async def _decoded(result: Any, parts: PartCounter) -> Any:
    if isinstance(result, Task):
        return await decode_aside(result)
    if isinstance(result, ListTasksResponse):
        return await _decoded_list(result)
    if isinstance(result, SendMessageResponse):
        return await _decoded_response(result, parts)
    if isinstance(result, StreamResponse):
        return await _decoded_response(result, parts)
    return result


async def _decoded_list(response: ListTasksResponse) -> ListTasksResponse:
    tasks = [await decode_aside(task) for task in response.tasks]
    decoded = deepcopy(response)
    for task, plain in zip(decoded.tasks, tasks, strict=True):
        task.CopyFrom(plain)
    return decoded


async def _decoded_response(response: Response, parts: PartCounter) -> Response:
    """Return the response with the object in it decoded, and count its parts."""
    field = response.WhichOneof("payload")
    if field is None:
        return response
    event = cast(A2aEvent, getattr(response, field))
    plain = await decode_aside(event, parts.start(event))
    parts.count(plain)
    if plain is event:
        return response
    decoded = type(response)()
    getattr(decoded, field).CopyFrom(plain)
    return decoded
