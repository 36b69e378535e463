"""Frames at the edge of an A2A client: what the application sends and receives stays plain.

    await create_client(url, interceptors=[AccpClientInterceptor()])

It acts where the agent's card declares the extension; with any other agent it does nothing.
"""

from __future__ import annotations

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

from accp_adapters.a2a.wire.chunks import Chunks
from accp_adapters.a2a.wire.envelope_flag import Event
from accp_adapters.a2a.wire.events import decode, encode
from accp_adapters.a2a.wire.extension import EXTENSION, is_declared

__all__ = ["AccpClientInterceptor"]


Response = TypeVar("Response", SendMessageResponse, StreamResponse)


class _Call(ClientCallContext):
    """The context of one call, which knows where the chunks of its stream stand."""

    _chunks: Chunks = PrivateAttr(default_factory=Chunks)


class AccpClientInterceptor(ClientCallInterceptor):
    """Asks for frames, sends them and opens them, for one client or many."""

    def __init__(self, *, never_larger: bool = True) -> None:
        """With `never_larger`, a message that would take more bytes or tokens with frames goes without them."""
        self._never_larger: Final = never_larger

    async def before(self, args: BeforeArgs) -> None:
        """Ask for frames, and put those of the message in the place of its parts."""
        if not is_declared(args.agent_card):
            return
        args.context = _requesting(args.context)
        if isinstance(args.input, SendMessageRequest):
            args.input = self._framed(args.input)

    async def after(self, args: AfterArgs) -> None:
        """Put parts in the place of the frames of a result, or of one event of a stream.

        Raises:
            ProtocolError: E1001, E1004 for a frame that cannot be opened; E3002, E3003 for a chunk of a stream that
                came twice or after one that did not come.
        """
        if not is_declared(args.agent_card):
            return
        chunks = args.context._chunks if isinstance(args.context, _Call) else Chunks()
        args.result = _opened(args.result, chunks)

    def _framed(self, request: SendMessageRequest) -> SendMessageRequest:
        message = encode(request.message, never_larger=self._never_larger)
        if message is request.message:
            return request
        framed = deepcopy(request)
        framed.message.CopyFrom(message)
        return framed


def _requesting(context: ClientCallContext | None) -> _Call:
    """Return the context of this call with the extension asked for; its state is the caller's own."""
    given = context or ClientCallContext()
    asked = ServiceParametersFactory.create_from(given.service_parameters, [with_a2a_extensions([EXTENSION])])
    call = _Call(timeout=given.timeout, service_parameters=asked)
    call.state = given.state
    return call


def _opened(result: Any, chunks: Chunks) -> Any:
    if isinstance(result, Task):
        return decode(result)
    if isinstance(result, ListTasksResponse):
        return _with_tasks(result)
    if isinstance(result, SendMessageResponse):
        return _with_payload(result, chunks)
    if isinstance(result, StreamResponse):
        return _with_payload(result, chunks)
    return result


def _with_tasks(response: ListTasksResponse) -> ListTasksResponse:
    opened = deepcopy(response)
    for task in opened.tasks:
        task.CopyFrom(decode(task))
    return opened


def _with_payload(response: Response, chunks: Chunks) -> Response:
    """Return the response with its one object opened."""
    field = response.WhichOneof("payload")
    if field is None:
        return response
    event = cast(Event, getattr(response, field))
    plain = decode(event, chunks.first(event))
    chunks.add(plain)
    if plain is event:
        return response
    opened = deepcopy(response)
    getattr(opened, field).CopyFrom(plain)
    return opened
