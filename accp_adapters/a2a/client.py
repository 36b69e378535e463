"""Frames at the edge of an A2A client: the application sends and receives plain objects.

    await create_client(url, interceptors=[AccpClientInterceptor()])

It acts where the agent's card declares the extension; calls to any other agent pass unchanged.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Final, TypeVar, cast

from a2a.client import ClientCallContext, ClientCallInterceptor
from a2a.client.interceptors import AfterArgs, BeforeArgs
from a2a.client.service_parameters import ServiceParametersFactory, with_a2a_extensions
from a2a.types import ListTasksResponse, SendMessageRequest, SendMessageResponse, StreamResponse, Task

from accp_adapters.a2a.extension import EXTENSION, VIEWS, is_declared
from accp_adapters.a2a.frames import EventEncoder, Safely, decode
from accp_adapters.a2a.walk import A2aEvent

__all__ = ["AccpClientInterceptor"]


Response = TypeVar("Response", SendMessageResponse, StreamResponse)


class AccpClientInterceptor(ClientCallInterceptor):
    """Requests frames, sends them and decodes them; one interceptor may serve many clients."""

    def __init__(self, *, never_larger: bool = True) -> None:
        """Create an interceptor.

        Args:
            never_larger: Send a message plain where frames would take more bytes or tokens; False: always frame it.
        """
        self._never_larger: Final = never_larger
        self._safely: Final = Safely()

    @property
    def faults(self) -> int:
        """How many objects were passed on as they came, because our own work on them failed."""
        return self._safely.faults

    async def before(self, args: BeforeArgs) -> None:
        """Request frames by the call's header, and replace the parts of its message by frames."""
        if not is_declared(args.agent_card):
            return
        args.context = _requesting(args.context)
        if isinstance(args.input, SendMessageRequest):
            args.input = await self._encoded(args.input, views=is_declared(args.agent_card, VIEWS))

    async def after(self, args: AfterArgs) -> None:
        """Replace the frames of a result, or of one event of a stream, by plain parts."""
        if is_declared(args.agent_card):
            args.result = await self._decoded(args.result)

    async def _encoded(self, request: SendMessageRequest, *, views: bool) -> SendMessageRequest:
        encoder = EventEncoder(never_larger=self._never_larger, views=views)
        message = await self._safely.run(encoder.encode, request.message)
        if message is request.message:
            return request
        framed = deepcopy(request)
        framed.message.CopyFrom(message)
        return framed

    async def _decoded(self, result: Any) -> Any:
        if isinstance(result, Task):
            return await self._safely.run(decode, result)
        if isinstance(result, ListTasksResponse):
            decoded = deepcopy(result)
            for task in decoded.tasks:
                task.CopyFrom(await self._safely.run(decode, task))
            return decoded
        if isinstance(result, SendMessageResponse):
            return await self._decoded_payload(result)
        return await self._decoded_payload(result) if isinstance(result, StreamResponse) else result

    async def _decoded_payload(self, response: Response) -> Response:
        field = response.WhichOneof("payload")
        if field is None:
            return response
        decoded = type(response)()
        getattr(decoded, field).CopyFrom(await self._safely.run(decode, cast(A2aEvent, getattr(response, field))))
        return decoded


def _requesting(context: ClientCallContext | None) -> ClientCallContext:
    """Return the context of a call that requests the extension; it shares the state of the caller's context."""
    given = context or ClientCallContext()
    parameters = ServiceParametersFactory.create_from(
        given.service_parameters, [with_a2a_extensions([EXTENSION, VIEWS])]
    )
    requesting = ClientCallContext(timeout=given.timeout, service_parameters=parameters)
    requesting.state = given.state
    return requesting
